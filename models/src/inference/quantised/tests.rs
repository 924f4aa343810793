//! Whole networks: the same bits with every instruction set and batch size, and close to the networks of floats.

use std::sync::Arc;

use super::*;
use crate::inference::{Inference, Instructions, IntegerInstructions};
use crate::kinds::tests::everything::Everything;
use crate::kinds::{NetworkConfig, ResidualConv, ResidualGraph, ResidualMlp};
use crate::network::NetworkKind;
use crate::shape::{BoardShape, Neighbourhood};
use crate::weights::TensorSpec;

/// Seven points on a line of two directions, with two planes and three scalars.
fn shape() -> Shape {
    let right = (0..7).map(|point| (point < 6).then_some(point + 1)).collect();
    let left = (0..7_u16).map(|point| point.checked_sub(1)).collect();
    let board = BoardShape {
        point_planes: 2,
        points: 7,
        directions: vec![right, left],
        lattice: [2, 4],
        cells: (0..7).collect(),
    };
    Shape { board, ..Shape::flat(17, 25) }
}

fn configs() -> Vec<NetworkConfig> {
    let neighbourhood = Neighbourhood::Lines;
    let conv = |global_pooling| ResidualConv { blocks: 2, channels: 20, global_pooling };
    vec![
        ResidualMlp { blocks: 0, width: 1 }.into(),
        ResidualMlp { blocks: 2, width: 50 }.into(),
        ResidualMlp { blocks: 3, width: 128 }.into(),
        ResidualGraph { blocks: 2, channels: 20, reach: 2, neighbourhood }.into(),
        ResidualGraph { blocks: 0, channels: 48, reach: 1, neighbourhood }.into(),
        conv(false).into(),
        conv(true).into(),
        Everything::default().into(),
    ]
}

/// Weights so large that every layer contributes to the outputs.
fn weights(config: &NetworkConfig) -> Weights {
    let mut layout = config.layout(&shape()).unwrap();
    layout.iter_mut().for_each(|spec| spec.deviation = spec.deviation.max(0.1));
    Weights::random(&layout, 5)
}

/// Flags, and in the last column numbers of both signs.
fn observations(rows: usize, seed: u64) -> Vec<f32> {
    let spec = TensorSpec { name: String::new(), shape: vec![rows, 17], deviation: 0.5 };
    let mut numbers = Weights::random(&[spec], seed).tensors()[0].data.clone();
    for row in numbers.chunks_exact_mut(17) {
        row[..16].iter_mut().for_each(|x| *x = f32::from(u8::from(*x > 0.2)));
    }
    numbers
}

fn quantised(config: &NetworkConfig, samples: &[f32]) -> Arc<QuantisedNetwork> {
    Arc::new(QuantisedNetwork::new(&weights(config), config, &shape(), samples).unwrap())
}

#[test]
fn instruction_sets_and_batch_sizes_do_not_change_a_bit() {
    const ROWS: usize = 101;
    let x = observations(ROWS, 3);
    for config in configs() {
        let network = quantised(&config, &observations(200, 4));
        let mut reference = Inference::quantised_with_instructions(&network, ROWS, IntegerInstructions::Portable);
        let expected = reference.evaluate(ROWS, &x);
        assert!(
            expected.policy.iter().any(|&logit| logit != expected.policy[0])
                || config.to_string().contains(" 0 blocks")
        );
        for instructions in IntegerInstructions::available() {
            for batch in [1, 2, 5, 8, 27, 32, 48, 100, ROWS] {
                let mut engine = Inference::quantised_with_instructions(&network, batch, instructions);
                for first in (0..ROWS).step_by(batch) {
                    let rows = batch.min(ROWS - first);
                    let found = engine.evaluate(rows, &x[first * 17..][..rows * 17]);
                    let bits = |logits: &[f32]| logits.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    let [policy, value] =
                        [&expected.policy[first * 25..][..rows * 25], &expected.value[first * 3..][..rows * 3]];
                    assert_eq!(bits(found.policy), bits(policy), "{config}: {instructions:?}, {batch} rows");
                    assert_eq!(bits(found.value), bits(value), "{config}: {instructions:?}, {batch} rows");
                }
            }
        }
    }
}

#[test]
fn outputs_are_close_to_those_of_floats() {
    let x = observations(300, 3);
    for config in configs() {
        let network = quantised(&config, &observations(300, 4));
        let mut integers = Inference::quantised(&network, 300);
        let weights = weights(&config);
        let mut floats =
            Inference::with_instructions(&weights, &config, &shape(), 300, Instructions::Portable).unwrap();
        let (found, expected) = (integers.evaluate(300, &x), floats.evaluate(300, &x));
        for (found, expected) in [(found.policy, expected.policy), (found.value, expected.value)] {
            let mean = expected.iter().sum::<f32>() / expected.len() as f32;
            let size = (expected.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / expected.len() as f32).sqrt();
            let errors = found.iter().zip(expected).map(|(a, b)| (a - b).powi(2));
            let error = (errors.sum::<f32>() / expected.len() as f32).sqrt();
            // Numbers of both signs pass through several layers of the made-up network.
            let share = if config.kind() == Everything::NAME { 0.1 } else { 0.05 };
            assert!(error < share * size, "{config}: error {error}, deviation {size}");
        }
    }
}

#[test]
fn equal_samples_give_equal_networks_and_none_are_allowed() {
    for config in configs() {
        let [one, same, other] = [4, 4, 5].map(|seed| format!("{:?}", quantised(&config, &observations(50, seed))));
        assert!(one == same && one != other, "{config}");
        let network = quantised(&config, &[]);
        let mut engine = Inference::quantised(&network, 2);
        assert!(engine.evaluate(2, &observations(2, 1)).policy.iter().all(|logit| logit.is_finite()));
        assert!(engine.evaluate(0, &[]).policy.is_empty());
    }
}

#[test]
fn faults_are_named() {
    let config = ResidualMlp { blocks: 1, width: 16 }.into();
    let fault = |weights: &Weights| QuantisedNetwork::new(weights, &config, &shape(), &[]).unwrap_err().to_string();
    assert_eq!(fault(&Weights::random(&[], 1)), "tensor `stem.weight` is missing");
}

#[test]
#[should_panic(expected = "observations of 17 inputs")]
fn samples_are_whole_observations() {
    quantised(&NetworkConfig::default(), &[0.0; 18]);
}
