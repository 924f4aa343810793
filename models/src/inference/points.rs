//! Common parts of the inference of networks over points: features per point, and the heads.

use super::kernel::Finish;
use super::layer::Layer;
use super::layers::Layers;
use crate::layout::{HEAD_CHANNELS, VALUE_HIDDEN};
use crate::shape::Shape;

/// Turns observations into features per point.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    point_planes: usize,
    points: usize,
    /// Length of an observation.
    inputs: usize,
}

impl Reader {
    pub(crate) fn new(shape: &Shape) -> Reader {
        Reader { point_planes: shape.board.point_planes, points: shape.board.points, inputs: shape.inputs }
    }

    /// Length of an observation.
    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of features per point: its planes, and the scalars of the whole board.
    pub(crate) fn features(&self) -> usize {
        self.point_planes + self.inputs - self.point_planes * self.points
    }

    /// Writes the features of each point of each position, `[batch, points, features]`: the planes of the point, then the
    /// scalars of the whole board.
    pub(crate) fn read(&self, inputs: &[f32], features: &mut [f32]) {
        let width = self.features();
        let positions = features.chunks_exact_mut(self.points * width);
        for (inputs, rows) in inputs.chunks_exact(self.inputs).zip(positions) {
            let (own, common) = inputs.split_at(self.point_planes * self.points);
            for (point, row) in rows.chunks_exact_mut(width).enumerate() {
                let (planes, rest) = row.split_at_mut(self.point_planes);
                for (feature, plane) in planes.iter_mut().zip(own.chunks_exact(self.points)) {
                    *feature = plane[point];
                }
                rest.copy_from_slice(common);
            }
        }
    }
}

/// The heads of a network over points, with their buffers.
#[derive(Debug, Clone)]
pub(super) struct Heads {
    points: usize,
    policy_points: Layer,
    policy: Layer,
    value_points: Layer,
    value_hidden: Layer,
    value: Layer,
    /// Inputs of the policy head, `[max_batch, points, HEAD_CHANNELS]`.
    policy_features: Vec<f32>,
    /// Inputs of the value head, `[max_batch, points, HEAD_CHANNELS]`.
    value_features: Vec<f32>,
    /// `[max_batch, VALUE_HIDDEN]`.
    hidden: Vec<f32>,
}

impl Heads {
    /// Takes its layers in the order of the layout.
    pub(super) fn new(mut layers: Layers<'_>, points: usize, max_batch: usize) -> Heads {
        let (policy_points, policy) = (layers.dense(), layers.dense());
        let (value_points, value_hidden, value) = (layers.dense(), layers.dense(), layers.dense());
        let features = vec![0.0; max_batch * points * HEAD_CHANNELS];
        Heads {
            points,
            policy_points,
            policy,
            value_points,
            value_hidden,
            value,
            policy_features: features.clone(),
            value_features: features,
            hidden: vec![0.0; max_batch * VALUE_HIDDEN],
        }
    }

    /// Computes the inputs of the heads for `positions` positions from `first` on, from the output of the tower
    /// `[positions, points, channels]`.
    pub(super) fn read(&mut self, first: usize, positions: usize, tower: &[f32]) {
        let rows = positions * self.points;
        let range = first * self.points * HEAD_CHANNELS..(first + positions) * self.points * HEAD_CHANNELS;
        self.policy_points.apply(rows, tower, &mut self.policy_features[range.clone()], Finish::Relu);
        self.value_points.apply(rows, tower, &mut self.value_features[range], Finish::Relu);
    }

    /// Computes policy and value of the first `batch` positions, all of which have been read.
    pub(super) fn evaluate(&mut self, batch: usize, policy: &mut [f32], value: &mut [f32]) {
        let features = batch * self.points * HEAD_CHANNELS;
        let hidden = &mut self.hidden[..batch * VALUE_HIDDEN];
        self.policy.apply(batch, &self.policy_features[..features], policy, Finish::Plain);
        self.value_hidden.apply(batch, &self.value_features[..features], hidden, Finish::Relu);
        self.value.apply(batch, hidden, value, Finish::Plain);
    }
}
