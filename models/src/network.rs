//! The networks: their sizes, the names and order of their parameters, and the forward pass in burn.

use std::ops::RangeInclusive;

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use crate::weights::{NamedTensor, TensorSpec, Weights, WeightsError};

/// The classes of the value head: win, draw and loss of the mover, in this order.
pub const OUTCOMES: usize = 3;

/// All that a network needs to know of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Numbers in an observation, 1 to 65536.
    pub inputs: usize,
    /// Actions of the game, legal or not, 1 to 65536.
    pub actions: usize,
}

/// Which network, and how large.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum NetworkConfig {
    /// A stem, then blocks `x -> relu(x + W2 relu(W1 x + b1) + b2)`, all of one width, without norm layers.
    ResidualMlp {
        /// Residual blocks, 0 to 32.
        blocks: usize,
        /// Units of each layer, 1 to 2048.
        width: usize,
    },
}

/// Why a network cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// A size is outside its range.
    #[error("{what} is {value}, but must be from {} to {}", range.start(), range.end())]
    OutOfRange {
        /// The size in words.
        what: &'static str,
        /// Its value.
        value: usize,
        /// The values it may have.
        range: RangeInclusive<usize>,
    },
    /// The weights are not those of this network.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

fn within(what: &'static str, value: usize, range: RangeInclusive<usize>) -> Result<(), NetworkError> {
    if range.contains(&value) { Ok(()) } else { Err(NetworkError::OutOfRange { what, value, range }) }
}

impl NetworkConfig {
    /// Checks the sizes of the network by itself.
    ///
    /// # Errors
    /// [`NetworkError::OutOfRange`] names the first size that is out of range.
    pub fn validate(&self) -> Result<(), NetworkError> {
        let NetworkConfig::ResidualMlp { blocks, width } = *self;
        within("the number of blocks", blocks, 0..=32)?;
        within("the network width", width, 1..=2048)
    }

    /// Name, shape and initial spread of every parameter for a game of this shape, in their one order.
    ///
    /// Layers before a ReLU start with He's deviation `sqrt(2 / in)`. The second layer of each block is scaled
    /// down by `sqrt(2 blocks)`, so that the variance grows by a bounded factor over the whole tower however deep
    /// it is. The heads start at a tenth of `1 / sqrt(in)`: nearly uniform priors and outcomes.
    ///
    /// # Errors
    /// [`NetworkError::OutOfRange`] as for [`validate`](Self::validate), for the game's shape, and for more than
    /// 67 million parameters.
    pub fn layout(&self, shape: Shape) -> Result<Vec<TensorSpec>, NetworkError> {
        self.validate()?;
        within("the number of inputs", shape.inputs, 1..=65536)?;
        within("the number of actions", shape.actions, 1..=65536)?;
        let NetworkConfig::ResidualMlp { blocks, width } = *self;
        let value_width = (width / 2).max(16);
        let he = |inputs: usize| (2.0 / inputs as f64).sqrt();
        let head = |inputs: usize| 0.1 / (inputs as f64).sqrt();

        let mut layout = Vec::with_capacity(8 + 4 * blocks);
        let mut linear = |name: &str, inputs: usize, outputs: usize, deviation: f64| {
            layout.push(TensorSpec { name: format!("{name}.weight"), shape: vec![inputs, outputs], deviation });
            layout.push(TensorSpec { name: format!("{name}.bias"), shape: vec![outputs], deviation: 0.0 });
        };
        linear("stem", shape.inputs, width, he(shape.inputs));
        for block in 0..blocks {
            linear(&format!("blocks.{block}.first"), width, width, he(width));
            linear(&format!("blocks.{block}.second"), width, width, he(width) / (2.0 * blocks as f64).sqrt());
        }
        linear("policy", width, shape.actions, head(width));
        linear("value_hidden", width, value_width, he(width));
        linear("value", value_width, OUTCOMES, head(value_width));
        within("the number of parameters", layout.iter().map(TensorSpec::count).sum(), 1..=1 << 26)?;
        Ok(layout)
    }
}

/// What the network says about each row of a batch: logits, not probabilities.
#[derive(Debug)]
pub struct Output {
    /// Logits of all actions, legal or not, `[batch, actions]`.
    pub policy: Tensor<2>,
    /// Logits of win, draw and loss for the mover, `[batch, 3]`.
    pub value: Tensor<2>,
}

/// A residual MLP with a policy head and a win/draw/loss value head.
#[derive(Module, Debug)]
pub struct PolicyValueNet {
    stem: Linear,
    blocks: Vec<ResidualBlock>,
    policy: Linear,
    value_hidden: Linear,
    value: Linear,
}

/// `x -> relu(x + second(relu(first(x))))`.
#[derive(Module, Debug)]
struct ResidualBlock {
    first: Linear,
    second: Linear,
}

impl PolicyValueNet {
    /// Builds the network on `device`; on an autodiff device its parameters are leaves that collect gradients.
    ///
    /// # Errors
    /// A size out of range, or weights that are not those of this network.
    pub fn new(
        config: &NetworkConfig,
        shape: Shape,
        weights: &Weights,
        device: &Device,
    ) -> Result<PolicyValueNet, NetworkError> {
        weights.check(&config.layout(shape)?)?;
        let NetworkConfig::ResidualMlp { blocks, .. } = *config;
        let mut layers = weights.tensors().chunks_exact(2).map(|layer| linear(layer, device));
        let mut next = || layers.next().expect("the layout has been checked");
        Ok(PolicyValueNet {
            stem: next(),
            blocks: (0..blocks).map(|_| ResidualBlock { first: next(), second: next() }).collect(),
            policy: next(),
            value_hidden: next(),
            value: next(),
        })
    }

    /// Evaluates observations `[batch, inputs]`.
    ///
    /// # Panics
    /// If the second axis is not the network's number of inputs.
    pub fn forward(&self, inputs: Tensor<2>) -> Output {
        let mut x = relu(self.stem.forward(inputs));
        for block in &self.blocks {
            let inner = relu(block.first.forward(x.clone()));
            x = relu(x + block.second.forward(inner));
        }
        let policy = self.policy.forward(x.clone());
        let value = self.value.forward(relu(self.value_hidden.forward(x)));
        Output { policy, value }
    }

    /// The parameters, named by `layout`, which must be the network's own; bit for bit what it was built from.
    pub fn weights(&self, layout: &[TensorSpec]) -> Weights {
        self.collect(layout, |matrix| read(matrix.clone()), |vector| read(vector.clone()))
    }

    /// The gradients of the parameters in the same form; zeros where the loss does not depend on one.
    pub(crate) fn gradients(&self, layout: &[TensorSpec], gradients: &Gradients) -> Weights {
        self.collect(
            layout,
            |matrix| matrix.grad(gradients).map(read).unwrap_or_default(),
            |vector| vector.grad(gradients).map(read).unwrap_or_default(),
        )
    }

    /// Reads something of every parameter, in the order of the layout.
    fn collect(
        &self,
        layout: &[TensorSpec],
        of_matrix: impl Fn(&Tensor<2>) -> Vec<f32>,
        of_vector: impl Fn(&Tensor<1>) -> Vec<f32>,
    ) -> Weights {
        let layers = std::iter::once(&self.stem)
            .chain(self.blocks.iter().flat_map(|block| [&block.first, &block.second]))
            .chain([&self.policy, &self.value_hidden, &self.value]);
        let mut data = Vec::with_capacity(layout.len());
        for layer in layers {
            data.push(of_matrix(&layer.weight));
            data.push(of_vector(layer.bias.as_ref().expect("every layer is built with a bias")));
        }
        assert_eq!(data.len(), layout.len(), "the layout of another network");
        let named = |(spec, mut data): (&TensorSpec, Vec<f32>)| {
            data.resize(spec.count(), 0.0);
            NamedTensor { name: spec.name.clone(), shape: spec.shape.clone(), data }
        };
        Weights::from_ordered(layout.iter().zip(data).map(named).collect())
    }
}

/// Builds a layer from its matrix and its bias.
fn linear(layer: &[NamedTensor], device: &Device) -> Linear {
    let data = |tensor: &NamedTensor| TensorData::new(tensor.data.clone(), tensor.shape.clone());
    Linear {
        weight: Param::from_tensor(Tensor::from_data(data(&layer[0]), device)),
        bias: Some(Param::from_tensor(Tensor::from_data(data(&layer[1]), device))),
    }
}

/// Copies a tensor to the host, row-major.
pub(crate) fn read<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("all tensors of this crate hold f32")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { inputs: 5, actions: 7 };

    #[test]
    fn weights_pass_through_the_network_unchanged() {
        for blocks in [0, 3] {
            let config = NetworkConfig::ResidualMlp { blocks, width: 9 };
            let layout = config.layout(SHAPE).unwrap();
            let weights = Weights::random(&layout, 1);
            for device in [Device::flex(), Device::flex().autodiff()] {
                let net = PolicyValueNet::new(&config, SHAPE, &weights, &device).unwrap();
                assert_eq!(net.weights(&layout), weights);
                let output = net.forward(Tensor::zeros([4, 5], &device));
                assert_eq!((output.policy.dims(), output.value.dims()), ([4, 7], [4, 3]));
            }
        }
    }

    #[test]
    fn the_layout_is_named_in_its_order() {
        let layout = NetworkConfig::ResidualMlp { blocks: 1, width: 8 }.layout(SHAPE).unwrap();
        let names: Vec<&str> = layout.iter().map(|spec| spec.name.as_str()).collect();
        #[rustfmt::skip]
        assert_eq!(names, [
            "stem.weight", "stem.bias",
            "blocks.0.first.weight", "blocks.0.first.bias", "blocks.0.second.weight", "blocks.0.second.bias",
            "policy.weight", "policy.bias", "value_hidden.weight", "value_hidden.bias", "value.weight", "value.bias",
        ]);
        assert_eq!(layout[0].shape, [5, 8]);
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        let error = |blocks, width, shape: Shape| {
            NetworkConfig::ResidualMlp { blocks, width }.layout(shape).unwrap_err().to_string()
        };
        assert_eq!(error(33, 8, SHAPE), "the number of blocks is 33, but must be from 0 to 32");
        assert_eq!(error(1, 0, SHAPE), "the network width is 0, but must be from 1 to 2048");
        assert!(error(1, 8, Shape { inputs: 0, actions: 1 }).contains("inputs is 0"));
        assert!(error(1, 8, Shape { inputs: 1, actions: usize::MAX }).contains("actions is"));
        assert!(error(0, 2048, Shape { inputs: 65536, actions: 1 }).contains("parameters is"));
    }

    #[test]
    fn the_config_reads_from_text() {
        let config: NetworkConfig = serde_json::from_str(r#"{"kind":"residual_mlp","blocks":3,"width":128}"#).unwrap();
        assert_eq!(config, NetworkConfig::ResidualMlp { blocks: 3, width: 128 });
        assert!(
            serde_json::from_str::<NetworkConfig>(r#"{"kind":"residual_mlp","blocks":3,"width":128,"w":1}"#).is_err()
        );
    }
}
