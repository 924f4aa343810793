//! Inference on one CPU thread: matrix products by hand-written kernels, with bias, residual and ReLU fused into them.

mod neighbours;
mod kernel;
mod layer;
mod layers;
mod mlp;
mod points;
mod graph;
mod mixer;

pub use kernel::{Finish, Instructions};
pub use layer::Layer;
#[cfg(feature = "train")]
pub(crate) use mixer::transpose;
pub use neighbours::Neighbours;
#[cfg(feature = "train")]
pub(crate) use points::Reader;

use self::graph::Graph;
use self::layers::Layers;
use self::mixer::Mixer;
use self::mlp::Mlp;
use crate::config::{NetworkConfig, OUTCOMES};
use crate::error::NetworkError;
use crate::shape::Shape;
use crate::weights::Weights;

/// A network ready for inference, with all its buffers, for one thread at a time.
///
/// The result for a row depends neither on the other rows nor on their number, bit for bit. It is the same on processors
/// with AVX2 and with AVX-512; on others it may differ in the last bits.
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

/// The layers and buffers by the kind of network.
#[derive(Debug, Clone)]
enum Body {
    Mlp(Mlp),
    Graph(Graph),
    Mixer(Mixer),
}

/// The outputs for each row of a batch: logits, not probabilities; see [`softmax`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predictions<'a> {
    /// Logits of all actions, legal or not, `[batch, actions]`.
    pub policy: &'a [f32],
    /// Logits of win, draw and loss for the mover, `[batch, 3]`.
    pub value: &'a [f32],
}

/// Turns logits into probabilities in place. The priors of a position are those of the logits of its legal actions.
pub fn softmax(logits: &mut [f32]) {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for x in logits.iter_mut() {
        *x = exp(*x - largest);
        sum += *x;
    }
    let scale = 1.0 / sum;
    logits.iter_mut().for_each(|x| *x *= scale);
}

/// e to the power of a number that is not positive.
fn exp(x: f32) -> f32 {
    #[cfg(target_family = "wasm")]
    return nearest_exp(x);
    #[cfg(not(target_family = "wasm"))]
    return x.exp();
}

/// e to the power of a number that is not positive, rounded to the nearest `f32` but for about one number in a million.
///
/// WebAssembly has no mathematical library of its own, and `f32::exp` is up to one unit in the last place off there. On
/// other platforms it is the nearest number but for about one in a thousand, so browser and program mostly agree.
#[cfg(any(target_family = "wasm", test))]
fn nearest_exp(x: f32) -> f32 {
    use std::f64::consts::{LN_2, LOG2_E};
    /// 1 / n! from n = 11 down to 0.
    const TAYLOR: [f64; 12] = {
        let (mut terms, mut n, mut factorial) = ([1.0; 12], 1, 1.0);
        while n < 12 {
            factorial *= n as f64;
            terms[11 - n] = 1.0 / factorial;
            n += 1;
        }
        terms
    };
    // Smaller powers are zero as an `f32`.
    let x = f64::from(x).clamp(-104.0, 0.0);
    let halvings = (x * LOG2_E).round();
    let rest = x - halvings * LN_2;
    let power = TAYLOR.iter().fold(0.0, |sum, term| sum * rest + term);
    let scale = f64::from_bits(((halvings as i64 + 1023) as u64) << 52);
    (power * scale) as f32
}

impl Inference {
    /// Prepares `weights` for batches of up to `max_batch` rows, on the best instruction set of the processor.
    ///
    /// # Errors
    /// A size is out of range, or the weights are not those of the network.
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

    /// [`Inference::new`] for a given instruction set.
    ///
    /// # Errors
    /// As for [`Inference::new`].
    ///
    /// # Panics
    /// If the processor does not have the instructions, or `max_batch` is zero.
    pub fn with_instructions(
        weights: &Weights,
        config: &NetworkConfig,
        shape: &Shape,
        max_batch: usize,
        instructions: Instructions,
    ) -> Result<Inference, NetworkError> {
        assert!(max_batch > 0, "an inference engine needs room for at least one row");
        weights.check(&config.layout(shape)?)?;
        let layers = Layers::new(weights, instructions);
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
    /// If `batch` exceeds `max_batch`, or the length of `inputs` is not `batch` times the number of inputs.
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

    /// Maximum number of rows per call.
    pub fn max_batch(&self) -> usize {
        self.max_batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::TensorSpec;

    /// Weights so large that every layer contributes to the outputs.
    fn network(blocks: usize, width: usize, shape: &Shape) -> (NetworkConfig, Weights) {
        let config = NetworkConfig::ResidualMlp { blocks, width };
        let mut layout = config.layout(shape).unwrap();
        layout.iter_mut().for_each(|spec| spec.deviation = spec.deviation.max(0.1));
        let weights = Weights::random(&layout, 5);
        (config, weights)
    }

    fn inputs(count: usize) -> Vec<f32> {
        let spec = TensorSpec { name: String::new(), shape: vec![count], deviation: 1.0 };
        Weights::random(&[spec], 9).tensors()[0].data.clone()
    }

    #[test]
    fn a_row_does_not_depend_on_the_others() {
        let shape = Shape::flat(20, 11);
        let (config, weights) = network(2, 48, &shape);
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
        let (config, weights) = network(2, 48, &shape);
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
        let (config, weights) = network(0, 1, &shape);
        Inference::new(&weights, &config, &shape, 8).unwrap().evaluate(9, &[0.0; 9]);
    }

    #[test]
    fn softmax_is_stable() {
        let mut logits = [1000.0, 1000.0, -1000.0];
        softmax(&mut logits);
        assert_eq!(logits, [0.5, 0.5, 0.0]);
    }

    #[test]
    fn powers_of_e_are_rounded_to_the_nearest() {
        let mut others = 0;
        for i in 0..200_000 {
            let x = -(i as f32) * 5.1e-4;
            let (ours, exact) = (nearest_exp(x), f64::from(x).exp() as f32);
            assert!(ours.to_bits().abs_diff(exact.to_bits()) <= 1, "{x}: {ours} {exact}");
            others += u32::from(ours != exact);
        }
        assert!(others <= 2, "{others} of 200,000");
        assert_eq!([0.0, -1.0, -104.0, f32::NEG_INFINITY].map(nearest_exp), [1.0, 0.367_879_45, 0.0, 0.0]);
        assert_eq!(nearest_exp(-100.0).to_bits(), 27, "a subnormal number");
        assert!(nearest_exp(f32::NAN).is_nan());
    }

    #[test]
    fn engines_move_between_threads() {
        fn is_send<T: Send>() {}
        is_send::<Inference>();
    }
}
