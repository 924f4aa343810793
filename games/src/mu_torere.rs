//! Mu Torere: exact values of all positions.

mod solver;

pub use solver::MuTorereValues;

use std::path::Path;

use turnstone_agents::{Effort, GameFiles, Playable};
use turnstone_env::games::{self, mu_torere::State};
use turnstone_exact::{ExactValues, TableError};

/// What is known about [Mu Torere](games::MuTorere).
#[derive(Clone, Copy, Debug)]
pub struct MuTorere;

impl Playable for MuTorere {
    type Game = games::MuTorere;

    fn exact_values(
        game: &Self::Game,
        _: &Path,
        _: Effort,
    ) -> Result<Option<Box<dyn ExactValues<Self::Game>>>, TableError> {
        Ok(Some(Box::new(MuTorereValues::new(game).expect("0 switches the limit off"))))
    }

    fn without_counters(state: &State) -> State {
        state.without_counters()
    }

    fn files() -> GameFiles {
        GameFiles {
            ladder: Some(include_str!("mu_torere/ladder.toml")),
            truth_set: None,
            pretrained: outside_pages!(include_bytes!("mu_torere/agent.safetensors")),
            book: None,
            certificates: certificates!("mu_torere/player-1.proof", "mu_torere/player-2.proof"),
            sheet: Some(include_str!("mu_torere/sheet.md")),
        }
    }
}
