//! The self-test of two machines: both play a short game of self-play with a known network and compare its checksum. Floats
//! differ between processors with and without fused multiply-add, and between libraries of mathematical functions; integers
//! of eight bits do not.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use turnstone_agents::search::Stop;
use turnstone_agents::settings::{self, Given, Settings};
use turnstone_agents::shape;
use turnstone_env::Params;
use turnstone_models::{NetworkConfig, Precision, Weights};
use turnstone_selfplay::{GameSettings, SearchConfig, SelfPlayConfig, SelfPlayCounters, Task, TrainableGame};

use crate::messages::sha256;

/// What a run demands of its workers: the program of its leader, the game and the self-test. It describes the run's queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(crate) program: String,
    pub(crate) game: String,
    pub(crate) version: u32,
    pub(crate) params: Params,
    pub(crate) probe: Probe,
}

/// The self-test of a run, and the leader's result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Architecture of the network, of one block at most; its weights are random ones of a known seed.
    pub network: NetworkConfig,
    /// The search.
    pub search: SearchConfig,
    /// Arithmetic of the network.
    pub precision: Precision,
    /// SHA-256 of the games.
    pub checksum: String,
}

/// Simulations per move: enough for priors, noise and values to affect the record.
const SIMULATIONS: u32 = 12;

impl Probe {
    /// Computes the probe of a run with this network, search and precision on this machine.
    ///
    /// # Errors
    /// The network cannot be built for the game.
    pub fn compute(
        game: &dyn TrainableGame,
        network: &NetworkConfig,
        search: &SearchConfig,
        precision: Precision,
    ) -> Result<Self> {
        // Further blocks repeat the arithmetic of the first. Some kinds have none.
        let mut smaller = network.clone();
        let is_smaller = settings::set(smaller.settings(), "blocks", &Given::Whole(1)).is_ok();
        let network = if is_smaller { smaller } else { network.clone() };
        let probe = Self { network, search: search.clone(), precision, checksum: String::new() };
        Ok(Self { checksum: probe.play(game)?, ..probe })
    }

    /// Checks that this machine computes the same.
    ///
    /// # Errors
    /// One line with the reason.
    pub fn confirm(&self, game: &dyn TrainableGame) -> Result<()> {
        self.search.check()?;
        let own = self.play(game)?;
        if own == self.checksum {
            return Ok(());
        }
        let advice = match self.precision {
            Precision::I8 => "another program or compiler is at work",
            _ => "floats need the same kind of processor (fused multiply-add); `self_play.precision = \"i8\"` does not",
        };
        bail!("the arithmetic of this machine gives other bits than the leader's at {}: {advice}", self.precision);
    }

    /// Plays its games and returns their SHA-256.
    fn play(&self, game: &dyn TrainableGame) -> Result<String> {
        let weights = Weights::random(&self.network.layout(&shape(game.spec()))?, 20);
        let precision = self.precision;
        let (games_per_iteration, threads, cached_positions) = (2, 1, 0);
        let self_play =
            SelfPlayConfig { games_per_iteration, threads, cached_positions, precision, ..Default::default() };
        let settings = GameSettings { simulations: SIMULATIONS, ..GameSettings::new(&self.search, &self_play, 20, 0) };
        let task = Task::new(settings, &self.network, &weights);
        let games = game.self_play(&task, &SelfPlayCounters::default(), &Stop::default())?;
        Ok(sha256(format!("{:?}", games.map(|games| (games.shard, games.ends))).as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_models::ResidualMlp;

    #[test]
    fn the_probe_is_of_network_search_and_arithmetic() {
        let game = turnstone_games::list!(turnstone_selfplay::row).make("mancala", &Params::new()).expect("a game");
        let [network, deep] = [1, 32].map(|blocks| NetworkConfig::from(ResidualMlp { blocks, width: 16 }));
        let search = SearchConfig::default();
        let compute = |precision| Probe::compute(&*game, &network, &search, precision).expect("a small network");
        let probe = compute(Precision::F32);
        assert_eq!(probe, Probe::compute(&*game, &deep, &search, Precision::F32).expect("it has one block"));
        assert_ne!(probe.checksum, compute(Precision::I8).checksum, "it tells one arithmetic from another");
        probe.confirm(&*game).expect("the same machine");
        let fault = |probe: Probe| probe.confirm(&*game).expect_err("a fault").to_string();
        let checksum = compute(Precision::I8).checksum;
        assert!(fault(Probe { checksum, ..probe.clone() }).contains("fused multiply-add"));
        let mut wild = search.clone();
        wild.constants.c_puct = f32::NAN;
        assert!(fault(Probe { search: wild, ..probe }).contains("c_puct"));
    }
}
