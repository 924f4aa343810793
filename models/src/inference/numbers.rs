//! Observations by point, and the operations on numbers that no kernel has: they are few, and cheap beside the layers.

use crate::network::Op;
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

/// Computes `y` from `x` and, for an operation of two, `other`, of several positions. `[rows, columns]` are those of `x` for
/// one position, `other_rows` the rows of `other`.
///
/// # Panics
/// If it is one of the operations that have a pass of their own.
pub(super) fn compute(
    op: &Op,
    [rows, columns]: [usize; 2],
    x: &[f32],
    (other, other_rows): (&[f32], usize),
    y: &mut [f32],
) {
    if x.is_empty() {
        return;
    }
    let board = rows * columns;
    match op {
        Op::Relu { .. } => y.iter_mut().zip(x).for_each(|(y, x)| *y = x.max(0.0)),
        Op::Add { .. } => add(columns, board, x, (other, other_rows), y),
        Op::Mean { .. } => mean(x, board, columns, y),
        Op::Max { .. } => max(x, board, columns, y),
        Op::Concat { .. } => concat(x, columns, other, y),
        Op::Inputs | Op::Points | Op::Linear { .. } | Op::Flatten { .. } => unreachable!("{op:?} is no such operation"),
    }
}

/// `y = x + other` for each row; `other` has a row for each, or one for all rows of a position.
fn add(columns: usize, board: usize, x: &[f32], (other, other_rows): (&[f32], usize), y: &mut [f32]) {
    if other_rows * columns == board {
        y.iter_mut().zip(x).zip(other).for_each(|((y, x), other)| *y = x + other);
        return;
    }
    let positions = x.chunks_exact(board).zip(y.chunks_exact_mut(board));
    for ((x, y), other) in positions.zip(other.chunks_exact(columns)) {
        for (x, y) in x.chunks_exact(columns).zip(y.chunks_exact_mut(columns)) {
            y.iter_mut().zip(x).zip(other).for_each(|((y, x), other)| *y = x + other);
        }
    }
}

/// The rows of `x`, each followed by one of `other`.
fn concat(x: &[f32], columns: usize, other: &[f32], y: &mut [f32]) {
    let others = other.len() / (x.len() / columns);
    let parts = x.chunks_exact(columns).zip(other.chunks_exact(others));
    for (y, (x, other)) in y.chunks_exact_mut(columns + others).zip(parts) {
        y[..columns].copy_from_slice(x);
        y[columns..].copy_from_slice(other);
    }
}

fn mean(x: &[f32], board: usize, columns: usize, y: &mut [f32]) {
    let share = columns as f32 / board as f32;
    for (x, y) in x.chunks_exact(board).zip(y.chunks_exact_mut(columns)) {
        y.fill(0.0);
        for row in x.chunks_exact(columns) {
            y.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        y.iter_mut().for_each(|sum| *sum *= share);
    }
}

fn max(x: &[f32], board: usize, columns: usize, y: &mut [f32]) {
    for (x, y) in x.chunks_exact(board).zip(y.chunks_exact_mut(columns)) {
        y.fill(f32::NEG_INFINITY);
        for row in x.chunks_exact(columns) {
            y.iter_mut().zip(row).for_each(|(most, &x)| *most = most.max(x));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Var;

    /// Two positions of three rows and two columns.
    const X: [f32; 12] = [1.0, -1.0, 2.0, -3.0, 6.0, -2.0, 0.0, 0.0, 0.0, 3.0, 3.0, 0.0];

    fn computed(op: Op, other: &[f32], other_rows: usize, length: usize) -> Vec<f32> {
        let mut y = vec![f32::NAN; length];
        compute(&op, [3, 2], &X, (other, other_rows), &mut y);
        y
    }

    #[test]
    fn rows_are_those_of_each_position() {
        let (x, y) = (Var(0), Var(1));
        assert_eq!(computed(Op::Mean { x }, &[], 0, 4), [3.0, -2.0, 1.0, 1.0]);
        assert_eq!(computed(Op::Max { x }, &[], 0, 4), [6.0, -1.0, 3.0, 3.0]);
        let one_row = [10.0, 20.0, 30.0, 40.0];
        let sums = [11.0, 19.0, 12.0, 17.0, 16.0, 18.0, 30.0, 40.0, 30.0, 43.0, 33.0, 40.0];
        assert_eq!(computed(Op::Add { x, y }, &one_row, 1, 12), sums);
        assert_eq!(computed(Op::Add { x, y }, &X, 3, 12)[..4], [2.0, -2.0, 4.0, -6.0]);
        assert_eq!(computed(Op::Relu { x }, &[], 0, 12)[..6], [1.0, 0.0, 2.0, 0.0, 6.0, 0.0]);
        let both = computed(Op::Concat { x, y }, &[7.0; 6], 3, 18);
        assert_eq!(both[..6], [1.0, -1.0, 7.0, 2.0, -3.0, 7.0]);
    }
}
