//! The network frozen for one CPU thread: layers on kernels of our own, everything between the products fused into them.

mod neighbours;
mod kernel;
mod layer;
mod points;
mod graph;
mod mixer;

pub use kernel::{Finish, Instructions};
pub use layer::Layer;
pub use neighbours::Neighbours;

use std::slice::ChunksExact;

use self::graph::Graph;
use self::mixer::Mixer;
use crate::network::{NetworkConfig, NetworkError, OUTCOMES};
use crate::shape::Shape;
use crate::weights::{NamedTensor, Weights};

/// A network with its buffers, for one thread at a time; all buffers are made with it.
///
/// The result for a row depends neither on what stands in the other rows nor on how many there are, bit for bit.
/// Between processors it does: with AVX2 and with AVX-512 it is the same, without either it may differ in the last bits.
#[derive(Debug, Clone)]
pub struct Inference {
    shape: Shape,
    max_batch: usize,
    body: Body,
    /// `[max_batch, actions]`.
    policy_out: Vec<f32>,
    /// `[max_batch, 3]`.
    value_out: Vec<f32>,
}

/// The network by its kind.
#[derive(Debug, Clone)]
enum Body {
    Mlp(Mlp),
    Graph(Graph),
    Mixer(Mixer),
}

/// A residual MLP.
#[derive(Debug, Clone)]
struct Mlp {
    stem: Layer,
    blocks: Vec<[Layer; 2]>,
    policy: Layer,
    value_hidden: Layer,
    value: Layer,
    /// The residual stream, `[max_batch, width]`.
    stream: Vec<f32>,
    /// What a block or the value head computes on the side, `[max_batch, width or more]`.
    inner: Vec<f32>,
}

/// The layers of a network, one after the other in the order of its layout.
struct Layers<'a> {
    pairs: ChunksExact<'a, NamedTensor>,
    instructions: Instructions,
}

impl Layers<'_> {
    fn dense(&mut self) -> Layer {
        self.around(1)
    }

    /// The next layer, over so many taps.
    fn around(&mut self, taps: usize) -> Layer {
        let pair = self.pairs.next().expect("the layout has been checked");
        let mut layer = Layer::new(&pair[0].data, &pair[1].data, taps);
        layer.set_instructions(self.instructions);
        layer
    }
}

/// What the network says about each row: logits, not probabilities; see [`softmax`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predictions<'a> {
    /// Logits of all actions, legal or not, `[batch, actions]`.
    pub policy: &'a [f32],
    /// Logits of win, draw and loss for the mover, `[batch, 3]`.
    pub value: &'a [f32],
}

/// Turns logits into probabilities in place. For the priors of a position give it the logits of its legal actions.
pub fn softmax(logits: &mut [f32]) {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for x in logits.iter_mut() {
        *x = (*x - largest).exp();
        sum += *x;
    }
    let scale = 1.0 / sum;
    logits.iter_mut().for_each(|x| *x *= scale);
}

impl Inference {
    /// Freezes `weights` for batches of up to `max_batch` rows, for the best instructions that the processor has.
    ///
    /// # Errors
    /// A size out of range, or weights that are not those of the network.
    ///
    /// # Panics
    /// If `max_batch` is zero.
    pub fn new(
        weights: &Weights,
        config: &NetworkConfig,
        shape: &Shape,
        max_batch: usize,
    ) -> Result<Inference, NetworkError> {
        Self::with_instructions(weights, config, shape, max_batch, Instructions::best())
    }

    /// [`Inference::new`] for the instructions named.
    ///
    /// # Errors
    /// As [`Inference::new`].
    ///
    /// # Panics
    /// If the processor does not have them, or `max_batch` is zero.
    pub fn with_instructions(
        weights: &Weights,
        config: &NetworkConfig,
        shape: &Shape,
        max_batch: usize,
        instructions: Instructions,
    ) -> Result<Inference, NetworkError> {
        assert!(max_batch > 0, "an inference engine needs room for at least one row");
        weights.check(&config.layout(shape)?)?;
        let layers = Layers { pairs: weights.tensors().chunks_exact(2), instructions };
        let body = match (config, config.taps(shape)) {
            (&NetworkConfig::ResidualMlp { blocks, .. }, _) => Body::Mlp(Mlp::new(layers, blocks, max_batch)),
            (&NetworkConfig::Mixer { blocks, .. }, _) => Body::Mixer(Mixer::new(layers, blocks, shape, max_batch)),
            (&NetworkConfig::ResidualGraph { blocks, .. }, taps) => {
                let taps = taps.expect("a graph network has taps");
                Body::Graph(Graph::new(layers, blocks, &taps, shape, max_batch))
            }
        };
        Ok(Inference {
            shape: shape.clone(),
            max_batch,
            body,
            policy_out: vec![0.0; max_batch * shape.actions],
            value_out: vec![0.0; max_batch * OUTCOMES],
        })
    }

    /// Evaluates `batch` observations, `[batch, inputs]`.
    ///
    /// # Panics
    /// If `batch` is larger than the engine's `max_batch`, or `inputs` is not `batch` times the number of inputs long.
    pub fn evaluate(&mut self, batch: usize, inputs: &[f32]) -> Predictions<'_> {
        assert!(batch <= self.max_batch, "a batch of {batch} rows, but the engine has room for {}", self.max_batch);
        assert_eq!(inputs.len(), batch * self.shape.inputs, "{batch} rows of {} inputs", self.shape.inputs);
        let policy = &mut self.policy_out[..batch * self.shape.actions];
        let value = &mut self.value_out[..batch * OUTCOMES];
        match &mut self.body {
            Body::Mlp(mlp) => mlp.evaluate(batch, inputs, policy, value),
            Body::Graph(graph) => graph.evaluate(batch, inputs, policy, value),
            Body::Mixer(mixer) => mixer.evaluate(batch, inputs, policy, value),
        }
        Predictions { policy, value }
    }

    /// Shape of the game.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The most rows that a call may have.
    pub fn max_batch(&self) -> usize {
        self.max_batch
    }
}

impl Mlp {
    fn new(mut layers: Layers<'_>, blocks: usize, max_batch: usize) -> Mlp {
        let stem = layers.dense();
        let blocks = (0..blocks).map(|_| [layers.dense(), layers.dense()]).collect();
        let (policy, value_hidden, value) = (layers.dense(), layers.dense(), layers.dense());
        let width = stem.outputs();
        let stream = vec![0.0; max_batch * width];
        let inner = vec![0.0; max_batch * width.max(value_hidden.outputs())];
        Mlp { stem, blocks, policy, value_hidden, value, stream, inner }
    }

    fn evaluate(&mut self, batch: usize, inputs: &[f32], policy: &mut [f32], value: &mut [f32]) {
        let width = self.stem.outputs();
        let stream = &mut self.stream[..batch * width];
        self.stem.apply(batch, inputs, stream, Finish::Relu);
        for [first, second] in &self.blocks {
            let inner = &mut self.inner[..batch * width];
            first.apply(batch, stream, inner, Finish::Relu);
            second.apply(batch, inner, stream, Finish::AddRelu);
        }
        self.policy.apply(batch, stream, policy, Finish::Plain);
        let hidden = &mut self.inner[..batch * self.value_hidden.outputs()];
        self.value_hidden.apply(batch, stream, hidden, Finish::Relu);
        self.value.apply(batch, hidden, value, Finish::Plain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::matrix;
    use crate::network::{PolicyValueNet, read};
    use crate::weights::TensorSpec;
    use burn::tensor::Device;

    /// Weights large enough that no part of the network is silent.
    fn network(blocks: usize, width: usize, shape: &Shape) -> (NetworkConfig, Weights, Vec<TensorSpec>) {
        let config = NetworkConfig::ResidualMlp { blocks, width };
        let mut layout = config.layout(shape).unwrap();
        layout.iter_mut().for_each(|spec| spec.deviation = spec.deviation.max(0.1));
        let weights = Weights::random(&layout, 5);
        (config, weights, layout)
    }

    fn inputs(count: usize) -> Vec<f32> {
        let spec = TensorSpec { name: String::new(), shape: vec![count], deviation: 1.0 };
        Weights::random(&[spec], 9).tensors()[0].data.clone()
    }

    #[test]
    fn agrees_with_burn() {
        for (blocks, width, inputs_, actions) in [(0, 1, 1, 1), (1, 16, 7, 9), (3, 128, 128, 64), (2, 50, 33, 200)] {
            let shape = Shape::flat(inputs_, actions);
            let (config, weights, _) = network(blocks, width, &shape);
            let net = PolicyValueNet::new(&config, &shape, &weights, &Device::flex()).unwrap();
            for (batch, instructions) in
                [1, 3, 8, 33, 2].into_iter().flat_map(|b| Instructions::available().map(move |i| (b, i)))
            {
                let inference = Inference::with_instructions(&weights, &config, &shape, 33, instructions);
                let mut inference = inference.unwrap();
                let x = inputs(batch * inputs_);
                let expected = net.forward(matrix(&x, inputs_, &Device::flex()));
                let found = inference.evaluate(batch, &x);
                for (found, expected) in [(found.policy, read(expected.policy)), (found.value, read(expected.value))] {
                    assert_eq!(found.len(), expected.len());
                    let error = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                    let size = expected.iter().fold(1.0_f32, |a, b| a.max(b.abs()));
                    let error = error / size;
                    assert!(error <= 1e-5, "{instructions:?}, {blocks}x{width}, batch {batch}: {error}");
                }
            }
        }
    }

    #[test]
    fn a_row_does_not_depend_on_the_others() {
        let shape = Shape::flat(20, 11);
        let (config, weights, _) = network(2, 48, &shape);
        let mut inference = Inference::new(&weights, &config, &shape, 8).unwrap();
        for batch in [2, 5, 8] {
            let mut x = inputs(batch * 20);
            let first = inference.evaluate(batch, &x).policy[..11].to_vec();
            x[20..].iter_mut().for_each(|x| *x = 3.0 - *x);
            assert_eq!(inference.evaluate(batch, &x).policy[..11], first);
        }
        assert!(inference.evaluate(0, &[]).policy.is_empty());
    }

    #[test]
    fn a_row_is_the_same_in_a_batch_of_any_size() {
        let shape = Shape::flat(20, 11);
        let (config, weights, _) = network(2, 48, &shape);
        let mut inference = Inference::new(&weights, &config, &shape, 33).unwrap();
        let x = inputs(33 * 20);
        let together = inference.evaluate(33, &x);
        let (policy, value) = (together.policy.to_vec(), together.value.to_vec());
        for row in 0..33 {
            let alone = inference.evaluate(1, &x[row * 20..][..20]);
            assert_eq!(alone.policy, &policy[row * 11..][..11]);
            assert_eq!(alone.value, &value[row * 3..][..3]);
        }
    }

    #[test]
    #[should_panic(expected = "a batch of 9 rows, but the engine has room for 8")]
    fn too_large_a_batch_is_refused() {
        let shape = Shape::flat(1, 1);
        let (config, weights, _) = network(0, 1, &shape);
        Inference::new(&weights, &config, &shape, 8).unwrap().evaluate(9, &[0.0; 9]);
    }

    #[test]
    fn softmax_is_stable() {
        let mut logits = [1000.0, 1000.0, -1000.0];
        softmax(&mut logits);
        assert_eq!(logits, [0.5, 0.5, 0.0]);
    }

    #[test]
    fn engines_move_between_threads() {
        fn is_send<T: Send>() {}
        is_send::<Inference>();
    }
}
