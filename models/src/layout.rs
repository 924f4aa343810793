//! Names, shapes, order and initial distribution of the parameters of each kind of network.

use crate::config::{NetworkConfig, OUTCOMES};
use crate::error::{NetworkError, within};
use crate::shape::{Neighbourhood, Shape};
use crate::weights::TensorSpec;

/// Channels per point that a head reads.
pub(crate) const HEAD_CHANNELS: usize = 8;
/// Hidden units of the value head of a network over points.
pub(crate) const VALUE_HIDDEN: usize = 64;
/// Cells that a convolution reads.
const TAPS: usize = 9;

impl NetworkConfig {
    /// Name, shape and initial distribution of every parameter for a game of this shape, in their fixed order.
    ///
    /// Layers before a ReLU start with He's standard deviation `sqrt(2 / in)`. Layers that are added to the residual
    /// stream are divided by the square root of the number of layers in all blocks, which bounds the growth of the
    /// variance over the tower independently of its depth. The last layers of the heads start with `0.1 / sqrt(in)`, for
    /// nearly uniform priors and outcomes.
    ///
    /// # Errors
    /// [`NetworkError::OutOfRange`] as for [`validate`](Self::validate), for the sizes of the shape, and for more than
    /// 67 million parameters; other errors for a board that the network cannot work on.
    pub fn layout(&self, shape: &Shape) -> Result<Vec<TensorSpec>, NetworkError> {
        let tensors = self.layers(shape)?.tensors;
        within("the number of parameters", tensors.iter().map(TensorSpec::count).sum(), 1..=1 << 26)?;
        Ok(tensors)
    }

    fn layers(&self, shape: &Shape) -> Result<Layout, NetworkError> {
        self.validate()?;
        within("the number of inputs", shape.inputs, 1..=65536)?;
        within("the number of actions", shape.actions, 1..=65536)?;
        Ok(match *self {
            NetworkConfig::ResidualMlp { blocks, width } => mlp(shape, blocks, width),
            NetworkConfig::ResidualGraph { blocks, channels, reach, neighbourhood } => {
                shape.check_points()?;
                shape.board.check_neighbourhood(neighbourhood)?;
                let taps = shape.board.taps_count(neighbourhood, reach);
                check_gathered(shape, taps, channels)?;
                graph(shape, blocks, channels, taps)
            }
            NetworkConfig::ResidualConv { blocks, channels, global_pooling, squeeze_excite } => {
                shape.check_points()?;
                shape.board.check_neighbourhood(Neighbourhood::Square)?;
                check_gathered(shape, TAPS, channels)?;
                conv(shape, [blocks, channels, squeeze_excite], global_pooling.then_some(2 * channels))
            }
        })
    }
}

/// Limits the numbers that a layer over neighbours reads of one position.
fn check_gathered(shape: &Shape, taps: usize, channels: usize) -> Result<(), NetworkError> {
    within("points times taps times channels", shape.board.points * taps * channels, 1..=1 << 24)
}

/// The parameters of a network in their order, layer by layer: a matrix, then its bias.
#[derive(Default)]
struct Layout {
    tensors: Vec<TensorSpec>,
}

impl Layout {
    /// Adds a layer. `deviation` is the standard deviation of its initial weights; its bias starts at zero.
    fn linear(&mut self, name: &str, inputs: usize, outputs: usize, deviation: f64) {
        let tensor = |part: &str, shape, deviation| TensorSpec { name: format!("{name}.{part}"), shape, deviation };
        self.tensors.push(tensor("weight", vec![inputs, outputs], deviation));
        self.tensors.push(tensor("bias", vec![outputs], 0.0));
    }
}

/// He's standard deviation, for a layer before a ReLU.
fn he(inputs: usize) -> f64 {
    (2.0 / inputs as f64).sqrt()
}

/// The standard deviation of the last layer of a head, for nearly uniform priors and outcomes.
fn head(inputs: usize) -> f64 {
    0.1 / (inputs as f64).sqrt()
}

/// The standard deviation of a layer that is added to the residual stream of a tower with this many layers in its
/// blocks.
fn residual(inputs: usize, layers: usize) -> f64 {
    he(inputs) / (layers as f64).sqrt()
}

fn mlp(shape: &Shape, blocks: usize, width: usize) -> Layout {
    let value_width = (width / 2).max(16);
    let mut layout = Layout::default();
    layout.linear("stem", shape.inputs, width, he(shape.inputs));
    for block in 0..blocks {
        layout.linear(&format!("blocks.{block}.first"), width, width, he(width));
        layout.linear(&format!("blocks.{block}.second"), width, width, residual(width, 2 * blocks));
    }
    layout.linear("policy", width, shape.actions, head(width));
    layout.linear("value_hidden", width, value_width, he(width));
    layout.linear("value", value_width, OUTCOMES, head(value_width));
    layout
}

fn graph(shape: &Shape, blocks: usize, channels: usize, taps: usize) -> Layout {
    let (features, gathered) = (shape.features_per_point(), taps * channels);
    let mut layout = Layout::default();
    layout.linear("stem", features, channels, he(features));
    for block in 0..blocks {
        layout.linear(&format!("blocks.{block}.first"), gathered, channels, he(gathered));
        layout.linear(&format!("blocks.{block}.second"), channels, channels, residual(channels, 2 * blocks));
    }
    heads(&mut layout, shape, channels);
    layout
}

/// `pooled` is the number of means and maxima that a layer of each block reads, if it has one.
fn conv(shape: &Shape, [blocks, channels, squeezed]: [usize; 3], pooled: Option<usize>) -> Layout {
    let (features, gathered) = (TAPS * shape.features_per_point(), TAPS * channels);
    let mut layout = Layout::default();
    layout.linear("stem", features, channels, he(features));
    for block in 0..blocks {
        let name = |part: &str| format!("blocks.{block}.{part}");
        layout.linear(&name("first"), gathered, channels, he(gathered));
        layout.linear(&name("second"), gathered, channels, residual(gathered, 2 * blocks));
        if let Some(pooled) = pooled {
            layout.linear(&name("pooled"), pooled, channels, residual(pooled, 2 * blocks));
        }
        if squeezed > 0 {
            layout.linear(&name("squeeze"), channels, squeezed, he(channels));
            layout.linear(&name("excite"), squeezed, channels, head(squeezed));
        }
    }
    heads(&mut layout, shape, channels);
    layout
}

/// Adds the heads of a network over points: a layer that reduces the channels of each point, then dense layers over
/// all points.
fn heads(layout: &mut Layout, shape: &Shape, channels: usize) {
    let all = head_features(shape);
    layout.linear("policy_points", channels, HEAD_CHANNELS, he(channels));
    layout.linear("policy", all, shape.actions, head(all));
    layout.linear("value_points", channels, HEAD_CHANNELS, he(channels));
    layout.linear("value_hidden", all, VALUE_HIDDEN, he(all));
    layout.linear("value", VALUE_HIDDEN, OUTCOMES, head(VALUE_HIDDEN));
}

/// Number of features that a head reads of all points.
fn head_features(shape: &Shape) -> usize {
    shape.board.points * HEAD_CHANNELS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Board;
    use crate::weights::Weights;

    const SHAPE: Shape = Shape::flat(5, 7);

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
    fn boards_out_of_range_are_refused() {
        let board = |[height, width]: [usize; 2]| {
            let points = height * width;
            let (lines, cells) = (vec![vec![None; points]], (0..points).map(|cell| cell as u16).collect());
            let board = Board { point_planes: 1, points, directions: lines, lattice: [height, width], cells };
            Shape { inputs: points, actions: 1, board }
        };
        let conv =
            |channels| NetworkConfig::ResidualConv { blocks: 0, channels, global_pooling: false, squeeze_excite: 0 };
        let lines =
            NetworkConfig::ResidualGraph { blocks: 0, channels: 1, reach: 1, neighbourhood: Neighbourhood::Lines };
        let fault = |network: &NetworkConfig, lattice| network.layout(&board(lattice)).unwrap_err().to_string();
        // Points are numbered by 16 bits.
        let points = "the number of points is 65536, but must be from 1 to 65535";
        assert_eq!(fault(&conv(1), [256, 256]), points);
        assert_eq!(fault(&lines, [256, 256]), points);
        let gathered = "points times taps times channels is 17038080, but must be from 1 to 16777216";
        assert_eq!(fault(&conv(29), [255, 256]), gathered);
        assert!(conv(28).layout(&board([255, 256])).is_ok());
        assert_eq!(conv(1).taps(&board([255, 256])).unwrap().table.len(), 255 * 256 * TAPS);
    }

    /// FNV-1a over names and bits of all tensors.
    fn checksum(weights: &Weights) -> u64 {
        let bytes = weights.tensors().iter().flat_map(|tensor| {
            let numbers = tensor.data.iter().flat_map(|x| x.to_bits().to_le_bytes());
            tensor.name.bytes().chain(numbers)
        });
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    /// A change of names, order, shapes, deviations or random numbers would start every run from other weights.
    #[test]
    fn initial_weights_stay_the_same() {
        let right = vec![Some(1), Some(2), None, Some(4), Some(5), None];
        let left = vec![None, Some(0), Some(1), None, Some(3), Some(4)];
        let (directions, lattice, cells) = (vec![right, left], [2, 3], (0..6).collect());
        let board = Board { point_planes: 2, points: 6, directions, lattice, cells };
        let shape = Shape { inputs: 14, actions: 9, board };
        let graph =
            |blocks, reach, neighbourhood| NetworkConfig::ResidualGraph { blocks, channels: 12, reach, neighbourhood };
        let expected = [
            (NetworkConfig::ResidualMlp { blocks: 2, width: 40 }, 0x4def_3efc_fabc_7371),
            (graph(2, 2, Neighbourhood::Lines), 0xf85c_2999_05c8_e113),
            (graph(1, 1, Neighbourhood::Square), 0x506a_2bcb_0d03_3017),
        ];
        for (config, sum) in expected {
            assert_eq!(checksum(&Weights::random(&config.layout(&shape).unwrap(), 7)), sum, "{config}");
        }
    }
}
