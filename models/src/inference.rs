//! The network frozen for one CPU thread: matrix products from the `gemm` crate, everything between them fused.

mod points;
mod graph;
mod mixer;

use gemm::{Parallelism, gemm};

use self::graph::Graph;
use self::mixer::Mixer;
use crate::network::{NetworkConfig, NetworkError, OUTCOMES};
use crate::shape::Shape;
use crate::weights::{NamedTensor, Weights};

/// A network with its buffers, for one thread at a time; all buffers are made with it.
///
/// The result for a row does not depend on what stands in the other rows. It may differ in the last bits between
/// batches of different sizes, for which the matrix product sums in a different order.
///
/// The AVX-512 kernel works on six rows at a time: of batches of about the same size, a multiple of six is fastest
/// (6 rows: 540 k evaluations/s, 8 rows: 440 k).
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
    stem: Dense,
    blocks: Vec<[Dense; 2]>,
    policy: Dense,
    value_hidden: Dense,
    value: Dense,
    /// The residual stream, `[max_batch, width]`.
    stream: Vec<f32>,
    /// What a block or the value head computes on the side, `[max_batch, width or more]`.
    inner: Vec<f32>,
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
    /// Freezes `weights` for batches of up to `max_batch` rows.
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
        assert!(max_batch > 0, "an inference engine needs room for at least one row");
        weights.check(&config.layout(shape)?)?;
        let mut layers = weights.tensors().chunks_exact(2);
        let mut next = || Dense::new(layers.next().expect("the layout has been checked"));
        let body = match (config, config.taps(shape)) {
            (&NetworkConfig::ResidualMlp { blocks, .. }, _) => Body::Mlp(Mlp::new(&mut next, blocks, max_batch)),
            (&NetworkConfig::Mixer { blocks, .. }, _) => Body::Mixer(Mixer::new(&mut next, blocks, shape, max_batch)),
            (&NetworkConfig::ResidualGraph { blocks, .. }, taps) => {
                let taps = taps.expect("a graph network has taps");
                Body::Graph(Graph::new(&mut next, blocks, taps, shape, max_batch))
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
    /// Takes its layers in the order of the layout.
    fn new(next: &mut impl FnMut() -> Dense, blocks: usize, max_batch: usize) -> Mlp {
        let stem = next();
        let blocks = (0..blocks).map(|_| [next(), next()]).collect();
        let (policy, value_hidden, value) = (next(), next(), next());
        let width = stem.outputs();
        let (stream, inner) = (max_batch * width, max_batch * width.max(value_hidden.outputs()));
        let (stream, inner) = (vec![0.0; stream], vec![0.0; inner]);
        Mlp { stem, blocks, policy, value_hidden, value, stream, inner }
    }

    fn evaluate(&mut self, batch: usize, inputs: &[f32], policy: &mut [f32], value: &mut [f32]) {
        let (stream, inner) = (&mut self.stream[..], &mut self.inner[..]);
        self.stem.rectified(batch, inputs, stream);
        for [first, second] in &self.blocks {
            first.rectified(batch, stream, inner);
            second.added_and_rectified(batch, inner, stream);
        }
        self.policy.plain(batch, stream, policy);
        self.value_hidden.rectified(batch, stream, inner);
        self.value.plain(batch, inner, value);
    }
}

/// A linear layer.
#[derive(Debug, Clone)]
struct Dense {
    /// `[in, out]`, row-major.
    weight: Vec<f32>,
    /// `[out]`.
    bias: Vec<f32>,
}

impl Dense {
    /// Takes a matrix and its bias.
    fn new(layer: &[NamedTensor]) -> Dense {
        Dense { weight: layer[0].data.clone(), bias: layer[1].data.clone() }
    }

    /// `y = x W + b`
    fn plain(&self, rows: usize, x: &[f32], y: &mut [f32]) {
        self.multiply(rows, x, y, Destination::Overwrite);
        self.for_each(rows, y, |sum, bias| sum + bias);
    }

    /// `y = relu(x W + b)`
    fn rectified(&self, rows: usize, x: &[f32], y: &mut [f32]) {
        self.multiply(rows, x, y, Destination::Overwrite);
        self.for_each(rows, y, |sum, bias| (sum + bias).max(0.0));
    }

    /// `y = relu(y + x W + b)`
    fn added_and_rectified(&self, rows: usize, x: &[f32], y: &mut [f32]) {
        self.multiply(rows, x, y, Destination::Add);
        self.for_each(rows, y, |sum, bias| (sum + bias).max(0.0));
    }

    /// `y = y + x W + b`
    fn added(&self, rows: usize, x: &[f32], y: &mut [f32]) {
        self.multiply(rows, x, y, Destination::Add);
        self.for_each(rows, y, |sum, bias| sum + bias);
    }

    /// Numbers in a row of what it computes.
    fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// The one pass over the rows after a product.
    #[inline]
    fn for_each(&self, rows: usize, y: &mut [f32], f: impl Fn(f32, f32) -> f32) {
        let outputs = self.bias.len();
        for row in y[..rows * outputs].chunks_exact_mut(outputs) {
            for (y, &bias) in row.iter_mut().zip(&self.bias) {
                *y = f(*y, bias);
            }
        }
    }

    /// `y = x W`, or `y += x W`.
    fn multiply(&self, rows: usize, x: &[f32], y: &mut [f32], destination: Destination) {
        let outputs = self.bias.len();
        let inputs = self.weight.len() / outputs;
        product([rows, inputs, outputs], &x[..rows * inputs], &self.weight, &mut y[..rows * outputs], destination);
    }
}

/// What a matrix product does with what stands in its destination.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Destination {
    Overwrite,
    Add,
}

/// `y = a b` or `y += a b` for row-major `a [n, k]`, `b [k, m]` and `y [n, m]`, in this thread.
///
/// The crate has no safe interface. What it gives in return, in evaluations per second of one thread with AVX-512
/// (`examples/rates.rs`: three blocks of 128, 128 inputs, 64 actions), against burn's own forward pass:
/// batch 1: 110 k to 56 k, 6: 540 k to 245 k, 8: 440 k to 265 k, 32: 570 k to 405 k, 128: 620 k to 450 k.
#[allow(unsafe_code)]
fn product([n, k, m]: [usize; 3], a: &[f32], b: &[f32], y: &mut [f32], destination: Destination) {
    assert!(a.len() == n * k && b.len() == k * m && y.len() == n * m, "lengths of a {n} x {k} x {m} product");
    let add = destination == Destination::Add;
    let (alpha, beta) = (if add { 1.0 } else { 0.0 }, 1.0);
    // SAFETY: with column stride 1 and row stride equal to the row's length the kernel touches exactly the elements
    // `row * stride + column` of each operand, which the assertion above places inside the slices; `y` is borrowed
    // mutably and so overlaps neither `a` nor `b`; strides fit in `isize` since the slices exist.
    unsafe {
        gemm(
            n,
            m,
            k,
            y.as_mut_ptr(),
            1,
            m as isize,
            add,
            a.as_ptr(),
            1,
            k as isize,
            b.as_ptr(),
            1,
            m as isize,
            alpha,
            beta,
            false,
            false,
            false,
            Parallelism::None,
        );
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
            let mut inference = Inference::new(&weights, &config, &shape, 33).unwrap();
            for batch in [1, 3, 8, 33, 2] {
                let x = inputs(batch * inputs_);
                let expected = net.forward(matrix(&x, inputs_, &Device::flex()));
                let found = inference.evaluate(batch, &x);
                for (found, expected) in [(found.policy, read(expected.policy)), (found.value, read(expected.value))] {
                    assert_eq!(found.len(), expected.len());
                    let error = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                    let size = expected.iter().fold(1.0_f32, |a, b| a.max(b.abs()));
                    assert!(error <= 1e-5 * size, "{blocks}x{width}, batch {batch}: {error} of {size}");
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
