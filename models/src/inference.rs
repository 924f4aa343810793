//! Inference on one CPU thread: matrix products by hand-written kernels, with bias, residual and ReLU fused into them.

mod softmax;
mod neighbours;
mod areas;
mod kernel;
mod layer;
mod integer;
mod slots;
mod numbers;
mod passes;
mod floats;
mod quantised;

pub use integer::IntegerInstructions;
pub use kernel::{Finish, Instructions};
pub use layer::Layer;
pub use neighbours::Neighbours;
#[cfg(feature = "train")]
pub(crate) use numbers::Reader;
pub use quantised::QuantisedNetwork;
pub use softmax::{portable_softmax, softmax};

use std::sync::Arc;

use self::passes::{Buffers, CompiledNetwork, Positions};
use crate::error::NetworkError;
use crate::kinds::NetworkConfig;
use crate::network::Network;
use crate::shape::Shape;
use crate::weights::Weights;

/// A network ready for inference, with all its buffers, for one thread at a time.
///
/// The result for a row depends neither on the other rows nor on their number, bit for bit. It is the same on processors
/// with AVX2 and with AVX-512; on others it may differ in the last bits. That of a [`QuantisedNetwork`] is the same on all.
#[derive(Debug, Clone)]
pub struct Inference {
    shape: Shape,
    max_batch: usize,
    compiled: Arc<CompiledNetwork>,
    buffers: Buffers,
    /// For layers of integers.
    instructions: IntegerInstructions,
}

/// The outputs for each row of a batch: logits, not probabilities; see [`softmax`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predictions<'a> {
    /// Logits of all actions, legal or not, `[batch, actions]`.
    pub policy: &'a [f32],
    /// Logits of win, draw and loss for the mover, `[batch, 3]`.
    pub value: &'a [f32],
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
        let network = Network::new(config, shape)?;
        weights.check(&network.layout())?;
        let compiled = floats::compile(&network, weights, instructions);
        Ok(Inference::of(Arc::new(compiled), shape, max_batch, IntegerInstructions::best()))
    }

    /// Prepares a quantised network for batches of up to `max_batch` rows, on the best instruction set of the processor.
    ///
    /// # Panics
    /// If `max_batch` is zero.
    pub fn quantised(network: &Arc<QuantisedNetwork>, max_batch: usize) -> Inference {
        Self::quantised_with_instructions(network, max_batch, IntegerInstructions::best())
    }

    /// [`Inference::quantised`] for a given instruction set.
    ///
    /// # Panics
    /// If the processor does not have the instructions, or `max_batch` is zero.
    pub fn quantised_with_instructions(
        network: &Arc<QuantisedNetwork>,
        max_batch: usize,
        instructions: IntegerInstructions,
    ) -> Inference {
        assert!(instructions.is_available(), "this processor has no {instructions:?}");
        Inference::of(network.compiled.clone(), network.shape(), max_batch, instructions)
    }

    fn of(
        compiled: Arc<CompiledNetwork>,
        shape: &Shape,
        max_batch: usize,
        instructions: IntegerInstructions,
    ) -> Inference {
        assert!(max_batch > 0, "an inference engine needs room for at least one row");
        let buffers = compiled.buffers(max_batch);
        Inference { shape: shape.clone(), max_batch, compiled, buffers, instructions }
    }

    /// Evaluates `batch` observations, `[batch, inputs]`.
    ///
    /// # Panics
    /// If `batch` exceeds `max_batch`, or the length of `inputs` is not `batch` times the number of inputs.
    pub fn evaluate(&mut self, batch: usize, inputs: &[f32]) -> Predictions<'_> {
        assert!(batch <= self.max_batch, "a batch of {batch} rows, but the engine has room for {}", self.max_batch);
        assert_eq!(inputs.len(), batch * self.shape.inputs, "{batch} rows of {} inputs", self.shape.inputs);
        let positions = Positions { range: 0..batch, observations: inputs, instructions: self.instructions };
        let [policy, value] = self.compiled.run(&positions, &mut self.buffers);
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
    use crate::kinds::ResidualMlp;
    use crate::weights::TensorSpec;

    /// Weights so large that every layer contributes to the outputs.
    fn network(blocks: usize, width: usize, shape: &Shape) -> (NetworkConfig, Weights) {
        let config = NetworkConfig::from(ResidualMlp { blocks, width });
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
    fn engines_move_between_threads() {
        fn is_send<T: Send>() {}
        is_send::<Inference>();
    }
}
