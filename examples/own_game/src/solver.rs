//! Exact values of Connect Four: alpha-beta over bitboards with a transposition table.
//!
//! The score of a position says who wins and when, for the mover: 0 for a draw, `43 - n` for a win with the `n`th disc
//! of the game, `n - 43` for a loss with it. A greater score is a win that comes earlier or a loss that comes later.

mod position;
mod table;

use std::fmt;
use std::sync::{Mutex, PoisonError};

use turnstone_agents::Effort;
use turnstone_env::{Action, ActionList, Rules, Side};
use turnstone_exact::ExactValues;

use crate::game::{ConnectFour, State};
use position::{END, Position};
use table::Table;

/// The budget of nodes is spent.
struct Exceeded;

/// Finds the values and scores of positions.
pub struct Solver {
    table: Table,
    /// Whether mirror images share an entry of the table.
    by_mirror: bool,
    nodes: u64,
    most_nodes: u64,
}

impl Solver {
    /// A solver with a transposition table of `entries` positions, rounded up to a power of two, 8 bytes each.
    #[must_use]
    pub fn new(entries: usize) -> Self {
        Self { table: Table::new(entries), by_mirror: false, nodes: 0, most_nodes: 0 }
    }

    /// Number of nodes of the last search.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The value of a position for the mover: 1, 0 or -1. `None` if the search takes more than `most_nodes` nodes.
    pub fn value(&mut self, state: &State, most_nodes: u64) -> Option<i8> {
        self.begin(state, most_nodes);
        Some(self.solve(state, [-1, 1]).ok()?.signum() as i8)
    }

    /// The score of a position for the mover. `None` if the search takes more than `most_nodes` nodes.
    pub fn score(&mut self, state: &State, most_nodes: u64) -> Option<i32> {
        self.begin(state, most_nodes);
        self.solve(state, [-END, END]).ok()
    }

    /// The value of each legal action for the mover. Bounds that earlier searches have found are used.
    pub fn action_values(&mut self, state: &State) -> Vec<(Action, i8)> {
        (self.nodes, self.most_nodes) = (0, u64::MAX);
        let mut legal = ActionList::new();
        ConnectFour.legal(state, &mut legal);
        let value = |&action: &Action| {
            let mut after = *state;
            ConnectFour.play(&mut after, action);
            let score = self.solve(&after, [-1, 1]).unwrap_or_else(|Exceeded| unreachable!("there is no limit"));
            (action, -score.signum() as i8)
        };
        legal.iter().map(value).collect()
    }

    /// Every search begins with an empty table: whether it finishes does not depend on the ones before.
    fn begin(&mut self, state: &State, most_nodes: u64) {
        self.table.clear();
        self.by_mirror = Position::of(state).leads_to_mirror_images();
        (self.nodes, self.most_nodes) = (0, most_nodes);
    }

    /// The score of a position if it lies in the window, else a bound of it at or outside the window's end. Each search
    /// asks whether the score is above a number: first 0, which tells wins from the rest, then halfway between the
    /// bounds.
    fn solve(&mut self, state: &State, [alpha, beta]: [i32; 2]) -> Result<i32, Exceeded> {
        let position = Position::of(state);
        if let Some(outcome) = ConnectFour.outcome(state) {
            return Ok(i32::from(outcome.value_for(state.mover())) * (END - position.plies()));
        }
        if position.wins_at_once() {
            return Ok(END - (position.plies() + 1));
        }
        let (mut lower, mut upper) = (alpha, beta);
        while lower < upper {
            let middle = if lower < 0 && upper > 0 { 0 } else { lower + (upper - lower) / 2 };
            let middle = middle.min(upper - 1);
            match self.search(position, middle)? {
                score if score > middle => lower = score,
                score => upper = score,
            }
        }
        Ok(lower)
    }

    /// A bound of the score of a position where the mover has no win at once: a lower one above `alpha` if the score is
    /// above it, else an upper one.
    fn search(&mut self, position: Position, alpha: i32) -> Result<i32, Exceeded> {
        self.nodes += 1;
        if self.nodes > self.most_nodes {
            return Err(Exceeded);
        }
        let plies = position.plies();
        let landings = position.safe_landings();
        if landings == 0 {
            return Ok(plies + 2 - END);
        }
        if plies + 2 >= END - 1 {
            return Ok(0); // the last two discs win nothing
        }
        let key = self.key(position);
        let (lower, upper) = self.table.get(key).unwrap_or_else(|| position.bounds());
        if lower > alpha || lower == upper {
            return Ok(lower);
        }
        if upper <= alpha {
            return Ok(upper);
        }
        let children = position.ordered(landings).map(|landing| position.after(landing));
        // A landing that the table knows to suffice spares the search of those before it.
        let known = children.clone().filter_map(|child| self.table.get(self.key(child)));
        if let Some(score) = known.map(|(_, upper)| -upper).find(|&score| score > alpha) {
            self.table.put(key, score, upper);
            return Ok(score);
        }
        let mut best = -END;
        for child in children {
            best = best.max(-self.search(child, -alpha - 1)?);
            if best > alpha {
                self.table.put(key, best, upper);
                return Ok(best);
            }
        }
        self.table.put(key, lower, best);
        Ok(best)
    }

    fn key(&self, position: Position) -> u64 {
        if self.by_mirror { position.mirror_key() } else { position.key() }
    }
}

impl fmt::Debug for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Solver").field("nodes", &self.nodes).finish_non_exhaustive()
    }
}

/// Exact values of the positions that the solver finishes within a number of nodes.
#[derive(Debug)]
pub struct SolvedValues {
    solver: Mutex<Solver>,
    most_nodes: u64,
}

impl SolvedValues {
    /// Searches every position with at most `most_nodes` nodes.
    #[must_use]
    pub fn new(solver: Solver, most_nodes: u64) -> Self {
        Self { solver: Mutex::new(solver), most_nodes }
    }

    fn with_solver<T>(&self, search: impl FnOnce(&mut Solver) -> T) -> T {
        search(&mut self.solver.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ExactValues<ConnectFour> for SolvedValues {
    fn value(&self, _: &ConnectFour, state: &State) -> Option<i8> {
        let value = self.with_solver(|solver| solver.value(state, self.most_nodes))?;
        Some(if state.mover() == Side::First { value } else { -value })
    }

    fn distance(&self, _: &ConnectFour, state: &State) -> Option<u32> {
        let score = self.with_solver(|solver| solver.score(state, self.most_nodes))?;
        (score != 0).then(|| (END - score.abs()) as u32 - state.occupied().count_ones())
    }
}

/// Most nodes of a search and entries of the transposition table: a second or two and 16 MB.
const FULL: (u64, usize) = (5_000_000, 1 << 21);
/// The same for answers during play: milliseconds.
const QUICK: (u64, usize) = (20_000, 1 << 13);

impl From<Effort> for SolvedValues {
    fn from(effort: Effort) -> Self {
        let (nodes, entries) = if matches!(effort, Effort::Full) { FULL } else { QUICK };
        Self::new(Solver::new(entries), nodes)
    }
}

#[cfg(test)]
mod tests;
