//! The self-test of two machines: both play a short game of self-play with a known network and compare its checksum. Floats
//! differ between processors with and without fused multiply-add, and between libraries of mathematical functions; integers
//! of eight bits do not.

use serde::{Deserialize, Serialize};
use turnstone_agents::search::Fault;
use turnstone_agents::shape;
use turnstone_models::{NetworkConfig, Precision, Weights};
use turnstone_selfplay::{FinishedGame, GameSettings, Progress, SearchConfig, SelfPlayConfig, Task, TrainableGame};

use crate::link::sha256;

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
/// Maximum number of blocks: further ones repeat the arithmetic of the first.
const MOST_BLOCKS: usize = 1;
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
    ) -> Result<Self, Fault> {
        let network = network.with_blocks(network.blocks().min(MOST_BLOCKS));
        let sum = play(game, &network, search, precision)?;
        Ok(Self { network, search: search.clone(), precision, checksum: sum })
    }

    /// Checks that this machine computes the same.
    ///
    /// # Errors
    /// One line with the reason.
    pub fn confirm(&self, game: &dyn TrainableGame) -> Result<(), String> {
        self.search.validate()?;
        let own = play(game, &self.network, &self.search, self.precision).map_err(|error| error.to_string())?;
        self.compare(&own)
    }

    fn compare(&self, own: &str) -> Result<(), String> {
        if own == self.checksum {
            return Ok(());
        }
        let [theirs, here] = [&*self.checksum, own].map(|sum| sum.get(..8).unwrap_or(sum));
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

/// Plays the games of a probe and returns their SHA-256.
fn play(
    game: &dyn TrainableGame,
    network: &NetworkConfig,
    search: &SearchConfig,
    precision: Precision,
) -> Result<String, Fault> {
    let layout = network.layout(&shape(game.spec())).map_err(Fault::new)?;
    let weights = Weights::random(&layout, 20);
    let self_play = SelfPlayConfig {
        games_per_iteration: 2,
        concurrent_games: 2,
        cached_positions: 0,
        threads: 1,
        precision,
        ..SelfPlayConfig::default()
    };
    let settings = GameSettings { simulations: SIMULATIONS, ..GameSettings::new(search, &self_play, 20, 0) };
    let task = Task::new(settings, network, &weights);
    let (mut numbers, progress) = (0..2, Progress::default());
    let mut games = Vec::new();
    for session in &mut game.task_sessions(&task, 1).map_err(Fault::new)? {
        while session.step(2, &mut || numbers.next(), &progress)? {}
        games.extend(session.take_finished());
    }
    games.sort_by_key(|game| game.number);
    let transcripts: Vec<u8> = games.iter().flat_map(FinishedGame::transcript).collect();
    Ok(sha256(&transcripts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::Params;
    use turnstone_models::ResidualMlp;

    #[test]
    fn the_probe_is_of_network_search_and_arithmetic() {
        let game = turnstone_games::list!(turnstone_selfplay::row).make("mancala", &Params::new()).expect("a game");
        let network = NetworkConfig::from(ResidualMlp { blocks: 1, width: 16 });
        let search = SearchConfig::default();
        let compute = |precision| Probe::compute(&*game, &network, &search, precision).expect("a small network");
        let probe = compute(Precision::F32);
        assert_eq!(probe, compute(Precision::F32));
        assert_ne!(probe.checksum, compute(Precision::I8).checksum, "it tells one arithmetic from another");
        assert_eq!(probe.confirm(&*game), Ok(()));
        let foreign = Probe { checksum: compute(Precision::I8).checksum, ..probe.clone() };
        assert!(foreign.confirm(&*game).expect_err("other bits").contains("fused multiply-add"));
        let mut wild = search.clone();
        wild.constants.c_puct = f32::NAN;
        let invalid = Probe { search: wild, ..probe };
        assert!(invalid.confirm(&*game).expect_err("no such search").contains("c_puct"));
    }

    #[test]
    fn the_probe_of_a_large_network_is_small() {
        let game = turnstone_games::list!(turnstone_selfplay::row).make("mu_torere", &Params::new()).expect("a game");
        let search = SearchConfig::default();
        let deep = NetworkConfig::from(ResidualMlp { blocks: 32, width: 64 });
        let probe = Probe::compute(&*game, &deep, &search, Precision::F32).expect("a small network");
        assert_eq!(probe.network, NetworkConfig::from(ResidualMlp { blocks: 1, width: 64 }));
        assert_eq!(probe.confirm(&*game), Ok(()));
    }
}
