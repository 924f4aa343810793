//! Drawing boards as SVG documents: a sheet with shapes on it, boards of points and lines, and what they share.
//!
//! A document stands alone: it has a size, a title for screen readers, and a light ground of its own, so that it reads
//! the same on dark pages. Lengths are in user units; a board's points or cells lie [`UNIT`] apart.

use std::fmt::{Display, Write};

use crate::outcome::Outcome;
use crate::side::Side;

/// Distance of neighbouring cells.
pub const UNIT: f32 = 48.0;
/// Room between the edge of the sheet and the outermost points.
pub const MARGIN: f32 = 44.0;
/// Radius of a stone.
const STONE: f32 = 17.0;

/// The colours of all drawings.
pub mod colour {
    /// The sheet.
    pub const GROUND: &str = "#faf6ee";
    /// Boards.
    pub const BOARD: &str = "#e9d8b4";
    /// Hollows in boards, and the darker cells of chequered ones.
    pub const HOLLOW: &str = "#d6bd8c";
    /// Lines of boards.
    pub const LINE: &str = "#7a6038";
    /// Text.
    pub const INK: &str = "#3a3226";
    /// What the last action concerned.
    pub const MARK: &str = "#d9622b";
    /// Stones of the first player and their rims.
    pub const DARK: [&str; 2] = ["#2f3437", "#15181a"];
    /// Stones of the second player and their rims.
    pub const LIGHT: [&str; 2] = ["#fffdf8", "#6d6557"];
}

/// A document under construction. Shapes drawn later lie above earlier ones.
#[derive(Clone, Debug)]
pub struct Sheet {
    width: f32,
    height: f32,
    title: String,
    shapes: String,
}

impl Sheet {
    /// An empty sheet of this size.
    #[must_use]
    pub fn new(title: &str, width: f32, height: f32) -> Self {
        Self { width, height, title: title.to_owned(), shapes: String::new() }
    }

    /// A rectangle with rounded corners, from its top left corner.
    pub fn rectangle(&mut self, [x, y]: [f32; 2], [width, height]: [f32; 2], radius: f32, fill: &str) {
        self.add(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" fill="{fill}"/>"#
        ));
    }

    /// A filled circle, with a rim if `rim` is a colour and not `none`.
    pub fn disc(&mut self, [x, y]: [f32; 2], radius: f32, fill: &str, rim: &str) {
        self.add(format_args!(
            r#"<circle cx="{x:.2}" cy="{y:.2}" r="{radius}" fill="{fill}" stroke="{rim}" stroke-width="1.5"/>"#
        ));
    }

    /// A circle that is not filled.
    pub fn circle(&mut self, [x, y]: [f32; 2], radius: f32, width: f32, stroke: &str) {
        self.add(format_args!(
            r#"<circle cx="{x:.2}" cy="{y:.2}" r="{radius:.2}" fill="none" stroke="{stroke}" stroke-width="{width}"/>"#
        ));
    }

    /// A straight line.
    pub fn line(&mut self, [x1, y1]: [f32; 2], [x2, y2]: [f32; 2], width: f32, stroke: &str) {
        self.add(format_args!(
            r#"<line x1="{x1:.2}" y1="{y1:.2}" x2="{x2:.2}" y2="{y2:.2}" stroke="{stroke}" stroke-width="{width}" stroke-linecap="round"/>"#
        ));
    }

    /// Text centred on a point of the sheet.
    pub fn text(&mut self, at: [f32; 2], size: f32, text: impl Display) {
        self.text_on(at, size, text, colour::GROUND);
    }

    /// Text centred on a point, kept clear of lines below it by a halo in the colour of what it stands on.
    pub fn text_on(&mut self, [x, y]: [f32; 2], size: f32, text: impl Display, halo: &str) {
        let (ink, text, y) = (colour::INK, escaped(&text.to_string()), y + 0.35 * size);
        self.add(format_args!(
            r#"<text x="{x:.2}" y="{y:.2}" font-size="{size}" text-anchor="middle" fill="{ink}" stroke="{halo}" stroke-width="4" stroke-linejoin="round" paint-order="stroke">{text}</text>"#
        ));
    }

    /// A stone of a player.
    pub fn stone(&mut self, at: [f32; 2], side: Side) {
        let [fill, rim] = [colour::DARK, colour::LIGHT][side.index()];
        self.disc(at, STONE, fill, rim);
    }

    /// A ring around a stone or an empty point.
    pub fn mark(&mut self, at: [f32; 2]) {
        self.circle(at, STONE + 3.0, 3.0, colour::MARK);
    }

    /// A line of text at the foot of the sheet.
    pub fn caption(&mut self, text: impl Display) {
        self.text([self.width / 2.0, self.height - 16.0], 15.0, text);
    }

    /// The document.
    #[must_use]
    pub fn finish(self) -> String {
        let Self { width, height, title, shapes } = self;
        let (title, ground) = (escaped(&title), colour::GROUND);
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" font-family="system-ui, 'DejaVu Sans', sans-serif">
<title>{title}</title>
<rect width="{width}" height="{height}" rx="10" fill="{ground}"/>
{shapes}</svg>
"#
        )
    }

    fn add(&mut self, shape: std::fmt::Arguments) {
        writeln!(self.shapes, "{shape}").expect("writing to a string cannot fail");
    }
}

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
///     circles: &[],
///     names: &["a", "b", "c"].map(String::from),
///     stones: &[Some(Side::First), None, Some(Side::Second)],
///     marked: &[0],
///     caption: "player 2 to move",
/// };
/// assert!(board.draw().starts_with("<svg "));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PointBoard<'a> {
    /// The document's title.
    pub title: &'a str,
    /// The points in lattice units, x to the right and y down.
    pub points: &'a [[f32; 2]],
    /// Straight lines from point to point.
    pub lines: &'a [&'a [u8]],
    /// Circles in lattice units: centre and radius.
    pub circles: &'a [([f32; 2], f32)],
    /// The points' names, shown beside them; may be empty.
    pub names: &'a [String],
    /// The stone on each point.
    pub stones: &'a [Option<Side>],
    /// Points that the last action concerned.
    pub marked: &'a [usize],
    /// A line of text below the board; may be empty.
    pub caption: &'a str,
}

impl PointBoard<'_> {
    /// The centres of points in the drawing, from their places in lattice units.
    #[must_use]
    pub fn centres(points: &[[f32; 2]]) -> Vec<[f32; 2]> {
        points.iter().map(|point| point.map(|coordinate| MARGIN + coordinate * UNIT)).collect()
    }

    /// The board as an SVG document.
    #[must_use]
    pub fn draw(&self) -> String {
        let extent = |axis: usize| self.points.iter().map(|point| point[axis]).fold(0.0, f32::max) * UNIT;
        let at = |point: [f32; 2]| Self::centres(&[point])[0];
        let (width, height) = (extent(0) + 2.0 * MARGIN, extent(1) + 2.0 * MARGIN);
        let foot = if self.caption.is_empty() { 0.0 } else { 24.0 };
        let mut sheet = Sheet::new(self.title, width, height + foot);
        sheet.rectangle([8.0, 8.0], [width - 16.0, height - 16.0], 10.0, colour::BOARD);
        for &(centre, radius) in self.circles {
            sheet.circle(at(centre), radius * UNIT, 2.5, colour::LINE);
        }
        for line in self.lines {
            for ends in line.windows(2) {
                let [from, to] = [ends[0], ends[1]].map(|point| at(self.points[usize::from(point)]));
                sheet.line(from, to, 2.5, colour::LINE);
            }
        }
        for (point, name) in self.points.iter().zip(self.names) {
            let [x, y] = at(*point);
            sheet.text_on([x + STONE + 3.0, y + STONE + 3.0], 12.0, name, colour::BOARD);
        }
        for (point, &stone) in self.points.iter().zip(self.stones) {
            match stone {
                Some(side) => sheet.stone(at(*point), side),
                None => sheet.disc(at(*point), 5.0, colour::LINE, "none"),
            }
        }
        for &point in self.marked {
            sheet.mark(at(self.points[point]));
        }
        sheet.caption(self.caption);
        sheet.finish()
    }
}

/// Who is to move, or how the game ended; `names` are the players'.
#[must_use]
pub fn status(outcome: Option<Outcome>, mover: Side, names: [&str; 2]) -> String {
    match outcome {
        None => format!("{} to move", names[mover.index()]),
        Some(Outcome { winner: Some(winner), .. }) => format!("{} has won", names[winner.index()]),
        Some(Outcome { winner: None, truncated: true, .. }) => "drawn by the limit of plies".to_owned(),
        Some(_) => "drawn".to_owned(),
    }
}

/// A text drawing in a frame, for games without a drawing of their own.
#[must_use]
pub fn text_board(title: &str, text: &str) -> String {
    let columns = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let rows = text.lines().count();
    let mut sheet = Sheet::new(title, 9.0 * columns as f32 + 40.0, 18.0 * rows as f32 + 40.0);
    for (row, line) in text.lines().enumerate() {
        let (y, ink, line) = (18.0 * row as f32 + 34.0, colour::INK, escaped(line));
        sheet.add(format_args!(
            r#"<text x="20" y="{y}" font-family="monospace" font-size="15" xml:space="preserve" fill="{ink}">{line}</text>"#
        ));
    }
    sheet.finish()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
