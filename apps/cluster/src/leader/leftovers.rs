//! Removes from the server the data of runs whose leader was killed and that no leader can continue.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Result, ensure};
use async_nats::jetstream::Context as JetStream;
use futures_util::StreamExt;

use crate::link::remove_run;
use crate::messages::{ALL_RESULTS, ALL_RUNS, ALL_WORK, RESULTS, WORK, is_once};
use crate::notes::{Note, TakeNote};

/// Time between checks.
const LOOK_EVERY: Duration = Duration::from_mins(1);
/// Time without an announcement after which a leader counts as gone; there is one per second. A leader that is not gone hands
/// out again what it lacks.
const GONE_AFTER: Duration = Duration::from_secs(5);
/// Number of own announcements to be heard in that time; with fewer, the connection was interrupted.
const LEAST_HEARD: u32 = 3;
/// Maximum number of runs to remove at a time.
const MOST_RUNS: usize = 1000;

/// Removes from the server the data of runs that ended with a leader that is gone.
pub(super) async fn remove_leftovers(js: JetStream, own: String, note: TakeNote) {
    loop {
        match look(&js, &own).await {
            Ok(0) | Err(_) => {} // it looks again
            Ok(count) => note(Note::Line(format!("runs of killed leaders removed from the server: {count}"))),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn look(js: &JetStream, own: &str) -> Result<usize> {
    let mut left = runs_on(js).await?;
    left.remove(own);
    if left.is_empty() {
        return Ok(0);
    }
    let mut announcements = js.client().subscribe(ALL_RUNS).await?;
    let (until, mut heard) = (tokio::time::Instant::now() + GONE_AFTER, 0);
    while let Ok(Some(message)) = tokio::time::timeout_at(until, announcements.next()).await {
        let run = message.subject.rsplit('.').next().unwrap_or_default();
        left.remove(run);
        heard += u32::from(run == own);
    }
    ensure!(heard >= LEAST_HEARD, "the connection was interrupted");
    for run in &left {
        remove_run(js, run).await;
    }
    Ok(left.len())
}

/// The runs on the server that end with their leaders.
async fn runs_on(js: &JetStream) -> Result<BTreeSet<String>> {
    let mut runs = BTreeSet::new();
    for (stream, subjects) in [(WORK, ALL_WORK), (RESULTS, ALL_RESULTS)] {
        let stream = js.get_stream_no_info(stream).await?;
        let mut consumers = stream.consumer_names();
        while let Some(run) = consumers.next().await {
            runs.insert(run?);
        }
        let mut subjects = stream.info_with_subjects(subjects).await?;
        while let Some(subject) = subjects.next().await {
            runs.extend(subject?.0.split('.').nth(2).filter(|_| runs.len() < MOST_RUNS).map(str::to_owned));
        }
    }
    runs.retain(|run| is_once(run));
    Ok(runs)
}
