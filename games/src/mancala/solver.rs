//! Exact values of Mancala: alpha-beta over a table of all positions with few stones left in play.
//!
//! The value of a position is the mover's gain from here on: the stones that will come to the mover's store less those
//! that will come to the opponent's. It depends neither on the stores nor on which player is the mover, so positions that
//! differ only in these are one entry. The margin of the game is the difference of the stores plus the gain.

mod board;
mod endgame;
mod table;
mod knowledge;
mod search;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use turnstone_env::games::{Mancala, mancala::State};
use turnstone_env::{Action, ActionList, Rules, Side};

use self::board::Board;
use self::knowledge::Knowledge;
use self::search::Search;
use self::table::Entry;
use turnstone_exact::limits::{SearchBudget, SolveLimits, Stopped, on_threads};
use turnstone_exact::{ExactValues, SharedSolver, Solver};
use turnstone_search::Stop;

pub use self::endgame::MancalaEndgames;

/// Solves any position of one game of Mancala. Queries from several threads share the transposition table.
///
/// ```
/// use turnstone_env::{Rules, Params, games::Mancala};
/// use turnstone_exact::SolveLimits;
/// use turnstone_games::mancala::MancalaSolver;
///
/// let game = Mancala::default().with_params(&Params::new().with("stones", 2))?;
/// let solver = MancalaSolver::new(&game, None, 1 << 20);
/// assert_eq!(solver.solve(&game, &game.start(), &SolveLimits::NONE), Some(10));
/// # Ok::<(), turnstone_env::Error>(())
/// ```
pub struct MancalaSolver {
    knowledge: Knowledge,
    nodes: AtomicU64,
    stop: Stop,
}

impl MancalaSolver {
    /// A solver of this game with an optional endgame table and a transposition table of about `entries` positions, 32
    /// bytes each.
    ///
    /// # Panics
    /// If the endgame table is for other rules.
    #[must_use]
    pub fn new(game: &Mancala, endgames: Option<MancalaEndgames>, entries: usize) -> Self {
        let fits = endgames.as_ref().is_none_or(|endgames| endgames.rules_are(game));
        assert!(fits, "the endgames must have the game's pits, captures and end");
        Self { knowledge: Knowledge::new(game, endgames, entries), nodes: AtomicU64::new(0), stop: Stop::default() }
    }

    /// The final margin (store of player 1 less store of player 2) under best play from this position. `None` if a limit
    /// is reached.
    pub fn solve(&self, game: &Mancala, state: &State, limits: &SolveLimits) -> Option<i16> {
        let query = Query::new(self, limits);
        let margin = query.margin(game, state).ok();
        self.nodes.store(query.budget.nodes(), Ordering::Relaxed);
        margin
    }

    /// The sign of the margin, which takes fewer nodes than the margin.
    pub fn value(&self, game: &Mancala, state: &State, limits: &SolveLimits) -> Option<i8> {
        let query = Query::new(self, limits);
        let value = query.value(game, state).ok();
        self.nodes.store(query.budget.nodes(), Ordering::Relaxed);
        value
    }

    /// The margin of a position and all actions that reach it, in increasing order; none if the game is over.
    pub fn best_margin(&self, game: &Mancala, state: &State, limits: &SolveLimits) -> Option<(i16, Vec<Action>)> {
        let query = Query::new(self, limits);
        let best = query.best(game, state).ok();
        self.nodes.store(query.budget.nodes(), Ordering::Relaxed);
        best
    }

    /// Number of nodes of the last query.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }
}

/// One query, which spends its limits.
struct Query<'a> {
    knowledge: &'a Knowledge,
    budget: SearchBudget,
    threads: usize,
}

impl<'a> Query<'a> {
    fn new(solver: &'a MancalaSolver, limits: &SolveLimits) -> Self {
        Self {
            knowledge: &solver.knowledge,
            budget: SearchBudget::new(limits, &solver.stop),
            threads: limits.threads.max(1),
        }
    }

    fn margin(&self, game: &Mancala, state: &State) -> Result<i16, Stopped> {
        let mover = game.mover(state);
        let margin = ahead(game, state, mover) + self.gain(Board::of(game, state))?;
        Ok(if mover == Side::First { margin } else { -margin })
    }

    fn value(&self, game: &Mancala, state: &State) -> Result<i8, Stopped> {
        let (mover, board) = (game.mover(state), Board::of(game, state));
        let ahead = ahead(game, state, mover);
        let value = if self.at_least(board, 1 - ahead)? {
            1
        } else if self.at_least(board, -ahead)? {
            0
        } else {
            -1
        };
        Ok(if mover == Side::First { value } else { -value })
    }

    fn best(&self, game: &Mancala, state: &State) -> Result<(i16, Vec<Action>), Stopped> {
        let margin = self.margin(game, state)?;
        let mover = game.mover(state);
        let mut legal = ActionList::new();
        game.legal(state, &mut legal);
        let mut best = Vec::new();
        for &action in &legal {
            let mut next = *state;
            game.play(&mut next, action);
            let (turn, board) = (game.mover(&next), Board::of(game, &next));
            // What the player to move there gains if the margin is reached and no more.
            let gain = (if turn == Side::First { margin } else { -margin }) - ahead(game, &next, turn);
            let reached = if turn == mover { self.at_least(board, gain)? } else { !self.at_least(board, gain + 1)? };
            if reached {
                best.push(action);
            }
        }
        Ok((margin, best))
    }

    /// The mover's gain by a sequence of searches that each answer whether it is at least a guess (Plaat's MTD(f), 1996).
    /// All gains of a position are even or all are odd, since every stone ends in a store.
    fn gain(&self, board: Board) -> Result<i16, Stopped> {
        let Entry { mut lower, mut upper, .. } = self.knowledge.bounds(board);
        let mut guess = (board.stones() % 2).clamp(lower, upper);
        while lower < upper {
            let beta = if guess == lower { guess + 2 } else { guess };
            guess = self.test(board, beta)?;
            if guess < beta {
                upper = guess;
            } else {
                lower = guess;
            }
        }
        Ok(lower)
    }

    /// Whether the mover's gain is at least `gain`.
    fn at_least(&self, board: Board, gain: i16) -> Result<bool, Stopped> {
        // The least gain of the right parity.
        let beta = gain + (gain - board.stones()).rem_euclid(2);
        let Entry { lower, upper, .. } = self.knowledge.bounds(board);
        Ok(lower >= beta || (upper >= beta && self.test(board, beta)? >= beta))
    }

    /// A bound of the mover's gain: a lower one if it is at least `beta`, else an upper one.
    fn test(&self, board: Board, beta: i16) -> Result<i16, Stopped> {
        on_threads(self.threads, &self.budget, &|counter| Search::new(self.knowledge, counter).test(board, beta))
    }
}

/// By how many stones a side's store is ahead.
fn ahead(game: &Mancala, state: &State, side: Side) -> i16 {
    let [own, other] = [side, side.other()].map(|side| i16::from(game.store(state, side)));
    own - other
}

impl Solver for MancalaSolver {
    fn forget(&mut self) {
        self.knowledge.table.clear();
    }

    fn stop_by(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }
}

impl fmt::Debug for MancalaSolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MancalaSolver").field("endgames", &self.knowledge.endgames).finish_non_exhaustive()
    }
}

/// Exact values of Mancala by search. Positions that exceed the limits are not covered.
#[derive(Debug)]
pub struct MancalaValues(pub SharedSolver<MancalaSolver>);

impl ExactValues<Mancala> for MancalaValues {
    fn stop_by(&mut self, stop: &Stop) {
        self.0.stop_by(stop);
    }

    fn value(&self, game: &Mancala, state: &State) -> Option<i8> {
        self.0.ask(|solver, limits| solver.value(game, state, limits))
    }

    fn margin(&self, game: &Mancala, state: &State) -> Option<i16> {
        self.0.ask(|solver, limits| solver.solve(game, state, limits))
    }

    /// The actions that reach the best margin.
    fn optimal_actions(&self, game: &Mancala, state: &State) -> Option<Vec<Action>> {
        self.0.ask(|solver, limits| solver.best_margin(game, state, limits)).map(|(_, actions)| actions)
    }
}
