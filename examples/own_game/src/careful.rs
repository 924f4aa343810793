//! An agent that wins within a few plies where it can, and does not lose within them where it can help it.

use std::sync::Arc;

use turnstone_agents::base::streams::Stream;
use turnstone_agents::env::{Action, AnyState};
use turnstone_agents::{AgentError, AgentKind, Chooser, OnReport, OneByOne, PlayableGame};
use turnstone_agents::{Search, SearchInfo, SearchRequest, Setup, settings};

settings! {
    /// Wins within a few plies where it can, and does not lose within them.
    #[derive(Clone, Debug)]
    pub struct Careful {
        /// Plies to look ahead.
        plies: u32 = 2, 1..=4;
    }
}

impl AgentKind for Careful {
    const NAME: &'static str = "careful";

    fn search(&self, game: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        Ok(Box::new(OneByOne::new(Player { game: game.shared(), plies: self.plies }, usize::MAX)))
    }
}

struct Player {
    game: Arc<dyn PlayableGame>,
    plies: u32,
}

impl Player {
    /// The legal actions, each with what the mover can reach by it within some plies: 1, 0 or -1.
    fn values(&self, state: &AnyState, plies: u32) -> Vec<(Action, i8)> {
        let (game, mover) = (&self.game, self.game.mover(state));
        let value = |&action: &Action| {
            let mut after = state.clone();
            game.play(&mut after, action);
            let sign = if game.mover(&after) == mover { 1 } else { -1 };
            let value = match game.outcome(&after) {
                Some(outcome) => outcome.value_for(mover),
                None if plies == 1 => 0,
                None => sign * self.values(&after, plies - 1).iter().map(|&(_, value)| value).max().unwrap_or(0),
            };
            (action, value)
        };
        game.legal_actions(state).iter().map(value).collect()
    }
}

impl Chooser for Player {
    fn choose(&mut self, state: &AnyState, _: &SearchRequest, _: &mut Stream, _: &mut OnReport<'_>) -> SearchInfo {
        let values = self.values(state, self.plies).into_iter().rev(); // the first of the best
        SearchInfo::of_action(values.max_by_key(|&(_, value)| value).expect("the game is running").0)
    }
}
