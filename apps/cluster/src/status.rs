//! The state of a server: runs, their workers, queues and streams.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use turnstone_agents::search::Stop;

use crate::link::Link;
use crate::messages::{JOBS, LEADERS, RESULTS, WORK};
use crate::server::ServerOptions;

/// What the leader of a run says of it every second.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RunStatus {
    /// Random identifier of the leader.
    pub(crate) leader: String,
    pub(crate) game: String,
    /// What is being played; empty between two works.
    pub(crate) stage: String,
    /// Items received, and all of them.
    pub(crate) items: [u64; 2],
    /// Jobs done since the leader began, deliveries beyond the first, and failures.
    pub(crate) jobs: [u64; 3],
    /// The workers that have sent results for the last work, by name.
    pub(crate) workers: BTreeMap<String, WorkerStatus>,
}

/// A worker's threads, and its items for the last work, in all and per second.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WorkerStatus {
    pub(crate) threads: usize,
    pub(crate) items: u64,
    pub(crate) rate: f64,
}

/// State of a server: it can be shown in lines of 80 columns.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// By run.
    runs: BTreeMap<String, Queue>,
    /// Streams on the server: their messages, and the bytes of these.
    streams: BTreeMap<String, [u64; 2]>,
}

/// Queue of a run.
#[derive(Clone, Debug, Serialize)]
struct Queue {
    /// Jobs that wait for a worker, and those that workers have.
    waiting: u64,
    in_work: u64,
    /// Workers that ask for a job.
    idle: u64,
    /// What its leader says; `None` if there is no leader.
    leader: Option<RunStatus>,
}

/// Returns the state of a server.
///
/// # Errors
/// The server cannot be reached.
pub fn status(server: &ServerOptions) -> Result<Status> {
    let link = Link::connect(server, "status", Duration::ZERO, &Stop::default(), &(Arc::new(|_| {}) as _))?;
    let mut status = Status { runs: BTreeMap::new(), streams: BTreeMap::new() };
    link.wait(async {
        for name in [JOBS, RESULTS, &format!("KV_{WORK}")] {
            let Ok(stream) = link.js.get_stream(name).await else { continue };
            let state = &stream.cached_info().state;
            status.streams.insert(name.to_owned(), [state.messages, state.bytes]);
        }
        // Without streams there has been no leader yet.
        let Ok(stream) = link.js.get_stream(JOBS).await else { return Ok(()) };
        let leaders = link.js.get_key_value(LEADERS).await?;
        let mut consumers = stream.consumers();
        while let Some(info) = consumers.next().await.transpose()? {
            let leader = leaders.get(&info.name).await?.and_then(|value| serde_json::from_slice(&value).ok());
            let (waiting, in_work, idle) = (info.num_pending, info.num_ack_pending as u64, info.num_waiting as u64);
            status.runs.insert(info.name, Queue { waiting, in_work, idle, leader });
        }
        Ok::<_, anyhow::Error>(())
    })?;
    Ok(status)
}

impl Display for Status {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for (name, Queue { waiting, in_work, idle, leader }) in &self.runs {
            let Some(leader) = leader else {
                writeln!(f, "{name}: no leader (resume the run with --cluster; it expires after 3 days)")?;
                writeln!(f, "  jobs: {waiting} waiting, {in_work} in work")?;
                continue;
            };
            let ([done, again, failed], [received, all]) = (leader.jobs, leader.items);
            let stage = if leader.stage.is_empty() { "learning" } else { &leader.stage };
            writeln!(f, "{name}: {stage}, {received} of {all} items")?;
            write!(f, "  jobs: {waiting} waiting, {in_work} in work, {done} done, ")?;
            writeln!(f, "{again} redelivered, {failed} failed; {idle} workers idle")?;
            for (worker, WorkerStatus { threads, items, rate }) in &leader.workers {
                writeln!(f, "  {worker:<40} {threads:>4} threads {items:>8} items {rate:>8.1}/s")?;
            }
        }
        if self.runs.is_empty() {
            writeln!(f, "(no run)")?;
        }
        for (name, [messages, bytes]) in &self.streams {
            writeln!(f, "{name:<20} {messages:>9} messages {:>9.1} MB", *bytes as f64 / 1e6)?;
        }
        Ok(())
    }
}
