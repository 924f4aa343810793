//! The networks in burn: parameters on a device, forward pass, gradients.

mod output;
mod layers;
mod mlp;
mod points;
mod graph;
mod conv;

pub use output::Output;

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Gradients, Tensor, TensorData};

use self::layers::Layers;
use crate::config::NetworkConfig;
use crate::error::NetworkError;
use crate::shape::{Shape, Taps};
use crate::weights::{NamedTensor, TensorSpec, Weights};

/// A network with a policy head and a win/draw/loss value head.
#[derive(Debug)]
pub struct PolicyValueNet {
    config: NetworkConfig,
    shape: Shape,
    /// The points that each layer of a graph network or of convolutions reads.
    taps: Option<Taps>,
    /// In the order of the layout.
    layers: Vec<Linear>,
}

impl PolicyValueNet {
    /// Builds the network on `device`. On an autodiff device its parameters are leaves that collect gradients.
    ///
    /// # Errors
    /// A size is out of range, or the weights are not those of this network.
    pub fn new(
        config: &NetworkConfig,
        shape: &Shape,
        weights: &Weights,
        device: &Device,
    ) -> Result<PolicyValueNet, NetworkError> {
        weights.check(&config.layout(shape)?)?;
        let layers = weights.tensors().chunks_exact(2).map(|layer| linear(layer, device)).collect();
        Ok(PolicyValueNet { config: config.clone(), shape: shape.clone(), taps: config.taps(shape), layers })
    }

    /// The network with its parameters rounded to other floats; its inputs must then be such.
    #[cfg(any(feature = "wgpu", feature = "cuda"))]
    pub(crate) fn with_floats(mut self, float: burn::tensor::FloatDType) -> PolicyValueNet {
        for layer in &mut self.layers {
            layer.weight = Param::from_tensor(layer.weight.val().cast(float));
            layer.bias = layer.bias.as_ref().map(|bias| Param::from_tensor(bias.val().cast(float)));
        }
        self
    }

    /// Evaluates observations `[batch, inputs]`.
    ///
    /// # Panics
    /// If the second axis is not the network's number of inputs.
    pub fn forward(&self, inputs: Tensor<2>) -> Output {
        assert_eq!(inputs.dims()[1], self.shape.inputs, "the length of an observation");
        let layers = Layers::new(&self.layers);
        let blocks = self.config.blocks();
        match (&self.config, &self.taps) {
            (NetworkConfig::ResidualMlp { .. }, _) => mlp::forward(layers, blocks, inputs),
            (NetworkConfig::ResidualGraph { .. }, taps) => {
                let taps = taps.as_ref().expect("a graph network is built with its taps");
                graph::forward(layers, blocks, taps, &self.shape, inputs)
            }
            (NetworkConfig::ResidualConv { .. }, taps) => {
                let taps = taps.as_ref().expect("a network of convolutions is built with its taps");
                let over_board = self.config.over_board().expect("it is one of convolutions");
                conv::forward(layers, (blocks, over_board), taps, &self.shape, inputs)
            }
        }
    }

    /// Copies the parameters to the host, unchanged since the network was built. `layout` must be that of the network.
    pub fn weights(&self, layout: &[TensorSpec]) -> Weights {
        self.collect(layout, |matrix| read(matrix.clone()), |vector| read(vector.clone()))
    }

    /// The gradients of the parameters, named by `layout`; zeros where the loss does not depend on a parameter.
    pub fn gradients(&self, layout: &[TensorSpec], gradients: &Gradients) -> Weights {
        self.collect(
            layout,
            |matrix| matrix.grad(gradients).map(read).unwrap_or_default(),
            |vector| vector.grad(gradients).map(read).unwrap_or_default(),
        )
    }

    /// The gradients of the parameters on the device, each in one row, in the order of the layout.
    #[cfg(any(feature = "wgpu", feature = "cuda"))]
    pub(crate) fn flat_gradients(&self, gradients: &Gradients) -> Vec<Tensor<1>> {
        let mut all = Vec::with_capacity(2 * self.layers.len());
        for layer in &self.layers {
            let (matrix, bias) =
                (layer.weight.val(), layer.bias.as_ref().expect("every layer is built with a bias").val());
            let of_matrix = matrix.grad(gradients).unwrap_or_else(|| matrix.inner().zeros_like());
            let of_bias = bias.grad(gradients).unwrap_or_else(|| bias.inner().zeros_like());
            all.extend([of_matrix.flatten(0, 1), of_bias]);
        }
        all
    }

    /// Reads a tensor for every parameter, in the order of the layout.
    fn collect(
        &self,
        layout: &[TensorSpec],
        of_matrix: impl Fn(&Tensor<2>) -> Vec<f32>,
        of_vector: impl Fn(&Tensor<1>) -> Vec<f32>,
    ) -> Weights {
        assert_eq!(2 * self.layers.len(), layout.len(), "the layout of another network");
        let read_layer = |layer: &Linear| {
            let bias = layer.bias.as_ref().expect("every layer is built with a bias");
            [of_matrix(&layer.weight), of_vector(bias)]
        };
        let named = |(spec, mut data): (&TensorSpec, Vec<f32>)| {
            data.resize(spec.count(), 0.0);
            NamedTensor { name: spec.name.clone(), shape: spec.shape.clone(), data }
        };
        Weights::from_ordered(layout.iter().zip(self.layers.iter().flat_map(read_layer)).map(named).collect())
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

    const SHAPE: Shape = Shape::flat(5, 7);

    #[test]
    fn weights_pass_through_the_network_unchanged() {
        for blocks in [0, 3] {
            let config = NetworkConfig::ResidualMlp { blocks, width: 9 };
            let layout = config.layout(&SHAPE).unwrap();
            let weights = Weights::random(&layout, 1);
            for device in [Device::flex(), Device::flex().autodiff()] {
                let net = PolicyValueNet::new(&config, &SHAPE, &weights, &device).unwrap();
                assert_eq!(net.weights(&layout), weights);
                let output = net.forward(Tensor::zeros([4, 5], &device));
                assert_eq!((output.policy.dims(), output.value.dims()), ([4, 7], [4, 3]));
            }
        }
    }
}
