//! Exact values of Connect Four: alpha-beta over bitboards with a transposition table.
//!
//! The score of a position says who wins and when, for the mover: 0 for a draw, `43 - n` for a win with the `n`th disc
//! of the game, `n - 43` for a loss with it. A greater score is a win that comes earlier or a loss that comes later.

mod position;
mod table;

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use turnstone_agents::Effort;
use turnstone_env::{Action, ActionList, Rules, Side};
use turnstone_exact::{ExactValues, SolveLimits};
use turnstone_search::{Clock, Stop};

use crate::game::{ConnectFour, State};
use position::{END, Position};
use table::Table;

/// A limit was reached, or the search was stopped.
struct Exceeded;

/// Nodes between two looks at the clock and the flag that stops a search.
const BETWEEN_LOOKS: u64 = 4096;

/// Finds the values and scores of positions.
pub struct Solver {
    table: Table,
    /// Whether mirror images share an entry of the table.
    by_mirror: bool,
    nodes: u64,
    most_nodes: u64,
    deadline: Option<Duration>,
    clock: Clock,
    stop: Stop,
}

impl Solver {
    /// A solver with a transposition table of `entries` positions, rounded up to a power of two, 8 bytes each.
    #[must_use]
    pub fn new(entries: usize) -> Self {
        let (clock, stop) = (Clock::default(), Stop::default());
        Self { table: Table::new(entries), by_mirror: false, nodes: 0, most_nodes: 0, deadline: None, clock, stop }
    }

    /// Number of nodes of the last search.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The value of a position for the mover: 1, 0 or -1. `None` if a limit is reached.
    pub fn value(&mut self, state: &State, limits: &SolveLimits) -> Option<i8> {
        self.begin(state, limits);
        Some(self.solve(state, [-1, 1]).ok()?.signum() as i8)
    }

    /// The score of a position for the mover. `None` if a limit is reached.
    pub fn score(&mut self, state: &State, limits: &SolveLimits) -> Option<i32> {
        self.begin(state, limits);
        self.solve(state, [-END, END]).ok()
    }

    /// The value of each legal action for the mover. Bounds that earlier searches have found are used.
    pub fn action_values(&mut self, state: &State) -> Vec<(Action, i8)> {
        (self.nodes, self.most_nodes, self.deadline) = (0, u64::MAX, None);
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
    fn begin(&mut self, state: &State, limits: &SolveLimits) {
        self.table.clear();
        self.by_mirror = Position::of(state).leads_to_mirror_images();
        (self.nodes, self.most_nodes) = (0, limits.nodes);
        self.deadline = limits.time.map(|time| self.clock.now().saturating_add(time));
    }

    /// Counts a node.
    fn count(&mut self) -> Result<(), Exceeded> {
        self.nodes += 1;
        let late = || self.deadline.is_some_and(|deadline| self.clock.now() >= deadline);
        let looks = self.nodes.is_multiple_of(BETWEEN_LOOKS);
        let over = self.nodes > self.most_nodes || looks && (late() || self.stop.is_raised());
        if over { Err(Exceeded) } else { Ok(()) }
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
        self.count()?;
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

/// Exact values of the positions that the solver finishes within limits.
#[derive(Debug)]
pub struct SolvedValues {
    solver: Mutex<Solver>,
    limits: SolveLimits,
}

impl SolvedValues {
    /// Searches every position within these limits.
    #[must_use]
    pub fn new(solver: Solver, limits: SolveLimits) -> Self {
        Self { solver: Mutex::new(solver), limits }
    }

    fn with_solver<T>(&self, search: impl FnOnce(&mut Solver) -> T) -> T {
        search(&mut self.solver.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ExactValues<ConnectFour> for SolvedValues {
    fn value(&self, _: &ConnectFour, state: &State) -> Option<i8> {
        let value = self.with_solver(|solver| solver.value(state, &self.limits))?;
        Some(if state.mover() == Side::First { value } else { -value })
    }

    fn distance(&self, _: &ConnectFour, state: &State) -> Option<u32> {
        let score = self.with_solver(|solver| solver.score(state, &self.limits))?;
        (score != 0).then(|| (END - score.abs()) as u32 - state.occupied().count_ones())
    }

    fn stop_by(&mut self, stop: &Stop) {
        self.solver.get_mut().unwrap_or_else(PoisonError::into_inner).stop = stop.clone();
    }
}

/// Most entries of the transposition table: 16 MB.
const ENTRIES: u64 = 1 << 21;

impl From<Effort> for SolvedValues {
    fn from(effort: Effort) -> Self {
        let limits = effort.limits();
        Self::new(Solver::new(limits.nodes.clamp(1, ENTRIES) as usize), limits)
    }
}

#[cfg(test)]
mod tests;
