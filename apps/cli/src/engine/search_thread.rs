//! The search thread, which leaves the reading thread free for commands.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::{Action, AnyState, DynGame};
use turnstone_search::Stop;
use turnstone_search::classic::Limits;

use super::info::{complaint, info_line};
use crate::output::Output;
use turnstone_agents::{Search, SearchRequest};

/// Time that the end of the program waits for a stopped search.
const PATIENCE: Duration = Duration::from_secs(1);

/// A position and the moves that led to it.
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

    /// The moves after those of `earlier`, if this line continues that one.
    fn since(&self, earlier: &Self) -> Option<&[Action]> {
        (self.start == earlier.start).then(|| self.moves.strip_prefix(&*earlier.moves)).flatten()
    }
}

enum Job {
    NewGame,
    Think { line: Line, limits: Option<Limits>, stop: Stop },
}

/// Handle of the search thread. The thread does one job at a time.
pub(super) struct SearchThread {
    jobs: Sender<Job>,
    done: Receiver<()>,
    /// Stop flag of the running search.
    running: Option<Stop>,
}

impl SearchThread {
    /// Starts the thread. Searches print to `output`.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(super) fn start(game: Arc<dyn DynGame>, search: Box<dyn Search>, seed: u64, output: Output) -> Result<Self> {
        let (jobs, todo) = mpsc::channel();
        let (finished, done) = mpsc::channel();
        let run = move || {
            let at = Line::new(game.start());
            let mut searcher = Searcher { game, search, at, seed, output };
            searcher.new_game();
            for job in todo {
                searcher.work(job, &finished);
            }
        };
        thread::Builder::new().spawn(run).context("cannot start a thread")?;
        Ok(Self { jobs, done, running: None })
    }

    /// Whether no search is running. Blocks until the end of a search that has been stopped.
    ///
    /// No wake-up is lost here: a search says that it is done before it prints its answer, so a program that has read
    /// the answer finds the thread idle.
    ///
    /// # Errors
    /// The thread has panicked.
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

    /// Starts a new game. The thread must be idle.
    pub(super) fn new_game(&mut self) -> Result<()> {
        self.jobs.send(Job::NewGame).map_err(|_| failed())?;
        self.done.recv().map_err(|_| failed())
    }

    /// Starts a search of a position in which the game is not over. The thread must be idle.
    pub(super) fn search(&mut self, line: &Line, limits: Option<Limits>) -> Result<()> {
        let stop = Stop::default();
        self.running = Some(stop.clone());
        self.jobs.send(Job::Think { line: line.clone(), limits, stop }).map_err(|_| failed())
    }

    /// Stops a running search, which then prints its best move.
    pub(super) fn stop(&self) {
        if let Some(stop) = &self.running {
            stop.raise();
        }
    }

    /// Ends the thread. A running search is stopped and has [`PATIENCE`] to print its best move.
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

/// State of the search thread.
struct Searcher {
    game: Arc<dyn DynGame>,
    search: Box<dyn Search>,
    /// The line that the search has last been given.
    at: Line,
    seed: u64,
    output: Output,
}

impl Searcher {
    fn work(&mut self, job: Job, finished: &Sender<()>) {
        // Sending fails if the handle has been dropped, which does not matter.
        match job {
            Job::NewGame => {
                self.new_game();
                _ = finished.send(());
            }
            Job::Think { line, limits, stop } => {
                let answer = self.search(line, limits, &stop);
                // Before the answer: a program may start the next search as soon as it reads the answer.
                _ = finished.send(());
                self.output.line(&answer);
            }
        }
    }

    fn new_game(&mut self) {
        self.at = Line::new(self.game.start());
        self.search.new_game(0, &self.at.start, stream(self.seed, Purpose::Play, [0, 0]));
    }

    /// Searches a position and returns the `bestmove` line, after an error line if it failed.
    fn search(&mut self, line: Line, limits: Option<Limits>, stop: &Stop) -> String {
        for &action in line.since(&self.at).unwrap_or_default() {
            self.search.played(0, action);
        }
        self.at = line;
        let start = Instant::now();
        let mut report = |info: &_| self.output.line(&info_line(&*self.game, &self.at.state, info, start.elapsed()));
        let request = SearchRequest { limits, reports: true, ..SearchRequest::stopped_by(stop) };
        match self.search.choose_within(0, &self.at.state, request, &mut report) {
            Ok(action) => format!("bestmove {}", self.game.action_text(&self.at.state, action)),
            Err(fault) => format!("{}\nbestmove none", complaint(&fault.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};

    use turnstone_agents::{Agent, AgentSpec};
    use turnstone_env::Params;

    use super::*;

    /// A client that has read an answer before the search thread can continue: the write returns when the client says so.
    struct Client {
        seen: Sender<()>,
        acted: Receiver<()>,
    }

    impl Write for Client {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if bytes.starts_with(b"bestmove") {
                self.seen.send(()).expect("the client reads");
                self.acted.recv().expect("the client acts");
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A client that starts the next search, or stops the one before, as soon as it reads an answer.
    #[test]
    fn a_search_that_is_answered_is_over() {
        let game = turnstone_games::built_in().make("mu_torere", &Params::new()).expect("valid defaults");
        let search =
            Agent::load(&AgentSpec::random(), &*game).and_then(|agent| agent.search(&*game, 1)).expect("no file");
        let (seen, answers) = mpsc::channel();
        let (act, acted) = mpsc::channel();
        let output = Output::new(Client { seen, acted });
        let line = Line::new(game.start());
        let mut thread = SearchThread::start(game, search, 1, output).expect("a thread");
        for round in 0..4 {
            thread.search(&line, None).expect("it works");
            answers.recv().expect("an answer");
            if round % 2 == 1 {
                thread.stop();
            }
            assert!(thread.is_idle().expect("it works"), "round {round}");
            act.send(()).expect("it waits");
        }
        thread.end();
    }
}
