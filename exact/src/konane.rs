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
use std::sync::Mutex;

use turnstone_env::games::{Konane, konane::State};
use turnstone_env::{ActionList, Game, Side};

use self::board::Position;
use self::reduce::Reduced;
use self::table::Table;
use crate::values::{ExactValues, Memory};

/// Finds the winner of positions of Konane.
///
/// ```
/// use turnstone_env::{Game, Params, Side, games::Konane};
/// use turnstone_exact::KonaneSolver;
///
/// let game = Konane::with_params(&Params::new().with("size", 4))?;
/// let mut solver = KonaneSolver::new(1 << 10);
/// assert_eq!(solver.winner(&game, &game.start(), 10_000), Some(Side::Second));
/// # Ok::<(), turnstone_env::Error>(())
/// ```
pub struct KonaneSolver {
    table: Table,
    nodes: u64,
    most_nodes: u64,
}

/// The budget of nodes is spent.
struct Exceeded;

impl KonaneSolver {
    /// The largest board whose positions are solved.
    pub const MAX_SIZE: usize = 8;

    /// A solver with a transposition table of about `entries` positions, 24 bytes each.
    #[must_use]
    pub fn new(entries: usize) -> Self {
        Self { table: Table::new(entries), nodes: 0, most_nodes: 0 }
    }

    /// The winner of a position under best play. `None` on boards larger than [`KonaneSolver::MAX_SIZE`], or if the
    /// search takes more than `most_nodes` nodes.
    pub fn winner(&mut self, game: &Konane, state: &State, most_nodes: u64) -> Option<Side> {
        (self.nodes, self.most_nodes) = (0, most_nodes);
        if game.size() > Self::MAX_SIZE {
            return None;
        }
        let wins = self.wins(game, state).ok()?;
        Some(if wins { game.mover(state) } else { game.mover(state).other() })
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

    /// Whether the mover wins. The two removals of the opening are played by the game's rules.
    fn wins(&mut self, game: &Konane, state: &State) -> Result<bool, Exceeded> {
        let position = Position::of(game, state);
        if position.stones.count_ones() as usize + 1 < game.size() * game.size() {
            return self.search(&Reduced::of(position));
        }
        let mut legal = ActionList::new();
        game.legal(state, &mut legal);
        for &action in &legal {
            let mut next = *state;
            game.play(&mut next, action);
            if !self.wins(game, &next)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the mover wins a position without removals.
    fn search(&mut self, reduced: &Reduced) -> Result<bool, Exceeded> {
        if let Some(wins) = self.known(reduced) {
            return Ok(wins);
        }
        self.nodes += 1;
        if self.nodes > self.most_nodes {
            return Err(Exceeded);
        }
        let wins = self.any_ply_wins(&reduced.position)?;
        self.table.put(reduced, wins);
        Ok(wins)
    }

    fn known(&self, reduced: &Reduced) -> Option<bool> {
        reduced.decided().or_else(|| self.table.get(reduced))
    }

    fn any_ply_wins(&mut self, position: &Position) -> Result<bool, Exceeded> {
        let mut plies = Vec::with_capacity(16);
        let mut won = false;
        let mut consider = |next| {
            let next = Reduced::of(next);
            match self.known(&next) {
                Some(wins) => won |= !wins,
                None => plies.push((promise(&next.position), next)),
            }
        };
        position.for_each_next(&mut consider);
        if position.free > 0 {
            consider(position.free_move());
        }
        if won {
            return Ok(true);
        }
        plies.sort_by_key(|&(promise, _)| -promise);
        for (_, next) in plies {
            if !self.search(&next)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Evaluation for the player who has just moved, to order the plies. An opponent's jump weighs four times an own one: on
/// 6x6 that takes a quarter of the nodes of equal weights.
fn promise(next: &Position) -> i32 {
    next.jumps(next.mover.other()) - 4 * next.jumps(next.mover) - next.free
}

impl fmt::Debug for KonaneSolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KonaneSolver").field("nodes", &self.nodes).finish_non_exhaustive()
    }
}

/// Exact values of Konane by search. Positions that take more than a number of nodes are not covered.
#[derive(Debug)]
pub struct KonaneValues {
    solver: Mutex<KonaneSolver>,
    most_nodes: u64,
    memory: Memory,
}

impl KonaneValues {
    /// Searches every position with at most `most_nodes` nodes.
    #[must_use]
    pub fn new(solver: KonaneSolver, most_nodes: u64) -> Self {
        Self { solver: Mutex::new(solver), most_nodes, memory: Memory::Kept }
    }

    /// Like [`KonaneValues::new`], but with an empty table for every position, so that whether a position is covered does
    /// not depend on earlier queries.
    #[must_use]
    pub fn forgetting(solver: KonaneSolver, most_nodes: u64) -> Self {
        Self { memory: Memory::OfOneAnswer, ..Self::new(solver, most_nodes) }
    }
}

impl ExactValues<Konane> for KonaneValues {
    fn value(&self, game: &Konane, state: &State) -> Option<i8> {
        let mut solver = self.solver.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if self.memory == Memory::OfOneAnswer {
            solver.forget();
        }
        let winner = solver.winner(game, state, self.most_nodes)?;
        Some(if winner == Side::First { 1 } else { -1 })
    }
}
