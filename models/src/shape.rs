//! The shape of a game as networks see it: sizes of observations and actions, geometry of the board.

use serde::{Deserialize, Serialize};
use turnstone_base::words;

use crate::error::{NetworkError, within};

/// The shape of a game: everything that a network depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Length of an observation, 1 to 65536.
    pub inputs: usize,
    /// Number of actions, legal or not, 1 to 65536.
    pub actions: usize,
    /// Geometry of the board, for the networks that use it.
    #[serde(default)]
    pub board: BoardShape,
}

/// The geometry of a board. An observation is a matrix `[point_planes, points]` followed by scalars that hold for the
/// whole board. The default has no points.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardShape {
    /// Number of planes with one value per point.
    pub point_planes: usize,
    /// Number of points, cells or pits.
    pub points: usize,
    /// For each direction along the board's lines, the next point of every point, or `None` where the line ends.
    pub directions: Vec<Vec<Option<u16>>>,
    /// Height and width of the lattice on which the board is drawn.
    pub lattice: [usize; 2],
    /// Lattice cell (`row * width + column`) of each point.
    pub cells: Vec<u16>,
}

words! {
    /// The directions in which a point has neighbours.
    pub enum Neighbourhood {
        /// Along the board's lines.
        Lines = "lines",
        /// Along rows, columns and diagonals of the lattice: at reach 1 the 3x3 cells of a convolution.
        Square = "square",
    }
}

/// The points that a layer reads for each point, the point itself first: a table `[points, taps]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taps {
    /// Row-major; `None` beyond the end of a line.
    pub(crate) table: Vec<Option<u16>>,
    /// Number of taps per point.
    pub(crate) count: usize,
}

impl Shape {
    /// A shape without a board.
    pub const fn flat(inputs: usize, actions: usize) -> Shape {
        let board =
            BoardShape { point_planes: 0, points: 0, directions: Vec::new(), lattice: [0, 0], cells: Vec::new() };
        Shape { inputs, actions, board }
    }

    /// Number of inputs and of actions.
    pub fn sizes(&self) -> [usize; 2] {
        [self.inputs, self.actions]
    }

    /// Number of features per point: its planes, and the scalars of the whole board.
    pub(crate) fn features_per_point(&self) -> usize {
        self.board.point_planes + self.scalars()
    }

    /// Number of scalars that hold for the whole board.
    pub(crate) fn scalars(&self) -> usize {
        self.inputs - self.board.point_planes * self.board.points
    }

    /// Checks that observations have values per point.
    pub(crate) fn check_points(&self) -> Result<(), NetworkError> {
        let BoardShape { point_planes, points, .. } = self.board;
        if point_planes == 0 || points == 0 {
            return Err(NetworkError::NoPoints);
        }
        within("the number of points", points, 1..=self.inputs)?;
        within("the number of planes of points", point_planes, 1..=self.inputs / points)
    }
}

impl BoardShape {
    /// Number of points that a layer with this reach reads for each point.
    pub(crate) fn taps_count(&self, neighbourhood: Neighbourhood, reach: usize) -> usize {
        1 + reach
            * match neighbourhood {
                Neighbourhood::Lines => self.directions.len(),
                Neighbourhood::Square => SQUARE.len(),
            }
    }

    /// Checks the preconditions of [`taps`](Self::taps).
    pub(crate) fn check_neighbourhood(&self, neighbourhood: Neighbourhood) -> Result<(), NetworkError> {
        within("the number of points", self.points, 1..=usize::from(u16::MAX))?;
        let valid = match neighbourhood {
            Neighbourhood::Lines => {
                within("the number of directions", self.directions.len(), 0..=64)?;
                let inside = |next: &Vec<Option<u16>>| next.iter().flatten().all(|&to| usize::from(to) < self.points);
                if self.directions.is_empty() {
                    return Err(NetworkError::NoLines);
                }
                self.directions.iter().all(|next| next.len() == self.points && inside(next))
            }
            Neighbourhood::Square => {
                let [height, width] = self.lattice;
                if height < 2 || width < 2 {
                    return Err(NetworkError::NoLattice);
                }
                within("the height of the lattice", height, 2..=256)?;
                within("the width of the lattice", width, 2..=256)?;
                self.check_cells()?;
                true
            }
        };
        if valid { Ok(()) } else { Err(NetworkError::BadBoard) }
    }

    /// Checks that every point has a cell on the lattice.
    pub(crate) fn check_cells(&self) -> Result<(), NetworkError> {
        let area = self.lattice[0].saturating_mul(self.lattice[1]);
        within("the area of the lattice", area, 1..=65536)?;
        let valid = self.cells.len() == self.points && self.cells.iter().all(|&cell| usize::from(cell) < area);
        if valid { Ok(()) } else { Err(NetworkError::BadBoard) }
    }

    /// Lists each point itself, then the points 1 to `reach` steps away in each direction, nearest first.
    pub(crate) fn taps(&self, neighbourhood: Neighbourhood, reach: usize) -> Taps {
        let square;
        let directions = match neighbourhood {
            Neighbourhood::Lines => &self.directions,
            Neighbourhood::Square => {
                square = SQUARE.map(|step| self.lattice_direction(step));
                &square[..]
            }
        };
        let count = self.taps_count(neighbourhood, reach);
        let mut table = Vec::with_capacity(self.points * count);
        for point in 0..self.points as u16 {
            table.push(Some(point));
            for next in directions {
                let mut at = Some(point);
                for _ in 0..reach {
                    at = at.and_then(|at| next[usize::from(at)]);
                    table.push(at);
                }
            }
        }
        Taps { table, count }
    }

    /// For each point, the point the given number of rows and columns away, if there is one.
    fn lattice_direction(&self, [down, right]: [isize; 2]) -> Vec<Option<u16>> {
        let [height, width] = self.lattice;
        let mut points = vec![None; height * width];
        for (point, &cell) in self.cells.iter().enumerate() {
            points[usize::from(cell)] = Some(point as u16);
        }
        let next = |&cell: &u16| {
            let row = (usize::from(cell) / width).checked_add_signed(down).filter(|&row| row < height)?;
            let column = (usize::from(cell) % width).checked_add_signed(right).filter(|&column| column < width)?;
            points[row * width + column]
        };
        self.cells.iter().map(next).collect()
    }
}

/// Offsets `[rows, columns]` of the eight cells around a cell.
const SQUARE: [[isize; 2]; 8] = [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 0], [1, 1]];

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows of three cells; the lines are the rows.
    fn board() -> BoardShape {
        let right = vec![Some(1), Some(2), None, Some(4), Some(5), None];
        let left = vec![None, Some(0), Some(1), None, Some(3), Some(4)];
        BoardShape {
            point_planes: 1,
            points: 6,
            directions: vec![right, left],
            lattice: [2, 3],
            cells: (0..6).collect(),
        }
    }

    #[test]
    fn taps_follow_the_lines_or_the_lattice() {
        let taps = board().taps(Neighbourhood::Lines, 2);
        assert_eq!(taps.count, 5);
        assert_eq!(taps.table[..5], [Some(0), Some(1), Some(2), None, None]);
        assert_eq!(taps.table[5 * 5..], [Some(5), None, None, Some(4), Some(3)]);
        let taps = board().taps(Neighbourhood::Square, 1);
        assert_eq!(taps.count, 9);
        assert_eq!(taps.table[9..18].iter().flatten().count(), 6);
        assert_eq!(taps.table[9], Some(1));
        assert_eq!(taps.table[..9].iter().flatten().collect::<Vec<_>>(), [&0, &1, &3, &4]);
    }

    #[test]
    fn contradictory_boards_are_refused() {
        let error = |change: &dyn Fn(&mut BoardShape), neighbourhood| {
            let mut board = board();
            change(&mut board);
            board.check_neighbourhood(neighbourhood).unwrap_err().to_string()
        };
        let (lines, square) = (Neighbourhood::Lines, Neighbourhood::Square);
        assert!(error(&|b| b.directions.clear(), lines).contains("no lines"));
        assert!(error(&|b| b.directions[0][0] = Some(6), lines).contains("contradict"));
        assert!(error(&|b| b.directions[1].truncate(2), lines).contains("contradict"));
        assert!(error(&|b| b.lattice = [1, 6], square).contains("no lattice"));
        assert!(error(&|b| b.lattice = [2, 2], square).contains("contradict"));
        assert!(error(&|b| b.cells.truncate(2), square).contains("contradict"));
    }
}
