//! Whether [`Rules::spec`] is fast enough to be called once per position.

use crate::rules::Rules;

/// The longest that [`Rules::spec`] may take, in microseconds. The slowest built-in game takes a few where it is
/// compiled with optimisation.
#[cfg(not(target_family = "wasm"))]
const LONGEST: u128 = if cfg!(debug_assertions) { 20_000 } else { 1_000 };

/// The fastest of several calls counts, so that a busy machine does no harm.
#[cfg(not(target_family = "wasm"))]
pub(super) fn check<G: Rules>(game: &G) {
    let times = (0..5).map(|_| {
        let start = std::time::Instant::now();
        std::hint::black_box(game.spec());
        start.elapsed().as_micros()
    });
    let fastest = times.min().unwrap_or(0);
    assert!(
        fastest <= LONGEST,
        "spec() takes {fastest} microseconds, and is called once per position: compute it once, keep it in the game, and \
         clone it"
    );
}

/// There is no clock.
#[cfg(target_family = "wasm")]
pub(super) fn check<G: Rules>(_: &G) {}
