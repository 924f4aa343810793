//! Konane's shape for learners: planes, symmetries, and the number of the action that follows a path of cells.

use super::board::{Direction, Geometry, Jump, Ply, colour};
use crate::action::Action;
use crate::grid::Grid;
use crate::spec::Spec;
use crate::symmetry::Symmetry;

const PLANES: [&str; 3] = ["own stones", "opponent's stones", "empty cells"];
const SCALARS: [&str; 2] = ["first removal", "second removal"];

impl Geometry {
    pub(super) fn spec(&self) -> Spec {
        let grid = self.grid();
        let points = grid.points();
        Spec {
            directions: grid.directions(&Direction::ALL.map(Direction::step)),
            scalars: SCALARS.map(str::to_owned).into(),
            bounds: [0.0, 1.0],
            blocks: vec![("REMOVE", points), ("JUMP", self.plies.len() - points)],
            symmetries: self.symmetries(),
            piece_planes: Some([0, 1]),
            sides: ["dark", "light"],
            draws: false,
            ..Spec::new("konane", 1, [self.size; 2], &PLANES, self.plies.len())
        }
    }

    /// The points in reading order.
    pub(super) fn grid(&self) -> Grid {
        Grid::new(self.size, self.size)
    }

    /// Of the square's eight symmetries four keep the colours and, with them, the cells where the opening may remove. The
    /// other four swap X and O.
    fn symmetries(&self) -> Vec<Symmetry> {
        let image = |action: Action, points: &[u16]| {
            let image = |(row, column)| {
                let point = usize::from(points[row * self.size + column]);
                (point / self.size, point % self.size)
            };
            let path: Vec<_> = match self.plies[action.index()] {
                Ply::Remove { row, column } => vec![image((row, column))],
                Ply::Jump(jump) => (0..=jump.jumps).map(|jumps| image(jump.cell(2 * jumps))).collect(),
            };
            self.path_action(&path).expect("a symmetry maps lines to lines")
        };
        let mut symmetries = self.grid().symmetries(PLANES.len(), self.plies.len(), image);
        let corner = |point: usize| colour(point / self.size, point % self.size);
        symmetries.retain(|symmetry| corner(symmetry.points[0].into()) == corner(0));
        symmetries
    }

    /// The action that removes the one cell of a path or jumps along it; cells are row from the top and column.
    pub(super) fn path_action(&self, path: &[(usize, usize)]) -> Result<Action, String> {
        let (row, column) = path[0];
        let Some(&landing) = path.get(1) else {
            return Ok(Action((row * self.size + column) as u16));
        };
        let jump = |&direction: &Direction| Jump { row, column, direction, jumps: path.len() - 1 };
        let jump = Direction::ALL.iter().map(jump).find(|jump| jump.cell(2) == landing);
        let jump = jump.ok_or("a jump goes two cells along a row or a column")?;
        if path.iter().enumerate().any(|(jumps, &cell)| jump.cell(2 * jumps) != cell) {
            return Err("a jump continues in the same direction, two cells at a time".into());
        }
        Ok(self.jump_action(jump))
    }
}
