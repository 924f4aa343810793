//! Pyro's Konane world over TCP: a client that plays in it, and a server with a referee.
//!
//! Each player has a port, 60000 for O and 60001 for X. A request is plain text without a terminator, an answer is one
//! pickled value. `board` consists of eight columns of eight cells, `board[x-1][y-1]` being the stone at (x, y). x is
//! the row of the game's notation and y the column; the game is the same under the other reading.

pub mod pickle;
pub mod world;
pub mod request;
pub mod server;
pub mod client;

use turnstone_env::Side;

/// Default port of O; X has the next one.
pub const PORT: u16 = 60_000;

/// The side of the player at each port: O at the first, X at the second.
pub const SIDES: [Side; 2] = [Side::Second, Side::First];

/// A side's letter on the board.
#[must_use]
pub const fn letter(side: Side) -> &'static str {
    match side {
        Side::First => "X",
        Side::Second => "O",
    }
}
