//! The trained agents of the built-in games, compiled in with the feature `pretrained`.

/// Names of games and bytes of their checkpoints, sorted by name; a list that the build script writes.
const PRETRAINED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/pretrained.rs"));

/// The checkpoint of the trained agent for a game, as the bytes of a file for [`load_bytes`](crate::load_bytes). `None` for
/// games without one, and for all games if the feature `pretrained` is off.
pub fn pretrained(game: &str) -> Option<&'static [u8]> {
    PRETRAINED.iter().find(|(name, _)| *name == game).map(|&(_, bytes)| bytes)
}

/// The names of the games that have a trained agent, in alphabetical order; empty if the feature `pretrained` is off.
pub fn pretrained_games() -> impl Iterator<Item = &'static str> {
    PRETRAINED.iter().map(|&(game, _)| game)
}
