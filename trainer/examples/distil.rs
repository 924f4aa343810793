//! Trains a network of another shape on the positions that a run keeps: `distil RUN OUT STEPS [KEY=VALUE]...`.
//!
//! Prints the losses of the last tenth of the steps. The network is the average of the learner's, as in a run.

use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use turnstone_agents::checkpoint_info;
use turnstone_base::streams::{Purpose, stream};
use turnstone_models::Learner;
use turnstone_trainer::config::{Config, Override};
use turnstone_trainer::learn::{BatchMaker, learning_rate};
use turnstone_trainer::run_folder::RunFolder;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    ensure!(args.len() >= 3, "usage: distil RUN OUT STEPS [KEY=VALUE]...");
    let games = turnstone_games::built_in();
    let folder = RunFolder::open(Path::new(&args[0]))?;
    let overrides: Vec<Override> =
        args[3..].iter().map(|text| text.parse().map_err(|e: String| anyhow!(e))).collect::<Result<_>>()?;
    let config = Config::read(&folder.config(), &games)?.with(&overrides, &games).map_err(|e| anyhow!(e))?;
    let game = config.game(&games).map_err(|e| anyhow!(e))?;
    let (_, standing) = folder.load_state()?;
    let (window, damaged) = folder.load_window(&standing, &*game);
    ensure!(damaged.is_empty(), "{}: damaged shards", args[0]);
    let steps: u64 = args[2].parse().context("STEPS")?;
    let shape = turnstone_agents::shape(game.spec());
    let mut learner = Learner::new(shape, &config.net, &config.learn.optimiser(), config.seed)?;
    let mut maker = BatchMaker::new(game.spec(), &config.learn);
    let mut rng = stream(config.seed, Purpose::Learn, [0, 0]);
    let (mut policy, mut value, mut count) = (0.0, 0.0, 0.0);
    for step in 0..steps {
        let rate = learning_rate(&config.learn, step, step as f64 / steps as f64);
        let report = learner.step(maker.draw(&window, &mut rng), rate)?;
        if step >= steps - steps / 10 {
            policy += report.policy_divergence;
            value += report.value_loss;
            count += 1.0;
        }
    }
    let info = checkpoint_info(&*game, &config.net, &config.search.settings(), steps);
    turnstone_models::save(Path::new(&args[1]), &info, learner.averaged())?;
    println!("{} positions {} policy {:.4} value {:.4}", args[1], window.len(), policy / count, value / count);
    Ok(())
}
