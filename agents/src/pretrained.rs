//! The trained agents that come with the program: `models/pretrained/<game>.safetensors` as they were when it was built.

use std::path::Path;

use turnstone_models::{CheckpointInfo, Weights};

use super::AgentError;

/// The checkpoint's name that stands for them in a spec.
pub(super) const NAME: &str = "pretrained";
/// What errors call their files.
pub(super) const FILE: &str = "az:pretrained";

/// Games and the bytes of their checkpoints.
const SHIPPED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/pretrained.rs"));

/// The games that have one.
pub fn pretrained_games() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|&(game, _)| game)
}

/// The trained agent for the game of this name.
pub(super) fn read(game: &str) -> Result<(CheckpointInfo, Weights), AgentError> {
    let bytes = SHIPPED.iter().find(|(name, _)| *name == game).map(|(_, bytes)| bytes);
    let bytes = bytes.ok_or_else(|| AgentError::NotPretrained {
        game: game.to_owned(),
        games: pretrained_games().collect::<Vec<_>>().join(", "),
    })?;
    Ok(turnstone_models::load_bytes(bytes, Path::new(FILE))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::load_network;
    use turnstone_env::games::{AnyGame, NAMES};
    use turnstone_env::{Params, with_game};

    #[test]
    fn every_shipped_agent_plays_its_game_and_is_small() {
        assert!(pretrained_games().any(|game| game == "mu_torere"));
        for (name, bytes) in SHIPPED {
            assert!(NAMES.contains(name), "models/pretrained/{name}.safetensors is of no game");
            assert!(bytes.len() < 3_000_000, "{name}");
            let any = AnyGame::new(name, &Params::new()).expect("its defaults are valid");
            with_game!(&any, |game| load_network(Path::new(NAME), game).map(drop))
                .expect("it fits the game's defaults");
        }
    }
}
