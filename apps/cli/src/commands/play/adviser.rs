//! Hints for a person, from an agent that does not take part in the game.

use anyhow::{Context, Result};
use turnstone_agents::{PlayableGame, Search, SearchRequest};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::{Action, AnyState};

use crate::args::load_adviser;

/// An agent that is asked about positions.
pub(super) struct Adviser {
    name: String,
    search: Box<dyn Search>,
    seed: u64,
}

/// An adviser's result in a position.
pub(super) struct Advice {
    pub(super) action: Action,
    /// The principal variation, which begins with the action.
    pub(super) line: Vec<Action>,
    /// Probabilities of win, draw and loss for the player to move, where the agent has them.
    pub(super) win_draw_loss: Option<[f32; 3]>,
}

impl Adviser {
    /// The strongest agent that every game has.
    ///
    /// # Errors
    /// It cannot be loaded.
    pub(super) fn new(game: &dyn PlayableGame, seed: u64) -> Result<Self> {
        let agent = load_adviser(None, game).context("the adviser")?;
        let search = agent.search(game, 1).context("the adviser")?;
        Ok(Self { name: agent.spec.to_string(), search, seed })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Searches a position in which the game is not over. The answer depends on the position alone.
    ///
    /// # Errors
    /// The agent has failed.
    pub(super) fn advise(&mut self, state: &AnyState) -> Result<Advice> {
        self.search.new_game(0, state, stream(self.seed, Purpose::Play, [2, 0]));
        let request = SearchRequest::default().with_reports();
        let action = self.search.choose_within(0, state, request, &mut |_| ()).context("the adviser")?;
        let found = self.search.report(0);
        Ok(Advice { action, line: found.line, win_draw_loss: found.score.map(|score| score.win_draw_loss) })
    }
}
