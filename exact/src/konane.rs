//! Exact values of Konane on boards up to 8x8: who wins, by depth-first search over what is left of the position.
//!
//! Before a position is searched it is reduced to what can still happen. A jump is *conceivable* if its stones may be
//! there and its landing may be empty, taking it that cells once left or entered may be either from then on. Cells of no
//! conceivable jump are dropped. Conceivable jumps that share no cell with the rest form
//! regions; a region where only one side can ever jump is as many free moves as it has jumps in its longest sequence
//! (an integer in the sense of combinatorial game theory), so it is counted and dropped too. What remains, with the
//! difference of free moves and the mover, is what is remembered. The side whose free moves outnumber all jumps that the
//! other can still make has won.

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
use crate::truth::{Memory, Truth};

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

    /// A solver that remembers about so many positions, 24 bytes each.
    #[must_use]
    pub fn new(entries: usize) -> Self {
        Self { table: Table::new(entries), nodes: 0, most_nodes: 0 }
    }

    /// Who wins a position if both play best. `None` on boards larger than [`KonaneSolver::MAX_SIZE`], or if it takes
    /// more than `most_nodes` nodes.
    pub fn winner(&mut self, game: &Konane, state: &State, most_nodes: u64) -> Option<Side> {
        (self.nodes, self.most_nodes) = (0, most_nodes);
        if game.size() > Self::MAX_SIZE {
            return None;
        }
        let wins = self.wins(game, state).ok()?;
        Some(if wins { game.mover(state) } else { game.mover(state).other() })
    }

    /// Forgets what it remembers of earlier searches.
    pub fn forget(&mut self) {
        self.table.clear();
    }

    /// Nodes of the last search.
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

/// How good a position is for the player who has just moved. A jump less for the opponent counts four times one more of
/// his own: on 6x6 that took a quarter of the nodes of counting both alike.
fn promise(next: &Position) -> i32 {
    next.jumps(next.mover.other()) - 4 * next.jumps(next.mover) - next.free
}

impl fmt::Debug for KonaneSolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KonaneSolver").field("nodes", &self.nodes).finish_non_exhaustive()
    }
}

/// The truth of Konane by search: every position that takes at most a number of nodes is covered.
#[derive(Debug)]
pub struct KonaneTruth {
    solver: Mutex<KonaneSolver>,
    most_nodes: u64,
    memory: Memory,
}

impl KonaneTruth {
    /// What a solver finds with this many nodes per position.
    #[must_use]
    pub fn new(solver: KonaneSolver, most_nodes: u64) -> Self {
        Self { solver: Mutex::new(solver), most_nodes, memory: Memory::Kept }
    }

    /// The same, but whether a position is covered does not depend on what was asked before.
    #[must_use]
    pub fn forgetting(solver: KonaneSolver, most_nodes: u64) -> Self {
        Self { memory: Memory::OfOneAnswer, ..Self::new(solver, most_nodes) }
    }
}

impl Truth<Konane> for KonaneTruth {
    fn value(&self, game: &Konane, state: &State) -> Option<i8> {
        let mut solver = self.solver.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if self.memory == Memory::OfOneAnswer {
            solver.forget();
        }
        let winner = solver.winner(game, state, self.most_nodes)?;
        Some(if winner == Side::First { 1 } else { -1 })
    }
}
