//! Self-play, matches and grading on many machines, over NATS JetStream, with the results of one machine.
//!
//! A [`Leader`] stores a job (everything that games depend on) as an object named by its checksum, and puts ranges of
//! item numbers on a work queue. [`work`] fetches ranges, plays them and sends the outcomes, which the leader checks,
//! collects by number and keeps on its own disk. Game `n` of a job is the same on every worker, so that
//! neither the number of workers nor what fails on the way changes a result. [`status`] looks at a server.
//!
//! The interface blocks; tokio and the client of NATS run on a thread of their own.

mod wire;
mod probe;
mod messages;
mod job;
mod notes;
mod server;
mod link;
mod stored;
mod counters;
mod leader;
mod players;
mod worker;
mod status;

pub use job::{Job, Kind, of_games, of_positions, of_task};
pub use leader::{Leader, LeaderSettings};
pub use messages::{Announcement, Beat, Effort, PROTOCOL, Range, Results, decode};
pub use notes::{Note, TakeNote};
pub use probe::Probe;
pub use server::{ServerOptions, shown};
pub use status::{Queue, Status, status};
pub use wire::Malformed;
pub use worker::{WorkerSettings, check_threads, work};
