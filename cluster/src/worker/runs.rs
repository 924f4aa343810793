//! Runs that a worker has heard of, and whether it plays for them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::messages::Announcement;
use crate::notes::{Note, TakeNote};

/// A run and whether this worker can play for it.
pub(super) struct Run {
    pub(super) announcement: Announcement,
    pub(super) seen: Instant,
    pub(super) standing: Standing,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    /// Its arithmetic is being compared.
    Unknown,
    /// It plays for the run.
    Serving,
    /// It cannot, for this reason.
    Refused(String),
}

/// The runs by name.
#[derive(Default)]
pub(super) struct Runs(pub(super) HashMap<String, Run>);

impl Runs {
    /// Runs that are served, and reasons for those that are not.
    pub(super) fn standing(&self) -> (Vec<String>, Vec<(String, String)>) {
        let (mut served, mut refused) = (Vec::new(), Vec::new());
        for (name, run) in &self.0 {
            match &run.standing {
                Standing::Serving => served.push(name.clone()),
                Standing::Refused(why) => refused.push((name.clone(), why.clone())),
                Standing::Unknown => {}
            }
        }
        served.sort();
        (served, refused)
    }

    /// Stops playing for a run.
    pub(super) fn refuse(&mut self, name: &str, why: &str, note: &TakeNote) {
        let Some(run) = self.0.get_mut(name) else { return };
        let refused = Standing::Refused(why.to_owned());
        if run.standing != refused {
            note(Note::Warning(format!("not playing for run {name}: {why}")));
            run.standing = refused;
        }
    }

    pub(super) fn ack_wait(&self, name: &str) -> Duration {
        self.0.get(name).map_or(Duration::from_secs(30), |run| Duration::from_millis(run.announcement.ack_wait))
    }
}
