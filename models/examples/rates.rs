//! Measures one thread and prints a JSON line per measurement: evaluations per second of two networks by batch size,
//! here and through burn, learner steps per second at batch 256, and the processor's ceiling in operations per second.
//!
//! `cargo run --release -p turnstone-models --features train --example rates -- --batch 8 mlp/turnstone` measures one batch
//! size and the names that start with one of the other arguments; without arguments it measures all.
//! `benches/side_by_side.py` compares it with other programs.

use std::hint::black_box;
use std::time::Instant;

use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{Linear, LinearConfig, PaddingConfig2d};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor, TensorData};
use turnstone_models::{
    Example, Finish, Inference, Instructions, Layer, Learner, Neighbours, NetworkConfig, OptimiserConfig,
    PolicyValueNet, ResidualMlp, Shape, TensorSpec, TrainingBatch, Weights,
};

const SHAPE: Shape = Shape::flat(128, 64);
const BATCHES: [usize; 4] = [1, 8, 32, 128];

fn mlp() -> NetworkConfig {
    ResidualMlp { blocks: 3, width: 128 }.into()
}

type Failure = Box<dyn std::error::Error>;

// long because it lists the measurements in their order
fn main() -> Result<(), Failure> {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut batches = BATCHES.to_vec();
    if wanted.first().is_some_and(|option| option == "--batch") {
        let batch = wanted.drain(..wanted.len().min(2)).next_back().ok_or("--batch needs a number")?;
        batches = vec![batch.parse()?];
    }
    let measure = |name: &str, batch: usize, f: &mut dyn FnMut()| {
        if wanted.is_empty() || wanted.iter().any(|prefix| name.starts_with(prefix)) {
            println!(r#"{{"name": "{name}", "batch": {batch}, "per_second": {:.1}}}"#, batch as f64 * rate(f));
        }
    };
    let start = Instant::now();
    for instructions in Instructions::available() {
        let peak = instructions.peak(|| start.elapsed());
        println!(r#"{{"name": "peak/{instructions:?}", "batch": 1, "per_second": {peak:.0}}}"#);
    }
    let mut learner = Learner::new(SHAPE, &mlp(), &OptimiserConfig::default(), 1)?;
    let numbers = random(256 * 512, 1.0);
    let device = Device::flex();
    let net = PolicyValueNet::new(&mlp(), &SHAPE, learner.weights(), &device)?;
    let (tower, burn_tower) = (Tower::new(), BurnTower::new(&device));
    for batch in batches {
        for instructions in Instructions::available() {
            let mut inference = Inference::with_instructions(learner.weights(), &mlp(), &SHAPE, batch, instructions)?;
            let mut evaluate = || {
                black_box(inference.evaluate(batch, &numbers[..batch * SHAPE.inputs]));
            };
            measure(&format!("mlp/{}", engine(instructions)), batch, &mut evaluate);
            let (tower, mut rooms) = (tower.clone().with_instructions(instructions), Rooms::new(batch));
            let mut evaluate = || tower.evaluate(batch, &numbers[..batch * 512], black_box(&mut rooms));
            measure(&format!("tower/{}", engine(instructions)), batch, &mut evaluate);
        }
        measure("mlp/burn flex", batch, &mut || {
            let rows = TensorData::new(numbers[..batch * SHAPE.inputs].to_vec(), [batch, SHAPE.inputs]);
            let output = net.forward(Tensor::from_data(rows, &device));
            black_box((output.policy.into_data(), output.value.into_data()));
        });
        measure("tower/burn flex", batch, &mut || {
            let boards = TensorData::new(numbers[..batch * 512].to_vec(), [batch, 8, 8, 8]);
            let (policy, value) = burn_tower.forward(Tensor::from_data(boards, &device));
            black_box((policy.into_data(), value.into_data()));
        });
    }
    let (mut batch, policy) = (TrainingBatch::new(SHAPE), [1.0 / SHAPE.actions as f32; 64]);
    for inputs in numbers.chunks_exact(SHAPE.inputs).take(256) {
        let value = [0.5, 0.25, 0.25];
        batch.push(Example { inputs, legal: &[true; 64], policy: &policy, value })?;
    }
    measure("training/turnstone", 1, &mut || {
        learner.step(&batch, 1e-3).expect("the batch is sound");
    });
    Ok(())
}

/// The best that the processor has is the engine itself; the others are named.
fn engine(instructions: Instructions) -> String {
    if instructions == Instructions::best() { "turnstone".into() } else { format!("turnstone {instructions:?}") }
}

/// Calls of `f` per second, the best of a third of a second in short runs, which a neighbour on the processor seldom
/// all disturbs.
fn rate(f: &mut dyn FnMut()) -> f64 {
    let mut run = || {
        let (start, mut calls) = (Instant::now(), 0);
        loop {
            f();
            calls += 1;
            let seconds = start.elapsed().as_secs_f64();
            if seconds > 0.003 {
                return f64::from(calls) / seconds;
            }
        }
    };
    let (start, mut best) = (Instant::now(), 0.0_f64);
    while start.elapsed().as_secs_f64() < 0.33 {
        best = best.max(run());
    }
    best
}

fn random(count: usize, deviation: f64) -> Vec<f32> {
    let spec = TensorSpec { name: String::new(), shape: vec![count], deviation };
    Weights::random(&[spec], 9).tensors()[0].data.clone()
}

fn layer(taps: usize, inputs: usize, outputs: usize) -> Layer {
    let weight = random(taps * inputs * outputs, (2.0 / (taps * inputs) as f64).sqrt());
    Layer::new(&weight, &vec![0.0; outputs], taps)
}

/// A convolutional network on an 8x8 board of 8 planes: stem, four residual blocks of 64 channels, small heads.
#[derive(Clone)]
struct Tower {
    neighbours: Neighbours,
    /// The stem, then two for each block.
    convolutions: Vec<Layer>,
    /// To 2 planes, then to 64 actions.
    policy: [Layer; 2],
    /// To a plane, to 64 hidden, to 3 outcomes.
    value: [Layer; 3],
}

/// What a [`Tower`] writes to.
struct Rooms {
    stream: Vec<f32>,
    inner: Vec<f32>,
    policy: [Vec<f32>; 2],
    value: [Vec<f32>; 3],
}

impl Rooms {
    fn new(batch: usize) -> Rooms {
        let room = |per_board: usize| vec![0.0; batch * per_board];
        Rooms {
            stream: room(64 * 64),
            inner: room(64 * 64),
            policy: [room(128), room(64)],
            value: [room(64), room(64), room(3)],
        }
    }
}

impl Tower {
    fn new() -> Tower {
        Tower {
            neighbours: Neighbours::grid(8, 8, 3),
            convolutions: (0..9).map(|i| layer(9, if i == 0 { 8 } else { 64 }, 64)).collect(),
            policy: [layer(1, 64, 2), layer(1, 128, 64)],
            value: [layer(1, 64, 1), layer(1, 64, 64), layer(1, 64, 3)],
        }
    }

    fn with_instructions(mut self, instructions: Instructions) -> Tower {
        for layer in self.convolutions.iter_mut().chain(&mut self.policy).chain(&mut self.value) {
            layer.set_instructions(instructions);
        }
        self
    }

    fn evaluate(&self, batch: usize, boards: &[f32], Rooms { stream, inner, policy, value }: &mut Rooms) {
        self.convolutions[0].apply_around(batch, &self.neighbours, boards, stream, Finish::Relu);
        for block in self.convolutions[1..].chunks_exact(2) {
            block[0].apply_around(batch, &self.neighbours, stream, inner, Finish::Relu);
            block[1].apply_around(batch, &self.neighbours, inner, stream, Finish::AddRelu);
        }
        let [planes, actions] = policy;
        self.policy[0].apply(batch * 64, stream, planes, Finish::Relu);
        self.policy[1].apply(batch, planes, actions, Finish::Plain);
        let [plane, hidden, outcomes] = value;
        self.value[0].apply(batch * 64, stream, plane, Finish::Relu);
        self.value[1].apply(batch, plane, hidden, Finish::Relu);
        self.value[2].apply(batch, hidden, outcomes, Finish::Plain);
    }
}

/// The same network in burn.
struct BurnTower {
    convolutions: Vec<Conv2d>,
    policy: (Conv2d, Linear),
    value: (Conv2d, Linear, Linear),
}

impl BurnTower {
    fn new(device: &Device) -> BurnTower {
        let around = |inputs| {
            let padding = PaddingConfig2d::Explicit(1, 1, 1, 1);
            Conv2dConfig::new([inputs, 64], [3, 3]).with_padding(padding).init(device)
        };
        let point = |outputs| Conv2dConfig::new([64, outputs], [1, 1]).init(device);
        let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        BurnTower {
            convolutions: (0..9).map(|i| around(if i == 0 { 8 } else { 64 })).collect(),
            policy: (point(2), linear(128, 64)),
            value: (point(1), linear(64, 64), linear(64, 3)),
        }
    }

    fn forward(&self, boards: Tensor<4>) -> (Tensor<2>, Tensor<2>) {
        let mut x = relu(self.convolutions[0].forward(boards));
        for block in self.convolutions[1..].chunks_exact(2) {
            let inner = relu(block[0].forward(x.clone()));
            x = relu(x + block[1].forward(inner));
        }
        let policy = relu(self.policy.0.forward(x.clone())).flatten(1, 3);
        let value = relu(self.value.0.forward(x)).flatten(1, 3);
        (self.policy.1.forward(policy), self.value.2.forward(relu(self.value.1.forward(value))))
    }
}
