//! The state of a server: runs, their workers and queues.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand};
use futures_util::StreamExt;
use serde::Serialize;
use turnstone_agents::search::Stop;
use turnstone_arena::{RunStatus, WorkerStatus};
use turnstone_base::terminal::Reporter;

use crate::link::Link;
use crate::messages::{JOBS, LEADERS};
use crate::server::Credentials;

/// State of a server: its runs by name.
#[derive(Default)]
struct Status(BTreeMap<String, Queue>);

/// Queue of a run.
#[derive(Serialize)]
struct Queue {
    /// Jobs that wait for a worker, and those that workers have.
    waiting: u64,
    in_work: u64,
    /// Threads of workers that ask for a job.
    idle: u64,
    /// Its leader's report; `None` if there is no leader.
    leader: Option<RunStatus>,
}

/// What is asked of a cluster.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone cluster status nats://leader:4222
      runs, workers and rates
  turnstone cluster status nats://leader:4222 --json
      for a script")]
pub struct ClusterOptions {
    #[command(subcommand)]
    question: Question,
}

#[derive(Subcommand, Debug)]
enum Question {
    /// Runs, workers and rates
    Status {
        /// NATS server of the cluster, e.g. nats://leader:4222
        url: String,
        #[command(flatten)]
        credentials: Credentials,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// Returns the state of a server, in JSON or as lines of at most 80 columns.
///
/// # Errors
/// The server cannot be reached.
pub fn status(options: &ClusterOptions) -> Result<String> {
    let Question::Status { url, credentials, json } = &options.question;
    let quiet = Arc::new(Reporter::new(true));
    let link = Link::connect(url, credentials, "status", Duration::ZERO, &Stop::default(), &quiet)?;
    let mut status = Status::default();
    link.wait(async {
        // Without streams there has been no leader yet.
        let Ok(stream) = link.js.get_stream(JOBS).await else { return Ok(()) };
        let leaders = link.js.get_key_value(LEADERS).await?;
        let mut consumers = stream.consumers();
        while let Some(info) = consumers.next().await.transpose()? {
            let leader = leaders.get(&info.name).await?.and_then(|value| serde_json::from_slice(&value).ok());
            let (waiting, in_work, idle) = (info.num_pending, info.num_ack_pending as u64, info.num_waiting as u64);
            status.0.insert(info.name, Queue { waiting, in_work, idle, leader });
        }
        Ok::<_, anyhow::Error>(())
    })?;
    Ok(if *json { serde_json::json!({ "runs": status.0 }).to_string() } else { status.to_string() })
}

impl Display for Status {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for (name, Queue { waiting, in_work, idle, leader }) in &self.0 {
            let Some(leader) = leader else {
                writeln!(f, "{name}: no leader (resume the run with --cluster; it expires after 3 days)")?;
                writeln!(f, "  jobs: {waiting} waiting, {in_work} in work")?;
                continue;
            };
            let ([done, again, failed], [received, all]) = (leader.jobs, leader.items);
            let stage = if leader.stage.is_empty() { "learning" } else { &leader.stage };
            writeln!(f, "{name}: {stage}, {received} of {all} items")?;
            write!(f, "  jobs: {waiting} waiting, {in_work} in work, {done} done, ")?;
            writeln!(f, "{again} redelivered, {failed} failed; {idle} threads ask")?;
            for (worker, WorkerStatus { threads, items, rate }) in &leader.workers {
                writeln!(f, "  {worker:<40} {threads:>4} threads {items:>8} items {rate:>8.1}/s")?;
            }
        }
        if self.0.is_empty() {
            writeln!(f, "(no run)")?;
        }
        Ok(())
    }
}
