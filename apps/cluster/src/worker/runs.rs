//! Runs that a worker knows of, and whether it plays for them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::messages::{Announcement, LONGEST_REASON, MOST_REFUSALS};
use crate::notes::{Note, TakeNote};
use crate::wire::{cut, hex};

/// Time after which what could not be played is tried again.
const REFUSED_FOR: Duration = Duration::from_mins(10);
/// The refusal of a worker that the leader does not want, which ends when the leader wants it again.
pub(super) const LEFT_OUT: &str = "its leader has left this worker out, and says why";
/// Shortest and longest time after which a job that could not be fetched is fetched again; it doubles in between.
const FETCHED_AGAIN: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];
/// Maximum number of runs to keep in mind.
pub(super) const MOST_RUNS: usize = 1000;

/// A run and whether this worker can play for it.
pub(super) struct Run {
    /// What its leader said last; `None` if that cannot be read.
    pub(super) announcement: Option<Announcement>,
    pub(super) seen: Instant,
    /// When it came, or came to demand something else.
    since: Instant,
    pub(super) standing: Standing,
    /// A job of the run that cannot be played here.
    unplayable: Option<Unplayable>,
    /// The job of the run, if it could not be fetched when that was last tried.
    unfetched: Option<Unfetched>,
}

struct Unfetched {
    job: [u8; 32],
    why: String,
    pause: Duration,
    until: Instant,
}

struct Unplayable {
    job: [u8; 32],
    why: String,
    since: Instant,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    /// Its arithmetic is being compared.
    Unknown,
    /// It plays for the run.
    Serving,
    /// It cannot, for this reason.
    Refused { why: String, since: Instant },
}

/// What to do with a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Regard {
    Play,
    /// It is of a job that cannot be played here.
    Unplayable,
    /// It is of a job that the run's leader does not announce.
    NotAnnounced,
}

impl Run {
    pub(super) fn new(announcement: Option<Announcement>, standing: Standing) -> Self {
        let now = Instant::now();
        Self { announcement, seen: now, since: now, standing, unplayable: None, unfetched: None }
    }

    /// Takes a new announcement. Returns whether it demands the same of a worker as the one before, so that the standing
    /// remains. A refusal is not for ever. The announcement does not leave this worker out.
    pub(super) fn update(&mut self, announcement: &Announcement) -> bool {
        let is_same = self.announcement.as_ref().is_some_and(|known| demands_same(known, announcement));
        let is_over = match &self.standing {
            Standing::Refused { why, since } => why == LEFT_OUT || since.elapsed() > REFUSED_FOR,
            Standing::Unknown | Standing::Serving => false,
        };
        if !is_same || is_over {
            return false;
        }
        let is_other = |job: &mut Unplayable| hex(&job.job) != announcement.job || job.since.elapsed() > REFUSED_FOR;
        self.unplayable.take_if(is_other);
        self.unfetched.take_if(|job| hex(&job.job) != announcement.job);
        (self.announcement, self.seen) = (Some(announcement.clone()), Instant::now());
        true
    }
}

/// Whether two announcements of a run demand the same of a worker.
pub(super) fn demands_same(one: &Announcement, other: &Announcement) -> bool {
    (&one.probe, &one.program, &one.params) == (&other.probe, &other.program, &other.params)
        && (&one.game, one.version) == (&other.game, other.version)
}

/// The runs by name.
#[derive(Default)]
pub(super) struct Runs(pub(super) HashMap<String, Run>);

impl Runs {
    /// Runs that are served, and reasons for what is not, as many and as long as a sign of life holds.
    pub(super) fn standing(&self) -> (Vec<String>, Vec<(String, String)>) {
        let (mut served, mut refused) = (Vec::new(), Vec::new());
        for (name, run) in &self.0 {
            let mut refuse = |why: &str| refused.push((name.clone(), cut(why, LONGEST_REASON)));
            match &run.standing {
                Standing::Serving => served.push(name.clone()),
                Standing::Refused { why, .. } => refuse(why),
                Standing::Unknown => {}
            }
            run.unplayable.iter().for_each(|job| refuse(&job.why));
            run.unfetched.iter().for_each(|job| refuse(&job.why));
        }
        served.sort();
        refused.sort();
        refused.truncate(MOST_REFUSALS);
        (served, refused)
    }

    /// The run that has waited the longest for its self-test.
    pub(super) fn untested(&self) -> Option<Announcement> {
        let untested = self.0.values().filter(|run| run.standing == Standing::Unknown && run.announcement.is_some());
        untested.min_by_key(|run| run.since).and_then(|run| run.announcement.clone())
    }

    /// Stops playing for a run.
    pub(super) fn refuse(&mut self, name: &str, why: &str, note: &TakeNote) {
        let Some(run) = self.0.get_mut(name) else { return };
        if !matches!(&run.standing, Standing::Refused { why: known, .. } if known == why) {
            note(Note::Warning(format!("not playing for run {name}: {why}")));
            run.standing = Standing::Refused { why: why.to_owned(), since: Instant::now() };
        }
    }

    /// Stops playing a job of a run; the next one may be playable.
    pub(super) fn give_up(&mut self, name: &str, job: [u8; 32], why: &str, note: &TakeNote) {
        let Some(run) = self.0.get_mut(name) else { return };
        if run.unplayable.as_ref().is_none_or(|known| known.job != job) {
            let why = format!("job {}: {why}", hex(&job[..4]));
            note(Note::Warning(format!("run {name}: {why}")));
            run.unplayable = Some(Unplayable { job, why, since: Instant::now() });
        }
    }

    /// Notes whether a job of a run could be fetched. If not, returns the time until it is to be tried again.
    pub(super) fn fetched(&mut self, name: &str, job: [u8; 32], fault: Option<&str>, note: &TakeNote) -> Duration {
        let [shortest, longest] = FETCHED_AGAIN;
        let Some(run) = self.0.get_mut(name) else { return shortest };
        let before = run.unfetched.take().filter(|before| before.job == job);
        let Some(why) = fault else { return Duration::ZERO };
        let pause = before.as_ref().map_or(shortest, |before| (2 * before.pause).min(longest));
        if before.is_none_or(|before| before.why != why) {
            note(Note::Warning(format!("run {name}: {why}; trying again")));
        }
        run.unfetched = Some(Unfetched { job, why: why.to_owned(), pause, until: Instant::now() + pause });
        pause
    }

    /// Whether ranges of a run are to be fetched: not while its job cannot be had.
    pub(super) fn is_due(&self, name: &str) -> bool {
        let unfetched = self.0.get(name).and_then(|run| run.unfetched.as_ref());
        unfetched.is_none_or(|job| job.until <= Instant::now())
    }

    /// What to do with a range of a job.
    pub(super) fn regard(&self, name: &str, job: &[u8; 32]) -> Regard {
        let Some(run) = self.0.get(name) else { return Regard::NotAnnounced };
        let is_announced = run.announcement.as_ref().is_some_and(|announcement| announcement.job == hex(job));
        match &run.unplayable {
            _ if !is_announced => Regard::NotAnnounced,
            Some(unplayable) if unplayable.job == *job => Regard::Unplayable,
            _ => Regard::Play,
        }
    }

    pub(super) fn ack_wait(&self, name: &str) -> Duration {
        let announcement = self.0.get(name).and_then(|run| run.announcement.as_ref());
        announcement.map_or(Duration::from_secs(30), |announcement| Duration::from_millis(announcement.ack_wait))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn announcement(job: &[u8; 32]) -> Announcement {
        let probe = crate::Probe {
            network: turnstone_models::NetworkConfig::default(),
            search: turnstone_selfplay::SearchConfig::default(),
            precision: turnstone_models::Precision::F32,
            checksum: String::new(),
        };
        Announcement {
            protocol: crate::PROTOCOL,
            run: "run".into(),
            program: "p".into(),
            game: "mancala".into(),
            version: 1,
            params: turnstone_env::Params::new(),
            probe,
            stage: String::new(),
            job: hex(job),
            items: [0, 0],
            ack_wait: 1000,
            excluded: Vec::new(),
            over: false,
        }
    }

    #[test]
    fn a_fault_is_of_a_job_and_a_refusal_of_a_time() {
        let note: TakeNote = Arc::new(|_| {});
        let [one, two] = [[1; 32], [2; 32]];
        let mut runs = Runs::default();
        runs.0.insert("run".into(), Run::new(Some(announcement(&one)), Standing::Serving));
        assert_eq!(runs.regard("run", &one), Regard::Play);
        assert_eq!(runs.regard("run", &two), Regard::NotAnnounced, "anyone may have published its range");
        runs.give_up("run", one, "it is damaged", &note);
        assert_eq!(runs.regard("run", &one), Regard::Unplayable);
        let (served, refused) = runs.standing();
        assert_eq!((served, refused.len()), (vec!["run".to_owned()], 1));
        assert!(refused[0].1.contains("it is damaged"));
        let run = runs.0.get_mut("run").expect("there");
        assert!(run.update(&announcement(&one)) && run.unplayable.is_some());
        assert!(run.update(&announcement(&two)) && run.unplayable.is_none(), "the next job is another");
        assert_eq!(runs.regard("run", &two), Regard::Play);
        for seconds in [1, 2, 4] {
            let pause = runs.fetched("run", two, Some("it is gone"), &note);
            assert!(pause == Duration::from_secs(seconds) && !runs.is_due("run"), "{pause:?}");
        }
        assert!(runs.standing().1[0].1.contains("it is gone") && runs.is_due("another"));
        runs.fetched("run", two, None, &note);
        assert!(runs.is_due("run") && runs.standing().1.is_empty());
        runs.refuse("run", "other bits", &note);
        let run = runs.0.get_mut("run").expect("there");
        assert!(run.update(&announcement(&two)), "it stays refused");
        let since = Instant::now() - 2 * REFUSED_FOR;
        run.standing = Standing::Refused { why: "other bits".into(), since };
        assert!(!run.update(&announcement(&two)), "it is compared again after a while");
        run.standing = Standing::Refused { why: LEFT_OUT.into(), since: Instant::now() };
        assert!(!run.update(&announcement(&two)), "it is wanted again");
        assert!(!run.update(&Announcement { version: 2, ..announcement(&two) }));
    }
}
