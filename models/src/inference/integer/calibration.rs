//! Quantisation of a network layer by layer: each layer's outputs for samples decide the steps of the next one's inputs.
//!
//! The samples pass through the layers that are quantised already. So the steps depend on nothing that differs between
//! processors, and later layers see the errors of earlier ones.

use std::slice::ChunksExact;

use super::super::neighbours::Neighbours;
use super::kernel::{Destination, IntegerInstructions};
use super::layer::Layer;
use super::steps::Steps;
use crate::weights::{NamedTensor, Weights};

/// The weights of a network in the order of its layout: pairs of a matrix and its bias.
pub(super) struct Parameters<'a> {
    pairs: ChunksExact<'a, NamedTensor>,
}

impl<'a> Parameters<'a> {
    /// The parameters in weights that have been checked.
    pub(super) fn new(weights: &'a Weights) -> Parameters<'a> {
        Parameters { pairs: weights.tensors().chunks_exact(2) }
    }

    /// Matrix and bias of the next layer.
    pub(super) fn next(&mut self) -> [&'a [f32]; 2] {
        let pair = self.pairs.next().expect("the layout has been checked");
        [&pair[0].data, &pair[1].data]
    }
}

/// Rows of bytes for all samples.
#[derive(Debug, Clone)]
pub(super) struct Activations {
    pub(super) rows: usize,
    /// `[rows, stride]`.
    pub(super) bytes: Vec<u8>,
    pub(super) steps: Steps,
}

impl Activations {
    /// Quantises numbers, `[rows, width]`.
    pub(super) fn new(steps: Steps, numbers: &[f32]) -> Activations {
        let rows = numbers.len() / steps.width();
        let mut bytes = vec![0; rows * steps.stride()];
        steps.quantise(IntegerInstructions::best(), numbers, &mut bytes);
        Activations { rows, bytes, steps }
    }

    /// The next layer, whose outputs are numbers.
    pub(super) fn layer(&self, [weight, bias]: [&[f32]; 2]) -> Layer {
        Layer::new(weight, bias, 1, &self.steps)
    }

    /// The next layer over the neighbours of each point, with a ReLU, and its outputs.
    pub(super) fn hidden_around(&self, [weight, bias]: [&[f32]; 2], neighbours: &Neighbours) -> (Layer, Activations) {
        let mut layer = Layer::new(weight, bias, neighbours.taps(), &self.steps);
        let mut numbers = vec![0.0; self.rows * layer.outputs()];
        let boards = self.rows / neighbours.points();
        let to = Destination::Numbers(&mut numbers);
        layer.apply_around(IntegerInstructions::best(), boards, neighbours, &self.bytes, to);
        relu(&mut numbers);
        let outputs = Activations::new(Steps::of_activations(&numbers, layer.outputs()), &numbers);
        layer.write_bytes(&outputs.steps);
        (layer, outputs)
    }

    /// The next layer, with a ReLU, and its outputs.
    pub(super) fn hidden(&self, parameters: [&[f32]; 2]) -> (Layer, Activations) {
        self.hidden_around(parameters, &Neighbours::none())
    }

    /// The next layer, whose outputs, after a ReLU, begin a stream.
    pub(super) fn start(&self, parameters: [&[f32]; 2]) -> (Layer, Stream) {
        let mut layer = self.layer(parameters);
        let mut numbers = vec![0.0; self.rows * layer.outputs()];
        layer.apply(IntegerInstructions::best(), self.rows, &self.bytes, Destination::Numbers(&mut numbers));
        relu(&mut numbers);
        let bytes = Activations::new(Steps::of_activations(&numbers, layer.outputs()), &numbers);
        layer.write_stream(&bytes.steps);
        (layer, Stream { numbers, bytes })
    }

    /// Adds the outputs of the next layer to numbers, `[rows, outputs]`.
    pub(super) fn add(&self, parameters: [&[f32]; 2], numbers: &mut [f32]) -> Layer {
        let layer = self.layer(parameters);
        layer.apply(IntegerInstructions::best(), self.rows, &self.bytes, Destination::Sum(numbers));
        layer
    }
}

/// A residual stream for all samples: its numbers, and the bytes that layers read.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    numbers: Vec<f32>,
    pub(super) bytes: Activations,
}

impl Stream {
    /// The next layer, whose outputs are added to the stream before a ReLU.
    pub(super) fn residual(&mut self, parameters: [&[f32]; 2], inputs: &Activations) -> Layer {
        let mut layer = inputs.add(parameters, &mut self.numbers);
        relu(&mut self.numbers);
        self.bytes = Activations::new(Steps::of_activations(&self.numbers, layer.outputs()), &self.numbers);
        layer.write_stream(&self.bytes.steps);
        layer
    }
}

fn relu(numbers: &mut [f32]) {
    numbers.iter_mut().for_each(|x| *x = x.max(0.0));
}
