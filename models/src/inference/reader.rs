//! Observations by point.

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
