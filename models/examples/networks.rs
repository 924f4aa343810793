//! Compares the kinds of network on the games' boards, in one thread: parameters, learner steps per second at batch 256,
//! evaluations per second at batch 32; for Konane also burn's own convolutions at the size of a residual_graph.
//!
//! `cargo run --release -p turnstone-models --features train --example networks [game]...`

use std::hint::black_box;
use std::time::Instant;

use burn::tensor::activation::relu;
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Tensor, TensorData};
use turnstone_env::games::built_in;
use turnstone_env::{DynGame, Params, Spec};
use turnstone_models::{Board, Example, Inference, Learner, NetworkConfig, OptimiserConfig, Shape, TrainingBatch};

const BATCH: usize = 256;
const NETWORKS: &[&str] = &[
    r#"{"kind":"residual_mlp","blocks":4,"width":128}"#,
    r#"{"kind":"residual_graph","blocks":3,"channels":32}"#,
    r#"{"kind":"residual_graph","blocks":4,"channels":48}"#,
    r#"{"kind":"residual_graph","blocks":4,"channels":48,"reach":2}"#,
    r#"{"kind":"residual_graph","blocks":4,"channels":48,"neighbourhood":"square"}"#,
    r#"{"kind":"residual_graph","blocks":6,"channels":64}"#,
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let games = if named.is_empty() { ["konane", "morabaraba", "morris"].map(String::from).into() } else { named };
    for name in games {
        let game = built_in().make(&name, &Params::new())?;
        let shape = shape(game.spec());
        let batch = batch(&*game, &shape)?;
        println!("\n{name}\n| network | parameters | steps/s | evaluations/s |\n|---|---|---|---|");
        for text in NETWORKS {
            let network: NetworkConfig = serde_json::from_str(text)?;
            if network.layout(&shape).is_ok() {
                measure(&network, &shape, &batch)?;
            }
        }
        if name == "konane" {
            for channels in [32, 48, 64] {
                println!(
                    "| one block of burn's convolutions, {channels} channels | | {:.1} | |",
                    convolutions(channels)
                );
            }
        }
    }
    Ok(())
}

fn measure(network: &NetworkConfig, shape: &Shape, batch: &TrainingBatch) -> Result<(), Box<dyn std::error::Error>> {
    let mut learner = Learner::new(shape.clone(), network, &OptimiserConfig::default(), 1)?;
    let parameters = learner.weights().count();
    let steps = rate(|| {
        learner.step(batch, 1e-3).expect("the batch is sound");
    });
    let mut inference = Inference::new(learner.weights(), network, shape, 32)?;
    let calls = rate(|| {
        black_box(inference.evaluate(32, &batch.inputs()[..32 * shape.inputs]));
    });
    println!("| {} | {parameters} | {steps:.1} | {:.0} |", serde_json::to_string(network)?, 32.0 * calls);
    Ok(())
}

/// Steps per second, forwards and backwards, of one residual block of two 3x3 convolutions on an 8x8 board.
fn convolutions(channels: usize) -> f64 {
    let device = Device::flex().autodiff();
    let tensor = |dims: [usize; 4]| {
        let count: usize = dims.iter().product();
        let numbers: Vec<f32> = (0..count).map(|i| (i * 7919 % 1013) as f32 / 5065.0 - 0.1).collect();
        Tensor::<4>::from_data(TensorData::new(numbers, dims), &device).require_grad()
    };
    let (x, weights) = (tensor([BATCH, channels, 8, 8]), [(); 2].map(|()| tensor([channels, channels, 3, 3])));
    let convolution =
        |x, weight: &Tensor<4>| conv2d(x, weight.clone(), None, ConvOptions::new([1; 2], [1; 2], [1; 2], 1));
    rate(|| {
        let inner = relu(convolution(x.clone(), &weights[0]));
        let gradients = relu(x.clone() + convolution(inner, &weights[1])).sum().backward();
        black_box((x.grad(&gradients), weights.each_ref().map(|weight| weight.grad(&gradients))));
    })
}

/// Positions of games in which the legal actions are played in turn, with uniform targets.
fn batch(game: &dyn DynGame, shape: &Shape) -> Result<TrainingBatch, turnstone_models::BatchError> {
    let (mut batch, mut state) = (TrainingBatch::new(shape.clone()), game.start());
    let mut inputs = vec![0.0; shape.inputs];
    for number in 0..BATCH {
        game.observe(&state, &mut inputs);
        let actions = game.legal_actions(&state);
        let mut legal = vec![false; shape.actions];
        let mut policy = vec![0.0; shape.actions];
        for &action in &actions {
            let index = game.spec().policy_index(game.mover(&state), action);
            (legal[index], policy[index]) = (true, 1.0 / actions.len() as f32);
        }
        let value = [0.5, 0.2, 0.3];
        batch.push(Example { inputs: &inputs, legal: &legal, policy: &policy, value })?;
        game.play(&mut state, actions[number % actions.len()]);
        if game.outcome(&state).is_some() {
            state = game.start();
        }
    }
    Ok(batch)
}

fn shape(spec: &Spec) -> Shape {
    let board = Board {
        point_planes: spec.point_planes.len(),
        points: spec.points,
        directions: spec.directions.clone(),
        lattice: spec.lattice,
        cells: spec.cells.clone(),
    };
    Shape { inputs: spec.features(), actions: spec.actions, board, action_kinds: spec.kinds() }
}

/// Calls of `f` per second, the best of five runs of a quarter of a second.
fn rate(mut f: impl FnMut()) -> f64 {
    let mut run = || {
        let (start, mut calls) = (Instant::now(), 0);
        while start.elapsed().as_secs_f64() < 0.25 {
            f();
            calls += 1;
        }
        f64::from(calls) / start.elapsed().as_secs_f64()
    };
    (0..5).map(|_| run()).fold(0.0, f64::max)
}
