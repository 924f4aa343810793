//! Random streams: every game, batch and match has its own, derived from the run's seed and its position in the run.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random number generator of all streams.
pub type Stream = Xoshiro256PlusPlus;

/// Purpose of a stream; streams of different purposes are independent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Purpose {
    /// Initial weights of a network.
    Weights = 1,
    /// A game of self-play; the place is the iteration and the number of the game.
    SelfPlay = 2,
    /// A batch of the learner; the place is the number of the step.
    Learn = 3,
    /// The openings of a match.
    Openings = 4,
    /// The moves of a game of a match; the place is the number of the game and 0 or 1 for the agent.
    Match = 5,
    /// A game at the terminal.
    Play = 6,
    /// A sample game of a report; the place is the number of the game.
    Sample = 7,
    /// The choice of the first player in a world of Konane; the place is the number of the game.
    Toss = 8,
    /// Random games whose positions a network is quantised by.
    Calibration = 9,
}

/// Creates the stream of a purpose at a place of the run with this seed. It depends only on these arguments, so that
/// neither scheduling nor an interruption changes it.
#[must_use]
pub fn stream(seed: u64, purpose: Purpose, place: [u64; 2]) -> Stream {
    let mut state = [0u8; 32];
    let mut mixed = 0;
    for (word, part) in state.chunks_exact_mut(8).zip([seed, purpose as u64, place[0], place[1]]) {
        mixed = split_mix(mixed ^ part);
        word.copy_from_slice(&mixed.to_le_bytes());
    }
    Stream::from_seed(state)
}

/// One step of SplitMix64 (Steele, Lea and Flood, 2014): a bijection that scatters neighbouring inputs.
fn split_mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_differ_by_every_part_and_repeat() {
        let first = |seed, purpose, place| stream(seed, purpose, place).next_u64();
        let base = first(1, Purpose::SelfPlay, [2, 3]);
        assert_eq!(base, first(1, Purpose::SelfPlay, [2, 3]));
        assert_ne!(base, first(2, Purpose::SelfPlay, [2, 3]));
        assert_ne!(base, first(1, Purpose::Learn, [2, 3]));
        assert_ne!(base, first(1, Purpose::SelfPlay, [3, 2]));
        assert_ne!(base, first(1, Purpose::SelfPlay, [2, 4]));
    }
}
