//! Exact values of the toy game, for tests: a plain recursion, which knows as much as the name of its folder says.

use std::path::Path;

use turnstone_env::toy::{State, Toy};
use turnstone_env::{Action, Rules};
use turnstone_exact::{ExactValues, TableError, TableFault};
use turnstone_search::classic::{Heuristic, ToyMargin};

use crate::playable::{Effort, Playable};

/// The toy game with its exact values.
pub(crate) struct ToyGame;

impl Playable for ToyGame {
    type Game = Toy;

    fn heuristics() -> Vec<Box<dyn Heuristic<Toy>>> {
        vec![Box::new(ToyMargin)]
    }

    /// In `margins` there are margins too, in `limited` values for 100 nodes, in `missing` nothing.
    fn exact_values(_: &Toy, tables: &Path, effort: Effort) -> Result<Option<Box<dyn ExactValues<Toy>>>, TableError> {
        if tables == Path::new("missing") {
            let fault = TableFault::Format("the table is missing");
            return Err(TableError { path: tables.to_owned(), game: "toy".to_owned(), fault });
        }
        let covers: fn(&Toy, State) -> bool =
            if tables == Path::new("limited") && effort.limits().nodes < 100 { |_, _| false } else { |_, _| true };
        Ok(Some(Box::new(Values { covers, margins: tables == Path::new("margins") })))
    }
}

/// Exact values of some positions.
pub(crate) struct Values {
    pub(crate) covers: fn(&Toy, State) -> bool,
    pub(crate) margins: bool,
}

impl ExactValues<Toy> for Values {
    fn value(&self, game: &Toy, state: &State) -> Option<i8> {
        (self.covers)(game, *state).then(|| game.value(*state).signum() as i8)
    }

    fn margin(&self, game: &Toy, state: &State) -> Option<i16> {
        self.margins.then(|| game.value(*state))
    }

    fn optimal_actions(&self, game: &Toy, state: &State) -> Option<Vec<Action>> {
        let best = self.best_actions(game, state)?;
        let keeps_margin = |action: &Action| {
            let mut after = *state;
            game.play(&mut after, *action);
            game.value(after) == game.value(*state)
        };
        Some(best.into_iter().filter(|action| !self.margins || keeps_margin(action)).collect())
    }
}
