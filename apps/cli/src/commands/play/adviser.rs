//! Hints for a person, from an agent that does not take part in the game.

use anyhow::{Context, Result};
use turnstone_agents::{PlayableGame, Player, SearchInfo, SearchRequest};
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::{Action, AnyState};

use crate::args::load_adviser;

/// An agent that is asked about positions.
pub(super) struct Adviser {
    name: String,
    player: Box<dyn Player>,
    seed: u64,
}

/// What an adviser finds in a position.
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
        let player = agent.player(game).context("the adviser")?;
        Ok(Self { name: agent.spec.to_string(), player, seed })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Searches a position in which the game is not over. The answer depends on the position alone.
    ///
    /// # Errors
    /// The agent has failed.
    pub(super) fn advise(&mut self, state: &AnyState) -> Result<Advice> {
        let mut rng: Stream = stream(self.seed, Purpose::Play, [2, 0]);
        self.player.new_game(state, &mut rng);
        let mut found: Option<SearchInfo> = None;
        let mut report = |info: &SearchInfo| found = Some(info.clone());
        let mut request = SearchRequest { report: Some(&mut report), ..SearchRequest::default() };
        let action = self.player.search(state, &mut request, &mut rng).context("the adviser")?;
        let (line, score) = found.map_or((Vec::new(), None), |info| (info.line, info.score));
        Ok(Advice { action, line, win_draw_loss: score.map(|score| score.win_draw_loss) })
    }
}
