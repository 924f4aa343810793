//! Whether a machine computes with the same bits as another: a short game of self-play with a known network, whose
//! checksum they compare. Floats differ between processors with and without fused multiply-add, and between libraries of
//! mathematical functions; integers of eight bits do not.

use serde::{Deserialize, Serialize};
use turnstone_agents::shape;
use turnstone_models::{NetworkConfig, NetworkError, Precision, Weights};
use turnstone_selfplay::{Progress, SearchConfig, SelfPlayConfig, Task, TrainableGame};

use crate::identity::checksum;
use crate::wire::hex;

/// What is to be computed, and the result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Architecture of the network; its weights are random ones of a known seed.
    pub network: NetworkConfig,
    /// The search.
    pub search: SearchConfig,
    /// Arithmetic of the network.
    pub precision: Precision,
    /// SHA-256 of the games.
    pub checksum: String,
}

/// Simulations of a move; enough for priors, noise and values to decide what is recorded.
const SIMULATIONS: u32 = 12;

impl Probe {
    /// Computes the probe on this machine.
    ///
    /// # Errors
    /// The network cannot be built for the game.
    pub fn compute(
        game: &dyn TrainableGame,
        network: &NetworkConfig,
        search: &SearchConfig,
        precision: Precision,
    ) -> Result<Self, NetworkError> {
        let weights = Weights::random(&network.layout(&shape(game.spec()))?, 20);
        let self_play = SelfPlayConfig {
            games_per_iteration: 2,
            concurrent_games: 2,
            cached_positions: 0,
            threads: 1,
            precision,
            ..SelfPlayConfig::default()
        };
        let task = Task {
            network,
            weights: &weights,
            search,
            self_play: &self_play,
            simulations: SIMULATIONS,
            archive: &[],
            samples: &[],
            seed: 20,
            iteration: 0,
        };
        let (mut numbers, progress) = (0..2, Progress::default());
        let mut games = Vec::new();
        for session in &mut game.task_sessions(&task, 1)? {
            while session.step(2, &mut || numbers.next(), &progress) {}
            games.extend(session.take_finished());
        }
        games.sort_by_key(|game| game.number);
        let transcripts: Vec<u8> = games.iter().flat_map(turnstone_selfplay::FinishedGame::transcript).collect();
        let (network, search) = (network.clone(), search.clone());
        Ok(Self { network, search, precision, checksum: hex(&checksum(&transcripts)) })
    }

    /// Checks that this machine computes the same.
    ///
    /// # Errors
    /// One line that says why it does not.
    pub fn confirm(&self, game: &dyn TrainableGame) -> Result<(), String> {
        self.search.validate()?;
        let own = Self::compute(game, &self.network, &self.search, self.precision).map_err(|e| e.to_string())?;
        if own.checksum == self.checksum {
            return Ok(());
        }
        let [theirs, here] = [&self.checksum, &own.checksum].map(|sum| sum.get(..8).unwrap_or(sum));
        let advice = match self.precision {
            Precision::I8 => "another program or compiler is at work",
            _ => "floats need the same kind of processor (fused multiply-add); `self_play.precision = \"i8\"` does not",
        };
        Err(format!(
            "the arithmetic of this machine gives other bits than the leader's at {} (self-test {here}, not {theirs}): \
             {advice}",
            self.precision
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::Params;

    #[test]
    fn the_probe_is_of_network_search_and_arithmetic() {
        let game = turnstone_selfplay::built_in().make("mancala", &Params::new()).expect("a game");
        let network = NetworkConfig::ResidualMlp { blocks: 1, width: 16 };
        let search = SearchConfig::default();
        let compute = |precision| Probe::compute(&*game, &network, &search, precision).expect("a small network");
        let probe = compute(Precision::F32);
        assert_eq!(probe, compute(Precision::F32));
        assert_ne!(probe.checksum, compute(Precision::I8).checksum, "it tells one arithmetic from another");
        assert_eq!(probe.confirm(&*game), Ok(()));
        let foreign = Probe { checksum: compute(Precision::I8).checksum, ..probe.clone() };
        assert!(foreign.confirm(&*game).expect_err("other bits").contains("fused multiply-add"));
        let invalid = Probe { search: SearchConfig { c_puct: f32::NAN, ..search.clone() }, ..probe };
        assert!(invalid.confirm(&*game).expect_err("no such search").contains("c_puct"));
    }
}
