//! Games as the classes of this module hold them: rules with their parameters, in Rust or in Python.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use turnstone_env::{Action, AnyState, Erased, Error, Params, Side, nearest};
use turnstone_selfplay::TrainableGame;

use crate::errors::{game_error, illegal_action, value_error};
use crate::py_game::{self, PyGame, interned};
use crate::registry::registered;
use crate::settings;

/// A game as the classes of this module hold it.
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
        if let Ok(class) = game.cast::<PyType>()
            && class.is_subclass_of::<GameObject>()?
        {
            return Ok(Self { rules: made(class, &params)? });
        }
        if game.is_instance_of::<GameObject>() {
            let Some((key, _)) = params.iter().next() else { return Self::of_object(game) };
            let near = nearest(key, keywords.iter().copied());
            let near = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
            let fault = "parameters belong to a name of a game, not to a Game";
            return Err(PyTypeError::new_err(format!("`{key}`{near}: {fault}")));
        }
        if !game.is_instance_of::<PyString>() {
            let kind = game.get_type();
            return Err(PyTypeError::new_err(format!(
                "a game is a name, a turnstone.Game or a class of games, not {kind}"
            )));
        }
        let rules = registered().make(&game.extract::<String>()?, &params);
        Ok(Self { rules: rules.map_err(|error| game_error(with_keywords(error, keywords)))? })
    }

    pub(crate) fn of_object(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        match &object.cast::<GameObject>()?.get().built_in {
            Some(game) => Ok(game.clone()),
            None => Ok(Self { rules: GameObject::python(object)? }),
        }
    }

    /// The game, if its rules are in Python.
    pub(crate) fn python(&self) -> Option<&PyGame> {
        self.rules.inner().downcast_ref()
    }

    /// Does work that calls the rules, and returns an exception of rules in Python.
    pub(crate) fn guarded<T>(&self, work: impl FnOnce() -> T) -> PyResult<T> {
        match self.python() {
            Some(game) => game.guarded(work),
            None => Ok(work()),
        }
    }

    /// An action that is given as an index, or as a text in a position.
    pub(crate) fn action(&self, action: &Bound<'_, PyAny>, state: &AnyState) -> PyResult<Action> {
        if action.is_instance_of::<PyString>() {
            let text: String = action.extract()?;
            return self.guarded(|| self.rules.parse_action_in(state, &text))?.map_err(game_error);
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
        let class = |game: &Self| game.python().map(PyGame::class);
        self.rules.name() == other.rules.name()
            && self.rules.params() == other.rules.params()
            && class(self) == class(other)
    }

    pub(crate) fn hash_into(&self, hasher: &mut impl Hasher) {
        self.rules.name().hash(hasher);
        self.rules.params().to_string().hash(hasher);
    }

    pub(crate) fn observation(&self, state: &AnyState) -> PyResult<Vec<f32>> {
        let spec = self.rules.spec();
        let (mut features, mut tensor) = (vec![0.0; spec.features()], vec![0.0; spec.tensor_len()]);
        self.guarded(|| self.rules.observe(state, &mut features))?;
        spec.expand(&features, &mut tensor);
        Ok(tensor)
    }

    /// The game of a name.
    pub(crate) fn named(name: &str, params: &Params) -> PyResult<Self> {
        Ok(Self { rules: registered().make(name, params).map_err(game_error)? })
    }

    /// All parameters with their values.
    pub(crate) fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        settings::params_dict(py, &self.rules.params())
    }

    /// What a pickle knows the game by: its name, or its class.
    pub(crate) fn identity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.python() {
            Some(game) => Ok(game.object().bind(py).get_type().into_any()),
            None => self.rules.name().into_bound_py_any(py),
        }
    }

    /// Shape of an observation: planes, height, width.
    pub(crate) fn shape(&self) -> [usize; 3] {
        let spec = self.rules.spec();
        [spec.planes(), spec.lattice[0], spec.lattice[1]]
    }
}

impl<'py> IntoPyObject<'py> for Game {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.python() {
            Some(game) => Ok(game.object().bind(py).clone()),
            None => Ok(Bound::new(py, GameObject::of(self))?.into_any()),
        }
    }
}

/// Rules of a game with their parameters: `Game("mancala", stones=3)`. Subclasses are games whose rules are written in Python.
///
/// Games compare by name and parameters, and can be pickled and hashed. `turnstone.games()` lists the names.
///
/// A subclass has the attributes `name`, `num_actions` and `observation_shape` (planes, height, width) and the methods
///
/// - `initial_state()`: an array of integers, or bytes, of always the same shape and at most 256 bytes;
/// - `play(state, action)`: the state afterwards; `state` is a copy that may be changed and returned;
/// - `mover(state)`: 0 or 1;
/// - `outcome(state)`: None while the game is not over, then 1, 0 or -1 for player 0, or `"truncated"`;
/// - `legal_actions(state)`: the actions, or a mask of bool [actions]; it is not called in a finished game;
/// - `observation(state)`: float32 [planes, height, width], as seen by the player to move.
///
/// Each of the last five can be written for many positions at once in place of one, or beside it: `play_many(states,
/// actions)`, `mover_many(states)`, `outcome_many(states)` (arrays `(over, values)`), `legal_actions_many(states)` (masks) and
/// `observation_many(states)`. Optional are `version`, `plane_names`, `action_blocks`, `side_names`, `second_player_map`,
/// `symmetries` with `permuted(state, points)`, `action_text(action)`, `position_text(state)` with `parse_position(text)`, and
/// `draw(state)`. The arguments of `__init__` are the game's parameters. `turnstone.check_game` checks a game, and
/// `turnstone.register_game` gives it a name everywhere.
#[pyclass(frozen, subclass, name = "Game", module = "turnstone")]
pub(crate) struct GameObject {
    /// The rules, if they are in Rust.
    pub(crate) built_in: Option<Game>,
    /// Parameters of rules in Python, and their defaults.
    params: (Params, Params),
    /// The rules in Python, while something uses them: they hold this object.
    python: Mutex<Weak<Erased<PyGame, PyGame>>>,
}

/// Attributes that a subclass of `Game` may set in its instances.
const ATTRIBUTES: [&str; 6] = ["name", "version", "num_actions", "observation_shape", "plane_names", "action_blocks"];

impl GameObject {
    pub(crate) fn of(game: Game) -> Self {
        Self { built_in: Some(game), params: Default::default(), python: Mutex::default() }
    }

    /// The rules of an instance of a subclass.
    pub(crate) fn python(object: &Bound<'_, PyAny>) -> PyResult<Arc<Erased<PyGame, PyGame>>> {
        let this = object.cast::<Self>()?.get();
        let held = || this.python.lock().unwrap_or_else(PoisonError::into_inner);
        let known = held().upgrade();
        if let Some(game) = known {
            return Ok(game);
        }
        let game = Arc::new(Erased::knowing::<PyGame>(PyGame::new(object, this.params.0.clone(), made_by_name)?));
        *held() = Arc::downgrade(&game);
        Ok(game)
    }

    /// What an instance of a subclass has set in place of an attribute.
    fn own<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        if slf.get().built_in.is_some() {
            return Ok(None);
        }
        let Some(own) = slf.as_any().getattr_opt("__dict__")? else { return Ok(None) };
        own.cast::<PyDict>()?.get_item(name)
    }

    /// An attribute: what an instance of a subclass has set, or what the rules say.
    fn attribute<'py, T: IntoPyObject<'py>>(
        slf: &Bound<'py, Self>,
        name: &str,
        known: impl FnOnce(&Game) -> T,
    ) -> PyResult<Bound<'py, PyAny>> {
        match Self::own(slf, name)? {
            Some(own) => Ok(own),
            None => known(&Game::of_object(slf.as_any())?).into_bound_py_any(slf.py()),
        }
    }
}

#[pymethods]
impl GameObject {
    #[new]
    #[classmethod]
    #[pyo3(signature = (*args, **params))]
    fn new(class: &Bound<'_, PyType>, args: &Bound<'_, PyTuple>, params: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        if !class.is(class.py().get_type::<Self>()) {
            let params = py_game::params(class, args, params)?;
            return Ok(Self { built_in: None, params, python: Mutex::default() });
        }
        let params = params.map_or_else(|| Ok(PyDict::new(class.py())), PyDictMethods::copy)?;
        let name = match (args.len(), params.get_item("name")?) {
            (1, None) => args.get_item(0)?,
            (0, Some(name)) => name,
            _ => return Err(PyTypeError::new_err("Game takes a name, and parameters by keyword")),
        };
        if params.contains("name")? {
            params.del_item("name")?;
        }
        Ok(Self::of(Game::named(&name.extract::<String>()?, &settings::params(Some(&params))?)?))
    }

    /// Sets an attribute of an instance of a subclass.
    fn __setattr__(slf: &Bound<'_, Self>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let class = slf.get_type();
        let Some(own) = slf.as_any().getattr_opt("__dict__")? else {
            return Err(PyAttributeError::new_err(format!("{name}: a Game cannot be changed")));
        };
        match class.getattr_opt(name)? {
            Some(described) if !ATTRIBUTES.contains(&name) && described.hasattr("__set__")? => {
                described.call_method1("__set__", (slf, value)).map(drop)
            }
            _ => own.set_item(name, value),
        }
    }

    /// Removes an attribute of an instance of a subclass.
    fn __delattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<()> {
        let missing = || PyAttributeError::new_err(name.to_owned());
        let own = slf.as_any().getattr_opt("__dict__")?.ok_or_else(missing)?;
        own.del_item(name).map_err(|_| missing())
    }

    /// Name of the game, such as `mancala`.
    #[getter]
    fn name<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::attribute(slf, "name", |game| game.rules.name())
    }

    /// Version of the rules; it is raised when rules, actions or planes change their meaning.
    #[getter]
    fn version<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::attribute(slf, "version", |game| game.rules.version())
    }

    /// All parameters with their values.
    #[getter]
    fn params<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let this = slf.get();
        match &this.built_in {
            Some(game) => game.params(slf.py()),
            None => settings::params_dict(slf.py(), &this.params.0),
        }
    }

    /// Number of actions; an action's index means the same in every state.
    #[getter]
    fn num_actions<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::attribute(slf, "num_actions", |game| game.rules.spec().actions)
    }

    /// Shape of an observation: planes, height, width.
    #[getter]
    fn observation_shape<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::attribute(slf, "observation_shape", |game| <(usize, usize, usize)>::from(game.shape()))
    }

    /// Names of the planes of an observation: first those with a number per point, then those that are constant.
    #[getter]
    fn plane_names<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::attribute(slf, "plane_names", |game| {
            let spec = game.rules.spec();
            spec.point_planes.iter().chain(&spec.scalars).cloned().collect::<Vec<String>>()
        })
    }

    /// The blocks that the actions are numbered in: names, and how many actions each has.
    #[getter]
    fn action_blocks<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::attribute(slf, "action_blocks", |game| game.rules.spec().blocks.clone())
    }

    /// Number of the board's symmetries, the identity included.
    #[getter]
    fn num_symmetries(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(Game::of_object(slf.as_any())?.rules.spec().symmetries.len())
    }

    /// Gather indices of the symmetries, int64 [symmetries, actions]: the image of a policy vector under symmetry `i` is
    /// `policy[..., game.symmetry_actions[i]]`.
    #[getter]
    fn symmetry_actions<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let (game, py) = (Game::of_object(slf.as_any())?, slf.py());
        let spec = game.rules.spec();
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
    fn symmetry_cells<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let (game, py) = (Game::of_object(slf.as_any())?, slf.py());
        let spec = game.rules.spec();
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
    fn heuristics(slf: &Bound<'_, Self>) -> PyResult<Vec<&'static str>> {
        Ok(Game::of_object(slf.as_any())?.rules.heuristics())
    }

    /// The text of an action.
    fn action_text(slf: &Bound<'_, Self>, action: i64) -> PyResult<String> {
        let game = Game::of_object(slf.as_any())?;
        let action = game.index(action)?;
        game.guarded(|| game.rules.action_text(action))
    }

    /// The action of a text; whether it is legal depends on the state.
    fn action_index(slf: &Bound<'_, Self>, text: &str) -> PyResult<u16> {
        let game = Game::of_object(slf.as_any())?;
        game.guarded(|| game.rules.parse_action(text))?.map(|action| action.0).map_err(game_error)
    }

    /// Where the policy vector of a network holds an action of a player (0 or 1). Policies are seen by the player to
    /// move, as observations are: in Mancala both players' own pits share their entries. Where the players act on the same
    /// points it is the action itself.
    fn policy_index(slf: &Bound<'_, Self>, player: u8, action: i64) -> PyResult<usize> {
        let (game, side) = (Game::of_object(slf.as_any())?, side(player)?);
        Ok(game.rules.spec().policy_index(side, game.index(action)?))
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        if slf.is(other) {
            return Ok(true);
        }
        Ok(other.is_instance_of::<Self>() && Game::of_object(slf.as_any())?.is_same(&Game::of_object(other)?))
    }

    fn __hash__(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let mut hasher = DefaultHasher::new();
        Game::of_object(slf.as_any())?.hash_into(&mut hasher);
        Ok(hasher.finish())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let this = slf.get();
        Ok(match &this.built_in {
            Some(game) => {
                let default = game.rules.default_params();
                format!("turnstone.Game('{}'{})", game.rules.name(), changed(&game.rules.params(), &default, ", "))
            }
            None => format!("{}({})", slf.get_type().name()?, changed(&this.params.0, &this.params.1, "")),
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (game, py) = (Game::of_object(slf.as_any())?, slf.py());
        let restore = py.import("turnstone")?.getattr("_restore_game")?;
        let arguments = (game.identity(py)?, game.rules.version(), game.params(py)?).into_pyobject(py)?;
        Ok((restore, arguments))
    }
}

/// The parameters that differ from their defaults as keyword arguments, each with `separator` before it or, if that is empty,
/// with commas between them.
fn changed(params: &Params, default: &Params, separator: &str) -> String {
    let python = |value: &str| match value {
        "true" => "True".to_owned(),
        "false" => "False".to_owned(),
        _ if value.parse::<i64>().is_ok() => value.to_owned(),
        _ => format!("'{value}'"),
    };
    let changed = params.iter().filter(|pair| !default.iter().any(|other| other == *pair));
    let text = changed.map(|(key, value)| format!("{key}={}", python(value))).collect::<Vec<_>>().join(", ");
    if text.is_empty() { text } else { format!("{separator}{text}") }
}

/// The game of a class with these parameters.
pub(crate) fn made(class: &Bound<'_, PyType>, params: &Params) -> PyResult<Arc<Erased<PyGame, PyGame>>> {
    let py = class.py();
    let (_, known) = py_game::params(class, &PyTuple::empty(py), None)?;
    let names = || known.iter().map(|(name, _)| name);
    let keywords = PyDict::new(py);
    for (key, value) in params.iter() {
        if !names().any(|name| name == key) {
            let game = interned(&class.name()?.to_string());
            let (key, nearest, known) = (key.to_owned(), nearest(key, names()), names().collect::<Vec<_>>().join(", "));
            return Err(game_error(Error::UnknownParam { game, key, nearest, known }));
        }
        keywords.set_item(key, settings::param_value(py, value)?)?;
    }
    GameObject::python(&class.call((), Some(&keywords))?)
}

/// [`made`] for callers that know no exceptions.
pub(crate) fn made_by_name(class: &Bound<'_, PyType>, params: &Params) -> Result<Arc<Erased<PyGame, PyGame>>, Error> {
    made(class, params).map_err(|error| {
        let (keys, values): (Vec<&str>, Vec<&str>) = params.iter().unzip();
        let game = class.name().map_or("a game in Python", |name| interned(&name.to_string()));
        let fault = error.value(class.py()).to_string();
        Error::ParamValue { game, key: keys.join(", "), value: values.join(", "), fault }
    })
}

/// The error with the nearest of parameters and keyword arguments, where a parameter does not exist.
fn with_keywords(error: Error, keywords: &[&str]) -> Error {
    match error {
        Error::UnknownParam { game, key, known, .. } => {
            let nearest = nearest(&key, known.split(", ").chain(keywords.iter().copied()));
            Error::UnknownParam { game, key, nearest, known }
        }
        other => other,
    }
}

/// A game, or the one of a name or class and parameters, for callers in Python that have these other keyword arguments.
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
    registered().names().collect()
}

/// A game of a pickle, by its name or class: the rules must be of the version that wrote it.
pub(crate) fn restored(game: &Bound<'_, PyAny>, version: u32, params: &Bound<'_, PyDict>) -> PyResult<Game> {
    let game = Game::with_params(game, Some(params), &[])?;
    if game.rules.version() != version {
        let (name, own) = (game.rules.name(), game.rules.version());
        return Err(value_error(format!("{name}: the pickle is from version {version} of the rules, not {own}")));
    }
    Ok(game)
}
