//! Agents of a match that are functions in Python.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use turnstone_agents::{AgentError, AgentKind, Chooser, Form, OnReport, OneByOne, PlayableGame, Search};
use turnstone_agents::{SearchInfo, SearchRequest, Setup};
use turnstone_base::streams::Stream;
use turnstone_env::{Action, AnyState};
use turnstone_search::Stop;

use crate::errors::illegal_action;
use crate::game::Game;
use crate::state::State;

/// The functions of the matches that are under way, by the names that specs have for them.
static FUNCTIONS: Mutex<BTreeMap<String, Arc<Function>>> = Mutex::new(BTreeMap::new());

fn functions() -> MutexGuard<'static, BTreeMap<String, Arc<Function>>> {
    FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Function {
    function: Py<PyAny>,
    game: Game,
    matches: Matches,
}

/// Shared by the functions of a match: its stop flag, and the first exception, which raises it.
#[derive(Clone, Default)]
pub(super) struct Matches {
    pub(super) stop: Stop,
    fault: Arc<Mutex<Option<PyErr>>>,
}

impl Matches {
    /// The exception that has stopped the match.
    pub(super) fn fault(&self) -> Option<PyErr> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Functions that specs name as long as this lives.
#[derive(Default)]
pub(super) struct Named(Vec<String>);

impl Named {
    /// The spec of a function, which has this name or, if it is taken, one with a number.
    pub(super) fn add(&mut self, name: &str, function: Py<PyAny>, game: &Game, matches: &Matches) -> String {
        let mut known = functions();
        let numbered = (2_usize..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| !known.contains_key(name));
        let name = free.expect("there is always another number");
        let (game, matches) = (game.clone(), matches.clone());
        known.insert(name.clone(), Arc::new(Function { function, game, matches }));
        self.0.push(name.clone());
        format!("{}:{name}", Named::KIND)
    }

    const KIND: &str = <Kind as AgentKind>::NAME;
}

impl Drop for Named {
    fn drop(&mut self) {
        let removed: Vec<_> = self.0.iter().filter_map(|name| functions().remove(name)).collect();
        drop(removed); // without the lock, since an object of Python may do anything when it goes
    }
}

turnstone_base::settings! {
    /// a function in Python that `turnstone.arena` was called with
    #[derive(Clone, Debug)]
    pub(super) struct Kind {
        /// name of the function
        function: String;
    }
}

impl AgentKind for Kind {
    const NAME: &'static str = "python";
    const FORM: Form = Form::File;

    fn complete(&mut self) -> Result<(), String> {
        let is_known = functions().contains_key(&self.function);
        if is_known { Ok(()) } else { Err("turnstone.arena has no such function".to_owned()) }
    }

    fn search(&self, _: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        let function = functions().get(&self.function).cloned();
        let function = function.ok_or_else(|| AgentError::from("the match of the function is over".to_owned()))?;
        Ok(Box::new(OneByOne::new(Player(function), usize::MAX)))
    }
}

struct Player(Arc<Function>);

impl Function {
    /// The action that the function chooses, which must be legal.
    fn choose(&self, py: Python<'_>, state: &AnyState) -> PyResult<Action> {
        let position = State::new(self.game.clone(), state.clone());
        let chosen = self.function.bind(py).call1((position,))?;
        let action = self.game.action(&chosen, state)?;
        if self.game.guarded(|| self.game.rules.legal_actions(state))?.contains(action) {
            return Ok(action);
        }
        let text = self.game.guarded(|| self.game.rules.position_text(state))?;
        Err(illegal_action(format!("{chosen} is not legal at `{text}`")))
    }
}

impl Chooser for Player {
    fn choose(&mut self, state: &AnyState, _: &SearchRequest, _: &mut Stream, _: &mut OnReport<'_>) -> SearchInfo {
        let Function { game, matches, .. } = &*self.0;
        // After an exception the match stops, and any move will do.
        let action = Python::attach(|py| self.0.choose(py, state)).unwrap_or_else(|error| {
            matches.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            matches.stop.raise();
            game.rules.legal_actions(state)[0]
        });
        SearchInfo::of_action(action)
    }
}
