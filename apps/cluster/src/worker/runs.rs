//! The runs that a worker has heard of, and whether it plays for them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::messages::{Announcement, LONGEST_REASON, MOST_REFUSALS};
use crate::notes::{Note, TakeNote};
use crate::wire::{cut, hex};

/// A run, and whether this worker can play for it.
pub(super) struct Run {
    /// Its leader's last announcement; `None` if that cannot be read.
    pub(super) announcement: Option<Announcement>,
    pub(super) seen: Instant,
    pub(super) eligibility: Eligibility,
    /// A job of the run that cannot be played here.
    unplayable: Option<Unplayable>,
}

struct Unplayable {
    job: [u8; 32],
    why: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Eligibility {
    /// Its self-test has not finished.
    Unknown,
    /// The worker plays for the run.
    Serving,
    /// The worker cannot play for the run, for this reason.
    Refused(String),
}

/// What a worker does with a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Play,
    /// Its job cannot be played here.
    Unplayable,
    /// The run's leader does not announce its job.
    NotAnnounced,
}

impl Run {
    pub(super) fn new(announcement: Option<Announcement>, eligibility: Eligibility) -> Self {
        Self { announcement, seen: Instant::now(), eligibility, unplayable: None }
    }

    /// Takes a new announcement. Returns whether the eligibility remains, since the requirements are the same.
    pub(super) fn update(&mut self, announcement: &Announcement) -> bool {
        if !self.announcement.as_ref().is_some_and(|known| demands_same(known, announcement)) {
            return false;
        }
        self.unplayable.take_if(|job| hex(&job.job) != announcement.job);
        (self.announcement, self.seen) = (Some(announcement.clone()), Instant::now());
        true
    }
}

/// Whether two announcements of a run have the same requirements for workers.
pub(super) fn demands_same(one: &Announcement, other: &Announcement) -> bool {
    (&one.probe, &one.program, &one.params) == (&other.probe, &other.program, &other.params)
        && (&one.game, one.version) == (&other.game, other.version)
}

/// The runs by name.
#[derive(Default)]
pub(super) struct Runs(pub(super) HashMap<String, Run>);

impl Runs {
    /// The runs that are served, and the reasons for those that are not, within the limits of a heartbeat.
    pub(super) fn eligibility(&self) -> (Vec<String>, Vec<(String, String)>) {
        let (mut served, mut refused) = (Vec::new(), Vec::new());
        for (name, run) in &self.0 {
            let mut refuse = |why: &str| refused.push((name.clone(), cut(why, LONGEST_REASON)));
            match &run.eligibility {
                Eligibility::Serving => served.push(name.clone()),
                Eligibility::Refused(why) => refuse(why),
                Eligibility::Unknown => {}
            }
            run.unplayable.iter().for_each(|job| refuse(&job.why));
        }
        served.sort();
        refused.sort();
        refused.truncate(MOST_REFUSALS);
        (served, refused)
    }

    /// Stops playing for a run.
    pub(super) fn refuse(&mut self, name: &str, why: &str, note: &TakeNote) {
        let Some(run) = self.0.get_mut(name) else { return };
        if !matches!(&run.eligibility, Eligibility::Refused(known) if known == why) {
            note(Note::Warning(format!("not playing for run {name}: {why}")));
            run.eligibility = Eligibility::Refused(why.to_owned());
        }
    }

    /// Stops playing a job of a run; the next one may be playable.
    pub(super) fn give_up(&mut self, name: &str, job: [u8; 32], why: &str, note: &TakeNote) {
        let Some(run) = self.0.get_mut(name) else { return };
        if run.unplayable.as_ref().is_none_or(|known| known.job != job) {
            let why = format!("job {}: {why}", hex(&job[..4]));
            note(Note::Warning(format!("run {name}: {why}")));
            run.unplayable = Some(Unplayable { job, why });
        }
    }

    /// What to do with a range of a job.
    pub(super) fn verdict(&self, name: &str, job: &[u8; 32]) -> Verdict {
        let Some(run) = self.0.get(name) else { return Verdict::NotAnnounced };
        let is_announced = run.announcement.as_ref().is_some_and(|announcement| announcement.job == hex(job));
        match &run.unplayable {
            _ if !is_announced => Verdict::NotAnnounced,
            Some(unplayable) if unplayable.job == *job => Verdict::Unplayable,
            _ => Verdict::Play,
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
            over: false,
        }
    }

    #[test]
    fn a_fault_is_of_a_job_and_a_refusal_of_a_run() {
        let note: TakeNote = Arc::new(|_| {});
        let [one, two] = [[1; 32], [2; 32]];
        let mut runs = Runs::default();
        runs.0.insert("run".into(), Run::new(Some(announcement(&one)), Eligibility::Serving));
        assert_eq!(runs.verdict("run", &one), Verdict::Play);
        assert_eq!(runs.verdict("run", &two), Verdict::NotAnnounced);
        runs.give_up("run", one, "it is damaged", &note);
        assert_eq!(runs.verdict("run", &one), Verdict::Unplayable);
        let (served, refused) = runs.eligibility();
        assert_eq!((served, refused.len()), (vec!["run".to_owned()], 1));
        assert!(refused[0].1.contains("it is damaged"));
        let run = runs.0.get_mut("run").expect("there");
        assert!(run.update(&announcement(&one)) && run.unplayable.is_some());
        assert!(run.update(&announcement(&two)) && run.unplayable.is_none(), "the next job is another");
        assert_eq!(runs.verdict("run", &two), Verdict::Play);
        runs.refuse("run", "other bits", &note);
        let run = runs.0.get_mut("run").expect("there");
        assert!(run.update(&announcement(&two)), "it stays refused");
        assert!(!run.update(&Announcement { version: 2, ..announcement(&two) }));
    }
}
