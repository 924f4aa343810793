//! What every game's search, self-play and learning compute, to the bit.
//!
//! A refactoring leaves the numbers as they are. A change of behaviour is committed with the new ones, which this test
//! prints, and its message says why they differ.

use std::sync::Arc;

use turnstone_agents::{ClassicalMethod, ClassicalSpec, SearchKind, Threads, shape};
use turnstone_base::checksum::crc32_text;
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::Params;
use turnstone_models::{Instructions, Learner, NetworkConfig, OptimiserConfig, Precision, Weights};
use turnstone_search::Stop;
use turnstone_selfplay::replay::{GameId, Shard, Window};
use turnstone_selfplay::{GameSettings, SearchConfig, SelfPlayConfig, SelfPlayCounters, Task, TrainableGame};
use turnstone_trainer::config::LearnConfig;
use turnstone_trainer::learn::BatchMaker;

/// Of each game: its network, the nodes of alpha-beta to a depth of 6 plies, without and with a table, and checksums of
/// self-play by PUCT, by Gumbel search, and by Gumbel search with integers, and of the network after three steps.
#[rustfmt::skip]
const EXPECTED: [(&str, &str, [u64; 2], [&str; 4]); 5] = [
    ("mu_torere", r#"{"kind": "residual_mlp", "blocks": 1, "width": 16}"#, [73, 181], ["5fccdb3b", "cb9cefd3", "7a17eccb", "8d67c50d"]),
    ("mancala", r#"{"kind": "residual_mlp", "blocks": 2, "width": 40}"#, [1758, 1145], ["6eb0ae80", "e35f561a", "6d0139c0", "e482a709"]),
    ("morris", r#"{"kind": "residual_graph", "blocks": 2, "channels": 24, "reach": 2}"#, [52212, 49360], ["a183b1bb", "be1e67d8", "cb609a2c", "5c874aaa"]),
    ("konane", r#"{"kind": "residual_conv", "blocks": 1, "channels": 8, "global_pooling": true}"#, [869, 776], ["e5ce12dc", "88cf2b3c", "5b98bb7f", "85f6b61a"]),
    ("morabaraba", r#"{"kind": "residual_graph", "blocks": 1, "channels": 12}"#, [82425, 40867], ["0d008a17", "c55f722b", "1f1dfabe", "5d6d0679"]),
];

#[test]
fn behaviour_is_as_recorded() {
    // Floats are rounded by multiply-adds, and glibc computes `exp` and `ln`.
    let compares_floats = cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))
        && Instructions::best() != Instructions::Portable;
    let games = turnstone_games::list!(turnstone_selfplay::row);
    let mut faults = Vec::new();
    for (name, network, nodes, checksums) in EXPECTED {
        let game = games.make(name, &Params::new()).expect("valid defaults");
        let network: NetworkConfig = serde_json::from_str(network).expect("a network");
        let found = [0, 16].map(|table| alpha_beta_nodes(&*game, table));
        if found != nodes {
            faults.push(format!("{name}: alpha-beta visits {found:?} positions, not {nodes:?}"));
        }
        if compares_floats {
            let found = checksums_of(&*game, &network);
            if found != checksums {
                faults.push(format!("{name}: checksums {found:?}, not {checksums:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn alpha_beta_nodes(game: &dyn TrainableGame, table: u32) -> u64 {
    let method = ClassicalMethod::FixedDepth { depth: 6, table };
    let spec = ClassicalSpec { method, heuristic: None, threads: Threads::default() };
    game.classical_search(&spec).expect("a static evaluation")(&game.start()).stats.nodes
}

fn checksums_of(game: &dyn TrainableGame, network: &NetworkConfig) -> [String; 4] {
    let weights = Weights::random(&network.layout(&shape(game.spec())).expect("a network of this game"), 1);
    let play = |method, precision, threads| self_play(game, network, &weights, method, precision, threads);
    let puct = play(SearchKind::Puct, Precision::F32, 2);
    let gumbel = play(SearchKind::Gumbel, Precision::F32, 1);
    let integers = play(SearchKind::Gumbel, Precision::I8, 2);
    let id = GameId { name: game.name().to_owned(), version: game.version(), params: game.params() };
    let [a, b, c] = [&puct, &gumbel, &integers].map(|shard| {
        let bytes = shard.to_bytes(&id);
        // Without the checksum at their end, with which all have the same one.
        crc32_text(&bytes[..bytes.len() - 4])
    });
    [a, b, c, crc32_text(&learn(game, network, puct))]
}

fn self_play(
    game: &dyn TrainableGame,
    network: &NetworkConfig,
    weights: &Weights,
    method: SearchKind,
    precision: Precision,
    threads: usize,
) -> Shard {
    let config = SelfPlayConfig {
        games_per_iteration: 6,
        concurrent_games: 3,
        opening_plies: 8,
        temperature_plies: 6,
        precision,
        threads,
        ..SelfPlayConfig::default()
    };
    let settings = GameSettings::new(&SearchConfig::from(method), &config, 7, 3);
    let task = Task::new(GameSettings { simulations: 16, ..settings }, network, weights);
    let games = game.self_play(&task, &SelfPlayCounters::default(), &Stop::default()).expect("it works");
    games.expect("nothing stops it").shard
}

/// The bits of the weights after three steps.
fn learn(game: &dyn TrainableGame, network: &NetworkConfig, shard: Shard) -> Vec<u8> {
    let mut learner =
        Learner::new(shape(game.spec()), network, &OptimiserConfig::default(), 1).expect("a network of this game");
    let mut window = Window::default();
    window.push(Arc::new(shard), usize::MAX);
    let config = LearnConfig { batch: 32, ..LearnConfig::default() };
    let mut batches = BatchMaker::new(game.spec(), &config);
    for step in 0..3 {
        let batch = batches.draw(&window, &mut stream(1, Purpose::Learn, [0, step])).expect("sound");
        learner.step(batch, 1e-2).expect("it works");
    }
    let state = learner.state();
    let numbers = state.weights.tensors().iter().chain(state.average.tensors()).flat_map(|tensor| &tensor.data);
    numbers.flat_map(|number| number.to_bits().to_le_bytes()).collect()
}
