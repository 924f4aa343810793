//! Boards of cells.

use std::borrow::Cow;

use super::BoardPoint;
use super::paint::Paint;
use super::sheet::{MARGIN, Sheet, UNIT};
use crate::side::Side;

/// Size of the names of rows and columns.
const NAME: f32 = 17.0;
/// The most columns that letters name.
const LETTERS: usize = 26;

/// A board of square cells with pieces on some of them: the default drawing, and a few lines of code for a game that wants
/// more of it.
///
/// ```
/// use turnstone_env::Side;
/// use turnstone_env::svg::CellBoard;
///
/// let board = CellBoard {
///     title: "two by two",
///     lattice: [2, 2],
///     cells: vec![0, 1, 2, 3].into(),
///     pieces: &[None, Some(Side::First), Some(Side::Second), None],
///     marked: &[1],
///     caption: "player 2 to move",
///     ..CellBoard::default()
/// };
/// assert!(board.draw().starts_with("<svg "));
/// assert_eq!(board.board_points()[1].label, "b2");
/// assert_eq!(board.text(), "2 . X\n1 O .\n  a b\n");
/// ```
#[derive(Clone, Debug)]
pub struct CellBoard<'a> {
    /// The document's title.
    pub title: &'a str,
    /// Height and width in cells.
    pub lattice: [usize; 2],
    /// The cell (`row * width + column`, from the top left) of each point.
    pub cells: Cow<'a, [u16]>,
    /// Whose piece is on each point.
    pub pieces: &'a [Option<Side>],
    /// Points that the last action concerned.
    pub marked: &'a [usize],
    /// The side whose pieces are dark.
    pub dark: Side,
    /// Names of the columns from the left: letters if empty, or numbers where there are more than 26.
    pub columns: &'a [String],
    /// Names of the rows from the top: numbers from the bottom if empty.
    pub rows: &'a [String],
    /// Whether neighbouring cells differ in colour, as on a chess board.
    pub chequered: bool,
    /// A line of text at the foot; may be empty.
    pub caption: &'a str,
}

impl Default for CellBoard<'_> {
    fn default() -> Self {
        Self {
            title: "",
            lattice: [0; 2],
            cells: Cow::Borrowed(&[]),
            pieces: &[],
            marked: &[],
            dark: Side::First,
            columns: &[],
            rows: &[],
            chequered: false,
            caption: "",
        }
    }
}

impl CellBoard<'_> {
    /// The board as an SVG document.
    #[must_use]
    pub fn draw(&self) -> String {
        let [height, width] = self.lattice.map(|cells| UNIT * cells as f32 + 2.0 * MARGIN);
        let mut sheet = Sheet::new(self.title, width, height + 10.0);
        for (&cell, &piece) in self.cells.iter().zip(self.pieces) {
            let [x, y] = self.centre(cell);
            let odd =
                self.chequered && (usize::from(cell) / self.lattice[1] + usize::from(cell) % self.lattice[1]) % 2 == 1;
            let paint = if odd { Paint::HOLLOW } else { Paint::BOARD };
            sheet.rectangle([x - UNIT / 2.0 + 1.0, y - UNIT / 2.0 + 1.0], [UNIT - 2.0; 2], 6.0, paint);
            if let Some(side) = piece {
                sheet.stone([x, y], if self.dark == Side::First { side } else { side.other() });
            }
        }
        for &point in self.marked {
            sheet.mark(self.centre(self.cells[point]));
        }
        for column in 0..self.lattice[1] {
            let [x, _] = self.centre(column as u16);
            sheet.text([x, height - MARGIN + 0.8 * NAME], NAME, self.column(column));
        }
        for row in 0..self.lattice[0] {
            let [_, y] = self.centre((row * self.lattice[1]) as u16);
            sheet.text([MARGIN - 0.9 * NAME, y], NAME, self.row(row));
        }
        if !self.caption.is_empty() {
            sheet.caption(self.caption);
        }
        sheet.finish()
    }

    /// The points in the drawing, named by column and row: `b3`, or `12,3` where columns have numbers.
    #[must_use]
    pub fn board_points(&self) -> Vec<BoardPoint> {
        let separator = if self.lattice[1] > LETTERS && self.columns.is_empty() { "," } else { "" };
        let label = |cell: usize| {
            let [column, row] = [self.column(cell % self.lattice[1]), self.row(cell / self.lattice[1])];
            format!("{column}{separator}{row}")
        };
        let point = |&cell: &u16| BoardPoint::new(label(cell.into()), self.centre(cell), UNIT / 2.0);
        self.cells.iter().map(point).collect()
    }

    /// The board as lines of text, with `X` for the pieces of player 1, `O` for those of player 2 and `.` for empty cells.
    #[must_use]
    pub fn text(&self) -> String {
        let [height, width] = self.lattice;
        let mut cells = vec![" "; height * width];
        for (&cell, piece) in self.cells.iter().zip(self.pieces) {
            cells[usize::from(cell)] = piece.map_or(".", |side| ["X", "O"][side.index()]);
        }
        let row_names: Vec<String> = (0..height).map(|row| self.row(row)).collect();
        let columns: Vec<String> = (0..width).map(|column| self.column(column)).collect();
        let longest = |names: &[String]| names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let (margin, room) = (longest(&row_names), longest(&columns));
        let line = |name: &str, words: &mut dyn Iterator<Item = &str>| {
            let words: String = words.map(|word| format!(" {word:>room$}")).collect();
            format!("{name:>margin$}{words}\n").trim_end().to_owned() + "\n"
        };
        let rows = row_names.iter().zip(cells.chunks(width.max(1)));
        let mut text: String = rows.map(|(name, row)| line(name, &mut row.iter().copied())).collect();
        text.push_str(&line("", &mut columns.iter().map(String::as_str)));
        text
    }

    fn centre(&self, cell: u16) -> [f32; 2] {
        let place = |index: usize| MARGIN + UNIT * (index as f32 + 0.5);
        [place(usize::from(cell) % self.lattice[1]), place(usize::from(cell) / self.lattice[1])]
    }

    fn column(&self, column: usize) -> String {
        match self.columns.get(column) {
            Some(name) => name.clone(),
            None if self.lattice[1] <= LETTERS => char::from(b'a' + column as u8).to_string(),
            None => (column + 1).to_string(),
        }
    }

    fn row(&self, row: usize) -> String {
        self.rows.get(row).cloned().unwrap_or_else(|| (self.lattice[0] - row).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board<'a>(pieces: &'a [Option<Side>], marked: &'a [usize]) -> CellBoard<'a> {
        CellBoard { lattice: [2, 3], cells: vec![0, 2, 5].into(), pieces, marked, ..CellBoard::default() }
    }

    #[test]
    fn pieces_lie_on_the_centres_of_their_cells() {
        let pieces = [None, None, Some(Side::Second)];
        let board = CellBoard { caption: "player 1 to move", ..board(&pieces, &[]) };
        let first = MARGIN + UNIT / 2.0;
        let points = board.board_points();
        assert_eq!(points[2].at, [first + 2.0 * UNIT, first + UNIT]);
        assert_eq!(points[2].label, "c1");
        let drawing = board.draw();
        assert_eq!(drawing.matches("<circle ").count(), 1);
        let [x, y] = points[2].at;
        assert!(drawing.contains(&format!(r#"<circle cx="{x:.2}" cy="{y:.2}""#)), "{drawing}");
        for name in [">a<", ">b<", ">c<", ">1<", ">2<", ">player 1 to move<"] {
            assert_eq!(drawing.matches(name).count(), 1, "{name}");
        }
    }

    #[test]
    fn marks_and_dark_pieces_are_drawn() {
        let pieces = [Some(Side::First), Some(Side::First), None];
        assert_eq!(board(&pieces, &[0, 2]).draw().matches("ts-line-mark\"").count(), 2);
        let dark = |dark| CellBoard { dark, ..board(&pieces, &[]) }.draw().matches("class=\"ts-fill-dark ").count();
        assert_eq!((dark(Side::First), dark(Side::Second)), (2, 0));
    }

    #[test]
    fn wide_boards_have_numbers() {
        let cells: Vec<u16> = (0..60).collect();
        let board = CellBoard { lattice: [2, 30], cells: cells.into(), pieces: &[None; 60], ..CellBoard::default() };
        let points = board.board_points();
        assert_eq!((points[0].label.as_str(), points[59].label.as_str()), ("1,2", "30,1"));
    }

    #[test]
    fn names_can_be_given() {
        let names = ["x", "y", "z"].map(String::from);
        let board = CellBoard { columns: &names, rows: &names[..2], ..board(&[None; 3], &[]) };
        assert_eq!(board.text(), "x .   .\ny     .\n  x y z\n");
        assert_eq!(board.board_points()[2].label, "zy");
    }
}
