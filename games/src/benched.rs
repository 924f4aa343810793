//! Positions, depths and networks by which the benchmarks measure a built-in game.

use turnstone_agents::Playable;

/// Positions, depths and networks of `turnstone bench` for a game.
pub trait Benched: Playable {
    /// Further sets of parameters that the signature covers besides the defaults.
    const VARIANTS: &'static [&'static [(&'static str, &'static str)]];
    /// The depth that alpha-beta without a table searches from the start in about a second or less.
    const DEPTH: u32;
    /// A small network for the signature, in the keys of a config's section `net`.
    const NETWORK: Option<&'static str>;
}
