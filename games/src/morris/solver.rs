//! The strong solution of the 18-point Morris variant: the exact value of every position.
//!
//! - **Midgame** (no piece in hand): retrograde analysis with the number of turns to the end, a byte per position.
//! - **Opening**: backward induction from there, two bits per position.
//!
//! Values do not depend on who is White, so positions are stored for the side to move, and up to the board's four
//! symmetries. A removal belongs to the turn that earned it; positions with a removal pending are looked up one ply
//! ahead. Values are those without `no_progress_limit`: where neither side can force a win, infinite play is a draw.

mod index;
mod layers;
mod midgame;
mod opening;
mod build;
mod table;

pub use self::build::{Size, solve};
pub use self::table::MorrisTable;
