//! A work in memory, and how a thread plays its items.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use turnstone_agents::Agent;
use turnstone_agents::search::Fault;
use turnstone_arena::grading::answers_to;
use turnstone_arena::{PlannedGame, Tournament};
use turnstone_selfplay::{Progress, SelfPlayStats, Session};

use crate::link::lock;
use crate::work::{Kind, Work};

/// Number of games of a match, or of positions, that a thread plays side by side.
const AT_ONCE: usize = 24;

/// A work in memory.
pub(super) struct Loaded {
    pub(super) run: String,
    /// SHA-256 of the work.
    pub(super) sum: String,
    pub(super) work: Work,
    /// Sessions of self-play by thread; a thread takes its session out while it plays.
    sessions: Mutex<Vec<Option<Box<dyn Session>>>>,
    /// Whether its outcomes are no longer needed.
    retired: AtomicBool,
}

/// How a thread gets items and delivers outcomes.
pub(super) struct Hands<'a> {
    /// Takes up to this number of items.
    pub(super) next: &'a dyn Fn(usize) -> Vec<usize>,
    /// Number of items that this thread should have in progress.
    pub(super) share: &'a dyn Fn() -> usize,
    /// Takes an outcome.
    pub(super) put: &'a dyn Fn(usize, Vec<u8>),
    /// Takes the effort since it was last called.
    pub(super) count: &'a dyn Fn([u64; 6]),
    pub(super) stop: &'a AtomicBool,
}

impl Loaded {
    pub(super) fn new(run: &str, sum: String, work: Work) -> Self {
        Self { run: run.to_owned(), sum, work, sessions: Mutex::default(), retired: AtomicBool::new(false) }
    }

    /// Abandons the items in progress.
    pub(super) fn retire(&self) {
        self.retired.store(true, Ordering::Relaxed);
    }

    /// Number of items that a thread plays side by side at most.
    pub(super) fn seats(&self) -> usize {
        match &self.work.kind {
            Kind::SelfPlay(task) => task.settings.self_play.concurrent_games,
            Kind::Games { .. } | Kind::Positions { .. } => AT_ONCE,
        }
    }

    /// Plays items on the thread with this number until none is left.
    ///
    /// # Errors
    /// The work cannot be played.
    pub(super) fn play(&self, thread: usize, threads: usize, hands: &Hands<'_>) -> Result<()> {
        match &self.work.kind {
            Kind::SelfPlay(task) => {
                let mut sessions = lock(&self.sessions);
                if sessions.is_empty() {
                    *sessions = self.work.game.task_sessions(task, threads)?.into_iter().map(Some).collect();
                }
                let mut session = sessions[thread].take().context("a thread has its session to itself")?;
                drop(sessions);
                self.play_on(&mut *session, hands)?;
                lock(&self.sessions)[thread] = Some(session);
                Ok(())
            }
            Kind::Games { agents, tournament, plans } => {
                let agents: Vec<&Agent> = agents.iter().collect();
                let tournament = Tournament::of_header(&*self.work.game, agents, (**tournament).clone())?;
                self.by_range(hands, |numbers| {
                    let some: Vec<PlannedGame> = numbers.iter().map(|&number| plans[number]).collect();
                    let Some(records) = tournament.play_plans(&some, hands.stop)? else { return Ok(None) };
                    Ok(Some(records.iter().map(serde_json::to_vec).collect::<Result<_, _>>()?))
                })
            }
            Kind::Positions { agent, texts, seed } => self.by_range(hands, |numbers| {
                let some: Vec<(usize, &str)> = numbers.iter().map(|&number| (number, texts[number].as_str())).collect();
                let Some(answers) = answers_to(&*self.work.game, agent, &some, *seed, hands.stop)? else {
                    return Ok(None);
                };
                ensure!(answers.len() == numbers.len(), "a position is asked twice");
                Ok(Some(answers.iter().map(|(_, answer)| serde_json::to_vec(answer)).collect::<Result<_, _>>()?))
            }),
        }
    }

    fn by_range(&self, hands: &Hands<'_>, play: impl Fn(&[usize]) -> Result<Option<Vec<Vec<u8>>>>) -> Result<()> {
        loop {
            let mut numbers = (hands.next)((hands.share)().min(AT_ONCE));
            numbers.sort_unstable();
            numbers.dedup();
            if numbers.is_empty() {
                return Ok(());
            }
            let Some(outcomes) = play(&numbers)? else { return Ok(()) };
            numbers.into_iter().zip(outcomes).for_each(|(number, outcome)| (hands.put)(number, outcome));
        }
    }

    /// Plays games of self-play until none is in progress and none is left.
    fn play_on(&self, session: &mut dyn Session, hands: &Hands<'_>) -> Result<(), Fault> {
        let (progress, mut counted) = (Progress::default(), effort(&session.stats()));
        loop {
            let mut next = || (hands.next)(1).pop();
            let more = session.step((hands.share)(), &mut next, &progress)?;
            for game in session.take_finished() {
                let now = effort(&session.stats());
                (hands.count)(std::array::from_fn(|i| now[i] - counted[i]));
                counted = now;
                (hands.put)(game.number, game.transcript());
            }
            if !more || hands.stop.load(Ordering::Relaxed) || self.retired.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    }
}

/// The effort of a session so far, as in [`Results`](crate::Results).
fn effort(stats: &SelfPlayStats) -> [u64; 6] {
    let cache = &stats.cache;
    [stats.positions, stats.simulations, cache.requests, cache.hits, cache.merged, cache.batches]
}
