//! Common parts of the program's HTML pages: frame and style, and the data of charts and of lines of play on boards, which one
//! script draws.
//!
//! A page is self-contained and loads no other resources.

mod frame;
mod numbers;
mod chart;
mod boards;
mod line;

pub use boards::Boards;
pub use chart::{Chart, PERCENT, Point, Range, Series, ranges};
pub use frame::{Page, Section, data, escaped, title};
pub use line::Line;
pub use numbers::{grouped, signed};
