//! A run's learner against the same steps taken by hand: with the window of each iteration, a stream for each step.

use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::config::Config;
use crate::progress::Reporter;
use crate::run_folder::RunFolder;
use turnstone_selfplay::{Progress, SelfPlayGames, SelfPlayer, Task, ThisMachine, built_in};

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
value_weight = 1.5
margin_weight = 0.5
plies_left_weight = 0.25
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
        task: &Task<'_>,
        progress: &Progress,
        stop: &AtomicBool,
    ) -> Result<Option<SelfPlayGames>, Box<dyn Error + Send + Sync>> {
        let games = ThisMachine.self_play(game, task, progress, stop)?;
        let shard = games.as_ref().map(|games| Arc::new(games.shard.clone()));
        self.0.lock().expect("no panic").extend(shard);
        Ok(games)
    }
}

#[test]
fn a_run_learns_from_its_window() {
    let games = built_in();
    let config = Config::parse(CONFIG, &games).expect("valid");
    let game = config.game(&games).expect("a game");
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::create(&place.path().join("run"), CONFIG, false).expect("a folder");
    let (reporter, stop, keeping) = (Reporter::new(true), AtomicBool::new(false), Keeping::default());
    let players = Players { self_play: &keeping, remote: None };
    let setup = Setup { game: &*game, config: &config, folder: &folder, reporter: &reporter, stop: &stop, players };
    assert_eq!(Run::start(setup).and_then(|run| run.train(None)).expect("it trains"), Ending::Finished);

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
            let batch = maker.draw(&window, &mut stream(5, Purpose::Learn, [step, 0]));
            learner.step(batch, learning_rate(learn, step, i as f64 / 5.0)).expect("finite");
        }
    }
    assert!(dropped > 60, "the window is smaller than the {positions} positions: {dropped} dropped");
    let (state, standing, _) = folder.load_state().expect("a state");
    assert_eq!((standing.iteration, standing.positions), (5, positions));
    assert_eq!(&state, learner.state());
}
