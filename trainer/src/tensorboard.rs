//! TensorBoard event files. The event writer in use panics if its file cannot be written; here that is reduced to a
//! warning.

use std::fs;
use std::io;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tensorboard_proto::types::DataType;
use tensorboard_rs::summary;
use tensorboard_rs::summary_writer::FileWriter;

/// Number of bins of a histogram.
const BINS: usize = 40;

/// Writer of scalars, histograms and texts over the steps of a run to an event file.
///
/// The first failure prints one warning to standard error; later events are discarded.
pub struct EventLog {
    /// Not dropped automatically: the destructor panics after a failed write, which aborts the process if unwinding.
    writer: Option<ManuallyDrop<FileWriter>>,
}

impl EventLog {
    /// Opens a new event file in the folder, which is created if it does not exist.
    #[must_use]
    pub fn open(folder: &Path) -> Self {
        let opened = fs::create_dir_all(folder)
            .and_then(|()| probe(folder))
            .map_err(|e| e.to_string())
            .and_then(|()| catch_unwind(|| FileWriter::new(folder)).map_err(|_| "cannot create an event file".into()));
        match opened {
            Ok(writer) => Self { writer: Some(ManuallyDrop::new(writer)) },
            Err(fault) => {
                eprintln!("warning: TensorBoard events are off: {}: {fault}", folder.display());
                Self { writer: None }
            }
        }
    }

    /// Writes a scalar, unless it is not finite.
    pub fn scalar(&mut self, tag: &str, value: f64, step: u64) {
        if value.is_finite() {
            self.attempt(|writer| writer.add_summary(summary::scalar(tag, value as f32), step as usize));
        }
    }

    /// Writes a histogram of `values`, unless they are empty or one is not finite.
    pub fn histogram(&mut self, tag: &str, values: &[f32], step: u64) {
        let Some(Bins { least, most, limits, counts }) = Bins::of(values) else { return };
        let squares = values.iter().map(|&value| f64::from(value).powi(2)).sum();
        let sum = values.iter().map(|&value| f64::from(value)).sum();
        let histogram = summary::histogram_raw(tag, least, most, values.len() as f64, sum, squares, &limits, &counts);
        self.attempt(|writer| writer.add_summary(histogram, step as usize));
    }

    /// Writes a text in Markdown.
    pub fn text(&mut self, tag: &str, text: &str, step: u64) {
        // The writer has no function for texts, so the value of a scalar summary is replaced by a text.
        let mut summary = summary::scalar(&format!("{tag}/text_summary"), 0.0);
        let value = &mut summary.mut_value()[0];
        value.mut_metadata().mut_plugin_data().set_plugin_name("text".into());
        let tensor = value.mut_tensor();
        tensor.set_dtype(DataType::DT_STRING);
        tensor.mut_string_val().push(text.as_bytes().to_vec());
        self.attempt(|writer| writer.add_summary(summary, step as usize));
    }

    /// Flushes the event file.
    pub fn flush(&mut self) {
        self.attempt(FileWriter::flush);
    }

    fn attempt(&mut self, write: impl FnOnce(&mut FileWriter)) {
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

/// Writes and removes a small file, to check that the folder is writable. A writer whose first event cannot be written
/// panics twice, which aborts the process.
fn probe(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!(".{}.tmp", std::process::id()));
    let written = fs::write(&path, [0; 4096]);
    let removed = fs::remove_file(&path);
    written.and(removed)
}

/// Bins of equal width from the minimum to the maximum of some numbers.
struct Bins {
    least: f64,
    most: f64,
    /// The upper end of each bin.
    limits: Vec<f64>,
    counts: Vec<f64>,
}

impl Bins {
    fn of(values: &[f32]) -> Option<Self> {
        if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let least = f64::from(values.iter().copied().fold(f32::INFINITY, f32::min));
        let most = f64::from(values.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let width = ((most - least) / BINS as f64).max(f64::MIN_POSITIVE);
        let mut counts = vec![0.0; BINS];
        for &value in values {
            let bin = ((f64::from(value) - least) / width) as usize;
            counts[bin.min(BINS - 1)] += 1.0;
        }
        let limits = (1..=BINS).map(|bin| least + bin as f64 * width).collect();
        Some(Self { least, most, limits, counts })
    }
}

/// Installs a panic hook that does not print panics of the event writer; [`EventLog`] reports them as one warning.
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
        log.histogram("weights/stem", &[0.5, -1.0, 2.0], 10);
        log.histogram("weights/none", &[f32::NAN], 10);
        log.text("arena/game", "B5 A3", 10);
        drop(log);
        let file = fs::read_dir(folder.path()).expect("readable").next().expect("one file").expect("readable");
        let events = fs::read(file.path()).expect("readable");
        let contains = |text: &str| events.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(events.len() > 9 * 40 && contains("weights/stem") && !contains("weights/none"));
        assert!(contains("arena/game/text_summary") && contains("B5 A3"));

        let blocked = folder.path().join("file");
        fs::write(&blocked, "").expect("writable");
        let mut log = EventLog::open(&blocked.join("below"));
        log.scalar("x", 1.0, 1);
        log.flush();
    }
    #[test]
    fn bins_hold_every_number_once() {
        let bins = Bins::of(&[0.0, 1.0, 0.0, 0.26]).expect("finite numbers");
        assert_eq!((bins.counts[0], bins.counts[10], bins.counts[BINS - 1]), (2.0, 1.0, 1.0));
        assert_eq!((bins.least, bins.most, bins.limits[BINS - 1]), (0.0, 1.0, 1.0));
        let constant = Bins::of(&[3.0; 5]).expect("finite numbers");
        assert_eq!(constant.counts.iter().sum::<f64>(), 5.0);
        assert!(Bins::of(&[]).is_none());
    }
}
