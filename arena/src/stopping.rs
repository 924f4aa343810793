//! The flag of a command that ends moves too: searches look at a [`Stop`] inside every move.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use turnstone_agents::search::classic::Stop;

/// Time between two looks at the flag.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Does `work` with a [`Stop`] that is raised soon after `stop` is set.
pub(crate) fn stopped_inside_moves<T>(stop: &AtomicBool, work: impl FnOnce(&Stop) -> T) -> T {
    let (raised, done) = (Stop::default(), AtomicBool::new(stop.load(Ordering::Relaxed)));
    if done.load(Ordering::Relaxed) {
        raised.raise();
    }
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                if stop.load(Ordering::Relaxed) {
                    return raised.raise();
                }
                thread::park_timeout(LOOK_EVERY);
            }
        });
        let _end = EndOnDrop(&done, watcher.thread().clone());
        work(&raised)
    })
}

/// Ends the watcher, even if the work panics.
struct EndOnDrop<'a>(&'a AtomicBool, Thread);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.unpark();
    }
}
