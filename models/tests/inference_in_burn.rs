//! Inference agrees with the forward pass in burn.

use super::common::shape;
use burn::tensor::{Device, Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::DynGame;
use turnstone_env::games::built_in;
use turnstone_models::{
    Inference, Instructions, Neighbourhood, NetworkConfig, PolicyValueNet, ResidualConv, ResidualGraph, ResidualMlp,
    Shape, TensorSpec, Weights,
};

/// A small graph network.
fn graph(reach: usize, neighbourhood: Neighbourhood) -> NetworkConfig {
    ResidualGraph { blocks: 2, channels: 20, reach, neighbourhood }.into()
}

/// A small network of convolutions.
fn conv(global_pooling: bool) -> NetworkConfig {
    ResidualConv { blocks: 2, channels: 20, global_pooling }.into()
}

fn networks() -> [NetworkConfig; 6] {
    [
        ResidualMlp { blocks: 2, width: 32 }.into(),
        graph(1, Neighbourhood::Lines),
        graph(3, Neighbourhood::Lines),
        graph(1, Neighbourhood::Square),
        conv(false),
        conv(true),
    ]
}

/// Features of positions from random games, `[rows, features]`.
fn positions(game: &dyn DynGame, rows: usize) -> Vec<f32> {
    let features = game.spec().features();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    let (mut inputs, mut state) = (vec![0.0; rows * features], game.start());
    for row in inputs.chunks_exact_mut(features) {
        game.observe(&state, row);
        let legal = game.legal_actions(&state);
        game.play(&mut state, legal[rng.random_range(0..legal.len())]);
        if game.outcome(&state).is_some() {
            state = game.start();
        }
    }
    inputs
}

/// Weights so large that every layer contributes to the outputs.
fn weights(layout: &[TensorSpec]) -> Weights {
    let mut layout = layout.to_vec();
    layout.iter_mut().for_each(|spec| spec.deviation = spec.deviation.max(0.1));
    Weights::random(&layout, 5)
}

/// Compares the outputs for the first `batch` of `inputs`, relative to the largest output and 1.
fn assert_agree(inference: &mut Inference, net: &PolicyValueNet, batch: usize, inputs: &[f32], what: &str) {
    let width = inference.shape().inputs;
    let x = &inputs[..batch * width];
    let rows = TensorData::new(x.to_vec(), [batch, width]);
    let expected = net.forward(Tensor::from_data(rows, &Device::flex()));
    let found = inference.evaluate(batch, x);
    for (found, expected) in [(found.policy, expected.policy), (found.value, expected.value)] {
        let expected: Vec<f32> = expected.into_data().try_into_vec().unwrap();
        assert_eq!(found.len(), expected.len(), "{what}, {batch} rows");
        let error = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        let size = expected.iter().fold(1.0_f32, |a, b| a.max(b.abs()));
        assert!(error <= 2e-5 * size, "{what}, {batch} rows: {error} of {size}");
    }
}

#[test]
fn every_network_on_every_game() {
    for game in built_in().defaults() {
        let (name, shape, inputs) = (game.name(), shape(game.spec()), positions(&*game, 33));
        for config in networks() {
            let Ok(layout) = config.layout(&shape) else {
                // A board that is drawn as one row of points has no square.
                let needs_lattice = [graph(1, Neighbourhood::Square), conv(false), conv(true)];
                assert!(needs_lattice.contains(&config) && game.spec().lattice[0] == 1, "{name}, {config}");
                continue;
            };
            let weights = weights(&layout);
            let net = PolicyValueNet::new(&config, &shape, &weights, &Device::flex()).unwrap();
            let mut inference = Inference::new(&weights, &config, &shape, 33).unwrap();
            for batch in [33, 1, 8] {
                assert_agree(&mut inference, &net, batch, &inputs, &format!("{name}, {config:?}"));
            }
            assert!(inference.evaluate(0, &[]).policy.is_empty());
        }
    }
}

#[test]
fn every_instruction_set_at_many_sizes() {
    for (blocks, width, inputs, actions) in [(0, 1, 1, 1), (1, 16, 7, 9), (3, 128, 128, 64), (2, 50, 33, 200)] {
        let (shape, config) = (Shape::flat(inputs, actions), NetworkConfig::from(ResidualMlp { blocks, width }));
        let weights = weights(&config.layout(&shape).unwrap());
        let net = PolicyValueNet::new(&config, &shape, &weights, &Device::flex()).unwrap();
        let spec = TensorSpec { name: String::new(), shape: vec![33 * inputs], deviation: 1.0 };
        let x = &Weights::random(&[spec], 9).tensors()[0].data.clone();
        for instructions in Instructions::available() {
            let inference = Inference::with_instructions(&weights, &config, &shape, 33, instructions);
            let mut inference = inference.unwrap();
            for batch in [1, 3, 8, 33, 2] {
                assert_agree(&mut inference, &net, batch, x, &format!("{instructions:?}, {config:?}"));
            }
        }
    }
}
