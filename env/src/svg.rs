//! Drawing as SVG documents: a sheet with shapes on it, its colours, and places for names.
//!
//! A document stands alone: it has a size, a title for screen readers, and a ground of its own. Its colours follow the
//! colour scheme of the page that contains it, light or dark (`Paint`). Lengths are in user units.

mod paint;
mod sheet;
pub(crate) mod labels;

pub use sheet::escaped;

pub(crate) use paint::Paint;
pub(crate) use sheet::{MARGIN, RING, STONE, Sheet, UNIT};

/// A point of a board as its drawings show it.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct BoardPoint {
    /// The point's name, as actions and drawings write it.
    pub label: String,
    /// Its centre in user units of the SVG document, x to the right and y down.
    pub at: [f32; 2],
    /// Radius in user units of the area around the centre that belongs to the point: its cell, pit or stone.
    pub radius: f32,
}

impl BoardPoint {
    /// A point with its name, centre and radius.
    pub fn new(label: impl Into<String>, at: [f32; 2], radius: f32) -> Self {
        Self { label: label.into(), at, radius }
    }
}

/// A text drawing in a frame, for games without a drawing of their own.
#[must_use]
pub fn text_board(title: &str, text: &str) -> String {
    let columns = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let rows = text.lines().count();
    let mut sheet = Sheet::new(title, 9.2 * columns as f32 + 40.0, 18.0 * rows as f32 + 40.0);
    for (row, line) in text.lines().enumerate() {
        sheet.monospace([20.0, 18.0 * row as f32 + 34.0], 15.0, line);
    }
    sheet.finish()
}
