//! The state of a server: runs, workers, queues, streams.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::StreamExt;
use serde::Serialize;

use crate::link::Link;
use crate::messages::{ALL_RUNS, ALL_WORKERS, Announcement, Beat, JOBS, RESULTS, WORK, decode};
use crate::server::{ServerOptions, shown};

/// State of a server.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Status {
    /// Announcements of runs, by name.
    pub runs: BTreeMap<String, Announcement>,
    /// Heartbeats of workers, by name.
    pub workers: BTreeMap<String, Beat>,
    /// Streams on the server, by name; absent if they cannot be read.
    pub streams: BTreeMap<String, Stored>,
    /// Queues of ranges by run.
    pub queues: BTreeMap<String, Queue>,
}

/// Contents of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Stored {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Queue of a run's ranges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Queue {
    /// Ranges that wait for a worker.
    pub waiting: u64,
    /// Ranges that workers have and have not acknowledged.
    pub played: u64,
    /// Ranges that were handed to a second worker.
    pub redelivered: u64,
}

/// Listens to a server for a while and returns its state.
///
/// # Errors
/// The server cannot be reached.
pub fn status(server: &ServerOptions, listen: Duration) -> Result<Status> {
    let link = Link::connect(server, "status", Duration::ZERO, &AtomicBool::new(false), |_| {})?;
    let (mut runs, mut workers) = (BTreeMap::new(), BTreeMap::new());
    let listening = async {
        let (announcements, beats) =
            (link.client.subscribe(ALL_RUNS).await?, link.client.subscribe(ALL_WORKERS).await?);
        let mut messages = futures_util::stream::select(announcements, beats);
        let until = tokio::time::Instant::now() + listen;
        while let Ok(Some(message)) = tokio::time::timeout_at(until, messages.next()).await {
            if let Ok(run) = decode::<Announcement>(&message.payload) {
                runs.insert(run.run.clone(), run);
            } else if let Ok(beat) = decode::<Beat>(&message.payload) {
                workers.insert(beat.worker.clone(), beat);
            }
        }
        Ok::<(), anyhow::Error>(())
    };
    link.wait(listening).with_context(|| format!("server {}", shown(&server.url)))?;
    let (mut streams, mut queues) = (BTreeMap::new(), BTreeMap::new());
    link.wait(async {
        for name in [WORK, RESULTS, JOBS] {
            let Ok(stream) = link.js.get_stream(name).await else { continue };
            let state = &stream.cached_info().state;
            streams.insert(name.to_owned(), Stored { messages: state.messages, bytes: state.bytes });
            if name == WORK {
                let mut consumers = stream.consumers();
                while let Some(Ok(info)) = consumers.next().await {
                    let (waiting, played) = (info.num_pending, info.num_ack_pending as u64);
                    queues.insert(info.name, Queue { waiting, played, redelivered: info.num_redelivered as u64 });
                }
            }
        }
    });
    Ok(Status { runs, workers, streams, queues })
}
