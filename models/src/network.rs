//! The networks: their sizes, the names and order of their parameters, and the forward pass in burn.

mod layout;
mod mlp;
pub(crate) mod points;
mod graph;
mod mixer;

use std::fmt;
use std::ops::RangeInclusive;

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use self::layout::{Layers, Layout, head};
use crate::shape::{Neighbourhood, Shape, Taps};
use crate::weights::{NamedTensor, TensorSpec, Weights, WeightsError};

/// The classes of the value head: win, draw and loss of the mover, in this order.
pub const OUTCOMES: usize = 3;
/// The auxiliary targets, which are learned and never played with: the final margin for the mover and the number of
/// plies left, in this order.
pub const AUXILIARY: usize = 2;
/// The name of their layer.
const AUXILIARY_LAYER: &str = "auxiliary";

/// Which network, and how large.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum NetworkConfig {
    /// A stem, then blocks `x -> relu(x + W2 relu(W1 x + b1) + b2)`, all of one width, without norm layers. It takes
    /// an observation as a vector and knows nothing of the board.
    ResidualMlp {
        /// Residual blocks, 0 to 32.
        #[serde(default = "default_blocks")]
        blocks: usize,
        /// Units of each layer, 1 to 2048.
        #[serde(default = "default_width")]
        width: usize,
    },
    /// For every point a stem, then blocks `x -> relu(x + W2 relu(W1 N(x) + b1) + b2)` with weights shared by all
    /// points, where `N` puts the channels of a point and of those near it side by side, zeros beyond the end of a line.
    /// The heads read a few features of every point.
    ResidualGraph {
        /// Residual blocks, 0 to 32.
        #[serde(default = "default_blocks")]
        blocks: usize,
        /// Features of each point, 1 to 512.
        #[serde(default = "default_channels")]
        channels: usize,
        /// How many steps a block looks in each direction, 1 to 16.
        #[serde(default = "default_reach")]
        reach: usize,
        /// Which directions these are.
        #[serde(default)]
        neighbourhood: Neighbourhood,
    },
    /// For every point a stem, then blocks of two steps: `x -> x + W2 relu(W1 x + b1) + b2` across the points of each
    /// channel, and the same across the channels of each point; without norm layers. Heads as in `ResidualGraph`.
    Mixer {
        /// Blocks, 0 to 32.
        #[serde(default = "default_blocks")]
        blocks: usize,
        /// Features of each point, 1 to 512.
        #[serde(default = "default_channels")]
        channels: usize,
        /// Units between the two layers of a step, 1 to 2048.
        #[serde(default = "default_hidden")]
        hidden: usize,
    },
}

impl fmt::Display for NetworkConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ResidualMlp { blocks, width } => write!(f, "residual MLP, {blocks} blocks of {width} units"),
            Self::ResidualGraph { blocks, channels, reach, neighbourhood } => {
                let near = match neighbourhood {
                    Neighbourhood::Lines => format!("{reach} along the lines"),
                    Neighbourhood::Square => "the square around".to_owned(),
                };
                write!(f, "residual graph, {blocks} blocks of {channels} channels, {near}")
            }
            Self::Mixer { blocks, channels, hidden } => {
                write!(f, "mixer, {blocks} blocks of {channels} channels, {hidden} hidden")
            }
        }
    }
}

fn default_blocks() -> usize {
    3
}

fn default_width() -> usize {
    128
}

fn default_channels() -> usize {
    48
}

fn default_reach() -> usize {
    1
}

fn default_hidden() -> usize {
    96
}

impl Default for NetworkConfig {
    fn default() -> Self {
        NetworkConfig::ResidualMlp { blocks: default_blocks(), width: default_width() }
    }
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
    /// The network works on points, and the game has none.
    #[error("this kind of network needs a board of points, and the game has none")]
    NoPoints,
    /// The network follows the lines of the board, and there are none.
    #[error("a residual_graph over lines needs a board with lines, and this one has no lines")]
    NoLines,
    /// The network follows the lattice of the board, and there is none.
    #[error("a residual_graph over a square needs a lattice, and this board has no lattice of two rows and columns")]
    NoLattice,
    /// The parts of a board are not of one size.
    #[error("the board's points, lines and cells contradict each other")]
    BadBoard,
    /// The weights are not those of this network.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

pub(crate) fn within(what: &'static str, value: usize, range: RangeInclusive<usize>) -> Result<(), NetworkError> {
    if range.contains(&value) { Ok(()) } else { Err(NetworkError::OutOfRange { what, value, range }) }
}

impl NetworkConfig {
    /// Checks the sizes of the network by itself.
    ///
    /// # Errors
    /// [`NetworkError::OutOfRange`] names the first size that is out of range.
    pub fn validate(&self) -> Result<(), NetworkError> {
        let of_points = |channels| within("the number of channels", channels, 1..=512);
        within("the number of blocks", self.blocks(), 0..=32)?;
        match *self {
            NetworkConfig::ResidualMlp { width, .. } => within("the network width", width, 1..=2048),
            NetworkConfig::ResidualGraph { channels, reach, .. } => {
                of_points(channels)?;
                within("the reach", reach, 1..=16)
            }
            NetworkConfig::Mixer { channels, hidden, .. } => {
                of_points(channels)?;
                within("the number of hidden units", hidden, 1..=2048)
            }
        }
    }

    fn blocks(&self) -> usize {
        match *self {
            NetworkConfig::ResidualMlp { blocks, .. }
            | NetworkConfig::ResidualGraph { blocks, .. }
            | NetworkConfig::Mixer { blocks, .. } => blocks,
        }
    }

    /// Whether a network made for one shape is at home in a game of another: its sizes are the same, and so is the board
    /// if the network looks at it.
    pub fn fits(&self, made_for: &Shape, game: &Shape) -> bool {
        let blind = matches!(self, NetworkConfig::ResidualMlp { .. });
        made_for.sizes() == game.sizes() && (blind || made_for.board == game.board)
    }

    /// Name, shape and initial spread of every parameter for a game of this shape, in their one order.
    ///
    /// Layers before a ReLU start with He's deviation `sqrt(2 / in)`. What is added to the residual stream is scaled
    /// down by the square root of the number of layers (the adding ones and those before them), so that the variance
    /// grows by a bounded factor over the whole tower however deep it is. The heads start at a tenth of
    /// `1 / sqrt(in)`: nearly uniform priors and outcomes.
    ///
    /// # Errors
    /// [`NetworkError::OutOfRange`] as for [`validate`](Self::validate), for the game's shape, and for more than
    /// 67 million parameters; a board that the network cannot work on.
    pub fn layout(&self, shape: &Shape) -> Result<Vec<TensorSpec>, NetworkError> {
        checked_size(self.layers(shape)?)
    }

    /// The layout of the network while it learns auxiliary targets: it ends with their layer, one linear map from what
    /// the heads read (an MLP's stream, the value's features of all points). Only a learner has it; the weights that
    /// play have [`layout`](Self::layout), which begins in the same way.
    ///
    /// # Errors
    /// As [`layout`](Self::layout).
    pub fn training_layout(&self, shape: &Shape) -> Result<Vec<TensorSpec>, NetworkError> {
        let mut layout = self.layers(shape)?;
        let inputs = match *self {
            NetworkConfig::ResidualMlp { width, .. } => width,
            NetworkConfig::ResidualGraph { .. } | NetworkConfig::Mixer { .. } => points::features_of_a_head(shape),
        };
        layout.linear(AUXILIARY_LAYER, inputs, AUXILIARY, head(inputs));
        checked_size(layout)
    }

    fn layers(&self, shape: &Shape) -> Result<Layout, NetworkError> {
        self.validate()?;
        within("the number of inputs", shape.inputs, 1..=65536)?;
        within("the number of actions", shape.actions, 1..=65536)?;
        Ok(match *self {
            NetworkConfig::ResidualMlp { blocks, width } => mlp::layout(shape, blocks, width),
            NetworkConfig::ResidualGraph { blocks, channels, reach, neighbourhood } => {
                shape.check_points()?;
                shape.board.check_neighbourhood(neighbourhood)?;
                let taps = shape.board.taps_count(neighbourhood, reach);
                within("points times taps times channels", shape.board.points * taps * channels, 1..=1 << 24)?;
                graph::layout(shape, blocks, channels, taps)
            }
            NetworkConfig::Mixer { blocks, channels, hidden } => {
                shape.check_points()?;
                mixer::layout(shape, blocks, channels, hidden)
            }
        })
    }

    /// How many positions a learner takes through the network at once, for a shape that has been checked. Over points,
    /// parts of a batch whose buffers stay in the cache are faster than all of it: 256 positions of 64 points through
    /// one layer of 48 channels and 5 taps, forwards and backwards, took 35 ms at once and 23 ms by sixteens.
    /// An MLP's steps only lose by parts: 278 steps/s by 128 rows, also on two threads, against 348.
    pub(crate) fn rows_at_once(&self, shape: &Shape) -> usize {
        match self {
            NetworkConfig::ResidualMlp { .. } => usize::MAX,
            NetworkConfig::ResidualGraph { .. } | NetworkConfig::Mixer { .. } => (1024 / shape.board.points).max(1),
        }
    }
}

/// Takes the layers of a network that is not too large.
fn checked_size(layout: Layout) -> Result<Vec<TensorSpec>, NetworkError> {
    let layout = layout.into_tensors();
    within("the number of parameters", layout.iter().map(TensorSpec::count).sum(), 1..=1 << 26)?;
    Ok(layout)
}

/// What the network says about each row of a batch: logits, not probabilities.
#[derive(Debug)]
pub struct Output {
    /// Logits of all actions, legal or not, `[batch, actions]`.
    pub policy: Tensor<2>,
    /// Logits of win, draw and loss for the mover, `[batch, 3]`.
    pub value: Tensor<2>,
    /// The auxiliary targets themselves, `[batch, 2]`, if the network learns them.
    pub auxiliary: Option<Tensor<2>>,
}

/// A network with a policy head and a win/draw/loss value head.
#[derive(Debug)]
pub struct PolicyValueNet {
    config: NetworkConfig,
    shape: Shape,
    /// Which points a graph network takes together.
    taps: Option<Taps>,
    /// In the order of the layout.
    layers: Vec<Linear>,
}

impl PolicyValueNet {
    /// Builds the network on `device`; on an autodiff device its parameters are leaves that collect gradients. It has
    /// the layer of the auxiliary targets if `weights` have it.
    ///
    /// # Errors
    /// A size out of range, or weights that are not those of this network.
    pub fn new(
        config: &NetworkConfig,
        shape: &Shape,
        weights: &Weights,
        device: &Device,
    ) -> Result<PolicyValueNet, NetworkError> {
        let auxiliary = weights.get(&format!("{AUXILIARY_LAYER}.weight")).is_some();
        weights.check(&if auxiliary { config.training_layout(shape)? } else { config.layout(shape)? })?;
        let layers = weights.tensors().chunks_exact(2).map(|layer| linear(layer, device)).collect();
        Ok(PolicyValueNet { config: config.clone(), shape: shape.clone(), taps: config.taps(shape), layers })
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
            (NetworkConfig::Mixer { .. }, _) => mixer::forward(layers, blocks, &self.shape, inputs),
            (NetworkConfig::ResidualGraph { .. }, taps) => {
                let taps = taps.as_ref().expect("a graph network is built with its taps");
                graph::forward(layers, blocks, taps, &self.shape, inputs)
            }
        }
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

impl NetworkConfig {
    /// Which points a graph network takes together on a board that has been checked.
    pub(crate) fn taps(&self, shape: &Shape) -> Option<Taps> {
        match *self {
            NetworkConfig::ResidualGraph { reach, neighbourhood, .. } => Some(shape.board.taps(neighbourhood, reach)),
            _ => None,
        }
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
                assert!(output.auxiliary.is_none());
            }
        }
    }

    #[test]
    fn auxiliary_targets_are_one_more_layer_at_the_end() {
        let config = NetworkConfig::ResidualMlp { blocks: 1, width: 9 };
        let (playing, training) = (config.layout(&SHAPE).unwrap(), config.training_layout(&SHAPE).unwrap());
        let (common, added) = training.split_at(playing.len());
        assert_eq!(common, playing);
        let added: Vec<_> = added.iter().map(|spec| (spec.name.as_str(), spec.shape.as_slice())).collect();
        assert_eq!(added, [("auxiliary.weight", &[9, 2][..]), ("auxiliary.bias", &[2])]);

        // Nothing else changes by it, not even the first weights.
        let (without, with) = (Weights::random(&playing, 1), Weights::random(&training, 1));
        assert_eq!(with.tensors()[..playing.len()], *without.tensors());
        let device = Device::flex();
        let output = |weights: &Weights| {
            let net = PolicyValueNet::new(&config, &SHAPE, weights, &device).unwrap();
            net.forward(Tensor::ones([4, 5], &device))
        };
        let (without, with) = (output(&without), output(&with));
        assert_eq!((read(with.policy), read(with.value)), (read(without.policy), read(without.value)));
        assert_eq!(with.auxiliary.unwrap().dims(), [4, 2]);
    }

    #[test]
    fn the_layout_is_named_in_its_order() {
        let layout = NetworkConfig::ResidualMlp { blocks: 1, width: 8 }.layout(&SHAPE).unwrap();
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
            NetworkConfig::ResidualMlp { blocks, width }.layout(&shape).unwrap_err().to_string()
        };
        assert_eq!(error(33, 8, SHAPE), "the number of blocks is 33, but must be from 0 to 32");
        assert_eq!(error(1, 0, SHAPE), "the network width is 0, but must be from 1 to 2048");
        assert!(error(1, 8, Shape::flat(0, 1)).contains("inputs is 0"));
        assert!(error(1, 8, Shape::flat(1, usize::MAX)).contains("actions is"));
        assert!(error(0, 2048, Shape::flat(65536, 1)).contains("parameters is"));
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
