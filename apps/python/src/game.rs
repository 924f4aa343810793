//! Games as the classes of this module hold them: rules with their parameters, in Rust or in Python.

use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyOverflowError, PyRuntimeWarning, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple, PyType};
use turnstone_env::{Action, AnyState, Erased, Error, Params, Side};
use turnstone_selfplay::TrainableGame;

use crate::errors::{game_error, illegal_action, unexpected_keyword, value_error};
use crate::py_game::{self, PyGame, interned};
use crate::registry::registered;
use crate::settings;
use crate::waiting::watched;

/// Plies after which a random game should have ended.
const LONG: usize = 10_000;

/// A game as the classes of this module hold it.
#[derive(Clone)]
pub(crate) struct Game {
    pub(crate) rules: Arc<dyn TrainableGame>,
}

/// A call from Python that takes a game with its parameters, and other arguments.
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    /// Names of the other arguments, and whether they were given.
    pub(crate) arguments: &'a [(&'a str, bool)],
}

impl Call<'_> {
    /// The error of a keyword argument that is neither one of the call nor one of these parameters of the game.
    fn unexpected(&self, key: &str, params: &str, why: &str) -> PyErr {
        let own = self.arguments.iter().map(|(name, _)| *name);
        unexpected_keyword(self.name, key, own.chain(params.split(", ").filter(|name| !name.is_empty())), why)
    }
}

impl Game {
    /// A game, or the one of a name.
    pub(crate) fn of(game: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::with_params(game, &Params::new())
    }

    /// The game of a call from Python: a game, or the one of a name or class with parameters. They are the dictionary
    /// `params` or, without it, the keyword arguments `named`.
    pub(crate) fn of_call(
        call: &Call<'_>,
        game: &Bound<'_, PyAny>,
        params: Option<&Bound<'_, PyDict>>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let named = settings::params(named)?;
        let Some(params) = params else { return Self::of_keywords(call, game, &named) };
        if let Some((key, _)) = named.iter().next() {
            let name = call.name;
            let fault =
                format!("{name}() takes the parameters of a game by keyword (`{key}`) or as `params`, not both");
            return Err(PyTypeError::new_err(fault));
        }
        Self::with_params(game, &settings::params(Some(params))?)
    }

    /// The game of a call whose keyword arguments are its own and the game's parameters.
    fn of_keywords(call: &Call<'_>, game: &Bound<'_, PyAny>, named: &Params) -> PyResult<Self> {
        if game.is_instance_of::<GameObject>() {
            let Some((key, _)) = named.iter().next() else { return Self::of_object(game) };
            return Err(call.unexpected(key, "", "parameters belong to the name of a game, not to a Game"));
        }
        // Without a default, making the game checks the names.
        if named.iter().next().is_some()
            && let Ok(default) = Self::of(game)
        {
            let params = default.rules.params();
            let known = params.iter().map(|(key, _)| key).collect::<Vec<_>>().join(", ");
            let is_known = |key: &str| params.iter().any(|(known, _)| known == key);
            if let Some((key, _)) = named.iter().find(|(key, _)| !is_known(key)) {
                let has = if known.is_empty() { "no parameters".to_owned() } else { format!("the parameters {known}") };
                return Err(call.unexpected(key, &known, &format!("{} has {has}", default.rules.name())));
            }
        }
        let game = Self::with_params(game, named)?;
        let params = game.rules.params();
        let is_known = |key: &str| params.iter().any(|(known, _)| known == key);
        match call.arguments.iter().find(|(key, is_given)| *is_given && is_known(key)) {
            None => Ok(game),
            Some((key, _)) => {
                let (call, name) = (call.name, game.rules.name());
                Err(PyTypeError::new_err(format!(
                    "`{key}` is an argument of {call}() and a parameter of {name}: give the parameters of {name} as \
                     params={{...}}, so that `{key}` is the argument of {call}()"
                )))
            }
        }
    }

    /// A game, or the one of a name or class and parameters.
    fn with_params(game: &Bound<'_, PyAny>, params: &Params) -> PyResult<Self> {
        if let Ok(class) = game.cast::<PyType>()
            && class.is_subclass_of::<GameObject>()?
        {
            return Ok(Self { rules: made(class, params)? });
        }
        if game.is_instance_of::<GameObject>() {
            return match params.iter().next() {
                None => Self::of_object(game),
                Some((key, _)) => {
                    let fault = format!("`{key}`: parameters belong to the name of a game, not to a Game");
                    Err(PyTypeError::new_err(fault))
                }
            };
        }
        if !game.is_instance_of::<PyString>() {
            let kind = game.get_type();
            return Err(PyTypeError::new_err(format!(
                "a game is a name, a turnstone.Game or a class of games, not {kind}"
            )));
        }
        Self::named(&game.extract::<String>()?, params)
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

    /// Runs `work`, which calls the rules, as [`watched`] does, and returns an exception of rules in Python.
    pub(crate) fn watched<T: Send + 'static>(
        &self,
        py: Python<'_>,
        stop: impl Fn() + Send + Sync,
        look: impl FnMut(Python<'_>) -> PyResult<()> + Send,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> PyResult<T> {
        let game = self.clone();
        let stop = || {
            stop();
            self.interrupt();
        };
        let result = watched(py, stop, look, move || game.guarded(work));
        self.resume();
        result?
    }

    /// [`Game::watched`] without a look.
    pub(crate) fn interruptible<T: Send + 'static>(
        &self,
        py: Python<'_>,
        stop: impl Fn() + Send + Sync,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> PyResult<T> {
        self.watched(py, stop, |_| Ok(()), work)
    }

    /// Warns of rules in Python with which a random game does not end.
    pub(crate) fn warn_if_endless(&self) -> PyResult<()> {
        if self.python().is_none() {
            return Ok(());
        }
        let (rules, mut state, mut random) = (&self.rules, self.rules.start(), 0x9E37_79B9_u32);
        for _ in 0..LONG {
            if rules.outcome(&state).is_some() {
                return Ok(());
            }
            let legal = rules.legal_actions(&state);
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            rules.play(&mut state, legal[(random >> 8) as usize % legal.len()]);
        }
        let name = rules.name();
        let text =
            format!("{name}: a random game has not ended after {LONG} plies; a game without an end is never finished");
        Python::attach(|py| {
            py.import("warnings")?.call_method1("warn", (text, py.get_type::<PyRuntimeWarning>())).map(drop)
        })
    }

    /// Ends the work of other threads that call rules in Python, until [`Game::resume`].
    pub(crate) fn interrupt(&self) {
        self.python().into_iter().for_each(PyGame::interrupt);
    }

    pub(crate) fn resume(&self) {
        self.python().into_iter().for_each(PyGame::resume);
    }

    /// An action that is given as an index, or as a text in a position.
    pub(crate) fn action(&self, action: &Bound<'_, PyAny>, state: &AnyState) -> PyResult<Action> {
        if action.is_instance_of::<PyString>() {
            let text: String = action.extract()?;
            return self.guarded(|| self.rules.parse_action(state, &text))?.map_err(game_error);
        }
        self.indexed(action, "an integer or a text")
    }

    /// An action that is given as an integer, which is no `bool`. `kinds` names what is allowed.
    pub(crate) fn indexed(&self, action: &Bound<'_, PyAny>, kinds: &str) -> PyResult<Action> {
        let kind = action.get_type();
        let wrong = || PyTypeError::new_err(format!("an action is {kinds}, not {kind}"));
        if action.is_instance_of::<PyBool>() {
            return Err(wrong());
        }
        match action.extract::<i64>() {
            Ok(index) => self.index(index),
            Err(error) if error.is_instance_of::<PyOverflowError>(action.py()) => Err(self.no_action(action)),
            Err(_) => Err(wrong()),
        }
    }

    /// An action that is given as an index.
    pub(crate) fn index(&self, index: i64) -> PyResult<Action> {
        let actions = self.rules.spec().actions;
        let index = u16::try_from(index).ok().filter(|&index| usize::from(index) < actions).ok_or(index);
        index.map(Action).map_err(|index| self.no_action(index))
    }

    fn no_action(&self, index: impl Display) -> PyErr {
        let (name, last) = (self.rules.name(), self.rules.spec().actions - 1);
        illegal_action(format!("action {index}: the actions of {name} are 0 to {last}"))
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
/// - `initial_state()`: an array of integers, or bytes, of always the same shape and at most 512 bytes; or any object, if there
///   are `key(state)`, at most 512 bytes that hold all that decides the future, and `from_key(key)`, the state of a key;
/// - `play(state, action)`: the state afterwards; `state` is a copy that may be changed and returned, but no object may be changed;
/// - `mover(state)`: 0 or 1;
/// - `outcome(state)`: None while the game is not over, then 1, 0 or -1 for player 0, or `"truncated"`;
/// - `legal_actions(state)`: the actions, or a mask of bool [actions]; it is not called in a finished game;
/// - `observation(state)`: float32 [planes, height, width], as seen by the player to move.
///
/// Each of the last five can be written for many positions at once in place of one, or beside it: `play_many(states,
/// actions)`, `mover_many(states)`, `outcome_many(states)` (arrays `(over, values)`), `legal_actions_many(states)` (masks) and
/// `observation_many(states)`. `expand(states)` answers for the last four in one call, with lists of what they return:
/// `(movers, outcomes, legal_actions, observations)`, the last of which may be None.
///
/// Optional are `version`, `observation_bounds`, `plane_names`, `action_blocks`, `side_names`, `second_player_map`,
/// `symmetries` with `permuted(state, points)`, `action_text(action)`, `move_text(state, action)`, `position_text(state)` with
/// `parse_position(text)`, `draw(state)`, `evaluation(state)` (for alpha-beta: an integer for player 0), and `pieces(state)`
/// (for the drawing: 1, -1 or 0 for each point). The arguments of `__init__` are the game's parameters.
/// `turnstone.check_game` checks a game, and `turnstone.register_game` gives it a name everywhere.
#[pyclass(frozen, subclass, name = "Game", module = "turnstone_rl")]
pub(crate) struct GameObject {
    /// The rules, if they are in Rust.
    pub(crate) built_in: Option<Game>,
    /// Parameters of rules in Python, and their defaults.
    params: (Params, Params),
    /// The rules in Python, while something uses them: they hold this object.
    python: Mutex<Weak<Erased<PyGame, PyGame>>>,
}

/// Attributes that a subclass of `Game` may set in its instances.
const ATTRIBUTES: [&str; 7] =
    ["name", "version", "num_actions", "observation_shape", "observation_bounds", "plane_names", "action_blocks"];

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
        let game =
            Arc::new(Erased::<_, PyGame>::with_knowledge(PyGame::new(object, this.params.0.clone(), made_by_name)?));
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
        let named = params.map_or_else(|| Ok(PyDict::new(class.py())), PyDictMethods::copy)?;
        let taken = |key: &str| {
            let value = named.get_item(key)?;
            if value.is_some() {
                named.del_item(key)?;
            }
            Ok::<_, PyErr>(value)
        };
        let name = match (args.len(), taken("name")?) {
            (1, None) => args.get_item(0)?,
            (0, Some(name)) => name,
            _ => return Err(PyTypeError::new_err("Game() takes a name, and parameters by keyword or as `params`")),
        };
        let params = taken("params")?.map(Bound::cast_into::<PyDict>).transpose()?;
        let call = Call { name: "Game", arguments: &[("name", false), ("params", false)] };
        Ok(Self::of(Game::of_call(&call, &name, params.as_ref(), Some(&named))?))
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

    /// The least and the greatest number that an observation can hold.
    #[getter]
    fn observation_bounds<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::attribute(slf, "observation_bounds", |game| <(f32, f32)>::from(game.rules.spec().bounds))
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
    fn action_text(slf: &Bound<'_, Self>, action: &Bound<'_, PyAny>) -> PyResult<String> {
        let game = Game::of_object(slf.as_any())?;
        let action = game.indexed(action, "an integer")?;
        game.guarded(|| game.rules.action_text(&game.rules.start(), action))
    }

    /// The action of a text; whether it is legal depends on the state.
    fn action_index(slf: &Bound<'_, Self>, text: &str) -> PyResult<u16> {
        let game = Game::of_object(slf.as_any())?;
        game.guarded(|| game.rules.parse_action(&game.rules.start(), text))?.map(|action| action.0).map_err(game_error)
    }

    /// Where the policy vector of a network holds an action of a player (0 or 1). Policies are seen by the player to
    /// move, as observations are: in Mancala both players' own pits share their entries. Where the players act on the same
    /// points it is the action itself.
    fn policy_index(slf: &Bound<'_, Self>, player: u8, action: &Bound<'_, PyAny>) -> PyResult<usize> {
        let (game, side) = (Game::of_object(slf.as_any())?, side(player)?);
        Ok(game.rules.spec().policy_index(side, game.indexed(action, "an integer")?))
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
        let restore = py.import("turnstone_rl")?.getattr("_restore_game")?;
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
            let (key, known) = (key.to_owned(), names().map(str::to_owned).collect());
            return Err(game_error(Error::UnknownParam { game, key, known }));
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

/// The game of a call from Python, for functions and classes in Python: `arguments` are the names of the call's other
/// arguments, and whether they were given by keyword.
#[pyfunction]
#[pyo3(name = "_game")]
pub(crate) fn game_of_call(
    game: &Bound<'_, PyAny>,
    call: &str,
    arguments: Vec<(String, bool)>,
    params: Option<&Bound<'_, PyDict>>,
    named: &Bound<'_, PyDict>,
) -> PyResult<Game> {
    let arguments: Vec<(&str, bool)> = arguments.iter().map(|(name, is_given)| (name.as_str(), *is_given)).collect();
    Game::of_call(&Call { name: call, arguments: &arguments }, game, params, Some(named))
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
    let game = Game::with_params(game, &settings::params(Some(params))?)?;
    if game.rules.version() != version {
        let (name, own) = (game.rules.name(), game.rules.version());
        return Err(value_error(format!("{name}: the pickle is from version {version} of the rules, not {own}")));
    }
    Ok(game)
}
