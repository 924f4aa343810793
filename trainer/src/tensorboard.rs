//! TensorBoard event files, contained: the event writer behind them panics when its file cannot be written, which must
//! cost a warning and not the run.

use std::fs;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tensorboard_rs::summary_writer::SummaryWriter;

/// Scalars over the steps of a run, as event files that `tensorboard --logdir runs` reads.
///
/// On the first failure it says so once on stderr and drops everything from then on.
pub struct EventLog {
    /// Never dropped by the compiler: its destructor panics if its file failed, and while unwinding that would abort.
    writer: Option<ManuallyDrop<SummaryWriter>>,
}

impl EventLog {
    /// Opens a new event file in the folder, which is made if need be.
    #[must_use]
    pub fn open(folder: &Path) -> Self {
        let opened = fs::create_dir_all(folder).map_err(|e| e.to_string()).and_then(|()| {
            catch_unwind(|| SummaryWriter::new(folder)).map_err(|_| "cannot create an event file".into())
        });
        match opened {
            Ok(writer) => Self { writer: Some(ManuallyDrop::new(writer)) },
            Err(fault) => {
                eprintln!("warning: TensorBoard events are off: {}: {fault}", folder.display());
                Self { writer: None }
            }
        }
    }

    /// Writes a scalar; values that are not finite are left out.
    pub fn scalar(&mut self, tag: &str, value: f64, step: u64) {
        if value.is_finite() {
            self.attempt(|writer| writer.add_scalar(tag, value as f32, step as usize));
        }
    }

    /// Hands everything written so far to the operating system.
    pub fn flush(&mut self) {
        self.attempt(SummaryWriter::flush);
    }

    fn attempt(&mut self, write: impl FnOnce(&mut SummaryWriter)) {
        let Some(writer) = &mut self.writer else { return };
        if catch_unwind(AssertUnwindSafe(|| write(writer))).is_err() {
            eprintln!("warning: TensorBoard events are off from here on: the event file cannot be written");
            self.writer = None; // forgets the writer without running its destructor
        }
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take()
            && !std::thread::panicking()
        {
            // The destructor waits until the writer's thread has written the rest.
            let closed = catch_unwind(AssertUnwindSafe(|| drop(ManuallyDrop::into_inner(writer))));
            if closed.is_err() {
                eprintln!("warning: the last TensorBoard events could not be written");
            }
        }
    }
}

/// Keeps panics inside the event writer, which [`EventLog`] reports in one line, from being printed by its thread.
pub fn quiet_event_writer() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.location().is_some_and(|location| location.file().contains("tensorboard-rs")) {
            print(info);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_reach_the_file_and_failures_only_warn() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut log = EventLog::open(folder.path());
        (0..10).for_each(|step| log.scalar("loss/policy", 1.0 / f64::from(step), step as u64));
        drop(log);
        let file = fs::read_dir(folder.path()).expect("readable").next().expect("one file").expect("readable");
        assert!(file.metadata().expect("readable").len() > 9 * 40);

        let blocked = folder.path().join("file");
        fs::write(&blocked, "").expect("writable");
        let mut log = EventLog::open(&blocked.join("below"));
        log.scalar("x", 1.0, 1);
        log.flush();
    }
}
