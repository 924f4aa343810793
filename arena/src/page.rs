//! Common parts of the program's HTML pages: frame and style, charts as SVG, boards to step through.
//!
//! A page is self-contained and loads no other resources.

mod frame;
mod scale;
mod chart;
mod ranges;
mod boards;

pub use boards::Boards;
pub use chart::{Chart, Form, Point, Series};
pub use frame::{Page, Section, data, escaped, title};
pub use ranges::{Range, ranges, ranges_document};
pub use scale::{Scale, grouped, short, signed};
