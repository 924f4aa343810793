//! What the networks over points share at play: observations read point by point, and the heads.

use super::{Finish, Layer, Layers};
use crate::network::points::{HEAD_CHANNELS, VALUE_HIDDEN};
use crate::shape::Shape;

/// Sizes of an observation by points.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    point_planes: usize,
    points: usize,
    /// Numbers in an observation, those of the whole board included.
    inputs: usize,
}

impl Reader {
    pub(super) fn new(shape: &Shape) -> Reader {
        Reader { point_planes: shape.board.point_planes, points: shape.board.points, inputs: shape.inputs }
    }

    /// Numbers in an observation.
    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Numbers that each point is told.
    pub(super) fn features(&self) -> usize {
        self.point_planes + self.inputs - self.point_planes * self.points
    }

    /// Writes what each point of each position is told, `[batch, points, features]`: its own numbers, then those of the
    /// whole board.
    pub(super) fn read(&self, inputs: &[f32], features: &mut [f32]) {
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
    /// What the policy reads of all points, `[max_batch, points, HEAD_CHANNELS]`.
    policy_features: Vec<f32>,
    /// The same for the value.
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

    /// Reads positions from `first` on: what the tower made of their points, `[positions, points, channels]`.
    pub(super) fn read(&mut self, first: usize, positions: usize, tower: &[f32]) {
        let rows = positions * self.points;
        let range = first * self.points * HEAD_CHANNELS..(first + positions) * self.points * HEAD_CHANNELS;
        self.policy_points.apply(rows, tower, &mut self.policy_features[range.clone()], Finish::Relu);
        self.value_points.apply(rows, tower, &mut self.value_features[range], Finish::Relu);
    }

    /// Evaluates the positions that have been read, from the first on.
    pub(super) fn evaluate(&mut self, batch: usize, policy: &mut [f32], value: &mut [f32]) {
        let features = batch * self.points * HEAD_CHANNELS;
        let hidden = &mut self.hidden[..batch * VALUE_HIDDEN];
        self.policy.apply(batch, &self.policy_features[..features], policy, Finish::Plain);
        self.value_hidden.apply(batch, &self.value_features[..features], hidden, Finish::Relu);
        self.value.apply(batch, hidden, value, Finish::Plain);
    }
}
