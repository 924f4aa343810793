//! TensorBoard event files. If a file cannot be written, the run continues with a warning.

mod events;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use self::events::{Event, Histogram, Metadata, PluginData, Summary, Tensor, Value, record};

use crate::progress::print_stderr;

/// Number of bins of a histogram.
const BINS: usize = 40;

/// Writer of scalars, histograms and texts over the steps of a run to an event file, for `tensorboard --logdir runs`.
///
/// The first failure prints one warning to standard error; later events are discarded.
#[derive(Debug)]
pub struct EventLog {
    file: Option<BufWriter<File>>,
}

impl EventLog {
    /// Opens a new event file in the folder, which is created if it does not exist.
    #[must_use]
    pub fn open(folder: &Path) -> Self {
        let mut log = match create(folder) {
            Ok(file) => Self { file: Some(BufWriter::new(file)) },
            Err(fault) => {
                warn(&format!("TensorBoard events are off: {}: {fault}", folder.display()));
                Self { file: None }
            }
        };
        let version = Some("brain.Event:2".to_owned());
        log.write(&Event { wall_time: now(), file_version: version, ..Event::default() });
        log.flush();
        log
    }

    /// Writes a scalar, unless it is not finite.
    pub fn scalar(&mut self, tag: &str, value: f64, step: u64) {
        if value.is_finite() {
            self.value(step, Value { tag: tag.into(), simple_value: Some(value as f32), ..Value::default() });
        }
    }

    /// Writes a histogram of `values`, unless they are empty or one is not finite.
    pub fn histogram(&mut self, tag: &str, values: &[f32], step: u64) {
        let Some(Bins { least, most, limits, counts }) = Bins::of(values) else { return };
        let histogram = Histogram {
            min: least,
            max: most,
            num: values.len() as f64,
            sum: values.iter().map(|&value| f64::from(value)).sum(),
            sum_squares: values.iter().map(|&value| f64::from(value).powi(2)).sum(),
            bucket_limit: limits,
            bucket: counts,
        };
        self.value(step, Value { tag: tag.into(), histogram: Some(histogram), ..Value::default() });
    }

    /// Writes a text in Markdown.
    pub fn text(&mut self, tag: &str, text: &str, step: u64) {
        let tensor = Tensor { dtype: Tensor::STRING, string_val: vec![text.into()] };
        let metadata = Metadata { plugin_data: Some(PluginData { plugin_name: "text".into() }) };
        let tag = format!("{tag}/text_summary");
        self.value(step, Value { tag, tensor: Some(tensor), metadata: Some(metadata), ..Value::default() });
    }

    /// Flushes the event file.
    pub fn flush(&mut self) {
        self.attempt(BufWriter::flush);
    }

    fn value(&mut self, step: u64, value: Value) {
        let summary = Some(Summary { value: vec![value] });
        self.write(&Event { wall_time: now(), step: step as i64, summary, ..Event::default() });
    }

    fn write(&mut self, event: &Event) {
        self.attempt(|file| file.write_all(&record(event)));
    }

    fn attempt(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        let Some(file) = &mut self.file else { return };
        if let Err(fault) = write(file) {
            warn(&format!("TensorBoard events are off from here on: {fault}"));
            // Without the writer's destructor, which would try to write what is left.
            drop(self.file.take().map(BufWriter::into_parts));
        }
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Creates an event file, under a name that no other process or earlier call uses.
fn create(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let (seconds, process) = (now() as u64, std::process::id());
    let name = |number: u32| format!("events.out.tfevents.{seconds:010}.turnstone.{process}.{number}");
    let file = |number| File::create_new(folder.join(name(number)));
    let taken = |file: &io::Result<File>| matches!(file, Err(error) if error.kind() == io::ErrorKind::AlreadyExists);
    (0..100).map(file).find(|file| !taken(file)).unwrap_or_else(|| file(100))
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// Prints a warning. Errors of standard error are ignored, so that they do not end the run.
fn warn(text: &str) {
    print_stderr(format_args!("warning: {text}"));
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
        let mut another = EventLog::open(folder.path());
        another.scalar("loss/policy", 1.0, 1);
        drop(another);
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 2, "one file for each log");

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
