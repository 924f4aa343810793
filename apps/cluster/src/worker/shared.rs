//! State shared by the threads and tasks of a worker.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_nats::jetstream::message::Acker;
use tokio::sync::{Notify, mpsc};
use turnstone_selfplay::{Games, SelfPlayStats};

use super::queue::WorkQueue;
use super::runs::Runs;
use crate::counters::Counters;
use crate::notes::TakeNote;

/// The report of a thread.
pub(super) enum Finished {
    /// An item is done.
    Item { job: [u8; 32], number: usize, outcome: Vec<u8> },
    /// A job cannot be played here.
    Failure { job: [u8; 32], fault: String },
}

/// A range that this worker has not finished.
pub(super) struct HeldRange {
    pub(super) run: String,
    pub(super) job: [u8; 32],
    pub(super) left: HashSet<usize>,
    pub(super) items: Vec<(u32, Vec<u8>)>,
    pub(super) acker: Arc<Acker>,
    pub(super) ack_wait: Duration,
    /// When the server was last told that it is being played.
    pub(super) spoken: Instant,
}

/// What the threads and tasks of a worker share.
pub(super) struct Shared {
    pub(super) program: String,
    pub(super) name: String,
    pub(super) games: Games,
    pub(super) threads: usize,
    pub(super) queue: WorkQueue,
    pub(super) runs: Mutex<Runs>,
    pub(super) held: Mutex<HashMap<u64, HeldRange>>,
    pub(super) next_range: AtomicU64,
    pub(super) counters: Counters,
    /// Number of finished ranges that the server has not acknowledged.
    pub(super) unsent: AtomicU64,
    pub(super) effort: Mutex<SelfPlayStats>,
    pub(super) note: TakeNote,
    pub(super) finished: mpsc::UnboundedSender<Finished>,
    /// Notified when a thread has finished an item or a range is sent, so that there may be room for another.
    pub(super) room: Notify,
    pub(super) stop: AtomicBool,
}
