//! Exact values of Mancala: alpha-beta over a table of all positions with few stones left in play.
//!
//! The value of a position is the mover's gain from here on: the stones that will come to the mover's store less those
//! that will come to the opponent's. It depends neither on the stores nor on which player is the mover, so positions that
//! differ only in these are one entry. The margin of the game is the difference of the stores plus the gain.

mod board;
mod endgame;
mod table;

use std::fmt;
use std::sync::Mutex;

use turnstone_env::games::{Mancala, mancala::State};
use turnstone_env::{Game, Side};

use self::board::{Board, Rules};
use self::table::Table;
use crate::values::{ExactValues, Memory};

pub use self::endgame::MancalaEndgames;

/// Solves any position of one game of Mancala.
///
/// ```
/// use turnstone_env::{Game, Params, games::Mancala};
/// use turnstone_exact::MancalaSolver;
///
/// let game = Mancala::with_params(&Params::new().with("stones", 2))?;
/// let mut solver = MancalaSolver::new(&game, None, 1 << 20);
/// assert_eq!(solver.solve(&game, &game.start(), u64::MAX), Some(10));
/// # Ok::<(), turnstone_env::Error>(())
/// ```
pub struct MancalaSolver {
    rules: Rules,
    endgames: Option<MancalaEndgames>,
    table: Table,
    nodes: u64,
    most_nodes: u64,
}

/// The budget of nodes is spent.
struct Exceeded;

/// Search window of gains for the mover.
#[derive(Clone, Copy)]
struct Window {
    alpha: i16,
    beta: i16,
}

impl MancalaSolver {
    /// A solver of this game with an optional endgame table and a transposition table of about `entries` positions, 24
    /// bytes each.
    ///
    /// # Panics
    /// If the endgame table is of other rules.
    #[must_use]
    pub fn new(game: &Mancala, endgames: Option<MancalaEndgames>, entries: usize) -> Self {
        let fits = endgames.as_ref().is_none_or(|endgames| endgames.rules_are(game));
        assert!(fits, "the endgames must have the game's pits, captures and end");
        Self { rules: Rules::of(game), endgames, table: Table::new(entries), nodes: 0, most_nodes: 0 }
    }

    /// The final margin (store of player 1 less store of player 2) under best play from this position. `None` if the
    /// search takes more than `most_nodes` nodes.
    pub fn solve(&mut self, game: &Mancala, state: &State, most_nodes: u64) -> Option<i16> {
        (self.nodes, self.most_nodes) = (0, most_nodes);
        let mover = game.mover(state);
        let [own, other] = [mover, mover.other()].map(|side| i16::from(game.store(state, side)));
        let margin = own - other + self.gain(Board::of(game, state)).ok()?;
        Some(if mover == Side::First { margin } else { -margin })
    }

    /// Clears the transposition table.
    pub fn forget(&mut self) {
        self.table.clear();
    }

    /// Number of nodes of the last search.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The gain by a sequence of searches that each answer whether it is at least a guess (Plaat's MTD(f), 1996).
    /// All gains of a position are even or all are odd, since every stone ends in a store.
    fn gain(&mut self, board: Board) -> Result<i16, Exceeded> {
        let stones = board.stones();
        let (mut lower, mut upper) = (-stones, stones);
        let mut guess = stones % 2;
        while lower < upper {
            let beta = if guess == lower { guess + 2 } else { guess };
            guess = self.value(board, Window { alpha: beta - 1, beta })?;
            if guess < beta {
                upper = guess;
            } else {
                lower = guess;
            }
        }
        Ok(lower)
    }

    /// The mover's gain: exact inside the window, outside it a bound (fail-soft).
    fn value(&mut self, board: Board, mut window: Window) -> Result<i16, Exceeded> {
        if let Some(gain) = self.known(board) {
            return Ok(gain);
        }
        let stones = board.stones();
        if stones <= window.alpha {
            return Ok(stones);
        }
        if -stones >= window.beta {
            return Ok(-stones);
        }
        let entry = self.table.get(board);
        let (lower, upper, first) = entry.map_or((-stones, stones, None), |e| (e.lower, e.upper, Some(e.best)));
        if lower >= window.beta || lower == upper {
            return Ok(lower);
        }
        if upper <= window.alpha {
            return Ok(upper);
        }
        self.nodes += 1;
        if self.nodes > self.most_nodes {
            return Err(Exceeded);
        }
        let whole = window;
        let mut best = (i16::MIN, 0);
        for ply in self.rules.plies(board, first) {
            // If the same player moves again, the window is not negated.
            let Window { alpha, beta } = window;
            let gain = ply.gain
                + if ply.again {
                    self.value(ply.board, Window { alpha: alpha - ply.gain, beta: beta - ply.gain })?
                } else {
                    -self.value(ply.board, Window { alpha: ply.gain - beta, beta: ply.gain - alpha })?
                };
            if gain > best.0 {
                best = (gain, ply.pit);
                window.alpha = window.alpha.max(gain);
                if gain >= window.beta {
                    break;
                }
            }
        }
        let (gain, pit) = best;
        let lower = if gain > whole.alpha { lower.max(gain) } else { lower };
        let upper = if gain < whole.beta { upper.min(gain) } else { upper };
        self.table.put(board, lower, upper, pit);
        Ok(gain)
    }

    /// The gain in a game that is over or in the endgame table.
    #[inline]
    fn known(&self, board: Board) -> Option<i16> {
        self.rules.over(board).or_else(|| self.endgames.as_ref()?.gain(board))
    }
}

impl fmt::Debug for MancalaSolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MancalaSolver").field("endgames", &self.endgames).finish_non_exhaustive()
    }
}

/// Exact values of Mancala by search. Positions that take more than a number of nodes are not covered.
#[derive(Debug)]
pub struct MancalaValues {
    solver: Mutex<MancalaSolver>,
    most_nodes: u64,
    memory: Memory,
}

impl MancalaValues {
    /// Searches every position with at most `most_nodes` nodes.
    #[must_use]
    pub fn new(solver: MancalaSolver, most_nodes: u64) -> Self {
        Self { solver: Mutex::new(solver), most_nodes, memory: Memory::Kept }
    }

    /// Like [`MancalaValues::new`], but with an empty transposition table for every position, so that whether a position
    /// is covered does not depend on earlier queries.
    #[must_use]
    pub fn forgetting(solver: MancalaSolver, most_nodes: u64) -> Self {
        Self { memory: Memory::OfOneAnswer, ..Self::new(solver, most_nodes) }
    }

    /// The margin of the game from a position on, for the first side; see [`MancalaSolver::solve`].
    pub fn margin(&self, game: &Mancala, state: &State) -> Option<i16> {
        let mut solver = self.solver.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if self.memory == Memory::OfOneAnswer {
            solver.forget();
        }
        solver.solve(game, state, self.most_nodes)
    }
}

impl ExactValues<Mancala> for MancalaValues {
    fn value(&self, game: &Mancala, state: &State) -> Option<i8> {
        self.margin(game, state).map(|margin| margin.signum() as i8)
    }
}
