//! Estimates of a run's demand for memory, from the sizes of its data structures.

use turnstone_models::{ComputeDevice, NetworkCost};

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
        let node = state + NODE + EDGE * measured.legal_mean;
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
    4.0 * game.spec().features() as f64 + RECORD + POLICY_ENTRY * measured.legal_mean
}

/// Costs of a run's network.
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
