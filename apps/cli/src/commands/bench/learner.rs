//! `turnstone bench learner`: gradient steps per second of a config's network and batch.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use turnstone_models::{Example, ILLEGAL, Learner, OptimiserConfig, TrainingBatch};
use turnstone_selfplay::Games;

use super::inference::positions;
use super::subject::{Limit, Rows, Subject, thread_counts};
use turnstone_agents::shape;

#[derive(Args, Debug)]
pub(crate) struct LearnerSteps {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    limit: Limit,
    /// Numbers of threads [default: 1 and one per core]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Vec<u32>,
    /// Seconds per measurement
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    threads: usize,
    instructions: String,
    steps_per_second: f64,
}

impl LearnerSteps {
    pub(super) fn run(&self, games: &Games) -> Result<ExitCode> {
        let time = Duration::try_from_secs_f64(self.seconds)?;
        let config = self.subject.config(games)?;
        let instructions = self.limit.apply(false)?;
        let game = config.game(games).map_err(anyhow::Error::msg)?;
        let rows = config.learn.batch;
        let shape = shape(game.spec());
        let optimiser = OptimiserConfig { further: Vec::new(), ..config.learn.optimiser() };
        let mut learner = Learner::new(shape.clone(), &config.net, &optimiser, config.seed)?;
        let mut batch = TrainingBatch::new(shape.clone());
        let mut inputs = vec![0.0; shape.inputs];
        for state in positions(&*game, rows) {
            game.observe(&state, &mut inputs);
            let mut policy = vec![ILLEGAL; shape.actions];
            let actions = game.legal_actions(&state);
            for &action in &*actions {
                let index = game.spec().policy_index(game.mover(&state), action);
                policy[index] = 1.0 / actions.len() as f32;
            }
            batch.push(Example { inputs: &inputs, targets: &[Some(&policy), Some(&[0.5, 0.25, 0.25])] })?;
        }
        let (net, parameters) = (&config.net, learner.weights().count());
        let columns = format!("{:>8}{:>12}", "threads", "steps/s");
        let mut results =
            Rows::new(self.json, &format!("{net}, {instructions}, {parameters} parameters, batch {rows}\n{columns}"));
        for threads in thread_counts(&self.threads) {
            learner.use_threads(threads);
            learner.step(&batch, 1e-4)?;
            let (start, mut steps) = (Instant::now(), 0u32);
            while start.elapsed() < time {
                learner.step(&batch, 1e-4)?;
                steps += 1;
            }
            let steps_per_second = f64::from(steps) / start.elapsed().as_secs_f64();
            let row = Row { threads, instructions: instructions.clone(), steps_per_second };
            results.add(row, &format!("{threads:>8}{steps_per_second:>12.1}"));
        }
        results.finish()
    }
}
