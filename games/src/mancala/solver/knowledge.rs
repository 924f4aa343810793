//! What a search of Mancala knows without searching: the rules, the table of endgames and the bounds found before.

use turnstone_env::games::Mancala;

use super::board::{Board, Sowing};
use super::endgame::MancalaEndgames;
use super::table::{Entry, Table};
use turnstone_exact::limits::Busy;

/// Where the bounds of a position are.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// The game is over, with this gain.
    Over(i16),
    /// Its number in the table of endgames.
    Endgame(&'a MancalaEndgames, usize),
    /// Its place in the transposition table.
    Table(usize),
}

/// The knowledge that the threads of a search share.
pub(super) struct Knowledge {
    pub(super) rules: Sowing,
    pub(super) endgames: Option<MancalaEndgames>,
    pub(super) table: Table,
    pub(super) busy: Busy,
}

impl Knowledge {
    pub(super) fn new(game: &Mancala, endgames: Option<MancalaEndgames>, entries: usize) -> Self {
        Self { rules: Sowing::of(game), endgames, table: Table::new(entries), busy: Busy::default() }
    }

    /// Bounds of the mover's gain that need no search, and the pit that is tried first.
    #[inline]
    pub(super) fn bounds(&self, board: Board) -> Entry {
        self.bounds_at(board, self.place(board))
    }

    /// Where a position's bounds are.
    #[inline]
    pub(super) fn place(&self, board: Board) -> Place<'_> {
        if let Some(gain) = self.rules.over(board) {
            return Place::Over(gain);
        }
        let endgame = self.endgames.as_ref().and_then(|table| Some(Place::Endgame(table, table.place(board)?)));
        endgame.unwrap_or_else(|| Place::Table(self.table.place(board)))
    }

    /// Reads a part of an entry, so that its cache line is loaded when the bounds are read.
    #[inline]
    pub(super) fn touch(&self, place: Place<'_>) -> u64 {
        match place {
            Place::Over(_) => 0,
            Place::Endgame(endgames, at) => endgames.gain_at(at) as u64,
            Place::Table(at) => self.table.touch(at),
        }
    }

    /// The bounds of the position whose place it is.
    #[inline]
    pub(super) fn bounds_at(&self, board: Board, place: Place<'_>) -> Entry {
        match place {
            Place::Over(gain) => Entry::of(gain),
            Place::Endgame(endgames, at) => Entry::of(endgames.gain_at(at)),
            Place::Table(at) => self.table.get(board, at).unwrap_or_else(|| Entry::trivial(board)),
        }
    }
}
