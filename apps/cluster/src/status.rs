//! The state of a server: runs, their workers, queues and streams.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use async_nats::jetstream::consumer::Info;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use crate::link::Link;
use crate::messages::{JOBS, LEADERS, RESULTS, WORK};
use crate::server::ServerOptions;

/// What the leader of a run says of it every second.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RunStatus {
    /// Random identifier of the leader.
    pub leader: String,
    /// The game.
    pub game: String,
    /// What is being played; empty between two works.
    pub stage: String,
    /// Items received, and all of them.
    pub items: [u64; 2],
    /// Positions searched since the leader began, as the workers report them.
    pub positions: u64,
    /// Jobs done since the leader began, deliveries beyond the first, and failures.
    pub jobs: [u64; 3],
    /// The workers that have sent results for the last work, by name.
    pub workers: BTreeMap<String, WorkerStatus>,
}

/// What a leader knows of a worker.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Its threads.
    pub threads: usize,
    /// Items since the leader began.
    pub items: u64,
    /// Items per second in the last work.
    pub rate: f64,
}

/// State of a server.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Status {
    /// Queues of jobs, by run.
    pub runs: BTreeMap<String, Queue>,
    /// Streams on the server: their messages, and the bytes of these.
    pub streams: BTreeMap<String, [u64; 2]>,
}

/// Queue of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Queue {
    /// Jobs that wait for a worker.
    pub waiting: u64,
    /// Jobs that workers have and have not acknowledged.
    pub in_work: u64,
    /// Requests for jobs: workers that have nothing to do.
    pub idle: u64,
    /// What its leader says; `None` if there is no leader.
    pub leader: Option<RunStatus>,
}

impl Queue {
    pub(crate) fn of(info: &Info, leader: Option<RunStatus>) -> Self {
        let (in_work, idle) = (info.num_ack_pending as u64, info.num_waiting as u64);
        Self { waiting: info.num_pending, in_work, idle, leader }
    }
}

/// Returns the state of a server.
///
/// # Errors
/// The server cannot be reached.
pub fn status(server: &ServerOptions) -> Result<Status> {
    let link = Link::connect(server, "status", Duration::ZERO, &AtomicBool::new(false), &(Arc::new(|_| {}) as _))?;
    let (mut runs, mut streams) = (BTreeMap::new(), BTreeMap::new());
    link.wait(async {
        for name in [JOBS.to_owned(), RESULTS.to_owned(), format!("KV_{WORK}")] {
            let Ok(stream) = link.js.get_stream(&name).await else { continue };
            let state = &stream.cached_info().state;
            streams.insert(name, [state.messages, state.bytes]);
        }
        // Without streams there has been no leader yet.
        let Ok(stream) = link.js.get_stream(JOBS).await else { return Ok(()) };
        let leaders = link.js.get_key_value(LEADERS).await?;
        let mut consumers = stream.consumers();
        while let Some(info) = consumers.next().await.transpose()? {
            let leader = leaders.get(&info.name).await?.and_then(|value| serde_json::from_slice(&value).ok());
            runs.insert(info.name.clone(), Queue::of(&info, leader));
        }
        Ok::<_, anyhow::Error>(())
    })?;
    Ok(Status { runs, streams })
}
