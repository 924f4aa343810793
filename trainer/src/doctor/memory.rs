//! Estimates of a run's demand for memory, from the sizes of its data structures.

use turnstone_models::{ComputeDevice, GpuInference, NetworkCost};

use super::measure::Measured;
use super::plan::Plan;
use crate::config::Config;
use turnstone_agents::shape;
use turnstone_selfplay::TrainableGame;

/// Bytes per position in the replay window besides features and policy: its record and the end index of its policy.
const RECORD: f64 = 20.0;
/// Bytes of a policy entry: action index and probability.
const POLICY_ENTRY: f64 = 6.0;
/// Bytes of a tree node besides the state, and of an edge.
const NODE: f64 = 48.0;
const EDGE: f64 = 20.0;
/// Bytes of an entry in the evaluation cache besides the state: the entry itself and space for 16 priors.
const CACHED: f64 = 40.0 + 16.0 * 4.0;
/// Copies of the parameters that the learner holds: weights, two moments, averages, gradients, and those in the graph.
const LEARNER_COPIES: f64 = 8.0;

/// Copies of the activations that the learner holds: values, gradients, and burn's intermediate results.
const ACTIVATION_COPIES: f64 = 6.0;

/// Copies of the parameters on a GPU that learns: weights, gradients, and what they are copied from and to.
const GPU_COPIES: f64 = 4.0;
/// Batches under way on a GPU that evaluates.
const GPU_BATCHES: f64 = 2.0;
/// Copies of the activations that such a batch needs at one time: burn adds and rectifies in steps of their own.
const GPU_ALIVE: f64 = 2.0;

/// Estimated memory demand on GPUs in bytes.
pub(super) struct OnGpu {
    pub(super) self_play: f64,
    pub(super) learning: f64,
}

impl OnGpu {
    pub(super) fn of(game: &dyn TrainableGame, config: &Config) -> anyhow::Result<Self> {
        let cost = cost(game, config)?;
        let parameters = 4.0 * cost.parameters as f64;
        let (spec, play) = (game.spec(), &config.self_play);
        let learning = match config.learn.device {
            ComputeDevice::Cpu => 0.0,
            ComputeDevice::Gpu(_) => {
                GPU_COPIES * parameters + 4.0 * ACTIVATION_COPIES * (config.learn.batch * cost.activations) as f64
            }
        };
        let rows = GpuInference::padded(play.gpu_batch());
        let row = (spec.features() + spec.actions) as f64 + GPU_ALIVE * cost.alive as f64;
        let self_play = match play.device {
            ComputeDevice::Cpu => 0.0,
            ComputeDevice::Gpu(_) => parameters + 4.0 * GPU_BATCHES * rows as f64 * row,
        };
        Ok(Self { self_play, learning })
    }
}

/// Estimated memory demand of a run in bytes.
pub(super) struct Demand {
    pub(super) replay: f64,
    /// Trees and evaluation caches.
    pub(super) search: f64,
    pub(super) network: f64,
}

impl Demand {
    pub(super) fn of(
        game: &dyn TrainableGame,
        config: &Config,
        measured: &Measured,
        plan: &Plan,
    ) -> anyhow::Result<Self> {
        let cost = cost(game, config)?;
        let parameters = 4.0 * cost.parameters as f64;
        let workers = config.self_play.workers();
        let seats = workers * config.self_play.concurrent_games.min(config.self_play.games_per_iteration);
        // A factor of 2 because a tree keeps the subtree of the last move and its memory doubles as it grows, and
        // another because it is copied to a second tree when its root advances.
        let nodes = 2.0 * 2.0 * f64::from(config.search.simulations);
        let state = game.state_bytes() as f64;
        let cached = match config.self_play.cached_positions {
            0 => 0.0,
            positions => positions.next_power_of_two() as f64 * (state + CACHED),
        };
        let node = state + NODE + EDGE * measured.self_play.legal_mean;
        let activations = match config.learn.device {
            ComputeDevice::Cpu => 4.0 * ACTIVATION_COPIES * (config.learn.batch * cost.activations) as f64,
            ComputeDevice::Gpu(_) => 0.0,
        };
        Ok(Self {
            replay: position(game, measured) * plan.largest_window as f64,
            search: seats as f64 * nodes * node + workers as f64 * cached,
            network: parameters * (LEARNER_COPIES + workers as f64) + activations,
        })
    }

    pub(super) fn all(&self) -> f64 {
        self.replay + self.search + self.network
    }
}

/// Estimated bytes per position in the replay window, in memory and on disk.
pub(super) fn position(game: &dyn TrainableGame, measured: &Measured) -> f64 {
    4.0 * game.spec().features() as f64 + RECORD + POLICY_ENTRY * measured.self_play.legal_mean
}

/// What the network of a run costs.
pub(super) fn cost(game: &dyn TrainableGame, config: &Config) -> anyhow::Result<NetworkCost> {
    Ok(config.net.cost(&shape(game.spec()))?)
}

/// Formats a number of bytes, e.g. `3.2 GB`, `45 MB`, `7 KB`.
pub(super) fn bytes(count: f64) -> String {
    match count {
        1e9.. => format!("{:.1} GB", count / 1e9),
        1e6.. => format!("{:.0} MB", count / 1e6),
        _ => format!("{:.0} KB", count / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::Erased;
    use turnstone_env::games::Konane;

    /// A run on GPUs.
    fn config(concurrent_games: usize, threads: usize) -> Config {
        let text = format!(
            "[game]\nname = \"konane\"\n[net]\nkind = \"residual_conv\"\nblocks = 1\nchannels = 8\n\
             [learn]\ndevice = \"gpu\"\nbatch = 64\n\
             [self_play]\ndevice = \"gpu\"\ngames_per_iteration = 100000\n\
             concurrent_games = {concurrent_games}\nthreads = {threads}\n"
        );
        Config::parse(&text, &turnstone_env::games::built_in()).expect("valid")
    }

    /// Batches have a row per seat, are padded to a power of two, and have 8192 rows at most.
    #[test]
    fn the_memory_of_self_play_on_a_gpu_follows_its_batches() {
        let game: &dyn TrainableGame = &Erased::knowing::<turnstone_games::Konane>(Konane::default());
        let weights = 4.0 * cost(game, &config(1, 1)).expect("a network").parameters as f64;
        let rows = |seats, threads| OnGpu::of(game, &config(seats, threads)).expect("a network").self_play - weights;
        let row = rows(64, 2) / 128.0;
        assert!(row > 8.0 * game.spec().features() as f64, "{row} bytes a row");
        for (seats, threads, expected) in [(65, 2, 256.0), (100, 1, 128.0), (2048, 4, 8192.0), (4096, 16, 8192.0)] {
            let found = rows(seats, threads) / row;
            assert!((found - expected).abs() < 1e-3, "{threads} workers of {seats} games: {found} rows");
        }
    }
}
