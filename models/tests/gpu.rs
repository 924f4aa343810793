//! The first GPU against the processor: forward pass, loss, gradients and a step of the learner, for every kind of network.
//! Mesa's software Vulkan will do.

use super::common::shape;
use super::gradients::{Everything, batch_of, further, learner_of, optimiser};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::Konane;
use turnstone_env::{Params, Rules};
use turnstone_models::{
    ComputeDevice, GpuInference, Inference, Neighbourhood, NetworkConfig, NetworkError, OptimiserConfig, Precision,
    ResidualConv, ResidualGraph, ResidualMlp, Shape, Weights, gpus,
};

const GPU: ComputeDevice = ComputeDevice::Gpu(0);
/// Relative to the largest number of a tensor, or to 1 where that is larger.
const TOLERANCE: f32 = 1e-4;
/// The same with floats of 16 bits: eight bits of bf16's mantissa, over a few layers.
const HALF_TOLERANCE: f32 = 5e-2;

/// A network of every kind and variant, on a board with holes or on one that fills its lattice, where burn's own convolutions
/// run. They are small: a GPU in software takes a second to compile a kernel.
fn cases() -> Vec<(Shape, NetworkConfig)> {
    let konane = Konane::default().with_params(&Params::new().with("size", 4)).unwrap();
    let (holes, lattice) = (super::gradients::shape(), shape(&konane.spec()));
    let graph = |neighbourhood| {
        NetworkConfig::from(ResidualGraph { blocks: 1, channels: 16, reach: 1, neighbourhood, ..Default::default() })
    };
    let conv = |global_pooling| {
        NetworkConfig::from(ResidualConv { blocks: 1, channels: 16, global_pooling, ..Default::default() })
    };
    vec![
        (holes.clone(), ResidualMlp { blocks: 1, width: 32 }.into()),
        (holes.clone(), graph(Neighbourhood::Lines)),
        (holes.clone(), conv(true)),
        (lattice.clone(), graph(Neighbourhood::Square)),
        (lattice.clone(), conv(false)),
        (lattice, conv(true)),
        (holes, Everything {}.into()),
    ]
}

fn largest(numbers: &[f32]) -> f32 {
    numbers.iter().fold(0.0, |most, x| most.max(x.abs()))
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    assert!(b.iter().all(|x| x.is_finite()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Weights so large that every layer contributes to the outputs.
fn weights(network: &NetworkConfig, shape: &Shape) -> Weights {
    let mut layout = network.layout(shape).unwrap();
    layout.iter_mut().for_each(|spec| spec.deviation = spec.deviation.max(0.1));
    Weights::random(&layout, 5)
}

#[test]
fn there_is_a_gpu() {
    let all = gpus().unwrap();
    println!("{all:?}");
    assert!(!all.is_empty(), "these tests need a GPU, or Debian's mesa-vulkan-drivers");
    assert_eq!(GPU.check(), Ok(()));
    assert!(ComputeDevice::Gpu(all.len()).check().unwrap_err().to_string().contains("the last one is gpu"));
}

#[test]
fn outputs_are_those_of_the_processor() {
    let half = gpus().unwrap()[0].half.is_some();
    for (shape, network) in cases() {
        let weights = weights(&network, &shape);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let batch = batch_of(&shape, &[], 13, 0.5, &mut rng);
        let mut inference = Inference::new(&weights, &network, &shape, 13).unwrap();
        let half_tolerance = if half { HALF_TOLERANCE } else { TOLERANCE };
        for (precision, tolerance) in [(Precision::F32, TOLERANCE), (Precision::Auto, half_tolerance)] {
            let on_gpu = GpuInference::new(&weights, &network, &shape, 0, precision, 13).unwrap();
            on_gpu.warm_up().unwrap();
            // Two batches under way at once, the second of one row.
            let inputs = batch.inputs();
            let under_way = [on_gpu.begin(13, inputs.to_vec()), on_gpu.begin(1, inputs[..shape.inputs].to_vec())];
            for (batch, rows) in under_way.into_iter().zip([13, 1]) {
                let found = on_gpu.finish(batch).unwrap();
                let expected = inference.evaluate(rows, &inputs[..rows * shape.inputs]);
                for (found, expected) in [(&found.policy, expected.policy), (&found.value, expected.value)] {
                    let error = distance(found, expected);
                    let bound = tolerance * largest(expected).max(1.0);
                    assert!(error <= bound, "{network}, {precision}, {rows} rows: {error} above {bound}");
                }
            }
        }
    }
}

#[test]
fn integers_are_for_the_processor() {
    let (shape, network) = (Shape::flat(4, 3), NetworkConfig::default());
    let weights = Weights::random(&network.layout(&shape).unwrap(), 1);
    let fault = GpuInference::new(&weights, &network, &shape, 0, Precision::I8, 1).unwrap_err();
    assert_eq!(fault, NetworkError::NoGpuIntegers);
}

#[test]
fn a_step_is_that_of_the_processor() {
    let optimiser = OptimiserConfig { further: further(), ..optimiser() };
    for (shape, network) in cases() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        let batch = batch_of(&shape, &optimiser.further, 16, 0.5, &mut rng);
        let mut here = learner_of(&shape, &network, &optimiser);
        let mut there = learner_of(&shape, &network, &OptimiserConfig { device: GPU, ..optimiser.clone() });
        let (expected, found) = (here.step(&batch, 1e-3).unwrap(), there.step(&batch, 1e-3).unwrap());
        let close = |a: f64, b: f64, what: &str| {
            assert!((a - b).abs() <= f64::from(TOLERANCE) * a.abs().max(1.0), "{network}, {what}: {a} {b}");
        };
        close(expected.total_loss, found.total_loss, "loss");
        close(expected.policy_loss, found.policy_loss, "policy loss");
        close(expected.value_loss, found.value_loss, "value loss");
        close(expected.policy_entropy, found.policy_entropy, "policy entropy");
        close(expected.gradient_norm, found.gradient_norm, "gradient norm");
        let (here, there) = (here.state(), there.state());
        for (expected, found) in here.moment1.tensors().iter().zip(there.moment1.tensors()) {
            // The first moment after the first step is a tenth of the gradient.
            let error = distance(&expected.data, &found.data);
            let bound = TOLERANCE * largest(&expected.data).max(1e-3);
            assert!(error <= bound, "{network}, gradient of {}: {error} above {bound}", expected.name);
        }
        for (expected, found) in here.weights.tensors().iter().zip(there.weights.tensors()) {
            let error = distance(&expected.data, &found.data);
            assert!(error <= TOLERANCE, "{network}, {} after the step: {error}", expected.name);
        }
    }
}
