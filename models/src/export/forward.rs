//! The forward pass of each kind of network as a list of operators: the same walk through the layers as in training.

use super::operators::{ForwardPass, OBSERVATION, POLICY_LOGITS, VALUE_LOGITS};
use crate::config::{NetworkConfig, OverBoard};
use crate::error::NetworkError;
use crate::layout::HEAD_CHANNELS;
use crate::shape::{Board, Shape, Taps};

/// The forward pass of a network as a list of operators over observations `[batch, planes, height, width]`: the planes of
/// points as they lie on the board's lattice, then the planes that are constant, which are read at their first cell.
///
/// # Errors
/// A size is out of range, or the board has no points or no lattice.
pub fn forward_pass(config: &NetworkConfig, shape: &Shape) -> Result<ForwardPass, NetworkError> {
    config.layout(shape)?;
    shape.check_points()?;
    shape.board.check_cells()?;
    let [height, width] = shape.board.lattice;
    let mut walk = ForwardPass::new([shape.board.point_planes + shape.scalars(), height, width]);
    let observed = Observed::read(&mut walk, shape);
    match (config, config.taps(shape)) {
        (&NetworkConfig::ResidualMlp { blocks, .. }, _) => mlp(&mut walk, blocks, shape, &observed),
        (&NetworkConfig::ResidualGraph { blocks, channels, .. }, taps) => {
            let taps = taps.expect("a graph network has taps");
            graph(&mut walk, [blocks, channels], &taps, shape, &observed);
        }
        (&NetworkConfig::ResidualConv { blocks, channels, .. }, taps) => {
            let taps = taps.expect("a network of convolutions has taps");
            let over_board = config.over_board().expect("it is one of convolutions");
            conv(&mut walk, ([blocks, channels], over_board), &taps, shape, &observed);
        }
    }
    Ok(walk)
}

/// The parts of an observation.
struct Observed {
    /// `[batch, point_planes, points]`.
    own: String,
    /// What holds for the whole board, `[batch, scalars, 1]`, if there is such.
    common: Option<String>,
}

impl Observed {
    fn read(walk: &mut ForwardPass, shape: &Shape) -> Observed {
        let Board { point_planes, lattice: [height, width], .. } = shape.board;
        let (planes, area) = (point_planes + shape.scalars(), height * width);
        let cells = walk.reshape(OBSERVATION, &[0, planes, area], "cells");
        let own = walk.slice(&cells, (0, 0), (point_planes, area), "own_cells");
        let indices: Vec<i64> = shape.board.cells.iter().map(|&cell| i64::from(cell)).collect();
        let own = walk.gather(&own, ("cells_of_points", &indices), 2, "own");
        let common = (shape.scalars() > 0).then(|| walk.slice(&cells, (point_planes, 0), (planes, 1), "common"));
        Observed { own, common }
    }

    /// As one vector, `[batch, inputs]`.
    fn vector(&self, walk: &mut ForwardPass, shape: &Shape) -> String {
        let own = walk.reshape(&self.own, &[0, shape.board.point_planes * shape.board.points], "own_vector");
        let Some(common) = &self.common else { return own };
        let common = walk.reshape(common, &[0, shape.scalars()], "common_vector");
        walk.concat(&[&own, &common], 1, "inputs")
    }

    /// As features per point, `[batch, points, features]`.
    fn features(&self, walk: &mut ForwardPass, shape: &Shape) -> String {
        let own = walk.transpose(&self.own);
        let Some(common) = &self.common else { return own };
        let common = walk.transpose(common);
        let common = walk.repeat(&common, shape.board.points, "common_everywhere");
        walk.concat(&[&own, &common], 2, "features")
    }
}

fn rectified(walk: &mut ForwardPass, x: &str, layer: &str) -> String {
    let y = walk.linear(x, layer, layer);
    walk.relu(&y)
}

fn mlp(walk: &mut ForwardPass, blocks: usize, shape: &Shape, observed: &Observed) {
    let inputs = observed.vector(walk, shape);
    let mut x = rectified(walk, &inputs, "stem");
    for block in 0..blocks {
        let inner = rectified(walk, &x, &format!("blocks.{block}.first"));
        x = added(walk, &x, &inner, &format!("blocks.{block}.second"));
        x = walk.relu(&x);
    }
    walk.linear(&x, "policy", POLICY_LOGITS);
    value(walk, &x);
}

fn value(walk: &mut ForwardPass, x: &str) {
    let hidden = rectified(walk, x, "value_hidden");
    walk.linear(&hidden, "value", VALUE_LOGITS);
}

/// `x + layer(inner)`.
fn added(walk: &mut ForwardPass, x: &str, inner: &str, layer: &str) -> String {
    let change = walk.linear(inner, layer, layer);
    walk.add(x, &change)
}

fn graph(walk: &mut ForwardPass, [blocks, channels]: [usize; 2], taps: &Taps, shape: &Shape, observed: &Observed) {
    let points = shape.board.points;
    let features = observed.features(walk, shape);
    let mut x = rectified(walk, &features, "stem");
    for block in 0..blocks {
        let name = |part: &str| format!("blocks.{block}.{part}");
        let side_by_side = side_by_side(walk, &x, taps, [points, channels], &name(""));
        let inner = rectified(walk, &side_by_side, &name("first"));
        x = added(walk, &x, &inner, &name("second"));
        x = walk.relu(&x);
    }
    heads(walk, points, &x);
}

/// Concatenates the channels of each point's taps, `[batch, points, channels]` to `[batch, points, taps * channels]`. `prefix`
/// begins the names of what it makes.
fn side_by_side(walk: &mut ForwardPass, x: &str, taps: &Taps, [points, channels]: [usize; 2], prefix: &str) -> String {
    // Taps beyond the end of a line read the row of zeros after the last point.
    let rows: Vec<i64> = taps.table.iter().map(|tap| tap.map_or(points as i64, i64::from)).collect();
    let padded = walk.with_row_of_zeros(x);
    let near = walk.gather(&padded, ("neighbours", &rows), 1, &format!("{prefix}near"));
    walk.reshape(&near, &[0, points, taps.count * channels], &format!("{prefix}side_by_side"))
}

fn conv(
    walk: &mut ForwardPass,
    ([blocks, channels], over_board): ([usize; 2], OverBoard),
    taps: &Taps,
    shape: &Shape,
    observed: &Observed,
) {
    let points = shape.board.points;
    let features = observed.features(walk, shape);
    let near = side_by_side(walk, &features, taps, [points, shape.features_per_point()], "stem.");
    let mut x = rectified(walk, &near, "stem");
    for block in 0..blocks {
        let name = |part: &str| format!("blocks.{block}.{part}");
        let near = side_by_side(walk, &x, taps, [points, channels], &name("first."));
        let inner = rectified(walk, &near, &name("first"));
        let near = side_by_side(walk, &inner, taps, [points, channels], &name("second."));
        let mut change = walk.linear(&near, &name("second"), &name("second"));
        if over_board.pools {
            let (means, maxima) = (walk.mean_of_rows(&inner), walk.maximum_of_rows(&inner));
            let pooled = walk.concat(&[&means, &maxima], 2, &name("pooled.inputs"));
            change = added(walk, &change, &pooled, &name("pooled"));
        }
        if over_board.excites {
            let means = walk.mean_of_rows(&change);
            let squeezed = rectified(walk, &means, &name("squeeze"));
            let gates = walk.linear(&squeezed, &name("excite"), &name("excite"));
            let gates = walk.sigmoid(&gates);
            change = walk.multiply(&change, &gates);
        }
        let sum = walk.add(&x, &change);
        x = walk.relu(&sum);
    }
    heads(walk, points, &x);
}

/// Computes policy and value from the channels of all points, `[batch, points, channels]`.
fn heads(walk: &mut ForwardPass, points: usize, x: &str) {
    let together = |walk: &mut ForwardPass, layer: &str| {
        let features = rectified(walk, x, layer);
        walk.reshape(&features, &[0, points * HEAD_CHANNELS], &format!("{layer}.together"))
    };
    let policy = together(walk, "policy_points");
    walk.linear(&policy, "policy", POLICY_LOGITS);
    let features = together(walk, "value_points");
    value(walk, &features);
}
