//! The games of a `VecEnv`, and its autoreset modes.

use pyo3::prelude::*;
use pyo3::types::PyString;
use turnstone_env::{Action, ActionList, AutoReset, Error, GameBatch, Rules, VecBuffers};

use crate::errors::value_error;
use crate::game::Game;
use crate::py_game::PyState;

pub(crate) struct Stepping {
    pub(crate) game_batch: Box<dyn GameBatch>,
    /// The actions of the step.
    pub(crate) actions: Vec<Action>,
    /// Whether the caller has started the games.
    pub(crate) is_reset: bool,
}

impl Stepping {
    pub(crate) fn new(game: &Game, envs: usize, threads: usize, auto_reset: AutoReset) -> Self {
        // Threads would wait for one another where the rules are in Python.
        let threads = if game.python().is_some() { 1 } else { threads };
        let game_batch = game.rules.game_batch(envs, threads, auto_reset);
        Self { game_batch, actions: Vec::with_capacity(envs), is_reset: false }
    }
}

impl Stepping {
    /// Plays the actions. Rules in Python are asked about all of them at once.
    pub(crate) fn step(&mut self, game: &Game, out: &mut VecBuffers<'_>) -> Result<(), Error> {
        if let Some(rules) = game.python() {
            let mut legal = ActionList::new();
            let plays =
                self.actions.iter().enumerate().map(|(env, &action)| (*self.game_batch.state(env).of(), action));
            let mut is_legal = |(state, action): &(PyState, Action)| {
                rules.legal(state, &mut legal);
                legal.contains(*action)
            };
            rules.expect_plays(plays.filter(&mut is_legal).collect());
        }
        self.game_batch.step(&self.actions, out)
    }
}

const AUTO_RESETS: [(&str, AutoReset); 3] =
    [("next_step", AutoReset::NextStep), ("same_step", AutoReset::SameStep), ("disabled", AutoReset::Disabled)];

/// The autoreset mode of a name, as here or as a member of Gymnasium's `AutoresetMode`, or of such a member.
pub(crate) fn auto_reset(given: &Bound<'_, PyAny>) -> PyResult<AutoReset> {
    let name = if given.is_instance_of::<PyString>() { Some(given.clone()) } else { given.getattr_opt("name")? };
    let plain = |name: &str| name.to_lowercase().replace('_', "");
    let name: Option<String> = name.and_then(|name| name.extract().ok());
    let found = AUTO_RESETS.iter().find(|(known, _)| name.as_deref().map(plain) == Some(plain(known)));
    let wrong =
        || value_error(format!("autoreset_mode is {given:?}, but must be 'next_step', 'same_step' or 'disabled'"));
    found.map(|(_, mode)| *mode).ok_or_else(wrong)
}

/// The name of an autoreset mode.
pub(crate) fn auto_reset_name(mode: AutoReset) -> &'static str {
    AUTO_RESETS.iter().find(|(_, known)| *known == mode).expect("every mode has a name").0
}
