//! The thread that searches, so that commands are heard in the meantime.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use turnstone_env::{Action, AnyState, DynGame};
use turnstone_search::classic::{Limits, Stop};

use super::info::{complaint, info_line};
use crate::output::Output;
use turnstone_agents::streams::{Purpose, Stream, stream};
use turnstone_agents::{Player, SearchRequest};

/// How long the end of the program waits for a search that has been told to stop.
const PATIENCE: Duration = Duration::from_secs(1);

/// A position and how it came about.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) start: AnyState,
    pub(super) moves: Vec<Action>,
    /// The position after the moves.
    pub(super) state: AnyState,
}

impl Line {
    pub(super) fn new(start: AnyState) -> Self {
        let state = start.clone();
        Self { start, moves: Vec::new(), state }
    }

    /// The moves by which this line goes on from another one, if it does.
    fn since(&self, earlier: &Self) -> Option<&[Action]> {
        (self.start == earlier.start).then(|| self.moves.strip_prefix(&*earlier.moves)).flatten()
    }
}

enum Job {
    NewGame,
    Think { line: Line, limits: Option<Limits>, stop: Stop },
}

/// The near end of the thread. It does one job at a time.
pub(super) struct SearchThread {
    jobs: Sender<Job>,
    done: Receiver<()>,
    /// Ends the search that is under way.
    running: Option<Stop>,
}

impl SearchThread {
    /// Starts the thread; searches print to `output`.
    pub(super) fn start(game: Arc<dyn DynGame>, player: Box<dyn Player>, seed: u64, output: Output) -> Self {
        let (jobs, todo) = mpsc::channel();
        let (finished, done) = mpsc::channel();
        thread::spawn(move || {
            let rng = stream(seed, Purpose::Play, [0, 0]);
            let at = Line::new(game.start());
            let mut searcher = Searcher { game, player, rng, at, seed, output };
            searcher.new_game();
            for job in todo {
                searcher.work(job, &finished);
            }
        });
        Self { jobs, done, running: None }
    }

    /// Whether no search is under way. If one has been told to stop, this waits for it.
    ///
    /// # Errors
    /// The thread has failed.
    pub(super) fn is_idle(&mut self) -> Result<bool> {
        let Some(stop) = &self.running else { return Ok(true) };
        let over = if stop.is_raised() {
            self.done.recv().map_err(|_| failed())?;
            true
        } else {
            match self.done.try_recv() {
                Ok(()) => true,
                Err(mpsc::TryRecvError::Empty) => false,
                Err(mpsc::TryRecvError::Disconnected) => return Err(failed()),
            }
        };
        if over {
            self.running = None;
        }
        Ok(over)
    }

    /// Forgets all earlier games. The thread must be idle.
    pub(super) fn new_game(&mut self) -> Result<()> {
        self.jobs.send(Job::NewGame).map_err(|_| failed())?;
        self.done.recv().map_err(|_| failed())
    }

    /// Begins a search of a running position. The thread must be idle.
    pub(super) fn search(&mut self, line: &Line, limits: Option<Limits>) -> Result<()> {
        let stop = Stop::default();
        self.running = Some(stop.clone());
        self.jobs.send(Job::Think { line: line.clone(), limits, stop }).map_err(|_| failed())
    }

    /// Tells a search that is under way to end; it prints its best move.
    pub(super) fn stop(&self) {
        if let Some(stop) = &self.running {
            stop.raise();
        }
    }

    /// Ends the thread, with the best move of a search that is under way. Does not wait long for it.
    pub(super) fn end(self) {
        self.stop();
        drop(self.jobs);
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.done.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(()) => {}
                Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => return,
            }
        }
    }
}

fn failed() -> anyhow::Error {
    anyhow!("the search has failed")
}

/// What lives on the thread.
struct Searcher {
    game: Arc<dyn DynGame>,
    player: Box<dyn Player>,
    rng: Stream,
    /// Where the player believes the game to be.
    at: Line,
    seed: u64,
    output: Output,
}

impl Searcher {
    fn work(&mut self, job: Job, finished: &Sender<()>) {
        // The near end may be gone: then nobody waits.
        match job {
            Job::NewGame => {
                self.new_game();
                _ = finished.send(());
            }
            Job::Think { line, limits, stop } => {
                let answer = self.search(line, limits, stop);
                // First the word that the next search may come, then the answer that lets it come.
                _ = finished.send(());
                self.output.line(&answer);
            }
        }
    }

    fn new_game(&mut self) {
        self.at = Line::new(self.game.start());
        self.rng = stream(self.seed, Purpose::Play, [0, 0]);
        self.player.new_game(&self.at.start, &mut self.rng);
    }

    /// Searches a position and returns the line that answers it.
    fn search(&mut self, line: Line, limits: Option<Limits>, stop: Stop) -> String {
        for &action in line.since(&self.at).unwrap_or_default() {
            self.player.played(action);
        }
        self.at = line;
        let start = Instant::now();
        let mut report = |info: &_| self.output.line(&info_line(&*self.game, info, start.elapsed()));
        let mut request = SearchRequest { limits, control: stop.into(), report: Some(&mut report) };
        match self.player.search(&self.at.state, &mut request, &mut self.rng) {
            Ok(action) => format!("bestmove {}", self.game.action_text(action)),
            Err(fault) => format!("{}\nbestmove none", complaint(&fault.to_string())),
        }
    }
}
