//! The games of a `VecEnv` and the threads that step them.

use std::time::Instant;

use pyo3::prelude::*;
use turnstone_base::machine::cores;
use turnstone_env::{Action, AutoReset, Error, Lanes, ThreadChoice, VecBuffers};

use crate::errors::value_error;
use crate::game::Game;

/// Fewest envs of a thread where their number is chosen.
const FEWEST: usize = 64;

pub(crate) struct Stepping {
    pub(crate) lanes: Box<dyn Lanes>,
    /// The actions of the step.
    pub(crate) actions: Vec<Action>,
    /// Chooses the number of threads, if it was not given.
    choice: Option<ThreadChoice>,
    /// Whether the caller has started the games.
    pub(crate) is_reset: bool,
}

impl Stepping {
    pub(crate) fn new(game: &Game, envs: usize, threads: Option<usize>, auto_reset: AutoReset) -> Self {
        let useful = || cores().min(envs.div_ceil(FEWEST));
        // Threads would wait for one another where the rules are in Python.
        let threads = if game.python().is_some() { Some(1) } else { threads };
        let most = threads.unwrap_or_else(useful);
        let lanes = game.rules.lanes(envs, most, auto_reset);
        let choice = threads.is_none().then(|| ThreadChoice::new(most));
        Self { lanes, actions: Vec::with_capacity(envs), choice, is_reset: false }
    }

    /// The number of threads of the next step, where it is chosen.
    pub(crate) fn threads(&self) -> usize {
        self.choice.as_ref().map_or(1, ThreadChoice::threads)
    }

    /// Plays the actions, with as many threads as were given or pay off.
    pub(crate) fn step(&mut self, out: &mut VecBuffers<'_>) -> Result<(), Error> {
        let Some(choice) = &mut self.choice else { return self.lanes.step(&self.actions, out) };
        self.lanes.set_threads(choice.threads());
        let began = Instant::now();
        self.lanes.step(&self.actions, out)?;
        choice.record(began.elapsed());
        Ok(())
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
