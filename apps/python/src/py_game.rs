//! Games whose rules are written in Python, as games of the program.
//!
//! A position is held as the bytes of a small array, or as those of an object's key: searches and files copy, compare and keep
//! it without Python. What the rules answer is kept too, so that a position is asked about once.

mod cache;
mod fault;
mod declaration;
mod layout;
mod rules;
mod checking;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use pyo3::prelude::*;
use pyo3::types::PyType;
use turnstone_agents::Playable;
use turnstone_env::board::{Board, Cells, Content, Shape};
use turnstone_env::{Action, ActionList, Erased, Error, Notation, Outcome, Params, Rules, Side, Spec, Symmetry};
use turnstone_search::classic::{Heuristic, WinLoss};

pub(crate) use declaration::{interned, params, set_base};
#[cfg(feature = "program")]
pub(crate) use fault::unwound;
pub(crate) use layout::PyState;

use cache::Cache;
use fault::Faults;
use rules::{Facts, Known, PyRules};

/// Most states that wait to be observed together.
const MOST_UNSEEN: usize = 1024;

/// A game with its rules in Python.
#[derive(Clone)]
pub(crate) struct PyGame(Arc<Inner>);

struct Inner {
    rules: PyRules,
    spec: Spec,
    params: Params,
    class: usize,
    make: Make,
    start: PyState,
    faults: Faults,
    facts: Cache<Facts>,
    /// Cache of `play`: bytes of the state afterwards, by those of the state before and of the action.
    plays: Cache<Box<[u8]>>,
    /// Feature vectors.
    observations: Cache<Arc<[f32]>>,
    unseen: Mutex<Unseen>,
    /// Texts of the actions, and actions by text.
    texts: OnceLock<(Vec<String>, HashMap<String, Action>)>,
    /// The games with other parameters that were made from this one.
    others: Mutex<Vec<Weak<Inner>>>,
}

/// States that were asked about and not observed yet: a search adds many leaves, and then observes them all. The first that
/// is observed has them all observed at once, where the rules have a method for that. A search that evaluates without
/// observations, which asks for few, has none of them observed in vain.
#[derive(Default)]
struct Unseen {
    states: Vec<PyState>,
    /// New states, and observations that were asked for, of which half are forgotten now and then.
    found: usize,
    asked: usize,
}

impl Unseen {
    fn add(&mut self, state: PyState) {
        if self.states.len() == MOST_UNSEEN {
            self.states.clear();
        }
        self.states.push(state);
        self.found += 1;
        if self.found >= MOST_UNSEEN {
            self.found /= 2;
            self.asked /= 2;
        }
    }

    /// The states to be observed with one of them.
    fn beside(&mut self) -> Vec<PyState> {
        if 4 * self.asked >= self.found { std::mem::take(&mut self.states) } else { Vec::new() }
    }
}

/// Makes another game of the same class.
type Make = fn(&Bound<'_, PyType>, &Params) -> Result<Arc<Erased<PyGame, PyGame>>, Error>;

impl PyGame {
    /// The game of an instance of a subclass of `turnstone.Game` with these parameters.
    pub(crate) fn new(object: &Bound<'_, PyAny>, params: Params, make: Make) -> PyResult<Self> {
        let spec = declaration::spec(object)?;
        let shape = [spec.point_planes.len(), spec.lattice[0], spec.lattice[1]];
        let (rules, start) = PyRules::new(object, spec.name, spec.actions, shape, spec.bounds)?;
        let size = rules.layout.size();
        let (facts, plays) = (Cache::new(2 * size + 2 * spec.actions), Cache::new(2 * size));
        let observations = Cache::new(size + 4 * spec.features());
        let (faults, texts) = (Faults::default(), OnceLock::new());
        Ok(Self(Arc::new(Inner {
            rules,
            spec,
            params,
            make,
            class: object.get_type().as_ptr().addr(),
            start,
            faults,
            facts,
            plays,
            observations,
            unseen: Mutex::default(),
            texts,
            others: Mutex::default(),
        })))
    }

    /// The instance.
    pub(crate) fn object(&self) -> &Py<PyAny> {
        &self.0.rules.object
    }

    /// Identity of the Python class: its address.
    pub(crate) fn class(&self) -> usize {
        self.0.class
    }

    /// Runs work that calls the rules; their exception becomes `Err`.
    pub(crate) fn guarded<T>(&self, work: impl FnOnce() -> T) -> PyResult<T> {
        self.0.faults.guarded(work)
    }

    /// Ends work that calls the rules with an exception, which `guarded` returns.
    #[cfg(feature = "program")]
    pub(crate) fn raise(&self, error: PyErr) -> ! {
        self.0.faults.raise(error)
    }

    /// Ends the work of other threads that call the rules, as Ctrl-C does; `resume` allows the next one.
    pub(crate) fn interrupt(&self) {
        self.0.faults.interrupt();
        self.made_of_it().iter().for_each(Self::interrupt);
    }

    pub(crate) fn resume(&self) {
        self.0.faults.resume();
        self.made_of_it().iter().for_each(Self::resume);
    }

    /// The games with other parameters that were made from this one.
    fn made_of_it(&self) -> Vec<Self> {
        let mut others = self.0.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.retain(|other| other.strong_count() > 0);
        others.iter().filter_map(|other| other.upgrade().map(Self)).collect()
    }

    /// Calls the rules; an exception unwinds to the enclosing `guarded`.
    fn ask<T>(&self, question: impl FnOnce(Python<'_>, &PyRules) -> PyResult<T>) -> T {
        self.0.faults.check();
        // The exception is raised without the GIL, which other threads may be waiting for.
        match Python::attach(|py| self.0.faults.calling_rules(py, || question(py, &self.0.rules))) {
            Ok(answer) => answer,
            Err(error) => self.0.faults.raise(error),
        }
    }

    fn facts(&self, state: &PyState) -> Facts {
        self.0.faults.check_interrupt(); // a game whose answers are all cached no longer calls Python
        if let Some(facts) = self.0.facts.get(state.bytes()) {
            return facts;
        }
        let facts = self.expand(&[*state]).pop().expect("facts of one position");
        if self.0.rules.observe.many && facts.outcome.is_none() && !self.0.observations.has(state.bytes()) {
            self.unseen().add(*state);
        }
        facts
    }

    /// Asks about positions, and keeps the answers, with their observations where the rules give them too.
    fn expand(&self, states: &[PyState]) -> Vec<Facts> {
        let expanded = self.ask(|py, rules| rules.expanded(py, states));
        let keep = |(state, (facts, observation)): (&PyState, Known)| {
            self.0.facts.put(state.bytes(), facts.clone());
            if let Some(observation) = observation {
                self.0.observations.put(state.bytes(), observation.into());
            }
            facts
        };
        states.iter().zip(expanded).map(keep).collect()
    }

    fn unseen(&self) -> MutexGuard<'_, Unseen> {
        self.0.unseen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of a state and an action.
    fn play_key(&self, state: &PyState, action: Action) -> Vec<u8> {
        [state.bytes(), &action.0.to_le_bytes()].concat()
    }

    /// The state after a state and an action with this key, if it is known.
    fn played(&self, key: &[u8]) -> Option<PyState> {
        self.0.plays.get(key).map(|bytes| PyState::new(&bytes))
    }

    /// Asks about the positions whose observations are not known, all at once.
    fn expect_observations(&self, states: &[PyState]) {
        let unknown = |state: &&PyState| !self.0.observations.has(state.bytes());
        let mut missing: Vec<PyState> = states.iter().filter(unknown).copied().collect();
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() {
            return;
        }
        let observations = self.ask(|py, rules| rules.observations(py, &missing));
        for (state, observation) in missing.iter().zip(observations) {
            self.0.observations.put(state.bytes(), observation.into());
        }
    }

    /// Asks about actions that are about to be played in many games, and about the states that they lead to, all at once, where
    /// the rules have methods for that.
    pub(crate) fn expect_plays(&self, plays: Vec<(PyState, Action)>) {
        let rules = &self.0.rules;
        let (unknown, mut after): (Vec<_>, Vec<_>) = plays
            .into_iter()
            .map(|play| (play, self.played(&self.play_key(&play.0, play.1))))
            .partition(|(_, after)| after.is_none());
        let unknown: Vec<(PyState, Action)> = unknown.into_iter().map(|(play, _)| play).collect();
        if rules.play.many && !unknown.is_empty() {
            let states = self.ask(|py, rules| rules.plays(py, &unknown));
            for (play, state) in unknown.into_iter().zip(states) {
                self.0.plays.put(&self.play_key(&play.0, play.1), state.bytes().into());
                after.push((play, Some(state)));
            }
        }
        let mut states: Vec<PyState> = after.into_iter().filter_map(|(_, state)| state).collect();
        states.sort_unstable();
        states.dedup();
        let unknown: Vec<PyState> = states.iter().filter(|state| !self.0.facts.has(state.bytes())).copied().collect();
        let in_one_call = rules.expands || rules.mover.many || rules.outcome.many || rules.legal.many;
        if in_one_call && !unknown.is_empty() {
            self.expand(&unknown);
        }
        if rules.observe.many {
            self.expect_observations(&states);
        }
    }

    fn texts(&self) -> &(Vec<String>, HashMap<String, Action>) {
        if let Some(texts) = self.0.texts.get() {
            return texts;
        }
        let texts = self.ask(|py, rules| rules.texts(py));
        self.0.texts.get_or_init(|| texts)
    }
}

impl fmt::Debug for PyGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0.spec.name, self.0.params)
    }
}

impl Rules for PyGame {
    type State = PyState;

    fn with_params(&self, params: &Params) -> Result<Self, Error> {
        let made = Python::attach(|py| (self.0.make)(&self.object().bind(py).get_type(), params))?;
        let other = made.game().clone();
        self.0.others.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&other.0));
        Ok(other)
    }

    fn params(&self) -> Params {
        self.0.params.clone()
    }

    fn spec(&self) -> Spec {
        self.0.spec.clone()
    }

    fn start(&self) -> PyState {
        self.0.start
    }

    fn mover(&self, state: &PyState) -> Side {
        self.facts(state).mover
    }

    fn legal(&self, state: &PyState, out: &mut ActionList) {
        out.clear();
        self.facts(state).legal.iter().for_each(|&action| out.push(action));
    }

    fn play(&self, state: &mut PyState, action: Action) {
        let key = self.play_key(state, action);
        if let Some(known) = self.played(&key) {
            *state = known;
            return;
        }
        *state = self.ask(|py, rules| rules.plays(py, &[(*state, action)])).pop().expect("one state");
        self.0.plays.put(&key, state.bytes().into());
    }

    fn outcome(&self, state: &PyState) -> Option<Outcome> {
        self.facts(state).outcome
    }

    fn observe(&self, state: &PyState, features: &mut [f32]) {
        if self.0.rules.observe.many {
            self.unseen().asked += 1;
        }
        if let Some(known) = self.0.observations.get(state.bytes()) {
            features.copy_from_slice(&known);
            return;
        }
        if self.0.rules.observe.many {
            let beside = self.unseen().beside();
            self.expect_observations(&[&[*state], &beside[..]].concat());
        }
        let observation: Arc<[f32]> = match self.0.observations.get(state.bytes()) {
            Some(known) => known,
            None => self.ask(|py, rules| rules.observations(py, &[*state])).pop().expect("one observation").into(),
        };
        features.copy_from_slice(&observation);
        self.0.observations.put(state.bytes(), observation);
    }

    fn permuted(&self, state: &PyState, symmetry: &Symmetry) -> PyState {
        if *symmetry == self.0.spec.symmetries[0] {
            return *state;
        }
        self.ask(|py, rules| rules.permuted(py, state, &symmetry.points))
    }
}

impl Notation for PyGame {
    fn action_text(&self, state: &PyState, action: Action) -> String {
        if self.0.rules.has_move_text && self.facts(state).legal.contains(&action) {
            return self.ask(|py, rules| rules.move_text(py, state, action));
        }
        self.texts().0[action.index()].clone()
    }

    fn parse_action(&self, state: &PyState, text: &str) -> Result<Action, Error> {
        if self.0.rules.has_move_text
            && let Some(action) =
                self.facts(state).legal.iter().find(|action| self.action_text(state, **action) == text)
        {
            return Ok(*action);
        }
        let known = self.texts().1.get(text).copied();
        known.ok_or_else(|| Error::action(text, "is not the text of an action"))
    }

    fn position_text(&self, state: &PyState) -> String {
        self.ask(|py, rules| rules.position_text(py, state))
    }

    fn parse_position(&self, text: &str) -> Result<PyState, Error> {
        // The rules may reject what they have not made themselves.
        let parsed = Python::attach(|py| {
            let rules = &self.0.rules;
            let parsed = rules.parse_position(py, text).and_then(|state| Ok((state, rules.expanded(py, &[state])?)));
            parsed.map_err(|error| Error::position(text, error.value(py).to_string()))
        });
        parsed.map(|(state, _)| state)
    }

    /// No point of the board is clicked: it is a text.
    fn points_of(&self, _: &PyState, _: Action) -> Vec<usize> {
        Vec::new()
    }

    fn board(&self, state: &PyState, _: Option<(&PyState, Action)>) -> Board {
        let Spec { points, lattice, .. } = self.0.spec;
        let status = self.0.spec.status(self.outcome(state), self.mover(state));
        if self.0.rules.has_pieces {
            let pieces = self.ask(|py, rules| rules.pieces(py, state)).into_iter();
            let contents = pieces.map(|side| side.map_or(Content::Empty, Content::Piece)).collect();
            let cells = Cells::new(lattice, (0..points as u16).collect());
            return Board { status, contents, ..Board::new(Shape::Cells(cells), points) };
        }
        let drawing = self.ask(|py, rules| rules.draw(py, state));
        Board { status, ..Board::new(Shape::Text(drawing), points) }
    }
}

impl Playable for PyGame {
    type Game = Self;

    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>> {
        vec![Box::new(Evaluation), Box::new(WinLoss)]
    }
}

/// The evaluation of the class, or 0 where it has none.
struct Evaluation;

impl Heuristic<PyGame> for Evaluation {
    fn name(&self) -> &'static str {
        "evaluation"
    }

    fn estimate(&self, game: &PyGame, state: &PyState) -> i32 {
        if game.0.rules.has_evaluation { game.ask(|py, rules| rules.evaluation(py, state)) } else { 0 }
    }
}
