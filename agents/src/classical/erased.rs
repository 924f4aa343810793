//! Object-safe interface to classical searches.

use turnstone_env::{AnyState, Rules};
use turnstone_search::classic::SearchResult;

use super::ClassicalSearch;

/// Object-safe interface to [`ClassicalSearch`].
pub trait DynSearch: Send {
    /// Searches a position, in which the game is not over.
    fn find(&mut self, state: &AnyState) -> SearchResult;

    /// Clears the transposition table and restarts the clock of the game.
    fn forget(&mut self);

    /// Name of the static evaluation.
    fn heuristic(&self) -> &'static str;

    /// Static evaluation of the position without search, for the first side; the final score if the game is over.
    fn static_score(&self, state: &AnyState) -> i32;
}

/// A search together with its game.
pub(crate) struct WithGame<G: Rules> {
    pub(crate) game: G,
    pub(crate) search: ClassicalSearch<G>,
}

impl<G: Rules> DynSearch for WithGame<G> {
    fn find(&mut self, state: &AnyState) -> SearchResult {
        self.search.find(state.of())
    }

    fn forget(&mut self) {
        self.search.begin_game();
    }

    fn heuristic(&self) -> &'static str {
        self.search.heuristic().name()
    }

    fn static_score(&self, state: &AnyState) -> i32 {
        let (heuristic, state) = (self.search.heuristic(), state.of());
        match self.game.outcome(state) {
            Some(outcome) => heuristic.final_score(&self.game, state, &outcome),
            None => heuristic.estimate(&self.game, state),
        }
    }
}
