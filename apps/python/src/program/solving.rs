//! Exact values.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use turnstone_agents::{Counts, DynExactValues, Effort};
use turnstone_arena::grading::MOST_POSITIONS;
use turnstone_env::{Action, AnyState};
use turnstone_exact::{TableError, TableFault};

use crate::errors::value_error;
use crate::game::Game;
use crate::state::State;

/// Exact values of a game's positions.
#[pyclass(frozen, module = "turnstone_rl", name = "_ExactValues")]
pub(crate) struct ExactValues {
    #[pyo3(get)]
    game: Game,
    values: Arc<dyn DynExactValues>,
    counts: Option<Counts>,
    #[pyo3(get)]
    start: Option<i8>,
    /// All positions of a game that is enumerated.
    positions: Option<Vec<AnyState>>,
}

/// Exact values of a game: computed on demand, enumerated, or from a table.
#[pyfunction]
#[pyo3(name = "_exact_values")]
pub(crate) fn exact_values(py: Python<'_>, game: &Bound<'_, PyAny>, tables: PathBuf) -> PyResult<ExactValues> {
    let game = Game::of(game)?;
    let rules = game.clone();
    let work = move || {
        let (game, rules) = (rules.clone(), rules.rules);
        if let Ok(Some(all)) = rules.enumerate(MOST_POSITIONS) {
            let (counts, start, positions) = (Some(all.counts), Some(all.start), Some(all.positions));
            return Ok(ExactValues { game, values: Arc::from(all.truth), counts, start, positions });
        }
        let known = rules.exact_values(&tables, Effort::Full).map_err(table_error)?;
        let missing = || value_error(format!("{} has no exact values with these parameters", rules.name()));
        let values = Arc::from(known.ok_or_else(missing)?);
        Ok(ExactValues { game, values, counts: None, start: None, positions: None })
    };
    game.interruptible(py, || (), work)?
}

fn table_error(error: TableError) -> PyErr {
    match &error.fault {
        TableFault::Io(fault) if fault.kind() == std::io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(error.to_string())
        }
        _ => value_error(error),
    }
}

#[pymethods]
impl ExactValues {
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(Counts { reachable, first, second, drawn, endless, over, mover, other }) = self.counts else {
            return Ok(None);
        };
        let counts = PyDict::new(py);
        let named = [
            ("reachable", reachable),
            ("won_for_player_0", first),
            ("won_for_player_1", second),
            ("drawn", drawn + endless),
            ("endless", endless),
            ("over", over),
            ("won_for_mover", mover),
            ("lost_for_mover", other),
        ];
        named.into_iter().try_for_each(|(name, count)| counts.set_item(name, count))?;
        Ok(Some(counts))
    }

    /// All positions in which the game is not over, of a game that is enumerated.
    #[getter]
    fn positions(&self) -> Option<Vec<State>> {
        let running = |state: &&AnyState| self.game.rules.outcome(state).is_none();
        let positions = self.positions.as_ref()?.iter().filter(running);
        Some(positions.map(|state| State::new(self.game.clone(), state.clone())).collect())
    }

    /// The value for player 0: 1, 0 or -1; None if it is not covered.
    fn value(&self, py: Python<'_>, state: PyRef<'_, State>) -> PyResult<Option<i8>> {
        self.ask(py, &state, |values, state| values.value(state))
    }

    /// The actions that keep the value; None if it is not covered.
    fn best_actions(&self, py: Python<'_>, state: PyRef<'_, State>) -> PyResult<Option<Vec<u16>>> {
        let actions = self.ask(py, &state, |values, state| values.best_actions(state))?;
        Ok(actions.map(|actions: Vec<Action>| actions.into_iter().map(|action| action.0).collect()))
    }
}

impl ExactValues {
    /// Asks the solver, which cannot be stopped in the middle of a position: after Ctrl-C it continues until it gives the
    /// position up, and a later question waits for it.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        state: &State,
        question: impl FnOnce(&dyn DynExactValues, &AnyState) -> T + Send + 'static,
    ) -> PyResult<T> {
        state.expect_game(&self.game)?;
        let (values, state) = (Arc::clone(&self.values), state.state.clone());
        self.game.interruptible(py, || (), move || question(&*values, &state))
    }
}
