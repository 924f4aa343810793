//! A run's learner against the same steps taken by hand: with the window of each iteration, a stream for each step. Its event
//! files against its metrics.

use std::error::Error;
use std::path::Path;
use std::sync::Mutex;

use super::*;
use crate::config::Config;
use crate::run_folder::RunFolder;
use crate::targets::tensor::Tensor;
use crate::targets::{Moment, Row, Target, register_target};
use crate::tensorboard::tests::read;
use turnstone_agents::{checkpoint_info, shape};
use turnstone_base::terminal::Reporter;
use turnstone_models::{HeadSpec, TargetShape, Weights};
use turnstone_search::Stop;
use turnstone_selfplay::{SelfPlayCounters, SelfPlayGames, SelfPlayer, Task, ThisMachine, TrainableGame};

/// Small games, a window that drops positions from the third iteration on, and every constant of the learner at some
/// value of its own.
const CONFIG: &str = r#"
seed = 5
[game]
name = "mancala"
pits = 3
stones = 2
[net]
kind = "residual_mlp"
blocks = 1
width = 8
[search]
simulations = 4
[self_play]
games_per_iteration = 6
[learn]
batch = 16
learning_rate = 0.01
final_learning_rate = 0.001
warmup_steps = 12
samples_per_position = 2.0
window = 60
max_window = 90
root_value_share = 0.25
[arena]
opponents = []
every = 0
best_games = 0
grade = false
ladder_games = 0
[run]
iterations = 5
"#;

/// Plays on this machine and keeps the positions.
#[derive(Default)]
struct Keeping(Mutex<Vec<Arc<Shard>>>);

impl SelfPlayer for Keeping {
    fn self_play(
        &self,
        game: &dyn TrainableGame,
        task: &Task,
        progress: &SelfPlayCounters,
        stop: &Stop,
    ) -> Result<Option<SelfPlayGames>, Box<dyn Error + Send + Sync>> {
        let games = ThisMachine.self_play(game, task, progress, stop)?;
        let shard = games.as_ref().map(|games| Arc::new(games.shard.clone()));
        self.0.lock().expect("no panic").extend(shard);
        Ok(games)
    }
}

/// A config with its game.
fn parsed(config: &str) -> (Config, Arc<dyn TrainableGame>) {
    let games = turnstone_games::list!(turnstone_selfplay::row);
    let config = Config::parse(config, &games).expect("valid");
    let game = config.game(&games).expect("a game");
    (config, game)
}

fn folder(path: &Path, config: &str) -> RunFolder {
    RunFolder::create(path, config, false, |_| Ok(())).expect("a folder")
}

/// Begins the run of a folder.
fn begun<T>(
    folder: &RunFolder,
    (config, game): &(Config, Arc<dyn TrainableGame>),
    players: Players<'_>,
    then: impl FnOnce(Run<'_>) -> Result<T>,
) -> Result<T> {
    let (program, game, reporter, stop) = ("turnstone", &**game, Reporter::new(true), Stop::default());
    then(Run::begin(Setup { program, game, config, folder, reporter: &reporter, stop: &stop, players })?)
}

#[test]
fn a_run_learns_from_its_window() {
    let (place, parsed) = (tempfile::tempdir().expect("a temporary folder"), parsed(CONFIG));
    let (folder, keeping) = (folder(&place.path().join("run"), CONFIG), Keeping::default());
    let players = Players { self_play: &keeping, remote: None };
    let ending = begun(&folder, &parsed, players, |run| run.train(None, &mut |_| {}));
    assert_eq!(ending.expect("it trains"), Ending::Finished);

    let (config, game) = &parsed;
    let (spec, learn) = (game.spec(), &config.learn);
    let mut learner = Learner::new(shape(spec), &config.net, &learn.optimiser(), 5).expect("a learner");
    let (mut window, mut positions, mut dropped) = (Window::default(), 0, 0);
    for (i, shard) in keeping.0.lock().expect("no panic").iter().enumerate() {
        positions += shard.len() as u64;
        window.push(Arc::clone(shard), window_size(positions, 60, 90));
        dropped = positions - window.len() as u64;
        let mut maker = BatchMaker::new(spec, learn);
        while learner.steps() < positions * 2 / 16 {
            let step = learner.steps();
            let batch = maker.draw(&window, &mut stream(5, Purpose::Learn, [step, 0])).expect("sound");
            learner.step(batch, learning_rate(learn, step, i as f64 / 5.0)).expect("finite");
        }
    }
    assert!(dropped > 60, "the window is smaller than the {positions} positions: {dropped} dropped");
    let (learned, state) = folder.load_state().expect("a state");
    assert_eq!((state.iteration, state.positions), (5, positions));
    assert_eq!(&learned, learner.state());
}

#[test]
fn a_run_begins_with_the_network_of_its_config() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let ((_, larger), mut parsed) = (parsed(&CONFIG.replace("pits = 3", "pits = 4")), parsed(CONFIG));
    let (config, game) = &parsed;
    let weights = Weights::random(&config.net.layout(&shape(game.spec())).expect("a network"), 99);
    let file = place.path().join("other.safetensors");
    let info = checkpoint_info(&**game, &config.net, &config.search.at_play(), 70);
    turnstone_models::save(&file, &info, &weights).expect("written");
    let initial = InitialCheckpoint::read(&file).expect("readable");
    let fault = initial.weights(&*larger, config).expect_err("a fault").to_string();
    assert!(fault.ends_with("other.safetensors: it is for another board"), "{fault}");
    let folder = folder(&place.path().join("run"), CONFIG);
    let mut begin = |from: &str| {
        parsed.0.run.from = from.to_owned();
        begun(&folder, &parsed, Players::default(), |_| Ok(())).map_err(|fault| format!("{fault:#}"))
    };
    let fault = begin(&initial.checksum()).expect_err("a fault");
    assert!(fault.starts_with("the network that run.from names is missing: "), "{fault}");
    folder.save_initial(&initial.bytes).expect("writable");
    let fault = begin("0123abcd").expect_err("a fault");
    assert!(fault.ends_with("not 0123abcd as run.from says"), "{fault}");
    assert_eq!(begin(&initial.checksum()), Ok(()));
    let (state, _) = folder.load_state().expect("a state");
    assert_eq!((state.steps, &state.weights, &state.average), (0, &weights, &weights));
    assert_eq!((&state.moment1, &state.moment2), (&weights.zeros_like(), &weights.zeros_like()));
}

/// How many tens of plies are left.
struct Left;

impl Target for Left {
    const NAME: &'static str = "left";
    const SHAPE: TargetShape = TargetShape::Scalar;
    const WEIGHT: f64 = 0.5;

    fn target(at: &Moment<'_>, row: &mut Row<'_>) -> Option<()> {
        row.set(0, f32::from(at.now().plies_left) / 10.0);
        Some(())
    }

    fn loss(output: Tensor<2>, target: Tensor<2>) -> Tensor<2> {
        (output - target).square()
    }
}

/// [`CONFIG`] with the target, and with a match after every iteration.
fn config_with_a_target() -> String {
    register_target::<Left>();
    let config = CONFIG.replace("opponents = []\nevery = 0", "opponents = [\"random\"]\nevery = 1\ngames = 2");
    config.replace("[learn]\n", "[learn]\ntargets = [\"left:weight=2\"]\n")
}

/// Trains in parts of so many iterations.
fn train(folder: &RunFolder, config: &str, parts: &[u64]) {
    for iterations in parts {
        let longer = format!("iterations = {iterations}\nschedule_iterations = 5");
        let parsed = parsed(&config.replace("iterations = 5", &longer));
        let ending = begun(folder, &parsed, Players::default(), |run| run.train(None, &mut |_| {}));
        assert_eq!(ending.expect("it trains"), Ending::Finished);
    }
}

#[test]
fn a_resumed_run_with_a_target_is_the_uninterrupted_one() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let config = config_with_a_target();
    let states = [("whole", &[5][..]), ("parts", &[2, 5])].map(|(name, parts)| {
        let folder = folder(&place.path().join(name), &config);
        train(&folder, &config, parts);
        let (network, weights) = turnstone_models::load(&folder.latest()).expect("a checkpoint");
        let (state, _) = folder.load_state().expect("a state");
        assert_eq!((&weights, &network.network), (&state.average, &state.network), "without the head");
        assert_eq!(state.heads, [HeadSpec { name: "left".to_owned(), shape: TargetShape::Scalar }]);
        state
    });
    assert_eq!(states[0], states[1]);
    // Without the target there is another network.
    let folder = folder(&place.path().join("without"), CONFIG);
    train(&folder, CONFIG, &[5]);
    let (without, _) = folder.load_state().expect("a state");
    assert!(without.heads.is_empty() && without.average != states[0].average);
}

/// Tags of TensorBoard, and where the metrics have their values.
const SCALARS: [(&str, &str); 23] = [
    ("loss/policy", "/losses/policy_loss"),
    ("loss/value", "/losses/value_loss"),
    ("loss/left", "/losses/targets/left"),
    ("loss/total", "/losses/total_loss"),
    ("policy/divergence", "/losses/policy_divergence"),
    ("policy/entropy", "/losses/policy_entropy"),
    ("learner/gradient_norm", "/losses/gradient_norm"),
    ("learner/learning_rate", "/learning_rate"),
    ("self_play/game_length", "/game_length"),
    ("self_play/player_1_wins", "/outcome_shares/0"),
    ("self_play/draws", "/outcome_shares/1"),
    ("self_play/player_2_wins", "/outcome_shares/2"),
    ("self_play/positions_per_second", "/timing/positions_per_second"),
    ("self_play/evaluations_per_second", "/timing/evaluations_per_second"),
    ("time/self_play", "/timing/self_play_seconds"),
    ("time/learning", "/timing/learn_seconds"),
    ("time/both", "/timing/both_seconds"),
    ("time/matches", "/timing/match_seconds"),
    ("time/files", "/timing/file_seconds"),
    ("time/iteration", "/timing/seconds"),
    ("time/idle_cores", "/timing/idle_core_seconds"),
    ("replay/window", "/window"),
    ("arena/score_vs_random", "/arena/0/score"),
];

/// The steps and values of a tag in order.
fn scalars(folder: &RunFolder, tag: &str) -> Vec<(u64, f32)> {
    let values = read(&folder.tensorboard()).into_iter().filter_map(|event| {
        let value = event.get_summary().value.first().filter(|value| value.get_tag() == tag)?;
        Some((event.get_step() as u64, value.get_simple_value()))
    });
    values.collect()
}

#[test]
fn event_files_hold_the_metrics_of_every_iteration() {
    let config = config_with_a_target();
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = folder(&place.path().join("run"), &config);
    train(&folder, &config, &[3, 5]);
    let lines = std::fs::read_to_string(folder.metrics()).expect("readable");
    let lines = lines.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let lines: Vec<serde_json::Value> = lines.collect();
    assert_eq!(lines.len(), 5);
    for (tag, place) in SCALARS {
        let number = |line: &serde_json::Value| line.pointer(place).and_then(serde_json::Value::as_f64);
        let expected: Vec<(u64, f32)> = lines
            .iter()
            .filter_map(|line| Some((line["step"].as_u64().expect("a step"), number(line)? as f32)))
            .collect();
        assert!(!expected.is_empty() && scalars(&folder, tag) == expected, "{tag}: {:?}", scalars(&folder, tag));
    }
    assert_eq!(scalars(&folder, "arena/game_vs_random/text_summary").len(), 5);
}
