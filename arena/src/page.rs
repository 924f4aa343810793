//! What the program's HTML pages share: the frame and its style, charts as SVG, boards to step through.
//!
//! A page stands alone and loads nothing.

mod frame;
mod scale;
mod chart;
mod ranges;
mod boards;

pub(crate) use boards::Boards;
pub(crate) use chart::{Chart, Form, Point, Series};
pub(crate) use frame::{Page, Part, data, escaped, title};
pub(crate) use ranges::{Range, ranges, ranges_document};
pub(crate) use scale::{Scale, grouped, short, signed};
