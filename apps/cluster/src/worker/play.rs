//! How a thread plays the items of its jobs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, anyhow, ensure};
use turnstone_agents::Agent;
use turnstone_arena::grading::answers_to;
use turnstone_arena::{PlannedGame, Tournament};
use turnstone_selfplay::{Progress, SelfPlayStats, Session};

use super::job::{AT_ONCE, Held, Loaded, Shared};
use crate::link::lock;
use crate::work::Kind;

/// The jobs of a thread, all of one work.
pub(super) struct Desk<'a> {
    shared: &'a Shared,
    work: Arc<Loaded>,
    jobs: Vec<Held>,
    /// Items that are still to begin.
    waiting: VecDeque<usize>,
    /// A job of another work.
    other: Option<Held>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(shared: &'a Shared, job: Held) -> Self {
        Self { shared, work: Arc::clone(&job.work), waiting: job.numbers().collect(), jobs: vec![job], other: None }
    }

    /// Ends with the jobs that are left, which have failed or are returned. Returns a job of another work.
    pub(super) fn leave(self, fault: Option<&str>) -> Option<Held> {
        for (mut job, fault) in self.jobs.into_iter().filter_map(|job| Some((job, fault?))) {
            job.results.failed = Some(fault.to_owned());
            job.results.items.clear();
            let _ = self.shared.done.send(job);
        }
        self.other
    }

    /// The next item.
    fn next(&mut self) -> Option<usize> {
        if self.work.is_over.load(Ordering::Relaxed) {
            return None;
        }
        if self.waiting.is_empty() && self.other.is_none() {
            let job = self.shared.jobs.1.try_recv().ok()?;
            if Arc::ptr_eq(&self.work, &job.work) {
                self.waiting.extend(job.numbers());
                self.jobs.push(job);
            } else {
                self.other = Some(job);
            }
        }
        self.waiting.pop_front()
    }

    /// Number of items that this thread should have in progress.
    fn share(&self) -> usize {
        self.shared.open.load(Ordering::Relaxed).div_ceil(self.shared.threads).max(1)
    }

    /// Takes an outcome, and hands on the job that it completes.
    fn put(&mut self, number: usize, outcome: Vec<u8>) {
        let Some(at) = self.jobs.iter().position(|job| job.numbers().contains(&number)) else { return };
        self.jobs[at].results.items.push((number, outcome));
        if self.jobs[at].is_complete() {
            let _ = self.shared.done.send(self.jobs.remove(at));
        }
    }

    /// Plays on the thread with this number until no item is left.
    ///
    /// # Errors
    /// The work cannot be played.
    pub(super) fn play(&mut self, thread: usize) -> Result<()> {
        let (loaded, stop) = (Arc::clone(&self.work), &self.shared.stop);
        let work = loaded.work.as_ref().map_err(|fault| anyhow!("{fault:#}"))?;
        ensure!(self.waiting.iter().all(|number| *number < work.items()), "it goes beyond its work");
        let game = &*work.game;
        match &work.kind {
            Kind::SelfPlay(task) => {
                let mut sessions = lock(&loaded.sessions);
                let mut taken = sessions.get_mut(thread).and_then(Option::take);
                if taken.is_none() {
                    // At the first job, and after a failure, with which the session is gone.
                    let mut new: Vec<_> =
                        game.task_sessions(task, self.shared.threads)?.into_iter().map(Some).collect();
                    taken = new[thread].take();
                    if sessions.is_empty() {
                        *sessions = new;
                    }
                }
                let mut session = taken.context("each thread has a session")?;
                drop(sessions);
                self.play_on(&mut *session, &loaded)?;
                lock(&loaded.sessions)[thread] = Some(session);
                Ok(())
            }
            Kind::Games { agents, tournament, plans } => {
                let agents: Vec<&Agent> = agents.iter().collect();
                let tournament = Tournament::of_header(game, agents, (**tournament).clone())?;
                self.by_group(|numbers| {
                    let some: Vec<PlannedGame> = numbers.iter().map(|&number| plans[number]).collect();
                    let records = tournament.play_plans(&some, stop)?;
                    records
                        .map(|records| Ok(records.iter().map(serde_json::to_vec).collect::<Result<_, _>>()?))
                        .transpose()
                })
            }
            Kind::Positions { agent, texts, seed } => self.by_group(|numbers| {
                let some: Vec<(usize, &str)> = numbers.iter().map(|&number| (number, texts[number].as_str())).collect();
                let Some(answers) = answers_to(game, agent, &some, *seed, stop)? else { return Ok(None) };
                ensure!(answers.len() == numbers.len(), "a position is asked twice");
                Ok(Some(answers.iter().map(|(_, answer)| serde_json::to_vec(answer)).collect::<Result<_, _>>()?))
            }),
        }
    }

    /// Plays items in groups, which have as many outcomes; none if the worker is stopped.
    fn by_group(&mut self, play: impl Fn(&[usize]) -> Result<Option<Vec<Vec<u8>>>>) -> Result<()> {
        loop {
            let most = self.share().min(AT_ONCE);
            let mut numbers: Vec<usize> = std::iter::from_fn(|| self.next()).take(most).collect();
            numbers.sort_unstable();
            let Some(outcomes) = (if numbers.is_empty() { None } else { play(&numbers)? }) else { return Ok(()) };
            numbers.into_iter().zip(outcomes).for_each(|(number, outcome)| self.put(number, outcome));
        }
    }

    /// Plays games of self-play until none is in progress and none is left, or they are no longer needed.
    fn play_on(&mut self, session: &mut dyn Session, loaded: &Loaded) -> Result<()> {
        let (progress, mut counted) = (Progress::default(), effort(&session.stats()));
        loop {
            let more = session.step(self.share(), &mut || self.next(), &progress)?;
            for game in session.take_finished() {
                let now = effort(&session.stats());
                lock(&self.shared.effort).iter_mut().enumerate().for_each(|(i, sum)| *sum += now[i] - counted[i]);
                counted = now;
                self.put(game.number, game.transcript());
            }
            if !more || self.shared.stop.is_raised() || loaded.is_over.load(Ordering::Relaxed) {
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
