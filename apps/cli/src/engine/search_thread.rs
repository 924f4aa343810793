//! The search thread, which leaves the reading thread free for commands.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::{Action, AnyState, DynGame};
use turnstone_search::classic::{Limits, Stop};

use super::info::{complaint, info_line};
use crate::output::Output;
use turnstone_agents::{Player, SearchRequest};

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
    pub(super) fn start(game: Arc<dyn DynGame>, player: Box<dyn Player>, seed: u64, output: Output) -> Result<Self> {
        let (jobs, todo) = mpsc::channel();
        let (finished, done) = mpsc::channel();
        let run = move || {
            let rng = stream(seed, Purpose::Play, [0, 0]);
            let at = Line::new(game.start());
            let mut searcher = Searcher { game, player, rng, at, seed, output };
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
    /// the answer finds the thread idle. The tests below check every interleaving.
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
    player: Box<dyn Player>,
    rng: Stream,
    /// The line that the player has last been given.
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
                let answer = self.search(line, limits, stop);
                // Before the answer: a program may start the next search as soon as it reads the answer.
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

    /// Searches a position and returns the `bestmove` line, after an error line if the player failed.
    fn search(&mut self, line: Line, limits: Option<Limits>, stop: Stop) -> String {
        for &action in line.since(&self.at).unwrap_or_default() {
            self.player.played(action);
        }
        self.at = line;
        let start = Instant::now();
        let mut report = |info: &_| self.output.line(&info_line(&*self.game, &self.at.state, info, start.elapsed()));
        let mut request = SearchRequest { limits, control: stop.into(), report: Some(&mut report) };
        match self.player.search(&self.at.state, &mut request, &mut self.rng) {
            Ok(action) => format!("bestmove {}", self.game.action_text_in(&self.at.state, action)),
            Err(fault) => format!("{}\nbestmove none", complaint(&fault.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    /// In which order the searching thread lets go of a search.
    #[derive(Clone, Copy, PartialEq)]
    enum Order {
        WordFirst,
        AnswerFirst,
    }

    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    enum Worker {
        Idle,
        Searching,
        /// The first of word and answer is out, the second is not.
        Between,
    }

    /// A client, the reader and the searching thread, with all that is on its way between them.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Model {
        /// Searches that the client has yet to ask for. It asks for one when the one before is answered.
        to_ask: u8,
        /// Whether the client may yet send a `stop`, which it does at any moment.
        may_stop: bool,
        /// Commands on their way to the reader, `true` for `go` and `false` for `stop`.
        commands: Vec<bool>,
        /// The reader's `running`, and whether its flag is raised.
        running: Option<bool>,
        /// Jobs and words on their way, answers that the client has not seen, and `go`s that were refused.
        jobs: u8,
        words: u8,
        answers: u8,
        refused: u8,
        worker: Worker,
        waiting: bool,
    }

    impl Model {
        fn start(to_ask: u8) -> Self {
            Self {
                to_ask,
                may_stop: true,
                commands: Vec::new(),
                running: None,
                jobs: 0,
                words: 0,
                answers: 0,
                refused: 0,
                worker: Worker::Idle,
                waiting: false,
            }
        }

        /// The states that one step of one of the three leads to.
        fn next(&self, order: Order) -> Vec<Self> {
            let mut next = Vec::new();
            let mut step = |change: &dyn Fn(&mut Self)| {
                let mut after = self.clone();
                change(&mut after);
                next.push(after);
            };
            if self.to_ask > 0 && !self.waiting {
                step(&|s| {
                    (s.to_ask, s.waiting) = (s.to_ask - 1, {
                        s.commands.push(true);
                        true
                    });
                });
            }
            if self.may_stop {
                step(&|s| {
                    s.may_stop = {
                        s.commands.push(false);
                        false
                    }
                });
            }
            if self.waiting && self.answers > 0 {
                step(&|s| (s.answers, s.waiting) = (s.answers - 1, false));
            }
            match (self.commands.first(), self.running) {
                (Some(false), running) => step(&|s| {
                    s.commands.remove(0);
                    s.running = running.map(|_| true);
                }),
                // `is_idle` waits for the word of a search that was stopped, and looks for it otherwise.
                (Some(true), Some(true)) if self.words == 0 => {}
                (Some(true), Some(false)) if self.words == 0 => step(&|s| {
                    s.commands.remove(0);
                    s.refused += 1;
                }),
                (Some(true), running) => step(&|s| {
                    s.commands.remove(0);
                    s.words -= u8::from(running.is_some());
                    (s.running, s.jobs) = (Some(false), s.jobs + 1);
                }),
                (None, _) => {}
            }
            let let_go = |s: &mut Self, first: bool| match (order == Order::WordFirst) == first {
                true => s.words += 1,
                false => s.answers += 1,
            };
            match self.worker {
                Worker::Idle if self.jobs > 0 => step(&|s| (s.jobs, s.worker) = (s.jobs - 1, Worker::Searching)),
                Worker::Idle => {}
                // It ends by itself, as `go movetime 1` does, whether its flag is raised or not.
                Worker::Searching => step(&|s| {
                    s.worker = {
                        let_go(s, true);
                        Worker::Between
                    }
                }),
                Worker::Between => step(&|s| {
                    s.worker = {
                        let_go(s, false);
                        Worker::Idle
                    }
                }),
            }
            next
        }
    }

    /// All states that the program can end in, along every interleaving.
    fn ends(order: Order) -> Vec<Model> {
        let (mut seen, mut open, mut ends) = (HashSet::new(), vec![Model::start(3)], Vec::new());
        while let Some(model) = open.pop() {
            if seen.insert(model.clone()) {
                let next = model.next(order);
                if next.is_empty() {
                    ends.push(model);
                }
                open.extend(next);
            }
        }
        ends
    }

    /// Along every interleaving each `go` of a client that waits for its answers is answered, and none is refused.
    #[test]
    fn no_search_is_lost_between_the_threads() {
        let answered = |end: &Model| end.to_ask == 0 && !end.waiting && end.refused == 0 && end.jobs == 0;
        assert!(ends(Order::WordFirst).iter().all(answered), "{:?}", ends(Order::WordFirst));
        assert!(!ends(Order::AnswerFirst).iter().all(answered), "the order matters, and the model sees it");
    }
}
