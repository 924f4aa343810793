//! The common trait of all sources of exact values.

use std::sync::{PoisonError, RwLock};

use turnstone_env::{Action, ActionList, Notation, Rules, Side};
use turnstone_search::Stop;

use crate::limits::SolveLimits;

/// Exact values of a game's positions.
///
/// A source may ignore ply limits ([`Spec::ply_limits`](turnstone_env::Spec::ply_limits)): its values are then those of the
/// game without them, where infinite play is a draw, and its answers for a position are those for the same position with
/// its counters at 0 ([`WithoutCounters`] sees to that).
pub trait ExactValues<G: Rules>: Send + Sync {
    /// The value of a position for the first side: 1, 0 or -1. `None` if it is not covered.
    fn value(&self, game: &G, state: &G::State) -> Option<i8>;

    /// The legal actions that keep the position's value, in increasing order, empty where the game is over. `None` if
    /// the position or one that an action leads to is not covered.
    fn best_actions(&self, game: &G, state: &G::State) -> Option<Vec<Action>> {
        best_by(game, state, |state| self.value(game, state))
    }

    /// Ends searches of later queries once the flag is raised: their positions are then not covered. Sources without a search
    /// ignore it.
    fn stop_by(&mut self, _stop: &Stop) {}

    /// The final margin under best play for the first side ([`turnstone_env::Outcome::margin`]), if the source knows it. Then
    /// [`ExactValues::optimal_actions`] are those that reach it, in lost positions too.
    fn margin(&self, _game: &G, _state: &G::State) -> Option<i16> {
        None
    }

    /// Number of turns to the end of a won game, the current one included, where the winner takes the shortest way and
    /// the loser the longest; 0 if the game is over. A turn ends when the mover changes. `None` for draws and without
    /// known distances.
    fn distance(&self, _game: &G, _state: &G::State) -> Option<u32> {
        None
    }

    /// The [`ExactValues::best_actions`] that lead to the shortest win or to the longest loss, where distances are known.
    fn optimal_actions(&self, game: &G, state: &G::State) -> Option<Vec<Action>> {
        let best = self.best_actions(game, state)?;
        let (mover, value) = (game.mover(state), self.value(game, state)?);
        let turns = |&action: &Action| {
            let mut after = *state;
            game.play(&mut after, action);
            let ended = game.mover(&after) != mover || game.outcome(&after).is_some();
            Some(self.distance(game, &after)? + u32::from(ended))
        };
        let Some(turns) = best.iter().map(turns).collect::<Option<Vec<_>>>() else { return Some(best) };
        let wins = (value > 0) == (mover == Side::First);
        let optimum = if wins { turns.iter().min() } else { turns.iter().max() };
        Some(best.iter().zip(&turns).filter(|(_, turns)| Some(*turns) == optimum).map(|(&action, _)| action).collect())
    }
}

/// The legal actions that keep this value of the position, in increasing order. `None` if a value is `None`.
pub fn best_by<G: Rules, T: PartialEq>(
    game: &G,
    state: &G::State,
    mut value: impl FnMut(&G::State) -> Option<T>,
) -> Option<Vec<Action>> {
    let kept = value(state)?;
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    let mut best = Vec::new();
    for &action in &legal {
        let mut after = *state;
        game.play(&mut after, action);
        if value(&after)? == kept {
            best.push(action);
        }
    }
    Some(best)
}

/// A solver that searches, with a transposition table that its queries share.
pub trait Solver {
    /// Clears the table.
    fn forget(&mut self);

    /// Ends later queries without an answer once the flag is raised.
    fn stop_by(&mut self, stop: &Stop);
}

/// A solver as a source of exact values: several threads may ask it, within the same limits.
#[derive(Debug)]
pub struct SharedSolver<S> {
    solver: RwLock<S>,
    limits: SolveLimits,
    forgets: bool,
}

impl<S: Solver> SharedSolver<S> {
    /// Every query is within these limits.
    #[must_use]
    pub fn new(solver: S, limits: SolveLimits) -> Self {
        Self { solver: RwLock::new(solver), limits, forgets: false }
    }

    /// Like [`SharedSolver::new`], but with an empty table for every query, so that whether a position is covered does not
    /// depend on earlier queries.
    #[must_use]
    pub fn forgetting(solver: S, limits: SolveLimits) -> Self {
        Self { forgets: true, ..Self::new(solver, limits) }
    }

    /// One query.
    pub fn ask<T>(&self, question: impl FnOnce(&S, &SolveLimits) -> T) -> T {
        if !self.forgets {
            return question(&self.solver.read().unwrap_or_else(PoisonError::into_inner), &self.limits);
        }
        let mut solver = self.solver.write().unwrap_or_else(PoisonError::into_inner);
        solver.forget();
        question(&solver, &self.limits)
    }

    /// See [`Solver::stop_by`].
    pub fn stop_by(&mut self, stop: &Stop) {
        self.solver.get_mut().unwrap_or_else(PoisonError::into_inner).stop_by(stop);
    }
}

/// A position in the same game without ply limits. Both share the text of positions; without a limit the count in it is read
/// and dropped.
pub(crate) fn unlimited<G: Notation>(game: &G, state: &G::State, unlimited: &G) -> Option<G::State> {
    if game.spec().ply_limits.is_empty() {
        return Some(*state);
    }
    unlimited.parse_position(&game.position_text(state)).ok()
}

/// Exact values that ignore ply limits: the source is asked for every position as if it had just come up, with the counters
/// of such limits at 0.
pub struct WithoutCounters<G: Rules, T> {
    /// The source.
    pub truth: T,
    /// The position with its counters at 0.
    pub reset: fn(&G::State) -> G::State,
}

impl<G: Rules, T: ExactValues<G>> ExactValues<G> for WithoutCounters<G, T> {
    fn value(&self, game: &G, state: &G::State) -> Option<i8> {
        self.truth.value(game, &(self.reset)(state))
    }

    fn best_actions(&self, game: &G, state: &G::State) -> Option<Vec<Action>> {
        self.truth.best_actions(game, &(self.reset)(state))
    }

    fn stop_by(&mut self, stop: &Stop) {
        self.truth.stop_by(stop);
    }

    fn margin(&self, game: &G, state: &G::State) -> Option<i16> {
        self.truth.margin(game, &(self.reset)(state))
    }

    fn distance(&self, game: &G, state: &G::State) -> Option<u32> {
        self.truth.distance(game, &(self.reset)(state))
    }

    fn optimal_actions(&self, game: &G, state: &G::State) -> Option<Vec<Action>> {
        self.truth.optimal_actions(game, &(self.reset)(state))
    }
}
