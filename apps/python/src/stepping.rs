//! The games of a `VecEnv`, and its autoreset modes.

use pyo3::prelude::*;
use turnstone_env::{Action, AutoReset, Lanes};

use crate::errors::value_error;
use crate::game::Game;

pub(crate) struct Stepping {
    pub(crate) lanes: Box<dyn Lanes>,
    /// The actions of the step.
    pub(crate) actions: Vec<Action>,
    /// Whether the caller has started the games.
    pub(crate) is_reset: bool,
}

impl Stepping {
    pub(crate) fn new(game: &Game, envs: usize, threads: usize, auto_reset: AutoReset) -> Self {
        // Threads would wait for one another where the rules are in Python.
        let threads = if game.python().is_some() { 1 } else { threads };
        let lanes = game.rules.lanes(envs, threads, auto_reset);
        Self { lanes, actions: Vec::with_capacity(envs), is_reset: false }
    }
}

const AUTO_RESETS: [(&str, AutoReset); 3] =
    [("next_step", AutoReset::NextStep), ("same_step", AutoReset::SameStep), ("disabled", AutoReset::Disabled)];

/// The autoreset mode of a name.
pub(crate) fn auto_reset(name: &str) -> PyResult<AutoReset> {
    let found = AUTO_RESETS.iter().find(|(known, _)| *known == name);
    let wrong = || value_error(format!("autoreset is '{name}', but must be 'next_step', 'same_step' or 'disabled'"));
    found.map(|(_, mode)| *mode).ok_or_else(wrong)
}

/// The name of an autoreset mode.
pub(crate) fn auto_reset_name(mode: AutoReset) -> &'static str {
    AUTO_RESETS.iter().find(|(_, known)| *known == mode).expect("every mode has a name").0
}
