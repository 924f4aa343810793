//! A network in burn: its operations as a graph, and its parameters on a device.

mod graph;
mod around;

pub use graph::Output;
pub(crate) use graph::{Graph, LinearStep, features};

use burn::tensor::activation::relu;
use burn::tensor::module::linear;
use burn::tensor::{Device, Gradients, Tensor, TensorData};

use self::around::AroundPoints;
use crate::error::NetworkError;
use crate::kinds::NetworkConfig;
use crate::network::Network;
use crate::shape::Shape;
use crate::train::state::LearnerState;
use crate::weights::{NamedTensor, TensorSpec, Weights};

/// A network that is composed of burn's own operations, for any device of burn: what GPUs compute, and what the operations of
/// training on a processor are compared with.
#[derive(Debug)]
pub struct PolicyValueNet {
    graph: Graph,
    /// Matrix and bias of each layer.
    layers: Vec<(Tensor<2>, Tensor<1>)>,
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
        PolicyValueNet::of_network(Network::new(config, shape)?, weights, device)
    }

    /// The network of a learner, with all its heads.
    ///
    /// # Errors
    /// As for [`PolicyValueNet::new`].
    pub fn of_state(state: &LearnerState, device: &Device) -> Result<PolicyValueNet, NetworkError> {
        PolicyValueNet::of_network(state.with_all_heads()?, &state.weights, device)
    }

    fn of_network(network: Network, weights: &Weights, device: &Device) -> Result<PolicyValueNet, NetworkError> {
        weights.check(&network.layout())?;
        let layer = |tensors: &[NamedTensor]| (leaf(&tensors[0], device), leaf(&tensors[1], device));
        let layers = weights.tensors().chunks_exact(2).map(layer).collect();
        Ok(PolicyValueNet { graph: Graph::new(network), layers })
    }

    /// The network with its parameters rounded to other floats; its inputs must then be such.
    #[cfg(feature = "gpu")]
    pub(crate) fn with_floats(mut self, float: burn::tensor::FloatDType) -> PolicyValueNet {
        for (weight, bias) in &mut self.layers {
            (*weight, *bias) = (weight.clone().cast(float), bias.clone().cast(float));
        }
        self
    }

    /// Evaluates observations `[batch, inputs]`.
    ///
    /// # Panics
    /// If the second axis is not the network's number of inputs.
    #[expect(clippy::needless_pass_by_value, reason = "as the modules of burn take their inputs")]
    pub fn forward(&self, inputs: Tensor<2>) -> Output {
        let network = &self.graph.network;
        let around = AroundPoints::of(network, &inputs);
        let points = || features(&network.shape, &inputs);
        self.graph.forward(&inputs, points, |step, x, residual| {
            let (weight, bias) = self.layers[step.layer].clone();
            let y = match step.around {
                Some(table) => around[table].apply(x, weight, bias),
                None => linear(x, weight, Some(bias)),
            };
            let y = residual.into_iter().fold(y, |y, residual| residual + y);
            if step.relu { relu(y) } else { y }
        })
    }

    /// The gradients of the parameters, named by `layout`; zeros where the loss does not depend on a parameter.
    pub fn gradients(&self, layout: &[TensorSpec], gradients: &Gradients) -> Weights {
        let named = |(spec, data): (&TensorSpec, Tensor<1>)| NamedTensor {
            name: spec.name.clone(),
            shape: spec.shape.clone(),
            data: data.into_data().try_into_vec().expect("parameters are floats of 32 bits"),
        };
        Weights::from_ordered(layout.iter().zip(self.flat_gradients(gradients)).map(named).collect())
    }

    /// The gradients of the parameters on the device, each in one row, in the order of the layout.
    pub(crate) fn flat_gradients(&self, gradients: &Gradients) -> Vec<Tensor<1>> {
        let of_layer = |(weight, bias): &(Tensor<2>, Tensor<1>)| {
            let of_weight = weight.grad(gradients).unwrap_or_else(|| weight.clone().inner().zeros_like());
            let of_bias = bias.grad(gradients).unwrap_or_else(|| bias.clone().inner().zeros_like());
            [of_weight.flatten(0, 1), of_bias]
        };
        self.layers.iter().flat_map(of_layer).collect()
    }
}

/// A parameter on a device.
pub(crate) fn leaf<const D: usize>(tensor: &NamedTensor, device: &Device) -> Tensor<D> {
    let parameter = Tensor::from_data(TensorData::new(tensor.data.clone(), tensor.shape.clone()), device);
    if parameter.is_autodiff() { parameter.require_grad() } else { parameter }
}
