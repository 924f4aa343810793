//! Classical searches of a game of any type, with all that they found.

use turnstone_env::AnyState;
use turnstone_search::classic::{Classical, SearchResult};

use super::ClassicalSearch;

/// A [`ClassicalSearch`] of a game of any type.
pub trait DynSearch: Send {
    /// Searches a position.
    fn find(&mut self, state: &AnyState) -> SearchResult;

    /// Forgets what earlier searches have found.
    fn forget(&mut self);

    /// The name of its static evaluation.
    fn heuristic(&self) -> &'static str;

    /// The static score of the position itself, for the first side.
    fn static_score(&self, state: &AnyState) -> i32;
}

/// A search with its game.
pub(crate) struct WithGame<G: Classical> {
    pub(crate) game: G,
    pub(crate) search: ClassicalSearch<G>,
}

impl<G: Classical> DynSearch for WithGame<G> {
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
