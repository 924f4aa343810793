//! What a search of Mancala knows without searching: the rules, the table of endgames and the bounds found before.

use turnstone_env::games::Mancala;

use super::board::{Board, Rules};
use super::endgame::MancalaEndgames;
use super::table::{Entry, Table};
use crate::limits::Busy;

/// The knowledge that the threads of a search share.
pub(super) struct Knowledge {
    pub(super) rules: Rules,
    pub(super) endgames: Option<MancalaEndgames>,
    pub(super) table: Table,
    pub(super) busy: Busy,
}

impl Knowledge {
    pub(super) fn new(game: &Mancala, endgames: Option<MancalaEndgames>, entries: usize) -> Self {
        Self { rules: Rules::of(game), endgames, table: Table::new(entries), busy: Busy::new() }
    }

    /// Bounds of the mover's gain that need no search, and the pit that is tried first.
    #[inline]
    pub(super) fn bounds(&self, board: Board) -> Entry {
        if let Some(gain) = self.known(board) {
            return Entry { lower: gain, upper: gain, best: None };
        }
        self.table.get(board).unwrap_or_else(|| Entry::trivial(board))
    }

    /// The gain in a game that is over or in the endgame table.
    #[inline]
    fn known(&self, board: Board) -> Option<i16> {
        self.rules.over(board).or_else(|| self.endgames.as_ref()?.gain(board))
    }
}
