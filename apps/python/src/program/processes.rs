//! Self-play of games whose rules are in Python in several processes, as one interpreter runs them on one core at a time.

use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use turnstone_search::Stop;
use turnstone_selfplay::{
    FinishedGame, PackedTask, SelfPlayCounters, SelfPlayError, SelfPlayGames, SelfPlayStats, SelfPlayer, Task,
    TrainableGame,
};

use crate::errors::value_error;
use crate::game::Game;
use crate::py_game::PyGame;

/// A player of self-play that hands out the games.
pub(super) struct Processes {
    /// `Processes` of the package.
    pub(super) made: Py<PyAny>,
    pub(super) rules: PyGame,
}

impl Processes {
    /// Calls the package; an exception ends the work as one of the rules does.
    fn ask<T>(&self, question: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>) -> T {
        Python::attach(|py| question(py, self.made.bind(py))).unwrap_or_else(|error| self.rules.raise(error))
    }
}

impl SelfPlayer for Processes {
    fn self_play(
        &self,
        game: &dyn TrainableGame,
        task: &Task,
        progress: &SelfPlayCounters,
        stop: &Stop,
    ) -> Result<Option<SelfPlayGames>, SelfPlayError> {
        let restore = game.transcript_decoder(task);
        let mut games: Vec<Option<FinishedGame>> = vec![None; task.settings.self_play.games_per_iteration];
        let PackedTask { settings, checkpoint, samples } = PackedTask::new(task, game)?;
        let settings = serde_json::to_string(&settings)?;
        self.ask(|py, processes| {
            let task = (settings, PyBytes::new(py, &checkpoint), samples);
            processes.call_method1("begin", (self.rules.object(), task, games.len())).map(drop)
        });
        let mut left = games.len();
        while left > 0 {
            if stop.is_raised() {
                return Ok(None);
            }
            let played: Vec<(usize, Vec<u8>)> = self.ask(|_, processes| processes.call_method0("played")?.extract());
            for (number, transcript) in played {
                let place = games.get_mut(number).ok_or_else(|| format!("game {number} is none of the iteration's"))?;
                let played = restore(number, &transcript).map_err(|fault| format!("game {number}: {fault}"))?;
                left -= usize::from(place.replace(played).is_none());
                progress.games.fetch_add(1, Ordering::Relaxed);
            }
        }
        let games = games.into_iter().flatten().collect();
        let features = game.spec().features();
        Ok(Some(SelfPlayGames::new(task.settings.iteration, features, games, SelfPlayStats::default())))
    }
}

/// Plays games of a task in this process. `take` returns the number of the next game, or None, and `put` gets the number and
/// the transcript of every finished one.
#[pyfunction]
#[pyo3(name = "_play_games")]
pub(crate) fn play_games(
    py: Python<'_>,
    game: &Bound<'_, PyAny>,
    task: (String, Vec<u8>, Vec<f32>),
    take: Py<PyAny>,
    put: Py<PyAny>,
) -> PyResult<()> {
    let game = Game::of(game)?;
    let (settings, checkpoint, samples) = task;
    let settings = serde_json::from_str(&settings).map_err(value_error)?;
    let play = || {
        let task = PackedTask { settings, checkpoint, samples }.task(&*game.rules).map_err(value_error)?;
        let mut session = game.rules.task_sessions(&task, 1).map_err(value_error)?.pop().expect("a session per thread");
        let (progress, mut fault) = (SelfPlayCounters::default(), None);
        let mut next = || {
            let taken = Python::attach(|py| take.call0(py)?.extract(py));
            taken.unwrap_or_else(|error| {
                fault = Some(error);
                None
            })
        };
        while session.step(usize::MAX, &mut next, &progress).map_err(value_error)? {
            for game in session.take_finished() {
                Python::attach(|py| put.call1(py, (game.number, PyBytes::new(py, &game.transcript()))))?;
            }
        }
        fault.map_or(Ok(()), Err)
    };
    py.detach(|| game.guarded(play))?
}
