//! Boards of points joined by lines.

use super::{Board, Content};
use crate::svg::{BoardPoint, Paint, RING, STONE, Sheet, labels};

/// A lattice unit. Between neighbouring points there is room for a name.
const UNIT: f32 = 62.0;
/// Room between the edge of the sheet and the outermost points.
const MARGIN: f32 = 64.0;
/// Size of the points' names.
const NAME: f32 = 21.0;
/// Size of the notes.
const NOTE: f32 = 20.0;
/// Height of a line of text below the board.
const LINE: f32 = 28.0;

/// Points joined by lines, with their names.
#[derive(Clone, PartialEq, Debug)]
pub struct Graph {
    /// The points in lattice units, x to the right and y down.
    points: Vec<[f32; 2]>,
    /// The points' names.
    names: Vec<String>,
    /// Straight lines from point to point.
    lines: Vec<Vec<usize>>,
    /// Circles in lattice units: centre and radius.
    circles: Vec<([f32; 2], f32)>,
    /// The board as text with the points' names in it.
    text: String,
    /// The centres of the names in the picture, clear of lines, stones and each other.
    labels: Vec<[f32; 2]>,
}

impl Graph {
    /// A board drawn as `text`, in which each point is its name, with straight lines from point to point, and circles by
    /// centre and radius. The points lie where `points` says, in lattice units, x to the right and y down; without it where
    /// their names stand in the text, at column 4 x and line 2 y. It takes milliseconds, as the names find their places in
    /// the picture: it is to be kept where many positions are drawn.
    ///
    /// ```
    /// use turnstone_env::board::{Board, Graph, Shape};
    ///
    /// let names = ["a", "b", "c"].map(String::from).into();
    /// let graph = Graph::new("  a\n\nb---c\n", names, None, vec![vec![0, 1], vec![1, 2], vec![2, 0]], vec![]);
    /// let board = Board::new(Shape::Graph(graph.into()), 3);
    /// assert_eq!(board.text(), "  .        a\n\n.---.    b---c\n");
    /// assert_eq!(board.points()[0].label, "a");
    /// ```
    ///
    /// # Panics
    /// If there are no `points` and a name is not in the text.
    #[must_use]
    pub fn new(
        text: &str,
        names: Vec<String>,
        points: Option<Vec<[f32; 2]>>,
        lines: Vec<Vec<usize>>,
        circles: Vec<([f32; 2], f32)>,
    ) -> Self {
        let place = |name: &String| {
            let mut lines = text.lines().enumerate();
            let found = lines.find_map(|(line, text)| Some((line, text.find(name.as_str())?)));
            let (line, column) = found.expect("the drawing has every point's name");
            [column as f32 / 4.0, line as f32 / 2.0]
        };
        let points = points.unwrap_or_else(|| names.iter().map(place).collect());
        let mut graph = Self { points, names, lines, circles, text: text.to_owned(), labels: Vec::new() };
        let drawing = labels::Drawing {
            lines: graph.lines.iter().flat_map(|line| graph.segments(line)).collect(),
            circles: graph.circles.iter().map(|&(centre, radius)| (at(centre), radius * UNIT)).collect(),
            points: graph.points.iter().map(|&point| at(point)).collect(),
            ring: RING,
        };
        graph.labels = drawing.labels(&graph.names, NAME);
        graph
    }

    pub(super) fn points(&self) -> Vec<BoardPoint> {
        let points = self.points.iter().zip(&self.names);
        points.map(|(&point, name)| BoardPoint::new(name, at(point), STONE)).collect()
    }

    /// The drawing with each point's letter instead of its name, and the drawing itself beside it.
    pub(super) fn text(&self, letters: &[char]) -> String {
        let width = self.text.lines().map(|line| line.chars().count()).max().unwrap_or(0) + 4;
        let mut text = String::new();
        for names in self.text.lines() {
            let (mut board, mut rest) = (String::new(), names);
            while let Some(next) = rest.chars().next() {
                let point = self.names.iter().position(|name| rest.starts_with(name.as_str()));
                let Some(point) = point else {
                    board.push(next);
                    rest = &rest[next.len_utf8()..];
                    continue;
                };
                let name = &self.names[point];
                rest = &rest[name.len()..];
                board.push(letters[point]);
                // Behind the letter a line continues where the name was longer.
                let filled = if rest.starts_with('-') { '-' } else { ' ' };
                board.extend((1..name.chars().count()).map(|_| filled));
            }
            text += format!("{board:<width$}{names}").trim_end();
            text.push('\n');
        }
        text
    }

    pub(super) fn svg(&self, title: &str, board: &Board) -> String {
        let extent = |axis: usize| self.points.iter().map(|point| point[axis]).fold(0.0, f32::max) * UNIT;
        let (width, height) = (extent(0) + 2.0 * MARGIN, extent(1) + 2.0 * MARGIN);
        let notes = LINE * board.notes.len() as f32;
        let mut sheet = Sheet::new(title, width, height + notes + LINE + 6.0);
        sheet.rectangle([8.0, 8.0], [width - 16.0, height - 16.0], 10.0, Paint::BOARD);
        for &(centre, radius) in &self.circles {
            sheet.circle(at(centre), radius * UNIT, 2.5, Paint::LINE);
        }
        for [from, to] in self.lines.iter().flat_map(|line| self.segments(line)) {
            sheet.line(from, to, 2.5, Paint::LINE);
        }
        for [from, to] in board.banned.iter().flat_map(|line| self.segments(line)) {
            sheet.dashes(from, to, 5.0, Paint::MARK);
        }
        for (label, name) in self.labels.iter().zip(&self.names) {
            sheet.text(*label, NAME, name);
        }
        for (&point, &content) in self.points.iter().zip(&board.contents) {
            match content {
                Content::Piece(side) => sheet.stone(at(point), board.shade(side)),
                Content::Empty | Content::Stones(_) => sheet.dot(at(point), 5.0, Paint::LINE),
            }
        }
        for &point in &board.marked {
            sheet.mark(at(self.points[point]));
        }
        for (line, (side, note)) in board.notes.iter().enumerate() {
            let y = height + 8.0 + LINE * line as f32;
            if let Some(side) = side {
                sheet.stone_of([MARGIN / 2.0, y], 10.0, board.shade(*side));
            }
            // Long notes are written smaller, so that they fit.
            let size = NOTE.min((width - MARGIN) / (0.53 * note.chars().count() as f32));
            sheet.text_from([MARGIN / 2.0 + 18.0, y], size, note);
        }
        sheet.caption(&board.status);
        sheet.finish()
    }

    fn segments(&self, line: &[usize]) -> Vec<[[f32; 2]; 2]> {
        line.windows(2).map(|ends| [ends[0], ends[1]].map(|point| at(self.points[point]))).collect()
    }
}

/// A point of the lattice on the sheet.
fn at(point: [f32; 2]) -> [f32; 2] {
    point.map(|coordinate| MARGIN + coordinate * UNIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_lies_where_the_text_has_its_name() {
        let names = ["a1", "b1", "c1"].map(String::from).into();
        let graph = Graph::new("    a1--b1\n\n    c1\n", names, None, vec![vec![0, 1]], vec![]);
        assert_eq!(graph.points, [[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]]);
        assert_eq!(graph.text(&['X', 'O', '.']), "    X---O         a1--b1\n\n    .             c1\n");
    }
}
