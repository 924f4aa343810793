//! Subjects and streams on the server, all of which begin with `turnstone`.

use crate::wire::hex;

/// Version of all messages; leaders and workers of other versions refuse each other.
pub const PROTOCOL: u32 = 2;

/// Stream of ranges to be played: each is delivered until a worker acknowledges it.
pub(crate) const WORK: &str = "TURNSTONE_WORK";
/// Stream of results: each is kept until the leader has it on disk.
pub(crate) const RESULTS: &str = "TURNSTONE_RESULTS";
/// Stream of jobs, in pieces on the subject of the job's SHA-256. Stream and subjects are named like those of an object store,
/// for the permissions that servers have.
pub(crate) const JOBS: &str = "OBJ_turnstone";

pub(crate) const ALL_WORK: &str = "turnstone.work.*";
pub(crate) const ALL_RESULTS: &str = "turnstone.result.*.*";
pub(crate) const ALL_JOBS: &str = "$O.turnstone.C.*";
pub(crate) const ALL_RUNS: &str = "turnstone.run.*";
pub(crate) const ALL_WORKERS: &str = "turnstone.worker.*";

/// End of the name of a run that is over with its leader.
pub(crate) const ONCE: &str = "-once";

/// Whether a run of this name is over with its leader, since no folder of it is kept.
#[must_use]
pub fn is_once(run: &str) -> bool {
    run.ends_with(ONCE)
}

/// Subject of a run's ranges.
pub(crate) fn work(run: &str) -> String {
    format!("turnstone.work.{run}")
}

/// Subject of a worker's results for a run.
pub(crate) fn result(run: &str, worker: &str) -> String {
    format!("turnstone.result.{run}.{worker}")
}

/// Subject of the pieces of a job.
pub(crate) fn job(sum: &[u8; 32]) -> String {
    format!("$O.turnstone.C.{}", hex(sum))
}

/// Subject of a run's announcements.
pub(crate) fn run(run: &str) -> String {
    format!("turnstone.run.{run}")
}

/// Subject of a worker's signs of life.
pub(crate) fn worker(worker: &str) -> String {
    format!("turnstone.worker.{worker}")
}

/// Prefix of the subjects on which the server answers a client.
pub(crate) fn inbox(name: &str) -> String {
    format!("_INBOX.{name}")
}

/// Whether a subject belongs to the client of this name: its signs of life, its results, and answers to it.
pub(crate) fn is_of(subject: &str, name: &str) -> bool {
    let is_result = || subject.strip_prefix("turnstone.result.").and_then(|rest| rest.split_once('.'));
    subject == worker(name)
        || is_result().is_some_and(|(_, of)| of == name)
        || subject.strip_prefix(&inbox(name)).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_subjects_of_its_own() {
        for subject in [worker("w1"), result("run", "w1"), "_INBOX.w1.abc".into()] {
            assert!(is_of(&subject, "w1") && !is_of(&subject, "w"), "{subject}");
        }
        for subject in [work("w1"), run("w1"), "_INBOX.w10.abc".into(), result("w1", "w2"), "$JS.API.INFO".into()] {
            assert!(!is_of(&subject, "w1"), "{subject}");
        }
    }
}
