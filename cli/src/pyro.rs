//! Pyro's Konane world over TCP: a client that plays in it, and a server that keeps one, with a referee.
//!
//! Each player has a port of its own, 60000 for O and 60001 for X. A request is plain text without an end mark, an answer
//! one pickled value. `board` is eight columns of eight cells, `board[x-1][y-1]` the stone at (x, y); x is the row of
//! our notation and y the column (the game is the same under either reading, and so the source's example holds).

pub mod pickle;
pub mod world;
pub mod request;
pub mod server;
pub mod client;

use turnstone_env::Side;

/// The port of the first player in Pyro's own world; the second player's is the next.
pub const PORT: u16 = 60_000;

/// Whose stones the player of each port has: O the first port's, X the second's.
pub const SIDES: [Side; 2] = [Side::Second, Side::First];

/// A side's letter on the board.
#[must_use]
pub const fn letter(side: Side) -> &'static str {
    match side {
        Side::First => "X",
        Side::Second => "O",
    }
}
