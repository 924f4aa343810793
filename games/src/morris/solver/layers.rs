//! The layers of the table of Morris and their names.

use turnstone_env::games::Morris;
use turnstone_env::{Params, Rules, Side};

use turnstone_exact::TableIdentity;

/// A player with fewer pieces than this, in hand and on the board, has lost.
pub(super) const FEWEST: usize = 3;

/// The identity of the table. The ply limit is no part of it, since the values ignore it.
pub(super) fn identity(game: &Morris) -> TableIdentity {
    TableIdentity::of(game, &Params::new().with("pieces", pieces(game)), "strong solution 1")
}

/// Pieces of each side at the start.
pub(super) fn pieces(game: &Morris) -> usize {
    usize::from(game.start().in_hand(Side::First))
}

pub(super) fn midgame_name(own: usize, other: usize) -> String {
    format!("midgame-{own}-{other}")
}

pub(super) fn opening_name(in_hand: usize) -> String {
    format!("opening-{in_hand}")
}
