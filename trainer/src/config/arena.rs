//! The `[arena]` section.

use serde::{Deserialize, Serialize};

use turnstone_agents::{AgentSpec, SearchKind};

use turnstone_selfplay::config::within;

/// `[arena]`: matches during training.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ArenaConfig {
    /// Iterations between matches. 0 plays matches only at the end of the run.
    pub every: u64,
    /// Games per match, in pairs that share an opening with seats swapped.
    pub games: usize,
    /// Games per match at the end of the run.
    pub final_games: usize,
    /// Simulations per move of the network's search.
    pub simulations: u32,
    /// Kind of tree search that the network plays with.
    pub method: SearchKind,
    /// Minimum and maximum number of random plies of an opening.
    pub opening_plies: [u16; 2],
    /// Agents that the network plays a match against.
    pub opponents: Vec<AgentSpec>,
    /// Whether the network's moves are graded against exact values after every match, if the game comes with some.
    pub grade: bool,
    /// Games against each rung of the game's ladder. 0 skips the ladder.
    pub ladder_games: usize,
    /// Games against the best checkpoint so far. 0 skips that match.
    pub best_games: usize,
}

impl Default for ArenaConfig {
    fn default() -> Self {
        Self {
            every: 20,
            games: 40,
            final_games: 200,
            simulations: 100,
            method: SearchKind::default(),
            opening_plies: [2, 6],
            opponents: vec![AgentSpec::Random],
            grade: true,
            ladder_games: 0,
            best_games: 0,
        }
    }
}

impl ArenaConfig {
    /// The opponents that are other programs.
    pub fn engines(&self) -> impl Iterator<Item = &AgentSpec> {
        self.opponents.iter().filter(|opponent| matches!(opponent, AgentSpec::Engine(_)))
    }

    /// Checks the range of every value.
    pub(super) fn validate(&self) -> Result<(), String> {
        within("arena.every", self.every, 0, 1_000_000_000)?;
        within("arena.games", self.games, 2, 1_000_000)?;
        within("arena.final_games", self.final_games, 2, 1_000_000)?;
        within("arena.ladder_games", self.ladder_games, 0, 1_000_000)?;
        within("arena.best_games", self.best_games, 0, 1_000_000)?;
        within("arena.simulations", self.simulations, 1, 1_000_000)?;
        within("arena.opening_plies[1]", self.opening_plies[1], self.opening_plies[0], 1000)?;
        if let Some(human) = self.opponents.iter().find(|spec| matches!(spec, AgentSpec::Human)) {
            return Err(format!("arena.opponents: `{human}` cannot play in a match"));
        }
        Ok(())
    }
}
