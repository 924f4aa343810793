//! Self-tests: whether this machine computes the same bits as the leader of a run. They run one at a time, in the order in
//! which the runs were announced, since anyone who may announce a run chooses the size of its network.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use super::runs::{Eligibility, Run, demands_same};
use super::shared::Shared;
use crate::messages::Announcement;
use crate::notes::{Note, lock, panic_text};

/// Pause between looks for new runs.
const PAUSE: Duration = Duration::from_millis(50);

/// Tests runs until the worker stops.
pub(super) fn test_runs(shared: &Shared) {
    while !shared.stop.load(Ordering::Relaxed) {
        let next = lock(&shared.runs).untested();
        match next {
            Some(announcement) => test(shared, &announcement),
            None => thread::sleep(PAUSE),
        }
    }
}

/// Tests a run, unless meanwhile it ends, its requirements change, or its leader excludes this worker.
fn test(shared: &Shared, announcement: &Announcement) {
    let name = &announcement.run;
    let waits = |run: &Run| {
        let is_same = run.announcement.as_ref().is_some_and(|now| demands_same(now, announcement));
        is_same && run.eligibility == Eligibility::Unknown
    };
    let is_needed = || !shared.stop.load(Ordering::Relaxed) && lock(&shared.runs).0.get(name).is_some_and(waits);
    let confirmed = catch_unwind(AssertUnwindSafe(|| confirm(shared, announcement, &is_needed)));
    let panics = |panic: Box<dyn Any + Send>| Some(Err(format!("its self-test panics: {}", panic_text(&*panic))));
    let Some(confirmed) = confirmed.unwrap_or_else(panics) else { return };
    let mut runs = lock(&shared.runs);
    match (confirmed, runs.0.get_mut(name).filter(|run| waits(run))) {
        (_, None) => {}
        (Ok(()), Some(run)) => {
            run.eligibility = Eligibility::Serving;
            (shared.note)(Note::Line(format!("playing for run {name} of {}", announcement.game)));
        }
        (Err(why), Some(_)) => runs.refuse(name, &why, &shared.note),
    }
}

/// Checks that this worker can play for a run. Returns `None` if the result was no longer needed.
fn confirm(shared: &Shared, announcement: &Announcement, is_needed: &dyn Fn() -> bool) -> Option<Result<(), String>> {
    let Announcement { program, game: name, version, params, probe, .. } = announcement;
    let game = match shared.games.make(name, params) {
        Ok(game) => game,
        Err(error) => return Some(Err(error.to_string())),
    };
    if game.version() != *version || game.params() != *params {
        return Some(Err(format!("its game is {name} version {version}, here it is version {}", game.version())));
    }
    let own = &shared.program;
    if program != own {
        return Some(Err(format!("its leader is {program}, this worker {own}")));
    }
    probe.confirm(&*game, is_needed)
}
