//! A job in memory, and how a thread plays its items.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use turnstone_agents::Agent;
use turnstone_agents::search::Fault;
use turnstone_arena::grading::answers_to;
use turnstone_arena::{PlannedGame, Tournament};
use turnstone_selfplay::{Progress, SelfPlayStats, Session};

use crate::job::{Job, Kind};

/// Number of games of a match, or of positions, that a thread plays side by side.
pub(super) const AT_ONCE: usize = 24;

/// Sessions by thread, each with the statistics that have been counted already.
type Sessions = Vec<Option<(Box<dyn Session>, SelfPlayStats)>>;

/// A job in memory.
pub(super) struct Loaded {
    pub(super) sum: [u8; 32],
    pub(super) job: Job,
    /// Sessions of self-play by thread; a thread takes its session out while it plays.
    sessions: Mutex<Option<Sessions>>,
    /// Whether its outcomes are no longer needed.
    retired: AtomicBool,
}

/// How a thread gets items and delivers outcomes.
pub(super) struct Counter<'a> {
    /// Takes up to this number of items.
    pub(super) next: &'a dyn Fn(usize) -> Vec<usize>,
    /// Number of items that this thread should have in progress.
    pub(super) share: &'a dyn Fn() -> usize,
    /// Takes an outcome.
    pub(super) put: &'a dyn Fn(usize, Vec<u8>),
    /// Counts the difference of two statistics of a session: those counted last, and those of now.
    pub(super) count: &'a dyn Fn(&SelfPlayStats, &SelfPlayStats),
    pub(super) stop: &'a AtomicBool,
}

impl Loaded {
    pub(super) fn new(sum: [u8; 32], job: Job) -> Self {
        Self { sum, job, sessions: Mutex::new(None), retired: AtomicBool::new(false) }
    }

    /// Abandons the games in progress: their outcomes are no longer needed.
    pub(super) fn retire(&self) {
        self.retired.store(true, Ordering::Relaxed);
    }

    /// Number of items that a thread plays side by side at most.
    pub(super) fn at_once(&self) -> usize {
        match &self.job.kind {
            Kind::SelfPlay(task) => task.settings.self_play.concurrent_games,
            Kind::Games { .. } | Kind::Positions { .. } => AT_ONCE,
        }
    }

    /// Plays items on the thread with this number until none is left.
    ///
    /// # Errors
    /// The job cannot be played.
    pub(super) fn play(&self, thread: usize, threads: usize, counter: &Counter<'_>) -> Result<()> {
        match &self.job.kind {
            Kind::SelfPlay(task) => {
                let (mut session, mut counted) = {
                    let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
                    if sessions.is_none() {
                        let new = self.job.game.task_sessions(task, threads)?;
                        let new = new.into_iter().map(|session| Some((session, SelfPlayStats::default())));
                        *sessions = Some(new.collect());
                    }
                    let place = sessions.as_mut().and_then(|all| all.get_mut(thread)).and_then(Option::take);
                    place.context("a thread has its session to itself")?
                };
                let played = play_on(&mut *session, &mut counted, counter, &self.retired);
                let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(place) = sessions.as_mut().and_then(|all| all.get_mut(thread)) {
                    *place = Some((session, counted));
                }
                Ok(played?)
            }
            Kind::Games { agents, tournament, plans } => {
                let agents: Vec<&Agent> = agents.iter().collect();
                let tournament = Tournament::of_header(&*self.job.game, agents, (**tournament).clone())?;
                self.by_range(counter, |numbers| {
                    let some: Vec<PlannedGame> = numbers.iter().map(|&number| plans[number]).collect();
                    let Some(records) = tournament.play_plans(&some, counter.stop)? else { return Ok(None) };
                    Ok(Some(records.iter().map(serde_json::to_vec).collect::<Result<_, _>>()?))
                })
            }
            Kind::Positions { agent, texts, seed } => self.by_range(counter, |numbers| {
                let some: Vec<(usize, &str)> = numbers.iter().map(|&number| (number, texts[number].as_str())).collect();
                let Some(answers) = answers_to(&*self.job.game, agent, &some, *seed, counter.stop)? else {
                    return Ok(None);
                };
                ensure!(answers.len() == numbers.len(), "a position is asked twice");
                Ok(Some(answers.iter().map(|(_, answer)| serde_json::to_vec(answer)).collect::<Result<_, _>>()?))
            }),
        }
    }

    fn by_range(&self, counter: &Counter<'_>, play: impl Fn(&[usize]) -> Result<Option<Vec<Vec<u8>>>>) -> Result<()> {
        loop {
            let mut numbers = (counter.next)((counter.share)().min(AT_ONCE));
            numbers.sort_unstable();
            numbers.dedup();
            if numbers.is_empty() {
                return Ok(());
            }
            let Some(outcomes) = play(&numbers)? else { return Ok(()) };
            numbers.into_iter().zip(outcomes).for_each(|(number, outcome)| (counter.put)(number, outcome));
        }
    }
}

/// Plays games of self-play until none is in progress and none is left.
fn play_on(
    session: &mut dyn Session,
    counted: &mut SelfPlayStats,
    counter: &Counter<'_>,
    retired: &AtomicBool,
) -> Result<(), Fault> {
    let progress = Progress::default();
    loop {
        let mut next = || (counter.next)(1).pop();
        let more = session.step((counter.share)(), &mut next, &progress)?;
        for game in session.take_finished() {
            let now = session.stats();
            (counter.count)(counted, &now);
            *counted = now;
            (counter.put)(game.number, game.transcript());
        }
        if !more || counter.stop.load(Ordering::Relaxed) || retired.load(Ordering::Relaxed) {
            return Ok(());
        }
    }
}
