//! Exact values of Connect Four: alpha-beta over bitboards with a transposition table.
//!
//! The score of a position says who wins and when, for the mover: 0 for a draw, `43 - n` for a win with the `n`th disc
//! of the game, `n - 43` for a loss with it. A greater score is a win that comes earlier or a loss that comes later.

use std::cmp::Reverse;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use turnstone_env::{Game, Side};
use turnstone_exact::{ExactValues, Solvable, TableError};

use crate::game::{BOARD, BOTTOM, ConnectFour, STEPS, State, landings};

/// The score of a win with the `n`th disc is this minus `n`.
const END: i32 = 43;

/// The budget of nodes is spent.
struct Exceeded;

/// A position as the mover sees it.
#[derive(Clone, Copy)]
struct Position {
    own: u64,
    occupied: u64,
}

impl Position {
    fn of(state: &State) -> Self {
        Self { own: state.discs[state.mover().index()], occupied: state.occupied() }
    }

    fn opponents(self) -> u64 {
        self.occupied ^ self.own
    }

    fn plies(self) -> i32 {
        self.occupied.count_ones() as i32
    }

    fn after(self, landing: u64) -> Self {
        Self { own: self.opponents(), occupied: self.occupied | landing }
    }

    /// Own discs, and the bit above the discs of each column, which says how high it is: a different number for every
    /// position, and never 0.
    fn key(self) -> u64 {
        self.own | (self.occupied + BOTTOM)
    }

    /// Landings of the mover that win at once.
    fn wins(self) -> u64 {
        landings(self.occupied) & completions(self.own, self.occupied)
    }

    /// Landings that do not let the opponent win with the next disc. The mover has no win at once.
    fn safe_landings(self) -> u64 {
        let threats = completions(self.opponents(), self.occupied);
        let landings = landings(self.occupied);
        let safe = landings & !(threats >> 1);
        match landings & threats {
            0 => safe,
            forced if forced.is_power_of_two() => safe & forced,
            _ => 0, // two threats at once
        }
    }
}

/// Empty cells that complete four in a row of these discs.
fn completions(discs: u64, occupied: u64) -> u64 {
    let mut cells = 0;
    for step in STEPS {
        let up = [discs << step, discs << (2 * step), discs << (3 * step)];
        let down = [discs >> step, discs >> (2 * step), discs >> (3 * step)];
        cells |=
            up[0] & up[1] & up[2] | up[0] & up[1] & down[0] | up[0] & down[0] & down[1] | down[0] & down[1] & down[2];
    }
    cells & BOARD & !occupied
}

/// Bounds of a position's score.
#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    lower: i8,
    upper: i8,
}

/// No position has this key.
const FREE: Entry = Entry { key: 0, lower: 0, upper: 0 };

/// Finds the scores of positions.
pub struct Solver {
    table: Vec<Entry>,
    nodes: u64,
    most_nodes: u64,
}

impl Solver {
    /// A solver with a transposition table of `entries` positions, 16 bytes each.
    #[must_use]
    pub fn new(entries: usize) -> Self {
        Self { table: vec![FREE; entries.max(1)], nodes: 0, most_nodes: 0 }
    }

    /// The value of a position for the mover: 1, 0 or -1. `None` if the search takes more than `most_nodes` nodes.
    pub fn value(&mut self, state: &State, most_nodes: u64) -> Option<i8> {
        Some(self.solve(state, [-1, 1], most_nodes)?.signum() as i8)
    }

    /// The score of a position for the mover. `None` if the search takes more than `most_nodes` nodes.
    pub fn score(&mut self, state: &State, most_nodes: u64) -> Option<i32> {
        self.solve(state, [-END, END], most_nodes)
    }

    /// The score of a position if it lies in the window, else a bound of it that lies outside. Every search begins with
    /// an empty table: whether it finishes does not depend on the ones before.
    fn solve(&mut self, state: &State, [alpha, beta]: [i32; 2], most_nodes: u64) -> Option<i32> {
        let position = Position::of(state);
        if let Some(outcome) = ConnectFour.outcome(state) {
            return Some(i32::from(outcome.value_for(state.mover())) * (END - position.plies()));
        }
        if position.wins() != 0 {
            return Some(END - (position.plies() + 1));
        }
        self.table.fill(FREE);
        (self.nodes, self.most_nodes) = (0, most_nodes);
        self.search(position, alpha, beta).ok()
    }

    /// The score of a position where the mover has no win at once, or a bound of it outside the window.
    fn search(&mut self, position: Position, alpha: i32, beta: i32) -> Result<i32, Exceeded> {
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
        let slot = self.slot(position);
        let (mut lower, mut upper) = (plies + 4 - END, END - (plies + 3));
        if self.table[slot].key == position.key() {
            lower = lower.max(i32::from(self.table[slot].lower));
            upper = upper.min(i32::from(self.table[slot].upper));
        }
        if lower >= beta || lower == upper {
            return Ok(lower);
        }
        if upper <= alpha {
            return Ok(upper);
        }
        let best = self.best_of(position, landings, alpha.max(lower), beta.min(upper))?;
        if best > alpha {
            lower = lower.max(best);
        }
        if best < beta {
            upper = upper.min(best);
        }
        self.table[slot] = Entry { key: position.key(), lower: lower as i8, upper: upper as i8 };
        Ok(best)
    }

    fn slot(&self, position: Position) -> usize {
        let hash = position.key().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32; // Fibonacci hashing
        (hash % self.table.len() as u64) as usize
    }

    /// The best score among the landings: those that make most threats first, and of these the more central.
    fn best_of(&mut self, position: Position, landings: u64, alpha: i32, beta: i32) -> Result<i32, Exceeded> {
        const CENTRE_FIRST: [usize; 7] = [3, 2, 4, 1, 5, 0, 6];
        let mut order = CENTRE_FIRST.map(|column| {
            let landing = landings & 0b11_1111 << (7 * column);
            (completions(position.own | landing, position.occupied).count_ones(), landing)
        });
        order.sort_by_key(|&(threats, _)| Reverse(threats));
        let mut best = -END;
        for (_, landing) in order.into_iter().filter(|&(_, landing)| landing != 0) {
            let score = -self.search(position.after(landing), -beta, -alpha.max(best))?;
            best = best.max(score);
            if best >= beta {
                break;
            }
        }
        Ok(best)
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

/// Most nodes of a search and entries of the transposition table: about a second and 16 MB.
const FULL: (u64, usize) = (5_000_000, 1 << 20);
/// The same for answers during play: milliseconds.
const QUICK: (u64, usize) = (20_000, 1 << 13);

impl Solvable for ConnectFour {
    fn exact_values(&self, _tables: &Path) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        let (nodes, entries) = FULL;
        Ok(Some(Box::new(SolvedValues::new(Solver::new(entries), nodes))))
    }

    fn quick_exact_values(&self, _tables: &Path) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        let (nodes, entries) = QUICK;
        Ok(Some(Box::new(SolvedValues::new(Solver::new(entries), nodes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use turnstone_env::{Action, ActionList, play_text};

    const BUDGET: u64 = 50_000_000;

    /// Running positions after so many random plies.
    fn random_positions(plies: u32) -> impl Iterator<Item = State> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(u64::from(plies));
        let mut legal = ActionList::new();
        let mut game = move || {
            let mut state = ConnectFour.start();
            for _ in 0..plies {
                ConnectFour.legal(&state, &mut legal);
                let action = *legal.get(rng.random_range(0..legal.len().max(1)))?;
                ConnectFour.play(&mut state, action);
            }
            ConnectFour.outcome(&state).is_none().then_some(state)
        };
        (0..).filter_map(move |_| game())
    }

    fn children(state: &State) -> Vec<State> {
        let mut legal = ActionList::new();
        ConnectFour.legal(state, &mut legal);
        let after = |&action: &Action| {
            let mut after = *state;
            ConnectFour.play(&mut after, action);
            after
        };
        legal.iter().map(after).collect()
    }

    /// The score by the rules alone.
    fn minimax(state: &State) -> i32 {
        let discs = state.occupied().count_ones() as i32;
        match ConnectFour.outcome(state) {
            Some(outcome) => i32::from(outcome.value_for(state.mover())) * (END - discs),
            None => children(state).iter().map(|child| -minimax(child)).max().expect("the game goes on"),
        }
    }

    #[test]
    fn scores_are_those_of_minimax() {
        let mut solver = Solver::new(1 << 16);
        let mut seen = [0; 3];
        for (plies, count) in [(30, 20), (33, 100), (36, 200), (40, 200)] {
            for state in random_positions(plies).take(count) {
                let (score, text) = (minimax(&state), ConnectFour.position_text(&state));
                assert_eq!(solver.score(&state, BUDGET), Some(score), "{text}");
                assert_eq!(solver.value(&state, BUDGET), Some(score.signum() as i8), "{text}");
                seen[(score.signum() + 1) as usize] += 1;
            }
        }
        assert!(seen.iter().all(|&positions| positions >= 50), "losses, draws and wins: {seen:?}");
    }

    #[test]
    fn a_score_is_the_best_of_the_scores_after_each_ply() {
        let mut solver = Solver::new(1 << 18);
        for state in random_positions(20).take(20) {
            let children = children(&state);
            let best = children.iter().map(|child| -solver.score(child, BUDGET).expect("in the budget")).max();
            assert_eq!(solver.score(&state, BUDGET), best, "{}", ConnectFour.position_text(&state));
            let value = children.iter().map(|child| -solver.value(child, BUDGET).expect("in the budget")).max();
            assert_eq!(solver.value(&state, BUDGET), value, "{}", ConnectFour.position_text(&state));
        }
    }

    #[test]
    fn the_table_changes_no_score() {
        let (mut solver, mut without) = (Solver::new(1 << 16), Solver::new(1));
        for state in random_positions(22).take(300) {
            let score = solver.score(&state, BUDGET).expect("in the budget");
            assert_eq!(without.score(&state, BUDGET), Some(score), "{}", ConnectFour.position_text(&state));
            let value = solver.value(&state, BUDGET).expect("in the budget");
            assert_eq!(i32::from(value), score.signum(), "{}", ConnectFour.position_text(&state));
        }
    }

    #[test]
    fn values_are_for_the_first_side_and_distances_count_plies() {
        let truth = ConnectFour.exact_values(Path::new("")).expect("no table").expect("a solver");
        let after = |moves| {
            let mut state = ConnectFour.start();
            play_text(&ConnectFour, &mut state, moves).expect("legal");
            (truth.value(&ConnectFour, &state), truth.distance(&ConnectFour, &state))
        };
        assert_eq!(after("1 7 2 7 3 7"), (Some(1), Some(1))); // X wins with 4
        assert_eq!(after("1 4 1 5 2 6"), (Some(-1), Some(2))); // O threatens 3 and 7
        assert_eq!(after("1 7 2 7 3 7 4"), (Some(1), Some(0)));
    }

    #[test]
    fn optimal_play_ends_as_the_value_and_the_distance_say() {
        let truth = ConnectFour.quick_exact_values(Path::new("")).expect("no table").expect("a solver");
        for mut state in random_positions(31).take(100) {
            let text = ConnectFour.position_text(&state);
            let value = truth.value(&ConnectFour, &state).expect("covered");
            let distance = truth.distance(&ConnectFour, &state);
            let mut plies = 0;
            while ConnectFour.outcome(&state).is_none() {
                let best = truth.optimal_actions(&ConnectFour, &state).expect("covered");
                ConnectFour.play(&mut state, best[best.len() / 2]);
                plies += 1;
            }
            assert_eq!(ConnectFour.outcome(&state).map(|outcome| outcome.value()), Some(value), "{text}");
            assert_eq!(distance, (value != 0).then_some(plies), "{text}");
        }
    }

    #[test]
    fn a_search_ends_with_its_budget() {
        let mut solver = Solver::new(1 << 10);
        assert_eq!(solver.score(&ConnectFour.start(), 1000), None);
        let late = random_positions(36).next().expect("there are some");
        assert!(solver.score(&late, 1000).is_some());
    }
}
