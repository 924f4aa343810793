//! Functions for games whose rules are written in Python: registration and checks, and the games of OpenSpiel.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use turnstone_env::{Error, Params, Row};
use turnstone_selfplay::TrainableGame;

use crate::errors::value_error;
use crate::game::{Game, GameObject, made_by_name};
use crate::registry::{self, built_in};

/// Gives a subclass of `Game` its name everywhere: in configs, checkpoints, and where a name of a game is an argument. A game
/// of the user's with the same name is replaced.
#[pyfunction]
#[pyo3(name = "_register_game")]
pub(crate) fn register_game(game: &Bound<'_, PyAny>) -> PyResult<()> {
    let class: &Bound<'_, PyType> = match game.cast::<PyType>() {
        Ok(class) if class.is_subclass_of::<GameObject>()? => class,
        _ => {
            return Err(PyTypeError::new_err(format!(
                "only a subclass of turnstone.Game can be registered, not {game}"
            )));
        }
    };
    let name = Game::of(class)?.rules.name();
    if built_in().names().any(|other| other == name) {
        return Err(value_error(format!("{name}: a game of this name is built in")));
    }
    let class = class.clone().unbind();
    let make = move |params: &Params| {
        let game = Python::attach(|py| made_by_name(class.bind(py), params))?;
        Ok(game as Arc<dyn TrainableGame>)
    };
    registry::add(Row::new(name, make));
    Ok(())
}

/// Plays random games of a game in Python and checks every promise of its rules: legal actions, texts both ways, bounded
/// observations that decide the legal actions, symmetries that commute with play, outcomes, and equal answers for one
/// position and for many. The checks are those of the games in Rust.
///
/// Raises AssertionError, which names the position and what does not hold, or GameError for an exception or a wrong result of
/// a method.
#[pyfunction]
#[pyo3(signature = (game, games = 20, seed = 0))]
pub(crate) fn check_game(py: Python<'_>, game: &Bound<'_, PyAny>, games: usize, seed: u64) -> PyResult<()> {
    if !(1..=1_000_000).contains(&games) {
        return Err(value_error(format!("games is {games}, but must be from 1 to 1000000")));
    }
    let game = Game::of(game)?;
    let wrong =
        || PyTypeError::new_err(format!("{}: the rules are in Rust, whose tests check them", game.rules.name()));
    let rules = game.python().ok_or_else(wrong)?;
    py.detach(|| rules.check(games, seed))
}

/// The name of OpenSpiel's games.
const OPEN_SPIEL: &str = "open_spiel";

/// The games of OpenSpiel, each made from the parameter `game`.
pub(crate) fn open_spiel_games() -> Row<dyn TrainableGame> {
    Row::new(OPEN_SPIEL, open_spiel)
}

/// The game of OpenSpiel that the parameter `game` names.
fn open_spiel(params: &Params) -> Result<Arc<dyn TrainableGame>, Error> {
    if params.iter().all(|(key, _)| key != "game") {
        let fault = "name one of OpenSpiel's games, as in open_spiel:breakthrough".to_owned();
        return Err(Error::ParamValue { game: OPEN_SPIEL, key: "game".to_owned(), value: String::new(), fault });
    }
    Python::attach(|py| {
        let given = PyDict::new(py);
        params.iter().try_for_each(|(key, value)| given.set_item(key, value))?;
        let made = py.import("turnstone_rl._open_spiel")?.call_method("open_spiel", (), Some(&given))?;
        Ok(GameObject::python(&made)? as Arc<dyn TrainableGame>)
    })
    .map_err(|error: PyErr| {
        let value = params.iter().map(|(_, value)| value).collect::<Vec<_>>().join(", ");
        let fault = Python::attach(|py| error.value(py).to_string());
        let fault = fault.strip_prefix(&format!("{value}: ")).unwrap_or(&fault).to_owned();
        Error::ParamValue { game: OPEN_SPIEL, key: "game".to_owned(), value, fault }
    })
}
