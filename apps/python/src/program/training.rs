//! Training runs.

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use pyo3::prelude::*;
use turnstone_base::terminal::Reporter;
use turnstone_search::Stop;
use turnstone_selfplay::Games;
use turnstone_trainer::config::{Config, Override};
use turnstone_trainer::run::{Ending, Players, Run, Setup, check_programs, check_requirements, reopen};
use turnstone_trainer::run_folder::RunFolder;

use crate::errors::{program_error, value_error};
use crate::game::Game;
use crate::program::processes::Processes;
use crate::registry::registered;
use crate::waiting::watched;

/// A run to be started or resumed.
#[derive(FromPyObject)]
pub(crate) struct Task {
    /// Folder of the run.
    #[pyo3(item)]
    run: PathBuf,
    /// Path of the config; `None` resumes the run of the folder.
    #[pyo3(item)]
    config: Option<PathBuf>,
    /// The config itself as JSON, in place of a file.
    #[pyo3(item)]
    config_json: Option<String>,
    #[pyo3(item)]
    overrides: Vec<String>,
    #[pyo3(item)]
    overwrite: bool,
    #[pyo3(item)]
    max_minutes: Option<f64>,
    /// Whether a resumed run may start the programs of `engine:` opponents in its config.
    #[pyo3(item)]
    allow_engines: bool,
    /// Who plays the games in place of this process.
    #[pyo3(item)]
    processes: Option<Py<PyAny>>,
}

/// Trains; `on_iteration` gets the metrics as JSON and as a line, and the number of iterations of the run. Returns the
/// number of finished iterations and whether that is all of them.
#[pyfunction]
#[pyo3(name = "_train")]
pub(crate) fn train(py: Python<'_>, task: Task, on_iteration: Py<PyAny>) -> PyResult<(u64, bool)> {
    let (stop, (sender, receiver)) = (Stop::default(), channel::<(String, String, u64)>());
    let flag = stop.clone();
    // The game of the run, when it has been made.
    let game = Arc::new(OnceLock::<Game>::new());
    let made = Arc::clone(&game);
    let receiver = Mutex::new(receiver);
    let look = |py: Python<'_>| {
        let receiver = receiver.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        receiver.try_iter().try_for_each(|metrics| on_iteration.call1(py, metrics).map(drop))
    };
    let stop_run = move || {
        flag.raise();
        game.get().into_iter().for_each(Game::interrupt);
    };
    let work = move || {
        task.train(&stop, &made, &|metrics| {
            let _ = sender.send(metrics); // nobody receives those of a run that was left to itself
        })
    };
    watched(py, stop_run, look, work)?
}

impl Task {
    fn train(
        &self,
        stop: &Stop,
        made: &OnceLock<Game>,
        watch: &dyn Fn((String, String, u64)),
    ) -> PyResult<(u64, bool)> {
        let time = self.max_minutes.map(|minutes| Duration::try_from_secs_f64(60.0 * minutes)).transpose();
        let time = time.map_err(|error| value_error(format!("max_minutes: {error}")))?;
        let games = registered();
        let overrides = self
            .overrides
            .iter()
            .map(|text| text.parse::<Override>().map_err(|fault| value_error(format!("override `{text}`: {fault}"))));
        let overrides = overrides.collect::<PyResult<Vec<_>>>()?;
        let resumes = self.config.is_none() && self.config_json.is_none();
        let (config, folder) =
            if resumes { self.reopen(&overrides, &games)? } else { self.create(&overrides, &games, made)? };
        let game = match made.get() {
            Some(game) => game.clone(),
            None => Game { rules: config.game(&games).map_err(value_error)? },
        };
        let _ = made.set(game.clone()); // it is the only one
        game.guarded(|| self.train_game(&game, &config, folder, time, stop, watch))?
    }

    /// Trains for a game that has been made.
    fn train_game(
        &self,
        game: &Game,
        config: &Config,
        folder: RunFolder,
        time: Option<Duration>,
        stop: &Stop,
        watch: &dyn Fn((String, String, u64)),
    ) -> PyResult<(u64, bool)> {
        game.warn_if_endless()?;
        let mut config = config.clone();
        if game.python().is_some() && config.self_play.threads == 0 {
            config.self_play.threads = 1; // more would wait for each other's turn with the interpreter
        }
        let processes = match (&self.processes, game.python()) {
            (None, _) => None,
            (Some(made), Some(rules)) => {
                let made = Python::attach(|py| made.clone_ref(py));
                Some(Processes { made, rules: rules.clone() })
            }
            (Some(_), None) => {
                let name = game.rules.name();
                return Err(value_error(format!(
                    "processes: the rules of {name} are in Rust, for which threads serve"
                )));
            }
        };
        let players = Players::default();
        let players = processes.as_ref().map_or(players, |self_play| Players { self_play, ..players });
        let reporter = Reporter::new(true);
        let setup = Setup {
            program: turnstone::PROGRAM,
            game: &*game.rules,
            config: &config,
            folder: &folder,
            reporter: &reporter,
            stop,
            players,
        };
        let run = Run::begin(setup).map_err(program_error)?;
        folder.remove_unfinished_parts().map_err(program_error)?;
        train_watched(run, config.run.iterations, time, watch)
    }

    /// Creates the folder of a new run, and its game, so that an interruption reaches its rules.
    fn create(&self, overrides: &[Override], games: &Games, made: &OnceLock<Game>) -> PyResult<(Config, RunFolder)> {
        let config = match (&self.config, &self.config_json) {
            (Some(path), _) => Config::read_with(path, overrides, games).map_err(value_error)?,
            (None, Some(json)) => {
                let fault = |fault: String| value_error(format!("config: {fault}"));
                let table: toml::Table = serde_json::from_str(json).map_err(|error| fault(error.to_string()))?;
                let config = Config::of_values(table, games).map_err(fault)?;
                if overrides.is_empty() { config } else { config.with(overrides, games).map_err(fault)? }
            }
            (None, None) => unreachable!("without a config the run is resumed"),
        };
        let game = config.game(games).map_err(value_error)?;
        let game = made.get_or_init(|| Game { rules: game });
        let check = || check_requirements(&*game.rules, &config).and_then(|()| check_programs(&*game.rules, &config));
        game.guarded(check)?.map_err(program_error)?;
        let text = config.text(games).map_err(value_error)?;
        let folder = RunFolder::create(&self.run, &text, self.overwrite, |_| Ok(())).map_err(program_error)?;
        Ok((config, folder))
    }

    fn reopen(&self, overrides: &[Override], games: &Games) -> PyResult<(Config, RunFolder)> {
        let (config, folder) = reopen(&self.run, overrides, games).map_err(program_error)?;
        if let Some(engine) = config.arena.engines().next().filter(|_| !self.allow_engines) {
            let text = format!("arena.opponents: `{engine}` starts a program; allow_engines=True lets it");
            return Err(value_error(text));
        }
        Ok((config, folder))
    }
}

/// Trains, and tells each iteration's metrics as JSON and as a line.
fn train_watched(
    run: Run<'_>,
    iterations: u64,
    time: Option<Duration>,
    watch: &dyn Fn((String, String, u64)),
) -> PyResult<(u64, bool)> {
    let started = std::time::Instant::now();
    let mut done = 0;
    let ending = run.train(time, &mut |metrics| {
        done += 1;
        let left = started.elapsed() / done * (iterations - metrics.iteration) as u32;
        let json = serde_json::to_string(metrics).unwrap_or_default();
        watch((json, metrics.line(iterations, left), iterations));
    });
    Ok(match ending.map_err(program_error)? {
        Ending::Finished => (iterations, true),
        Ending::Stopped { iteration } => (iteration, false),
    })
}
