//! Uniformly random legal actions.

use rand::RngExt;
use turnstone_base::streams::Stream;
use turnstone_env::{ActionList, AnyState, Rules};

use crate::one_by_one::{Chooser, OnReport};
use crate::request::{SearchInfo, SearchRequest};

/// Uniformly random legal actions.
pub(crate) struct Random<G> {
    game: G,
    legal: ActionList,
}

impl<G> Random<G> {
    pub(crate) fn new(game: G) -> Self {
        Self { game, legal: ActionList::new() }
    }
}

impl<G: Rules> Chooser for Random<G> {
    fn choose(&mut self, state: &AnyState, _: &SearchRequest, rng: &mut Stream, _: &mut OnReport<'_>) -> SearchInfo {
        self.game.legal(state.of(), &mut self.legal);
        SearchInfo::of_action(self.legal[rng.random_range(0..self.legal.len())])
    }
}
