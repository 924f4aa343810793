//! `turnstone bench inference`: evaluations per second of a network on one thread or a GPU, by batch size.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use rand::SeedableRng;
use serde::Serialize;
use turnstone_base::streams::Stream;
use turnstone_env::AnyState;
use turnstone_models::{ComputeDevice, GpuInference, NetworkConfig, QuantisedNetwork, Shape, Weights};
use turnstone_selfplay::{Games, TrainableGame};
use turnstone_trainer::config::SelfPlayConfig;

use super::subject::{Limit, Rows, Subject};
use turnstone_agents::shape;

#[derive(Args, Debug)]
pub(crate) struct Inference {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    limit: Limit,
    /// Batch sizes
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 32, 64, 128], value_parser = clap::value_parser!(u32).range(1..=65_536))]
    batch: Vec<u32>,
    /// Seconds per measurement
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    batch: u32,
    evaluations_per_second: f64,
    /// Of the processor; of no meaning on a GPU.
    instructions: String,
}

impl Inference {
    pub(super) fn run(&self, games: &Games) -> Result<ExitCode> {
        let time = Duration::try_from_secs_f64(self.seconds)?;
        let config = self.subject.config(games)?;
        let instructions = self.limit.apply(config.self_play.precision.is_quantised())?;
        let game = config.game(games).map_err(anyhow::Error::msg)?;
        let most = self.batch.iter().copied().max().unwrap_or(1) as usize;
        let (shape, inputs) = (shape(game.spec()), observations(&*game, most));
        let weights = Weights::random(&config.net.layout(&shape)?, 1);
        let place = match config.self_play.device {
            ComputeDevice::Cpu => format!("one thread, {instructions}"),
            gpu => gpu.to_string(),
        };
        let (net, cost) = (&config.net, config.net.cost(&shape)?);
        let costs = format!("{} parameters, {} multiply-adds per position", cost.parameters, cost.multiply_adds);
        let columns = format!("{:>6}{:>16}", "batch", "evaluations/s");
        let mut rows = Rows::new(self.json, &format!("{net}, {costs}, {place}\n{columns}"));
        for &batch in &self.batch {
            let rate = bare_rate(&config.net, &weights, &shape, &config.self_play, (batch as usize, &inputs), time)?;
            let row = Row { batch, evaluations_per_second: rate, instructions: instructions.clone() };
            rows.add(row, &format!("{batch:>6}{rate:>16.0}"));
        }
        rows.finish()
    }
}

/// Evaluations per second of the network alone on this thread, or on the GPU with two batches under way. `inputs`:
/// `[batch or more, features]`.
pub(super) fn bare_rate(
    net: &NetworkConfig,
    weights: &Weights,
    shape: &Shape,
    self_play: &SelfPlayConfig,
    (batch, inputs): (usize, &[f32]),
    time: Duration,
) -> Result<f64> {
    let precision = self_play.precision;
    if let ComputeDevice::Gpu(number) = self_play.device {
        let engine = GpuInference::new(weights, net, shape, number, precision, batch)?;
        return rate_on_gpu(&engine, batch, &inputs[..batch * shape.inputs], time);
    }
    let mut engine = if precision.is_quantised() {
        let network = QuantisedNetwork::new(weights, net, shape, inputs)?;
        turnstone_models::Inference::quantised(&Arc::new(network), batch)
    } else {
        turnstone_models::Inference::new(weights, net, shape, batch)?
    };
    let inputs = &inputs[..batch * shape.inputs];
    let mut calls = 0u64;
    engine.evaluate(batch, inputs);
    let start = Instant::now();
    while start.elapsed() < time {
        black_box(engine.evaluate(batch, black_box(inputs)));
        calls += 1;
    }
    Ok((calls * batch as u64) as f64 / start.elapsed().as_secs_f64())
}

/// Evaluations per second on a GPU.
fn rate_on_gpu(engine: &GpuInference, batch: usize, inputs: &[f32], time: Duration) -> Result<f64> {
    let mut calls = 0u64;
    // Kernels are compiled, and the fastest are chosen, in the first calls.
    for _ in 0..3 {
        engine.evaluate(batch, inputs)?;
    }
    let start = Instant::now();
    let mut under_way = engine.begin(batch, inputs.to_vec());
    while start.elapsed() < time {
        let next = engine.begin(batch, inputs.to_vec());
        black_box(engine.finish(std::mem::replace(&mut under_way, next))?);
        calls += 1;
    }
    black_box(engine.finish(under_way)?);
    Ok(((calls + 1) * batch as u64) as f64 / start.elapsed().as_secs_f64())
}

/// Positions after random plies.
pub(super) fn positions(game: &dyn TrainableGame, count: usize) -> Vec<AnyState> {
    let mut rng = Stream::seed_from_u64(1);
    (0..count).map(|_| game.random_opening(30, &mut rng).0).collect()
}

/// Observations of positions after random plies, `[count, features]`.
pub(super) fn observations(game: &dyn TrainableGame, count: usize) -> Vec<f32> {
    let features = game.spec().features();
    let mut inputs = vec![0.0; count * features];
    for (state, row) in positions(game, count).iter().zip(inputs.chunks_exact_mut(features)) {
        game.observe(state, row);
    }
    inputs
}
