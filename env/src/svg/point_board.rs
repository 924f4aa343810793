//! Boards of points joined by lines.

use super::BoardPoint;
use super::labels::Drawing;
use super::paint::Paint;
use super::sheet::{RING, STONE, Sheet};
use crate::side::Side;

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

/// A board of points joined by lines, with stones on some of them: a few lines of code draw a game of this kind.
///
/// ```
/// use turnstone_env::Side;
/// use turnstone_env::svg::PointBoard;
///
/// let board = PointBoard {
///     title: "a triangle",
///     points: &[[1.0, 0.0], [0.0, 2.0], [2.0, 2.0]],
///     lines: &[&[0, 1], &[1, 2], &[2, 0]],
///     names: &["a", "b", "c"].map(String::from),
///     stones: &[Some(Side::First), None, Some(Side::Second)],
///     marked: &[0],
///     caption: "player 2 to move",
///     ..PointBoard::default()
/// };
/// assert!(board.draw().starts_with("<svg "));
/// assert_eq!(board.board_points()[0].label, "a");
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct PointBoard<'a> {
    /// The document's title.
    pub title: &'a str,
    /// The points in lattice units, x to the right and y down.
    pub points: &'a [[f32; 2]],
    /// Straight lines from point to point.
    pub lines: &'a [&'a [u8]],
    /// Circles in lattice units: centre and radius.
    pub circles: &'a [([f32; 2], f32)],
    /// The points' names, written beside them; may be empty.
    pub names: &'a [String],
    /// The centres of the names on the sheet as [`PointBoard::labels`] finds them, which takes milliseconds: to be kept
    /// where many positions are drawn. Found anew if empty.
    pub labels: &'a [[f32; 2]],
    /// The stone on each point: dark for the first side, light for the second.
    pub stones: &'a [Option<Side>],
    /// Points that the last action concerned.
    pub marked: &'a [usize],
    /// Lines along which something is forbidden.
    pub banned: &'a [Vec<u8>],
    /// Lines of text below the board, each beside a stone of its side.
    pub notes: &'a [(Side, String)],
    /// A line of text at the foot; may be empty.
    pub caption: &'a str,
}

impl PointBoard<'_> {
    /// The board as an SVG document.
    #[must_use]
    pub fn draw(&self) -> String {
        let extent = |axis: usize| self.points.iter().map(|point| point[axis]).fold(0.0, f32::max) * UNIT;
        let (width, height) = (extent(0) + 2.0 * MARGIN, extent(1) + 2.0 * MARGIN);
        let notes = LINE * self.notes.len() as f32;
        let caption = if self.caption.is_empty() { 0.0 } else { LINE + 6.0 };
        let mut sheet = Sheet::new(self.title, width, height + notes + caption);
        sheet.rectangle([8.0, 8.0], [width - 16.0, height - 16.0], 10.0, Paint::BOARD);
        self.draw_lines(&mut sheet);
        let drawing = self.drawing();
        let found = if self.labels.is_empty() { self.labels() } else { Vec::new() };
        for (label, name) in self.labels.iter().chain(&found).zip(self.names) {
            sheet.text(*label, NAME, name);
        }
        for (&at, &stone) in drawing.points.iter().zip(self.stones) {
            match stone {
                Some(side) => sheet.stone(at, side),
                None => sheet.dot(at, 5.0, Paint::LINE),
            }
        }
        for &point in self.marked {
            sheet.mark(drawing.points[point]);
        }
        for (line, (side, note)) in self.notes.iter().enumerate() {
            let y = height + 8.0 + LINE * line as f32;
            sheet.stone_of([MARGIN / 2.0, y], 10.0, *side);
            // Long notes are written smaller, so that they fit.
            let size = NOTE.min((width - MARGIN) / (0.53 * note.chars().count() as f32));
            sheet.text_from([MARGIN / 2.0 + 18.0, y], size, note);
        }
        if !self.caption.is_empty() {
            sheet.caption(self.caption);
        }
        sheet.finish()
    }

    /// The named points as [`PointBoard::draw`] draws them.
    #[must_use]
    pub fn board_points(&self) -> Vec<BoardPoint> {
        let points = self.points.iter().zip(self.names);
        points.map(|(&point, name)| BoardPoint::new(name, at(point), STONE)).collect()
    }

    /// Centres of the points' names on the sheet, clear of lines, stones and each other.
    #[must_use]
    pub fn labels(&self) -> Vec<[f32; 2]> {
        self.drawing().labels(self.names, NAME)
    }

    fn draw_lines(&self, sheet: &mut Sheet) {
        for &(centre, radius) in self.circles {
            sheet.circle(at(centre), radius * UNIT, 2.5, Paint::LINE);
        }
        for [from, to] in self.lines.iter().flat_map(|line| self.segments(line)) {
            sheet.line(from, to, 2.5, Paint::LINE);
        }
        for [from, to] in self.banned.iter().flat_map(|line| self.segments(line)) {
            sheet.dashes(from, to, 5.0, Paint::MARK);
        }
    }

    fn segments(&self, line: &[u8]) -> Vec<[[f32; 2]; 2]> {
        line.windows(2).map(|ends| [ends[0], ends[1]].map(|point| at(self.points[usize::from(point)]))).collect()
    }

    fn drawing(&self) -> Drawing {
        Drawing {
            lines: self.lines.iter().flat_map(|line| self.segments(line)).collect(),
            circles: self.circles.iter().map(|&(centre, radius)| (at(centre), radius * UNIT)).collect(),
            points: self.points.iter().map(|&point| at(point)).collect(),
            ring: RING,
        }
    }
}

/// A point of the lattice on the sheet.
fn at(point: [f32; 2]) -> [f32; 2] {
    point.map(|coordinate| MARGIN + coordinate * UNIT)
}
