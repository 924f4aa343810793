//! The classes `State`, an immutable position, and `Outcome`.

use std::hash::{DefaultHasher, Hash, Hasher};

use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use turnstone_env::{Action, AnyState, Side};
use turnstone_selfplay::TrainableGame;

use crate::errors::game_error;
use crate::game::{Call, Game, restored, side};

/// An immutable position of a game: `State("mancala")` is the start, `State("mancala", text)` a position in the game's
/// notation; parameters of the game are keyword arguments or the dictionary `params`.
///
/// States compare by game and position, and can be pickled and hashed. A notebook shows the board.
#[pyclass(frozen, module = "turnstone_rl")]
#[derive(Clone)]
pub(crate) struct State {
    /// The game.
    #[pyo3(get)]
    pub(crate) game: Game,
    pub(crate) state: AnyState,
    /// The position before it and the action that led to it, which drawings mark.
    last: Option<(AnyState, Action)>,
}

/// How a game ended.
#[pyclass(frozen, module = "turnstone_rl")]
#[derive(Clone, Copy)]
pub(crate) struct Outcome(pub(crate) turnstone_env::Outcome);

impl State {
    pub(crate) fn new(game: Game, state: AnyState) -> Self {
        Self { game, state, last: None }
    }

    /// Checks that the state is one of `game`.
    pub(crate) fn expect_game(&self, game: &Game) -> PyResult<()> {
        if self.game.is_same(game) {
            return Ok(());
        }
        let describe = |game: &Game| format!("{} ({})", game.rules.name(), game.rules.params());
        let (own, other) = (describe(&self.game), describe(game));
        Err(PyTypeError::new_err(format!("the state belongs to {own}, not to {other}")))
    }
}

#[pymethods]
impl State {
    #[new]
    #[pyo3(signature = (game, text = None, *, params = None, **parameters))]
    fn of_text(
        game: &Bound<'_, PyAny>,
        text: Option<&str>,
        params: Option<&Bound<'_, PyDict>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let call = Call { name: "State", arguments: &[("text", text.is_some()), ("params", false)] };
        let game = Game::of_call(&call, game, params, parameters)?;
        let state = match text {
            Some(text) => game.guarded(|| game.rules.parse_position(text))?.map_err(game_error)?,
            None => game.rules.start(),
        };
        Ok(Self::new(game, state))
    }

    /// The player to move, 0 or 1; the same player may move twice in a row. In a finished game, who would move.
    #[getter]
    fn to_play(&self) -> PyResult<usize> {
        self.ask(|rules| rules.mover(&self.state).index())
    }

    /// Whether the game is over.
    #[getter]
    pub(crate) fn is_over(&self) -> PyResult<bool> {
        self.ask(|rules| rules.outcome(&self.state).is_some())
    }

    /// The part of the game: `opening`, `midgame` or `endgame`.
    #[getter]
    fn phase(&self) -> &'static str {
        self.game.rules.phase(&self.state).name()
    }

    /// The action that led to this state, which drawings mark; None for a state from a text.
    #[getter]
    fn last_action(&self) -> Option<u16> {
        self.last.as_ref().map(|(_, action)| action.0)
    }

    /// How the game ended, None while it runs.
    fn outcome(&self) -> PyResult<Option<Outcome>> {
        self.ask(|rules| rules.outcome(&self.state).map(Outcome))
    }

    /// The legal actions in increasing order; empty if the game is over.
    fn legal_actions(&self) -> PyResult<Vec<u16>> {
        self.ask(|rules| rules.legal_actions(&self.state).iter().map(|action| action.0).collect())
    }

    /// The texts of the legal actions.
    fn legal_moves(&self) -> PyResult<Vec<String>> {
        self.ask(|rules| rules.legal_texts(&self.state))
    }

    /// The legal actions as bool [actions], by action.
    fn legal_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let mut mask = vec![false; self.game.rules.spec().actions];
        self.ask(|rules| rules.legal_actions(&self.state).iter().for_each(|action| mask[action.index()] = true))?;
        Ok(PyArray1::from_vec(py, mask))
    }

    /// The legal actions as bool [actions], in the order of a network's policy vector (see `Game.policy_index`).
    fn policy_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let spec = self.game.rules.spec();
        let mut mask = vec![false; spec.actions];
        self.ask(|rules| {
            let mover = rules.mover(&self.state);
            rules.legal_actions(&self.state).iter().for_each(|&action| mask[spec.policy_index(mover, action)] = true);
        })?;
        Ok(PyArray1::from_vec(py, mask))
    }

    /// The state after an action (an integer, no bool), or after actions given as text, separated by spaces.
    ///
    /// Raises IllegalActionError if an action is not legal, ValueError if a text names none.
    fn play(&self, actions: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut state = self.state.clone();
        let last = if actions.is_instance_of::<PyString>() {
            let (text, mut last): (String, _) = (actions.extract()?, self.last.clone());
            for text in text.split_whitespace() {
                let before = state.clone();
                let played = self.ask(|rules| rules.play_text(&mut state, text))?.map_err(game_error)?;
                last = played.first().map(|&action| (before, action));
            }
            last
        } else {
            let action = self.game.action(actions, &self.state)?;
            self.ask(|rules| rules.try_play(&mut state, action))?.map_err(game_error)?;
            Some((self.state.clone(), action))
        };
        Ok(Self { game: self.game.clone(), state, last })
    }

    /// The observation, float32 [planes, height, width], as seen by the player to move.
    fn observation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        PyArray1::from_vec(py, self.game.observation(&self.state)?).reshape(self.game.shape())
    }

    /// The images of the state under all symmetries of the board, the state itself first.
    fn symmetries(&self) -> PyResult<Vec<Self>> {
        let symmetries = self.game.rules.spec().symmetries.len();
        (0..symmetries).map(|symmetry| self.image(symmetry)).collect()
    }

    /// The image of the state under one symmetry.
    fn symmetry(&self, index: usize) -> PyResult<Self> {
        let symmetries = self.game.rules.spec().symmetries.len();
        if index >= symmetries {
            let name = self.game.rules.name();
            return Err(PyIndexError::new_err(format!("symmetry {index}: {name} has {symmetries}")));
        }
        self.image(index)
    }

    /// The result for a player (0 or 1): 1, 0 or -1; 0 while the game runs.
    fn returns(&self, player: u8) -> PyResult<i8> {
        let side = side(player)?;
        self.ask(|rules| rules.outcome(&self.state).map_or(0, |outcome| outcome.value_for(side)))
    }

    /// The board as an SVG document.
    pub(crate) fn svg(&self) -> PyResult<String> {
        self.ask(|rules| rules.draw_svg(&self.state, self.last.as_ref().map(|(before, action)| (before, *action))))
    }

    /// The position in the game's notation, which `State(game, text)` reads.
    pub(crate) fn text(&self) -> PyResult<String> {
        self.ask(|rules| rules.position_text(&self.state))
    }

    /// The board drawn as text, several lines.
    fn board(&self) -> PyResult<String> {
        self.ask(|rules| rules.board(&self.state, None).text())
    }

    fn _repr_svg_(&self) -> PyResult<String> {
        self.svg()
    }

    fn __str__(&self) -> PyResult<String> {
        self.text()
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("turnstone.State({:?}, {:?})", self.game.rules.name(), self.text()?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            self.game.is_same(&other.game) && self.state == other.state
        })
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.game.hash_into(&mut hasher);
        self.state.hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = py.import("turnstone_rl")?.getattr("_restore_state")?;
        let (game, version) = (self.game.identity(py)?, self.game.rules.version());
        let params = self.game.params(py)?;
        let text = |(before, action): &(AnyState, Action)| -> PyResult<(String, u16)> {
            Ok((self.ask(|rules| rules.position_text(before))?, action.0))
        };
        let last = self.last.as_ref().map(text).transpose()?;
        let arguments = (game, version, params, self.text()?, last).into_pyobject(py)?;
        Ok((restore, arguments))
    }

    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }
}

impl State {
    fn image(&self, symmetry: usize) -> PyResult<Self> {
        let rules = &self.game.rules;
        let image = |state| self.ask(|rules| rules.permuted(state, symmetry));
        let mapped = |action: Action| Action(rules.spec().symmetries[symmetry].actions[action.index()]);
        let last = self.last.as_ref().map(|(before, action)| Ok::<_, PyErr>((image(before)?, mapped(*action))));
        let (state, last) = (image(&self.state)?, last.transpose()?);
        Ok(Self { game: self.game.clone(), state, last })
    }

    /// Asks the rules.
    fn ask<T>(&self, question: impl FnOnce(&dyn TrainableGame) -> T) -> PyResult<T> {
        self.game.guarded(|| question(&*self.game.rules))
    }
}

#[pymethods]
impl Outcome {
    /// The winner, 0 or 1; None for a draw.
    #[getter]
    fn winner(&self) -> Option<usize> {
        self.0.winner.map(Side::index)
    }

    /// Score of player 0 minus score of player 1 where the game keeps scores, else 0.
    #[getter]
    fn margin(&self) -> i16 {
        self.0.margin
    }

    /// Whether a limit on the number of plies ended the game.
    #[getter]
    fn truncated(&self) -> bool {
        self.0.truncated
    }

    /// Results of both players: 1, 0 or -1.
    #[getter]
    fn rewards(&self) -> (i8, i8) {
        (self.0.value_for(Side::First), self.0.value_for(Side::Second))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let winner = self.0.winner.map_or("None".to_owned(), |side| side.index().to_string());
        let truncated = if self.0.truncated { "True" } else { "False" };
        format!("turnstone.Outcome(winner={winner}, margin={}, truncated={truncated})", self.0.margin)
    }
}

/// A state of a pickle. Everything is checked, since a pickle may come from anywhere.
#[pyfunction]
#[pyo3(name = "_restore_state")]
pub(crate) fn restore_state(
    game: &Bound<'_, PyAny>,
    version: u32,
    params: &Bound<'_, PyDict>,
    text: Option<&str>,
    last: Option<(String, i64)>,
) -> PyResult<Py<PyAny>> {
    let py = params.py();
    let game = restored(game, version, params)?;
    let Some(text) = text else { return Ok(game.into_pyobject(py)?.unbind()) };
    let read = |text: &str| game.guarded(|| game.rules.parse_position(text))?.map_err(game_error);
    let last = last.map(|(before, action)| Ok::<_, PyErr>((read(&before)?, game.index(action)?))).transpose()?;
    let state = read(text)?;
    Ok(State { game, state, last }.into_pyobject(py)?.into_any().unbind())
}
