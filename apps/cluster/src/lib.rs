//! Self-play, matches and grading on many machines, over a work queue of NATS JetStream, with the results of one machine.
//!
//! A [`Leader`] stores the work (everything that games depend on) on the server and puts jobs, ranges of its items, on a
//! queue. [`work`] takes jobs, plays them and sends results, which the leader collects by number. Game `n` is the same on
//! every worker, so that neither the number of workers nor what fails on the way changes a result.
//!
//! The interface blocks; tokio and the client of NATS are inside.

mod messages;
mod probe;
mod work;
mod server;
mod link;
mod status;
mod leader;
mod players;
mod worker;

pub use leader::{Leader, LeaderOptions};
pub use messages::Played;
pub use probe::Probe;
pub use server::Credentials;
pub use status::{ClusterOptions, status};
pub use work::Work;
pub use worker::{WorkerOptions, work};
