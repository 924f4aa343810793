//! Konane's shape for learners: planes, symmetries, and the number of the action that follows a path of cells.

use super::board::{Board, Direction, Jump, Ply};
use crate::action::Action;
use crate::lines;
use crate::spec::Spec;
use crate::symmetry::Symmetry;

const PLANES: [&str; 3] = ["own stones", "opponent's stones", "empty cells"];
const SCALARS: [&str; 2] = ["first removal", "second removal"];

/// Maps a cell, as row from the top and column, to its image; the third argument is the last row or column.
type Image = fn(usize, usize, usize) -> (usize, usize);

/// Of the square's eight symmetries these keep the colours and, with them, the cells where the opening may remove: the
/// identity, half a turn, and the reflections in both diagonals. The other four swap X and O.
const IMAGES: [Image; 4] = [
    |row, column, _| (row, column),
    |row, column, last| (last - row, last - column),
    |row, column, _| (column, row),
    |row, column, last| (last - column, last - row),
];

impl Board {
    pub(super) fn spec(&self) -> Spec {
        let points = self.size * self.size;
        Spec {
            directions: Direction::ALL.map(|direction| self.next_cells(direction)).into(),
            scalars: SCALARS.map(str::to_owned).into(),
            bounds: [0.0, 1.0],
            blocks: vec![("REMOVE", points), ("JUMP", self.plies.len() - points)],
            action_kinds: self.action_kinds(),
            symmetries: IMAGES.iter().map(|&image| self.symmetry(image)).collect(),
            piece_planes: Some([0, 1]),
            sides: ["dark", "light"],
            draws: false,
            ..Spec::new("konane", 1, [self.size; 2], &PLANES, self.plies.len())
        }
    }

    /// Removals, and jumps by direction and length, where they start.
    fn action_kinds(&self) -> Vec<(String, Vec<Option<u16>>)> {
        let mut kinds: Vec<(String, Vec<Option<u16>>)> = Vec::new();
        for (action, ply) in self.plies.iter().enumerate() {
            let (name, row, column) = match *ply {
                Ply::Remove { row, column } => ("REMOVE".to_owned(), row, column),
                Ply::Jump(Jump { row, column, direction, jumps }) => {
                    (format!("JUMP {direction:?} {jumps}"), row, column)
                }
            };
            // A kind's actions follow each other.
            if kinds.last().is_none_or(|(last, _)| *last != name) {
                kinds.push((name, vec![None; self.size * self.size]));
            }
            let (_, actions) = kinds.last_mut().expect("there is one");
            actions[row * self.size + column] = Some(action as u16);
        }
        kinds
    }

    /// The cell beside each cell.
    fn next_cells(&self, direction: Direction) -> Vec<Option<u16>> {
        let point = |(row, column)| row * self.size + column;
        let steps = self.points().map(|(row, column)| {
            let next = Jump { row, column, direction, jumps: 0 }.cell(1);
            ((row, column), next)
        });
        let on_board = |&(_, (row, column)): &(_, (usize, usize))| row < self.size && column < self.size;
        lines::direction(self.size * self.size, steps.filter(on_board).map(|(from, to)| (point(from), point(to))))
    }

    fn symmetry(&self, image: Image) -> Symmetry {
        let image = |(row, column)| image(row, column, self.size - 1);
        let point = |(row, column)| (row * self.size + column) as u16;
        let image_of = |ply: &Ply| match *ply {
            Ply::Remove { row, column } => self.path_action(&[image((row, column))]),
            Ply::Jump(jump) => {
                let path: Vec<_> = (0..=jump.jumps).map(|jumps| image(jump.cell(2 * jumps))).collect();
                self.path_action(&path)
            }
        };
        let image_of = |ply| image_of(ply).expect("a symmetry maps lines to lines").0;
        Symmetry {
            points: self.points().map(|cell| point(image(cell))).collect(),
            actions: self.plies.iter().map(image_of).collect(),
            planes: PLANES.len(),
        }
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
