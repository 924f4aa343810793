//! Exact values of Konane on boards up to 8x8: depth-first search for the winner over reduced positions.
//!
//! A position is reduced before it is searched. A jump is *conceivable* if its stones can be present and its landing can
//! be empty, where a cell that was ever left or entered counts as either from then on. Cells of no conceivable jump are
//! dropped. Conceivable jumps that share no cell with the rest form regions. A region where only one side can ever jump
//! is an integer in the sense of combinatorial game theory: it is replaced by the number of free moves of its longest
//! sequence of jumps. The remaining cells, the difference of free moves and the mover are the key of the transposition
//! table. A side with more free moves than the other side has possible jumps has won.

mod board;
mod reduce;
mod table;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use turnstone_env::games::{Konane, konane::State};
use turnstone_env::{Action, ActionList, Rules, Side};

use self::board::Position;
use self::reduce::Reduced;
use self::table::Table;
use turnstone_exact::limits::{Busy, NodeCounter, SearchBudget, SolveLimits, Stopped, on_threads};
use turnstone_exact::shared_table::prefetch;
use turnstone_exact::{ExactValues, SharedSolver, Solver, best_by};
use turnstone_search::Stop;

/// Finds the winner of positions of Konane. Queries from several threads share the transposition table.
///
/// ```
/// use turnstone_env::{Rules, Params, Side, games::Konane};
/// use turnstone_exact::SolveLimits;
/// use turnstone_games::konane::KonaneSolver;
///
/// let game = Konane::default().with_params(&Params::new().with("size", 4))?;
/// let solver = KonaneSolver::new(1 << 10);
/// assert_eq!(solver.winner(&game, &game.start(), &SolveLimits::nodes(10_000)), Some(Side::Second));
/// # Ok::<(), turnstone_env::Error>(())
/// ```
pub struct KonaneSolver {
    table: Table,
    busy: Busy,
    nodes: AtomicU64,
    stop: Stop,
}

impl KonaneSolver {
    /// The largest board whose positions are solved.
    pub const MAX_SIZE: usize = 8;

    /// A solver with a transposition table of about `entries` positions, 32 bytes each.
    #[must_use]
    pub fn new(entries: usize) -> Self {
        Self { table: Table::new(entries), busy: Busy::default(), nodes: AtomicU64::new(0), stop: Stop::default() }
    }

    /// The winner of a position under best play. `None` on boards larger than [`KonaneSolver::MAX_SIZE`], or if a limit is
    /// reached.
    pub fn winner(&self, game: &Konane, state: &State, limits: &SolveLimits) -> Option<Side> {
        if game.size() > Self::MAX_SIZE {
            return None;
        }
        let budget = SearchBudget::new(limits, &self.stop);
        let wins = self.wins(game, state, &budget, limits.threads);
        self.nodes.store(budget.nodes(), Ordering::Relaxed);
        Some(if wins.ok()? { game.mover(state) } else { game.mover(state).other() })
    }

    /// Number of nodes of the last query.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    /// Whether the mover wins. The two removals of the opening are played by the game's rules.
    fn wins(&self, game: &Konane, state: &State, budget: &SearchBudget, threads: usize) -> Result<bool, Stopped> {
        let position = Position::of(game, state);
        if position.stones.count_ones() as usize + 1 < game.size() * game.size() {
            let reduced = Reduced::of(position);
            return on_threads(threads, budget, &|counter| Search { solver: self, counter }.wins(&reduced));
        }
        let mut legal = ActionList::new();
        game.legal(state, &mut legal);
        for &action in &legal {
            let mut next = *state;
            game.play(&mut next, action);
            if !self.wins(game, &next, budget, threads)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn known(&self, reduced: &Reduced) -> Option<bool> {
        reduced.decided().or_else(|| self.table.get(self.table.place(reduced), reduced))
    }
}

/// Positions with fewer stones are searched so fast that they are not announced.
const SMALL: u32 = 16;

/// The search of one thread.
struct Search<'a> {
    solver: &'a KonaneSolver,
    counter: NodeCounter<'a>,
}

impl Search<'_> {
    /// Whether the mover wins a position without removals.
    fn wins(&mut self, reduced: &Reduced) -> Result<bool, Stopped> {
        if let Some(wins) = self.solver.known(reduced) {
            return Ok(wins);
        }
        self.counter.count()?;
        let wins = self.any_ply_wins(&reduced.position)?;
        self.solver.table.put(reduced, wins);
        Ok(wins)
    }

    fn any_ply_wins(&mut self, position: &Position) -> Result<bool, Stopped> {
        let table = &self.solver.table;
        let mut open = Vec::with_capacity(16);
        let mut won = false;
        let mut consider = |next| {
            let next = Reduced::of(next);
            match next.decided() {
                Some(wins) => won |= !wins,
                None => open.push((table.place(&next), next)),
            }
        };
        position.for_each_next(&mut consider);
        if position.free > 0 {
            consider(position.free_move());
        }
        if won {
            return Ok(true);
        }
        prefetch(open.iter().map(|&(place, _)| table.touch(place)));
        let mut plies = Vec::with_capacity(open.len());
        for (place, next) in open {
            match table.get(place, &next) {
                Some(false) => return Ok(true),
                Some(true) => {}
                None => plies.push((promise(&next.position), next)),
            }
        }
        plies.sort_by_key(|&(promise, _)| -promise);
        self.any_answered(&plies, position.stones.count_ones() >= SMALL)
    }

    /// Whether one of these plies, with their promises, wins. Those that another thread searches come last.
    fn any_answered(&mut self, plies: &[(i32, Reduced)], large: bool) -> Result<bool, Stopped> {
        let mut put_off = Vec::new();
        for (at, (_, next)) in plies.iter().enumerate() {
            if at > 0 && large && self.solver.busy.contains(next.hash()) {
                put_off.push(next);
            } else if !self.answered(next, large)? {
                return Ok(true);
            }
        }
        for next in put_off {
            if !self.answered(next, large)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// [`Search::wins`], announced to other threads if it is large.
    fn answered(&mut self, next: &Reduced, large: bool) -> Result<bool, Stopped> {
        if !large {
            return self.wins(next);
        }
        let hash = next.hash();
        self.solver.busy.enter(hash);
        let wins = self.wins(next);
        self.solver.busy.leave(hash);
        wins
    }
}

/// Evaluation for the player who has just moved, to order the plies. An opponent's jump weighs four times an own one: on
/// 6x6 that takes a quarter of the nodes of equal weights.
fn promise(next: &Position) -> i32 {
    next.jumps(next.mover.other()) - 4 * next.jumps(next.mover) - next.free
}

impl Solver for KonaneSolver {
    fn forget(&mut self) {
        self.table.clear();
    }

    fn stop_by(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }
}

impl fmt::Debug for KonaneSolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KonaneSolver").field("nodes", &self.nodes()).finish_non_exhaustive()
    }
}

/// Exact values of Konane by search. Positions that exceed the limits are not covered.
#[derive(Debug)]
pub struct KonaneValues(pub SharedSolver<KonaneSolver>);

impl ExactValues<Konane> for KonaneValues {
    fn stop_by(&mut self, stop: &Stop) {
        self.0.stop_by(stop);
    }

    fn value(&self, game: &Konane, state: &State) -> Option<i8> {
        let winner = self.0.ask(|solver, limits| solver.winner(game, state, limits))?;
        Some(if winner == Side::First { 1 } else { -1 })
    }

    fn best_actions(&self, game: &Konane, state: &State) -> Option<Vec<Action>> {
        // One query, in which the successors share a table.
        self.0.ask(|solver, limits| best_by(game, state, |state| solver.winner(game, state, limits)))
    }
}
