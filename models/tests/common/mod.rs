//! The shapes of the games, and files with other contents.

mod resealed;

pub(crate) use resealed::resealed;

use turnstone_env::Spec;
use turnstone_models::{BoardShape, Shape};

/// The shape of a game as networks see it.
pub(crate) fn shape(spec: &Spec) -> Shape {
    let board = BoardShape {
        point_planes: spec.point_planes.len(),
        points: spec.points,
        directions: spec.directions.clone(),
        lattice: spec.lattice,
        cells: spec.cells.clone(),
    };
    Shape { inputs: spec.features(), actions: spec.actions, board }
}
