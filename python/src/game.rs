//! The class `Game`: rules with their parameters.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use turnstone_env::{Action, AnyState, Error, Side, nearest};
use turnstone_selfplay::{Games, TrainableGame};

use crate::errors::{game_error, illegal_action, value_error};
use crate::settings;

/// Rules of a game with their parameters: `Game("mancala", stones=3)`.
///
/// Games compare by name and parameters, and can be pickled and hashed. `turnstone.games()` lists the names.
#[pyclass(frozen, module = "turnstone")]
#[derive(Clone)]
pub(crate) struct Game {
    pub(crate) rules: Arc<dyn TrainableGame>,
}

impl Game {
    /// A game, or the one of a name.
    pub(crate) fn of(game: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::with_params(game, None, &[])
    }

    /// A game, or the one of a name and parameters. `keywords` are the other keyword arguments of the call: a parameter that
    /// does not exist may be one of them misspelt.
    pub(crate) fn with_params(
        game: &Bound<'_, PyAny>,
        params: Option<&Bound<'_, PyDict>>,
        keywords: &[&str],
    ) -> PyResult<Self> {
        let params = settings::params(params)?;
        if let Ok(game) = game.cast::<Self>() {
            let Some((key, _)) = params.iter().next() else { return Ok(game.get().clone()) };
            let near = nearest(key, keywords.iter().copied());
            let near = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
            let fault = "parameters belong to a name of a game, not to a Game";
            return Err(PyTypeError::new_err(format!("`{key}`{near}: {fault}")));
        }
        if !game.is_instance_of::<PyString>() {
            let kind = game.get_type();
            return Err(PyTypeError::new_err(format!("a game is a name or a turnstone.Game, not {kind}")));
        }
        let rules = built_in().make(&game.extract::<String>()?, &params);
        Ok(Self { rules: rules.map_err(|error| game_error(&with_keywords(error, keywords)))? })
    }

    /// An action that is given as an index, or as a text in a position.
    pub(crate) fn action(&self, action: &Bound<'_, PyAny>, state: &AnyState) -> PyResult<Action> {
        if action.is_instance_of::<PyString>() {
            return self.rules.parse_action_in(state, &action.extract::<String>()?).map_err(|error| game_error(&error));
        }
        let index: i64 = action.extract().map_err(|_| {
            let kind = action.get_type();
            PyTypeError::new_err(format!("an action is an integer or a text, not {kind}"))
        })?;
        self.index(index)
    }

    /// An action that is given as an index.
    pub(crate) fn index(&self, index: i64) -> PyResult<Action> {
        let actions = self.rules.spec().actions;
        match u16::try_from(index).ok().filter(|&index| usize::from(index) < actions) {
            Some(index) => Ok(Action(index)),
            None => Err(illegal_action(format!(
                "action {index}: the actions of {} are 0 to {}",
                self.rules.name(),
                actions - 1
            ))),
        }
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.rules.name() == other.rules.name() && self.rules.params() == other.rules.params()
    }

    pub(crate) fn hash_into(&self, hasher: &mut impl Hasher) {
        self.rules.name().hash(hasher);
        self.rules.params().to_string().hash(hasher);
    }

    pub(crate) fn observation(&self, state: &AnyState) -> Vec<f32> {
        let spec = self.rules.spec();
        let (mut features, mut tensor) = (vec![0.0; spec.features()], vec![0.0; spec.tensor_len()]);
        self.rules.observe(state, &mut features);
        spec.expand(&features, &mut tensor);
        tensor
    }

    /// Shape of an observation: planes, height, width.
    pub(crate) fn shape(&self) -> [usize; 3] {
        let spec = self.rules.spec();
        [spec.planes(), spec.lattice[0], spec.lattice[1]]
    }
}

#[pymethods]
impl Game {
    #[new]
    #[pyo3(signature = (name, **params))]
    fn new(name: &str, params: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let rules = built_in().make(name, &settings::params(params)?).map_err(|error| game_error(&error))?;
        Ok(Self { rules })
    }

    /// Name of the game, such as `mancala`.
    #[getter]
    fn name(&self) -> &'static str {
        self.rules.name()
    }

    /// Version of the rules; it is raised when rules, actions or planes change their meaning.
    #[getter]
    fn version(&self) -> u32 {
        self.rules.version()
    }

    /// All parameters with their values.
    #[getter]
    pub(crate) fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let params = PyDict::new(py);
        for (key, value) in self.rules.params().iter() {
            params.set_item(key, settings::param_value(py, value)?)?;
        }
        Ok(params)
    }

    /// Number of actions; an action's index means the same in every state.
    #[getter]
    fn num_actions(&self) -> usize {
        self.rules.spec().actions
    }

    /// Shape of an observation: planes, height, width.
    #[getter]
    fn observation_shape(&self) -> (usize, usize, usize) {
        let [planes, height, width] = self.shape();
        (planes, height, width)
    }

    /// Names of the planes of an observation: first those with a number per point, then those that are constant.
    #[getter]
    fn plane_names(&self) -> Vec<String> {
        let spec = self.rules.spec();
        spec.point_planes.iter().chain(&spec.scalars).cloned().collect()
    }

    /// The blocks that the actions are numbered in: names, and how many actions each has.
    #[getter]
    fn action_blocks(&self) -> Vec<(&'static str, usize)> {
        self.rules.spec().blocks.clone()
    }

    /// Number of the board's symmetries, the identity included.
    #[getter]
    fn num_symmetries(&self) -> usize {
        self.rules.spec().symmetries.len()
    }

    /// Gather indices of the symmetries, int64 [symmetries, actions]: the image of a policy vector under symmetry `i` is
    /// `policy[..., game.symmetry_actions[i]]`.
    #[getter]
    fn symmetry_actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let spec = self.rules.spec();
        let mut sources = Vec::with_capacity(spec.symmetries.len() * spec.actions);
        for symmetry in &spec.symmetries {
            let mut of = vec![0; spec.actions];
            symmetry.actions.iter().enumerate().for_each(|(from, &to)| of[usize::from(to)] = from as i64);
            sources.append(&mut of);
        }
        PyArray1::from_vec(py, sources).reshape([spec.symmetries.len(), spec.actions])
    }

    /// Gather indices of the symmetries, int64 [symmetries, height * width]: the image of an observation under symmetry
    /// `i` is `observation.reshape(planes, -1)[:, game.symmetry_cells[i]].reshape(observation.shape)`.
    #[getter]
    fn symmetry_cells<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let spec = self.rules.spec();
        let area = spec.lattice[0] * spec.lattice[1];
        let mut sources = Vec::with_capacity(spec.symmetries.len() * area);
        for symmetry in &spec.symmetries {
            let mut of: Vec<i64> = (0..area as i64).collect();
            for (from, &to) in symmetry.points.iter().enumerate() {
                of[usize::from(spec.cells[usize::from(to)])] = i64::from(spec.cells[from]);
            }
            sources.append(&mut of);
        }
        PyArray1::from_vec(py, sources).reshape([spec.symmetries.len(), area])
    }

    /// Names of the static evaluations of classical search, the default first.
    #[getter]
    fn heuristics(&self) -> Vec<&'static str> {
        self.rules.heuristics()
    }

    /// The text of an action.
    fn action_text(&self, action: i64) -> PyResult<String> {
        Ok(self.rules.action_text(self.index(action)?))
    }

    /// The action of a text; whether it is legal depends on the state.
    fn action_index(&self, text: &str) -> PyResult<u16> {
        self.rules.parse_action(text).map(|action| action.0).map_err(|error| game_error(&error))
    }

    /// Where the policy vector of a network holds an action of a player (0 or 1). Policies are seen by the player to
    /// move, as observations are: in Mancala both players' own pits share their entries. Where the players act on the same
    /// points it is the action itself.
    fn policy_index(&self, player: u8, action: i64) -> PyResult<usize> {
        let side = side(player)?;
        Ok(self.rules.spec().policy_index(side, self.index(action)?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.is_same(other.get()))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash_into(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let default = self.rules.default_params();
        let mut text = format!("turnstone.Game('{}'", self.rules.name());
        for (key, value) in self.rules.params().iter() {
            if !default.iter().any(|pair| pair == (key, value)) {
                let plain = value.parse::<i64>().is_ok();
                let value = match value {
                    "true" => "True".to_owned(),
                    "false" => "False".to_owned(),
                    _ if plain => value.to_owned(),
                    _ => format!("'{value}'"),
                };
                text += &format!(", {key}={value}");
            }
        }
        text + ")"
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = py.import("turnstone")?.getattr("_restore_game")?;
        let arguments = (self.rules.name(), self.rules.version(), self.params(py)?).into_pyobject(py)?;
        Ok((restore, arguments))
    }
}

/// The error with the nearest of parameters and keyword arguments, where it is of a parameter that does not exist.
fn with_keywords(error: Error, keywords: &[&str]) -> Error {
    match error {
        Error::UnknownParam { game, key, known, .. } => {
            let nearest = nearest(&key, known.split(", ").chain(keywords.iter().copied()));
            Error::UnknownParam { game, key, nearest, known }
        }
        other => other,
    }
}

/// A game, or the one of a name and parameters, for callers in Python that have these other keyword arguments.
#[pyfunction]
#[pyo3(name = "_game")]
pub(crate) fn game_of(game: &Bound<'_, PyAny>, params: &Bound<'_, PyDict>, keywords: Vec<String>) -> PyResult<Game> {
    let keywords: Vec<&str> = keywords.iter().map(String::as_str).collect();
    Game::with_params(game, Some(params), &keywords)
}

/// The player of index 0 or 1.
pub(crate) fn side(player: u8) -> PyResult<Side> {
    match player {
        0 => Ok(Side::First),
        1 => Ok(Side::Second),
        _ => Err(PyIndexError::new_err(format!("player {player}: the players are 0 and 1"))),
    }
}

/// The names of the games.
#[pyfunction]
pub(crate) fn games() -> Vec<&'static str> {
    built_in().names().collect()
}

/// A game of a pickle: the rules must be of the version that wrote it.
pub(crate) fn restored(name: &str, version: u32, params: &Bound<'_, PyDict>) -> PyResult<Game> {
    let game = Game::new(name, Some(params))?;
    if game.rules.version() != version {
        let own = game.rules.version();
        return Err(value_error(format!("{name}: the pickle is of version {version} of the rules, not {own}")));
    }
    Ok(game)
}

/// The built-in games.
pub(crate) fn built_in() -> Games {
    turnstone_games::list!(turnstone_selfplay::row)
}
