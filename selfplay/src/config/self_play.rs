//! Section `[self_play]` of a config.

use serde::{Deserialize, Serialize};
use turnstone_base::machine::or_all_cores;
use turnstone_base::settings;
use turnstone_base::settings::{Fault, Settings};
use turnstone_env::{AnyState, DynGame, shortened};
use turnstone_models::{ComputeDevice, NetworkError, Precision};

settings! {
    /// The games that produce the training data.
    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct SelfPlayConfig {
        /// Games per iteration.
        pub games_per_iteration: usize = 256, 1..=1_000_000;
        /// Games that each worker plays at the same time: the size of its evaluation batches (multiples of 6 are fastest).
        pub concurrent_games: usize = 64, 1..=4096;
        /// Capacity, in positions, of each worker's evaluation cache during an iteration; 0: none. Does not change the games.
        pub cached_positions: usize = 1 << 13, 0..=1 << 26;
        /// Worker threads; 0: one per core. Does not change the games.
        pub threads: usize = 0, 0..=1024;
        /// Arithmetic of the network: `i8` gives other games than `f32`, but the same on every processor; `auto` is `i8` where the
        /// processor makes it faster. On a GPU `f32`, or `auto`: floats of 16 bits where it has them.
        pub precision: Precision;
        /// Device of the network. On a GPU a run does not repeat bit for bit, as its batches come from all workers.
        pub device: ComputeDevice;
        /// Positions that games begin with, drawn at random: a list, or a file with one per line (`#` begins a comment), which is
        /// read when the run begins. Empty: the start of the game.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub openings: Vec<String>;
        /// Maximum number of uniformly random plies at the start of a game, which are not recorded.
        pub opening_plies: u16 = 4, 0..=1000;
        /// Temperature of the move choice in the first `temperature_plies` plies (Gumbel: scale of its noise).
        pub temperature: f32 = 1.0, 0.0..=10.0;
        /// Number of plies, counted from the start of the game, with that temperature.
        pub temperature_plies: u16 = 12, 0..=u16::MAX;
        /// Temperature of the later plies; 0 plays the best move.
        pub final_temperature: f32 = 0.3, 0.0..=10.0;
    }
}

impl SelfPlayConfig {
    /// Temperature of the move choice at a ply of the game.
    #[must_use]
    pub fn temperature_at(&self, ply: u16) -> f32 {
        if ply < self.temperature_plies { self.temperature } else { self.final_temperature }
    }

    /// The positions that the games begin with.
    ///
    /// # Errors
    /// One line that names the first that is none of the game, or in which the game is over, or says that there are too many.
    pub fn opening_states<T: DynGame + ?Sized>(&self, game: &T) -> Result<Vec<AnyState>, String> {
        /// Bytes of all of them: they are part of every job of a cluster.
        const LONGEST: usize = 64 << 10;
        let bytes: usize = self.openings.iter().map(String::len).sum();
        if bytes > LONGEST {
            return Err(format!("self_play.openings has {bytes} bytes of positions, but must have at most {LONGEST}"));
        }
        let state = |(number, text): (usize, &String)| {
            let fault = |what: String| format!("self_play.openings[{number}]: {what}");
            let state = game.parse_position(text).map_err(|error| fault(error.to_string()))?;
            match game.outcome(&state) {
                None => Ok(state),
                Some(_) => Err(fault(format!("the game is over in the position `{}`", shortened(text)))),
            }
        };
        self.openings.iter().enumerate().map(state).collect()
    }

    /// Number of worker threads, with 0 resolved to one per core.
    #[must_use]
    pub fn workers(&self) -> usize {
        or_all_cores(self.threads)
    }

    /// Games that each half of a worker plays at once on a GPU. At first every half gets an equal share.
    #[must_use]
    pub fn gpu_seats(&self) -> usize {
        self.concurrent_games.min(self.games_per_iteration.div_ceil(self.workers())).div_ceil(2)
    }

    /// Maximum number of positions per batch on a GPU: one of every seat, up to a limit.
    #[must_use]
    pub fn gpu_batch(&self) -> usize {
        const LARGEST: usize = 8192;
        (2 * self.workers() * self.gpu_seats()).min(LARGEST)
    }

    /// Checks every value.
    ///
    /// # Errors
    /// The first key whose value is out of range.
    pub fn validate(&self) -> Result<(), Fault> {
        self.check()?;
        if self.precision == Precision::I8 && self.device != ComputeDevice::Cpu {
            return Err(Fault::other("precision", NetworkError::NoGpuIntegers));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_on_a_gpu_are_of_all_seats_up_to_a_limit() {
        let sizes = |games_per_iteration, concurrent_games, threads| {
            let config = SelfPlayConfig { games_per_iteration, concurrent_games, threads, ..SelfPlayConfig::default() };
            (config.gpu_seats(), config.gpu_batch())
        };
        assert_eq!(sizes(4096, 64, 4), (32, 256));
        assert_eq!(sizes(4096, 63, 3), (32, 192));
        assert_eq!(sizes(21, 64, 4), (3, 24));
        assert_eq!(sizes(1, 1, 8), (1, 16));
        assert_eq!(sizes(100_000, 4096, 16), (2048, 8192));
    }
}
