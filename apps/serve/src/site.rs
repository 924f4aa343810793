//! The answers to requests.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use turnstone_agents::load_network;
use turnstone_agents::search::Stop;
use turnstone_base::files::read_bounded;
use turnstone_selfplay::Games;
use turnstone_trainer::report::{LiveRun, comparison};
use turnstone_trainer::run_folder::RunFolder;

use crate::assets::Assets;
use crate::pages::{self, Row};
use crate::reply::{BINARY, JSON, Reply};
use crate::route::{Checkpoint, Route};
use crate::run_list::{self, RunList, Stamp};

/// Simulations per move of sample games.
const SIMULATIONS: u32 = 64;

/// Bytes of files that are kept for further requests.
const KEPT: usize = 64 << 20;

/// A parsed run, and the stamps of its files when they were read.
type Cached = ([Option<Stamp>; 2], LiveRun);

/// The page, the agents of the games, and the runs.
#[derive(Debug)]
pub struct Site {
    assets: Assets,
    games: Games,
    runs: RunList,
    runs_folder: String,
    agents: HashMap<&'static str, Reply>,
    /// Files as they were last read.
    files: Mutex<HashMap<PathBuf, (Stamp, Reply)>>,
    /// Runs as they were last read, by the stamps of config and metrics.
    read: Mutex<HashMap<PathBuf, Cached>>,
    /// The sample games that were played last; locked while some are played.
    played: Mutex<HashMap<PathBuf, (Stamp, Bytes)>>,
}

impl Site {
    /// A site with the built-in page, or with the page in a folder.
    ///
    /// # Errors
    /// The folder of the page cannot be read.
    pub fn new(games: &Games, runs: &Path, page: Option<&Path>) -> std::io::Result<Self> {
        let mut agents = HashMap::new();
        for name in games.names() {
            let Ok(game) = games.make(name, &turnstone_env::Params::new()) else { continue };
            if let Some(bytes) = game.files().pretrained {
                agents.insert(name, Reply::found(BINARY, bytes).tagged());
            }
        }
        let mut names: Vec<&str> = agents.keys().copied().collect();
        names.sort_unstable();
        Ok(Self {
            assets: page.map_or_else(|| Ok(Assets::built_in(&names)), |folder| Assets::read(folder, &names))?,
            games: games.clone(),
            runs: RunList::new(runs.to_owned()),
            runs_folder: runs.display().to_string(),
            agents,
            files: Mutex::default(),
            read: Mutex::default(),
            played: Mutex::default(),
        })
    }

    /// The answer for a target. It may read files, and for sample games it takes a second.
    #[must_use]
    pub fn answer(&self, route: &Route) -> Reply {
        let found = match route {
            Route::Page(name) => self.assets.get(name).cloned(),
            Route::Agent(game) => self.agents.get(game.as_str()).cloned(),
            Route::Runs => Some(self.list()),
            Route::Run(name) => self.run(name, false),
            Route::Live(name) => self.run(name, true),
            Route::Games(name) => self.sample_games(name),
            Route::Checkpoint(name, file) => self.file(name, file.file(), |bytes| Reply::found(BINARY, bytes)),
            Route::Report(name) => self.file(name, "report.html", Reply::run_page),
            Route::Compare(names) => Some(self.compare(names)),
        };
        found.unwrap_or_else(|| Reply::refused(404, "not found"))
    }

    /// A file of a run, kept in memory until it changes, so that many readers share it.
    fn file(&self, name: &str, file: &'static str, reply: fn(Vec<u8>) -> Reply) -> Option<Reply> {
        let path = self.runs.file(name, file)?;
        let stamp = run_list::stamp(&path)?;
        if stamp.0 > run_list::LARGEST {
            return Some(Reply::refused(413, "the file is too large"));
        }
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reply) = current(&files, &path, &stamp) {
            return Some(reply);
        }
        let reply = reply(read_bounded(&path, run_list::LARGEST).ok()?).tagged();
        let kept: usize = files.values().map(|(_, reply)| reply.body.len()).sum();
        if kept + reply.body.len() > KEPT {
            files.clear();
        }
        files.insert(path, (stamp, reply.clone()));
        Some(reply)
    }

    fn live_run(&self, name: &str) -> Option<Result<LiveRun, String>> {
        let config = self.runs.file(name, "config.toml")?;
        let path = self.runs.find(name)?;
        let stamps =
            [run_list::stamp(&config), self.runs.file(name, "metrics.jsonl").and_then(|path| run_list::stamp(&path))];
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = current(&read, &path, &stamps) {
            return Some(Ok(run));
        }
        let run = RunFolder::open(&path).and_then(|folder| LiveRun::read(&folder, &self.games));
        if let Ok(run) = &run {
            read.insert(path, (stamps, run.clone()));
        }
        Some(run.map_err(|fault| format!("{fault:#}")))
    }

    fn list(&self) -> Reply {
        let entries = match self.runs.entries() {
            Ok(entries) => entries,
            Err(fault) => return Reply::refused(500, &format!("the runs cannot be listed: {fault}")),
        };
        let row = |entry: run_list::Entry| {
            let run = if entry.is_run { self.live_run(&entry.name) } else { None };
            let has_checkpoint = self.runs.file(&entry.name, Checkpoint::Latest.file()).is_some();
            Row { entry, run, has_checkpoint }
        };
        let rows: Vec<Row> = entries.into_iter().map(row).collect();
        Reply::run_page(pages::runs(&rows, &self.runs_folder))
    }

    fn run(&self, name: &str, live: bool) -> Option<Reply> {
        let reply = self.live_run(name)?.and_then(|run| self.run_page(name, &run, live));
        Some(reply.unwrap_or_else(|fault| failed(name, &fault)))
    }

    /// The page of a run, or only what changes on it while it trains.
    fn run_page(&self, name: &str, run: &LiveRun, live: bool) -> Result<Reply, String> {
        let game = run.config.game(&self.games).map_err(|fault| fault.to_string())?;
        let header = run.header(&*game).map_err(|fault| format!("{fault:#}"))?;
        let parts = run.parts();
        if live {
            return Ok(Reply::found(JSON, pages::live(&header, &parts)).tagged());
        }
        let checkpoints = [Checkpoint::Latest, Checkpoint::Best].map(Checkpoint::file);
        let checkpoints: Vec<_> = checkpoints.into_iter().filter(|file| self.runs.file(name, file).is_some()).collect();
        Ok(Reply::run_page(pages::run(name, &header, &parts, &checkpoints)))
    }

    /// Sample games of the newest checkpoint. They are played once for each checkpoint, and one run at a time.
    fn sample_games(&self, name: &str) -> Option<Reply> {
        let path = self.runs.file(name, Checkpoint::Latest.file())?;
        let stamp = run_list::stamp(&path)?;
        let run = match self.live_run(name)? {
            Ok(run) => run,
            Err(fault) => return Some(failed(name, &fault)),
        };
        let Ok(mut played) = self.played.try_lock() else {
            return Some(Reply::refused(503, "sample games are being played: try again in a moment"));
        };
        if let Some(page) = current(&played, &path, &stamp) {
            return Some(Reply::run_page(page));
        }
        let part = run.config.game(&self.games).map_err(anyhow::Error::msg).and_then(|game| {
            let network = load_network(&path, &*game)?;
            run.sample_games(&*game, &network, SIMULATIONS, &|| (), &Stop::default())
        });
        let page = match part {
            Ok(part) => Bytes::from(pages::games(name, part.expect("nothing stops the games"))),
            Err(fault) => return Some(failed(name, &format!("{fault:#}"))),
        };
        if played.len() >= 16 {
            played.clear();
        }
        played.insert(path, (stamp, page.clone()));
        Some(Reply::run_page(page))
    }

    fn compare(&self, names: &[String]) -> Reply {
        let (mut runs, mut faults) = (Vec::new(), Vec::new());
        for name in names {
            match self.live_run(name) {
                Some(Ok(run)) => runs.push((name.clone(), run)),
                Some(Err(fault)) => faults.push(fault),
                None => faults.push(format!("there is no run `{name}`")),
            }
        }
        let parts = if runs.is_empty() { Vec::new() } else { comparison(&runs) };
        let names: Vec<String> = runs.into_iter().map(|(name, _)| name).collect();
        Reply::run_page(pages::comparison(&names, &parts, &faults)).tagged()
    }
}

/// The cached value of a path, unless one of its files has changed.
fn current<S: PartialEq, V: Clone>(kept: &HashMap<PathBuf, (S, V)>, path: &Path, stamp: &S) -> Option<V> {
    kept.get(path).filter(|(known, _)| known == stamp).map(|(_, value)| value.clone())
}

/// A page that says what is wrong with a run.
fn failed(name: &str, fault: &str) -> Reply {
    Reply { status: 500, ..Reply::run_page(pages::fault(name, fault)) }
}
