//! Ready pieces for rectangular boards: steps, lines, symmetries, planes, drawings and the text of a position.

use crate::action::Action;
use crate::board::Cells;
use crate::lines;
use crate::side::Side;
use crate::symmetry::Symmetry;

/// A rectangle of cells. Its points are the cells, row by row from the top left, as in
/// [`Spec::new`](crate::Spec::new).
///
/// ```
/// use turnstone_env::{Grid, Side};
///
/// let grid = Grid::new(2, 3);
/// assert_eq!(grid.step(1, [1, -1]), Some(3)); // one row down, one column to the left
/// assert_eq!(grid.symmetries(2, 6, |action, _| action).len(), 4);
/// let pieces = grid.parse_with_mover("X.O/... O")?;
/// assert_eq!(pieces, (vec![Some(Side::First), None, Some(Side::Second), None, None, None], Side::Second));
/// assert_eq!(grid.text_with_mover(|point| pieces.0[point], pieces.1), "X.O/... O");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Number of rows.
    pub height: usize,
    /// Number of columns.
    pub width: usize,
}

/// Letters of the sides' pieces in texts.
const LETTERS: [char; 2] = ['X', 'O'];
/// The letter of an empty cell.
const EMPTY: char = '.';

impl Grid {
    /// The eight steps to a neighbour, as rows down and columns to the right: the four along rows and columns first, each
    /// followed by its opposite.
    pub const STEPS: [[isize; 2]; 8] = [[0, 1], [0, -1], [1, 0], [-1, 0], [1, 1], [-1, -1], [1, -1], [-1, 1]];

    /// A grid of this many rows and columns.
    #[must_use]
    pub const fn new(height: usize, width: usize) -> Self {
        Self { height, width }
    }

    /// Number of points.
    #[must_use]
    pub const fn points(self) -> usize {
        self.height * self.width
    }

    /// The point that lies `down` rows and `right` columns from a point, if it is on the board.
    #[must_use]
    pub fn step(self, point: usize, [down, right]: [isize; 2]) -> Option<usize> {
        let row = (point / self.width).checked_add_signed(down).filter(|&row| row < self.height)?;
        let column = (point % self.width).checked_add_signed(right).filter(|&column| column < self.width)?;
        Some(row * self.width + column)
    }

    /// The [`Spec::directions`](crate::Spec::directions) of these steps.
    #[must_use]
    pub fn directions(self, steps: &[[isize; 2]]) -> Vec<Vec<Option<u16>>> {
        let pairs =
            |&step: &[isize; 2]| (0..self.points()).filter_map(move |point| Some((point, self.step(point, step)?)));
        steps.iter().map(|step| lines::direction(self.points(), pairs(step))).collect()
    }

    /// The symmetries: the identity, half a turn, the reflection of left and right, that of top and bottom; on a square
    /// also the reflections in its two diagonals and the quarter turns. `image` gives the image of an action, from the
    /// images of all points. A game that not all of them keep drops the others.
    pub fn symmetries(self, planes: usize, actions: usize, image: impl Fn(Action, &[u16]) -> Action) -> Vec<Symmetry> {
        let [last_row, last_column] = [self.height, self.width].map(|cells| cells.saturating_sub(1));
        let maps: [&dyn Fn(usize, usize) -> (usize, usize); 8] = [
            &|row, column| (row, column),
            &|row, column| (last_row - row, last_column - column),
            &|row, column| (row, last_column - column),
            &|row, column| (last_row - row, column),
            &|row, column| (column, row),
            &|row, column| (last_row - column, last_column - row),
            &|row, column| (column, last_column - row),
            &|row, column| (last_row - column, row),
        ];
        let symmetry = |map: &&dyn Fn(usize, usize) -> (usize, usize)| {
            let to = |point: usize| map(point / self.width, point % self.width);
            let points = (0..self.points()).map(to).map(|(row, column)| (row * self.width + column) as u16);
            let points: Vec<u16> = points.collect();
            let actions = (0..actions as u16).map(|action| image(Action(action), &points).0).collect();
            Symmetry { points, actions, planes }
        };
        let count = if self.height == self.width { 8 } else { 4 };
        maps[..count].iter().map(symmetry).collect()
    }

    /// The symmetries of a game with an action at every point, numbered like the points, and perhaps others behind them
    /// that are played at no point, such as a pass: these are their own images.
    #[must_use]
    pub fn symmetries_by_point(self, planes: usize, actions: usize) -> Vec<Symmetry> {
        self.symmetries(planes, actions, |action, points| points.get(action.index()).map_or(action, |&to| Action(to)))
    }

    /// Writes a plane of a feature vector: 1 where a point has a property, else 0.
    pub fn write_plane(self, features: &mut [f32], plane: usize, has: impl Fn(usize) -> bool) {
        let plane = &mut features[plane * self.points()..][..self.points()];
        plane.iter_mut().enumerate().for_each(|(point, feature)| *feature = if has(point) { 1.0 } else { 0.0 });
    }

    /// Writes the first two planes: the mover's pieces, and the opponent's ([`Spec::piece_planes`](crate::Spec)).
    pub fn write_pieces(self, features: &mut [f32], mover: Side, piece: impl Fn(usize) -> Option<Side>) {
        self.write_plane(features, 0, |point| piece(point) == Some(mover));
        self.write_plane(features, 1, |point| piece(point) == Some(mover.other()));
    }

    /// The cells as they are drawn, with names of rows and columns ([`Cells::new`]).
    #[must_use]
    pub fn cells(self) -> Cells {
        Cells::new([self.height, self.width], (0..self.points() as u16).collect())
    }

    /// The text of a position: the rows from the top joined by `/`, with `X` for pieces of the first side, `O` for those
    /// of the second and `.` for empty cells.
    pub fn text(self, piece: impl Fn(usize) -> Option<Side>) -> String {
        let letter = |point| piece(point).map_or(EMPTY, |side| LETTERS[side.index()]);
        let row = |row| (row * self.width..(row + 1) * self.width).map(letter).collect();
        let rows: Vec<String> = (0..self.height).map(row).collect();
        rows.join("/")
    }

    /// [`Grid::text`], followed by the letter of the side to move.
    pub fn text_with_mover(self, piece: impl Fn(usize) -> Option<Side>, mover: Side) -> String {
        format!("{} {}", self.text(piece), LETTERS[mover.index()])
    }

    /// The pieces of a text as [`Grid::text`] writes it.
    ///
    /// # Errors
    /// The first fault of the text.
    pub fn parse(self, text: &str) -> Result<Vec<Option<Side>>, String> {
        let rows: Vec<&str> = text.split('/').collect();
        if rows.len() != self.height {
            return Err(format!("there must be {} rows, not {}", self.height, rows.len()));
        }
        let mut pieces = Vec::with_capacity(self.points());
        for (row, cells) in (1..).zip(rows) {
            let width = cells.chars().count();
            if width != self.width {
                return Err(format!("row {row} from the top must have {} cells, not {width}", self.width));
            }
            for letter in cells.chars() {
                pieces.push(match LETTERS.iter().position(|&known| known == letter) {
                    None if letter != EMPTY => {
                        return Err(format!("a cell is `X`, `O` or `.`, not `{}`", letter.escape_debug()));
                    }
                    side => side.map(|side| Side::BOTH[side]),
                });
            }
        }
        Ok(pieces)
    }

    /// The pieces and the side to move of a text as [`Grid::text_with_mover`] writes it.
    ///
    /// # Errors
    /// The first fault of the text.
    pub fn parse_with_mover(self, text: &str) -> Result<(Vec<Option<Side>>, Side), String> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [pieces, mover] = fields[..] else {
            return Err("expected the rows from the top joined by `/`, and the mover X or O".into());
        };
        let mover = match mover {
            "X" => Side::First,
            "O" => Side::Second,
            _ => return Err("the mover must be X or O".into()),
        };
        Ok((self.parse(pieces)?, mover))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The images of the first three points of a row and of the first point below it.
    fn images(grid: Grid) -> Vec<[u16; 4]> {
        let symmetries = grid.symmetries_by_point(1, grid.points() + 1);
        assert!(symmetries.iter().all(|symmetry| symmetry.actions[..grid.points()] == symmetry.points));
        assert!(symmetries.iter().all(|symmetry| usize::from(symmetry.actions[grid.points()]) == grid.points()));
        symmetries.iter().map(|s| [s.points[0], s.points[1], s.points[2], s.points[grid.width]]).collect()
    }

    #[test]
    fn squares_have_eight_symmetries_and_rectangles_four() {
        let square = [
            [0, 1, 2, 3],
            [8, 7, 6, 5],
            [2, 1, 0, 5],
            [6, 7, 8, 3],
            [0, 3, 6, 1],
            [8, 5, 2, 7],
            [2, 5, 8, 1],
            [6, 3, 0, 7],
        ];
        assert_eq!(images(Grid::new(3, 3)), square);
        assert_eq!(images(Grid::new(2, 3)), [[0, 1, 2, 3], [5, 4, 3, 2], [2, 1, 0, 5], [3, 4, 5, 0]]);
    }

    #[test]
    fn images_of_boards_and_sets_agree() {
        for symmetry in Grid::new(2, 3).symmetries_by_point(1, 6) {
            let image = symmetry.image(&[true, false, true, true, false, false]);
            let set = (0..6).filter(|&point| image[point]).fold(0, |set, point| set | 1 << point);
            assert_eq!(symmetry.image_of_set(0b00_1101), set);
            assert!(image[usize::from(symmetry.points[3])]);
        }
    }

    #[test]
    fn steps_end_at_the_edges() {
        let grid = Grid::new(2, 3);
        assert_eq!(
            grid.directions(&Grid::STEPS[..3]),
            [
                [Some(1), Some(2), None, Some(4), Some(5), None],
                [None, Some(0), Some(1), None, Some(3), Some(4)],
                [Some(3), Some(4), Some(5), None, None, None],
            ]
        );
        assert_eq!((grid.step(4, [-1, 1]), grid.step(4, [1, 0]), grid.step(2, [-1, 0])), (Some(2), None, None));
    }

    #[test]
    fn faults_of_texts_are_named() {
        let grid = Grid::new(2, 3);
        let fault = |text| grid.parse_with_mover(text).unwrap_err();
        assert_eq!(fault("X.O/..."), "expected the rows from the top joined by `/`, and the mover X or O");
        assert_eq!(fault("X.O/... x"), "the mover must be X or O");
        assert_eq!(fault("X.O X"), "there must be 2 rows, not 1");
        assert_eq!(fault("X.O/.... X"), "row 2 from the top must have 3 cells, not 4");
        assert_eq!(fault("X.O/.x. X"), "a cell is `X`, `O` or `.`, not `x`");
    }

    #[test]
    fn planes_are_written_whole() {
        let mut features = [7.0; 5];
        Grid::new(1, 2).write_pieces(&mut features, Side::Second, |point| [Some(Side::First), None][point]);
        assert_eq!(features, [0.0, 0.0, 1.0, 0.0, 7.0]);
    }
}
