//! Measures one thread: evaluations per second by batch size, and learner steps per second at batch 256.
//!
//! `cargo run --release -p turnstone-models --example rates`

use std::hint::black_box;
use std::time::Instant;

use burn::tensor::{Device, Tensor, TensorData};
use turnstone_models::{Batch, Example, Inference, Learner, NetworkConfig, OptimiserConfig, PolicyValueNet, Shape};

const SHAPE: Shape = Shape::flat(128, 64);
const NETWORK: NetworkConfig = NetworkConfig::ResidualMlp { blocks: 3, width: 128 };

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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut learner = Learner::new(SHAPE, &NETWORK, &OptimiserConfig::default(), 1)?;
    println!("residual MLP, {} parameters", learner.weights().count());
    let inputs: Vec<f32> = (0..128 * SHAPE.inputs).map(|i| (i % 7) as f32 - 3.0).collect();
    let mut inference = Inference::new(learner.weights(), &NETWORK, &SHAPE, 128)?;
    let net = PolicyValueNet::new(&NETWORK, &SHAPE, learner.weights(), &Device::flex())?;
    for batch in [1, 6, 8, 12, 32, 36, 128] {
        let calls = rate(|| {
            black_box(inference.evaluate(batch, &inputs[..batch * SHAPE.inputs]));
        });
        let plain = rate(|| {
            let rows = TensorData::new(inputs[..batch * SHAPE.inputs].to_vec(), [batch, SHAPE.inputs]);
            let output = net.forward(Tensor::from_data(rows, &Device::flex()));
            black_box((output.policy.into_data(), output.value.into_data()));
        });
        let (calls, plain) = (calls * batch as f64, plain * batch as f64);
        println!("batch {batch:3}: {calls:8.0} evaluations/s, through burn {plain:8.0}");
    }
    let (mut batch, policy) = (Batch::new(SHAPE), [1.0 / SHAPE.actions as f32; 64]);
    for row in 0..256 {
        let inputs = &inputs[row % 128 * SHAPE.inputs..][..SHAPE.inputs];
        batch.push(Example { inputs, legal: &[true; 64], policy: &policy, value: [0.5, 0.25, 0.25] })?;
    }
    let steps = rate(|| {
        learner.step(&batch, 1e-3).expect("the batch is sound");
    });
    println!("learner, batch 256: {steps:.0} steps/s");
    Ok(())
}
