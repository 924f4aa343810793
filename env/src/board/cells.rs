//! Boards of square cells.

use super::{Board, Content};
use crate::svg::{BoardPoint, MARGIN, Paint, Sheet, UNIT};

/// Size of the names of rows and columns.
const NAME: f32 = 17.0;
/// The most columns that letters name.
const LETTERS: usize = 26;

/// Square cells in rows and columns, which have names.
#[derive(Clone, PartialEq, Debug)]
pub struct Cells {
    /// Height and width in cells.
    pub lattice: [usize; 2],
    /// The cell (`row * width + column`, from the top left) of each point.
    pub cells: Vec<u16>,
    /// Names of the columns from the left.
    pub columns: Vec<String>,
    /// Names of the rows from the top.
    pub rows: Vec<String>,
    /// Whether neighbouring cells differ in colour, as on a chess board.
    pub chequered: bool,
}

impl Cells {
    /// Cells of one colour. Columns are named by letters, or by numbers where there are more than 26, and rows by numbers
    /// from the bottom: `b3`, or `12,3`.
    #[must_use]
    pub fn new(lattice: [usize; 2], cells: Vec<u16>) -> Self {
        let [height, width] = lattice;
        let letter = |column: usize| char::from(b'a' + column as u8).to_string();
        let number = |column: usize| (column + 1).to_string();
        let columns = (0..width).map(|column| if width <= LETTERS { letter(column) } else { number(column) }).collect();
        let rows = (1..=height).rev().map(|row| row.to_string()).collect();
        Self { lattice, cells, columns, rows, chequered: false }
    }

    /// The same with rows counted from the top, as in Othello.
    #[must_use]
    pub fn from_the_top(mut self) -> Self {
        self.rows.reverse();
        self
    }

    /// The name of a point, by its column and row.
    #[must_use]
    pub fn label(&self, point: usize) -> String {
        let wide = self.columns.iter().any(|name| name.starts_with(|c: char| c.is_ascii_digit()));
        let separator = if wide { "," } else { "" };
        let cell = usize::from(self.cells[point]);
        let [column, row] = [&self.columns[cell % self.lattice[1]], &self.rows[cell / self.lattice[1]]];
        format!("{column}{separator}{row}")
    }

    pub(super) fn points(&self) -> Vec<BoardPoint> {
        let point = |(point, &cell): (usize, &u16)| BoardPoint::new(self.label(point), self.centre(cell), UNIT / 2.0);
        self.cells.iter().enumerate().map(point).collect()
    }

    pub(super) fn text(&self, letters: &[char]) -> String {
        let [height, width] = self.lattice;
        let mut cells = vec![' '; height * width];
        self.cells.iter().zip(letters).for_each(|(&cell, &letter)| cells[usize::from(cell)] = letter);
        let longest = |names: &[String]| names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let (margin, room) = (longest(&self.rows), longest(&self.columns));
        let line = |name: &str, words: &mut dyn Iterator<Item = String>| {
            let words: String = words.map(|word| format!(" {word:>room$}")).collect();
            format!("{name:>margin$}{words}\n").trim_end().to_owned() + "\n"
        };
        let rows = self.rows.iter().zip(cells.chunks(width.max(1)));
        let mut text: String = rows.map(|(name, row)| line(name, &mut row.iter().map(char::to_string))).collect();
        text.push_str(&line("", &mut self.columns.iter().cloned()));
        text
    }

    pub(super) fn svg(&self, title: &str, board: &Board) -> String {
        let [height, width] = self.lattice.map(|cells| UNIT * cells as f32 + 2.0 * MARGIN);
        let mut sheet = Sheet::new(title, width, height + 10.0);
        for (&cell, &content) in self.cells.iter().zip(&board.contents) {
            let [x, y] = self.centre(cell);
            let odd = (usize::from(cell) / self.lattice[1] + usize::from(cell) % self.lattice[1]) % 2 == 1;
            // Cells of two colours need no lines between them.
            let (gap, radius) = if self.chequered { (0.0, 0.0) } else { (1.0, 6.0) };
            let paint = if self.chequered && !odd { Paint::HOLLOW } else { Paint::BOARD };
            let corner = [x, y].map(|centre| centre - UNIT / 2.0 + gap);
            sheet.rectangle(corner, [UNIT - 2.0 * gap; 2], radius, paint);
            if let Content::Piece(side) = content {
                sheet.stone([x, y], board.shade(side));
            }
        }
        for &point in &board.marked {
            sheet.mark(self.centre(self.cells[point]));
        }
        for (column, name) in self.columns.iter().enumerate() {
            let [x, _] = self.centre(column as u16);
            sheet.text([x, height - MARGIN + 0.8 * NAME], NAME, name);
        }
        for (row, name) in self.rows.iter().enumerate() {
            let [_, y] = self.centre((row * self.lattice[1]) as u16);
            sheet.text([MARGIN - 0.9 * NAME, y], NAME, name);
        }
        sheet.caption(&board.status);
        sheet.finish()
    }

    fn centre(&self, cell: u16) -> [f32; 2] {
        let place = |index: usize| MARGIN + UNIT * (index as f32 + 0.5);
        [place(usize::from(cell) % self.lattice[1]), place(usize::from(cell) / self.lattice[1])]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;
    use crate::side::Side;

    fn board(contents: [Content; 3]) -> Board {
        let cells = Cells::new([2, 3], vec![0, 2, 5]);
        Board { contents: contents.to_vec(), ..Board::new(Shape::Cells(cells), 3) }
    }

    #[test]
    fn pieces_lie_on_the_centres_of_their_cells() {
        let pieces = board([Content::Empty, Content::Empty, Content::Piece(Side::Second)]);
        let board = Board { status: "player 1 to move".into(), ..pieces };
        let first = MARGIN + UNIT / 2.0;
        let points = board.points();
        assert_eq!(points[2].at, [first + 2.0 * UNIT, first + UNIT]);
        assert_eq!(points[2].label, "c1");
        let drawing = board.svg("");
        assert_eq!(drawing.matches("<circle ").count(), 1);
        let [x, y] = points[2].at;
        assert!(drawing.contains(&format!(r#"<circle cx="{x:.2}" cy="{y:.2}""#)), "{drawing}");
        for name in [">a<", ">b<", ">c<", ">1<", ">2<", ">player 1 to move<"] {
            assert_eq!(drawing.matches(name).count(), 1, "{name}");
        }
    }

    #[test]
    fn marks_and_dark_pieces_are_drawn() {
        let pieces = board([Content::Piece(Side::First), Content::Piece(Side::First), Content::Empty]);
        let marked = Board { marked: vec![0, 2], ..pieces.clone() };
        assert_eq!(marked.svg("").matches("ts-line-mark\"").count(), 2);
        let dark = |dark| Board { dark, ..pieces.clone() }.svg("").matches("class=\"ts-fill-dark ").count();
        assert_eq!((dark(Side::First), dark(Side::Second)), (2, 0));
    }

    #[test]
    fn wide_boards_have_numbers_and_names_can_be_given() {
        let points = Cells::new([2, 30], (0..60).collect()).points();
        assert_eq!((points[0].label.as_str(), points[59].label.as_str()), ("1,2", "30,1"));
        let cells = Cells::new([2, 3], vec![0, 2, 5]);
        let names = Cells { columns: ["x", "y", "z"].map(String::from).into(), ..cells.clone() }.from_the_top();
        assert_eq!(names.text(&['.'; 3]), "1 .   .\n2     .\n  x y z\n");
        assert_eq!((&*names.points()[2].label, &*cells.points()[2].label), ("z2", "c1"));
    }
}
