//! TensorBoard event files, written by `tensorboard-rs`. If they cannot be written, the run continues with a warning.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use protobuf::Message;
use tensorboard_proto::event::Event;
use tensorboard_proto::summary::Summary;
use tensorboard_proto::types::DataType;
use tensorboard_rs::record_writer::RecordWriter;
use tensorboard_rs::summary;
use turnstone_base::terminal::print_stderr;

/// Writer of scalars and texts over the steps of a run to an event file, for `tensorboard --logdir runs`.
///
/// The first error prints one warning to standard error; later events are discarded.
pub struct EventLog {
    file: Option<EventFile>,
}

/// An open event file. The crate's `FileWriter` is not used: it writes on a thread that panics at the first error, after
/// which its methods and its destructor panic too.
struct EventFile {
    path: PathBuf,
    /// Time of the last event in seconds since 1970. Later events are never earlier, even if the clock is set back: viewers
    /// order events by time.
    last: f64,
    writer: RecordWriter<BufWriter<File>>,
}

impl EventLog {
    /// Opens a new event file in the folder, which is created if it does not exist.
    #[must_use]
    pub fn open(folder: &Path) -> Self {
        match create(folder) {
            Ok((path, file, begin)) => {
                let writer = RecordWriter::new(BufWriter::new(file));
                let mut log = Self { file: Some(EventFile { path, last: begin, writer }) };
                log.attempt(|file| {
                    let mut event = Event::new();
                    event.set_file_version("brain.Event:2".to_owned());
                    file.write(event)
                });
                log.flush();
                log
            }
            Err(fault) => {
                warn(&format!("TensorBoard events are off: {}: {fault}", folder.display()));
                Self { file: None }
            }
        }
    }

    /// Writes a scalar, unless it is not finite.
    pub fn scalar(&mut self, tag: &str, value: f64, step: u64) {
        if value.is_finite() {
            self.summary(step, || summary::scalar(tag, value as f32));
        }
    }

    /// Writes a text in Markdown.
    pub fn text(&mut self, tag: &str, text: &str, step: u64) {
        self.summary(step, || {
            // The crate has no function for texts: a scalar's summary is given the value of a text.
            let mut summary = summary::scalar(&format!("{tag}/text_summary"), 0.0);
            let value = &mut summary.mut_value()[0];
            value.mut_metadata().mut_plugin_data().set_plugin_name("text".to_owned());
            let tensor = value.mut_tensor();
            tensor.set_dtype(DataType::DT_STRING);
            tensor.mut_string_val().push(text.as_bytes().to_vec());
            summary
        });
    }

    /// Flushes the event file.
    pub fn flush(&mut self) {
        self.attempt(EventFile::flush);
    }

    fn summary(&mut self, step: u64, summary: impl FnOnce() -> Summary) {
        self.attempt(|file| {
            let mut event = Event::new();
            event.set_step(step as i64);
            event.set_summary(summary());
            file.write(event)
        });
    }

    fn attempt(&mut self, write: impl FnOnce(&mut EventFile) -> io::Result<()>) {
        let Some(file) = &mut self.file else { return };
        if let Err(fault) = write(file) {
            warn(&format!("TensorBoard events are off from here on: {fault}"));
            self.file = None;
        }
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        self.flush();
    }
}

impl EventFile {
    fn write(&mut self, mut event: Event) -> io::Result<()> {
        self.last = self.last.max(now());
        event.set_wall_time(self.last);
        self.writer.write(&event.write_to_bytes()?)
    }

    /// Flushes the file, and notices that it was removed, after which writes to it still succeed.
    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()?;
        if self.path.try_exists()? { Ok(()) } else { Err(io::Error::other("the event file was removed")) }
    }
}

/// Creates an event file that begins after all others of the folder, by its name and the returned time in seconds since
/// 1970: viewers read files in the order of their names.
fn create(folder: &Path) -> io::Result<(PathBuf, File, f64)> {
    fs::create_dir_all(folder)?;
    let mut begin = now();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let named = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('.').next()?.parse::<u32>().ok());
        let Some(named) = named else { continue };
        let written = entry.metadata()?.modified().map_or(0.0, seconds);
        begin = begin.max(written).max(f64::from(named) + 1.0);
    }
    let path = folder.join(format!("{PREFIX}{:010}.turnstone.{}", begin as u64, std::process::id()));
    File::create_new(&path).map(|file| (path, file, begin))
}

/// Before the time in the name of an event file.
const PREFIX: &str = "events.out.tfevents.";

/// Seconds since 1970.
fn now() -> f64 {
    seconds(SystemTime::now())
}

fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// Prints a warning. Errors of standard error are ignored, so that they do not end the run.
fn warn(text: &str) {
    print_stderr(format_args!("warning: {text}"));
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The events of the files in a folder, in the order of the files' names.
    pub(crate) fn read(folder: &Path) -> Vec<Event> {
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path()).collect();
        files.sort();
        let mut events = Vec::new();
        for file in files {
            let bytes = fs::read(file).expect("readable");
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                // A length and its checksum, the event and its checksum.
                let (length, after) = rest.split_at(12);
                let length = u64::from_le_bytes(length[..8].try_into().expect("eight bytes")) as usize;
                let (event, after) = after.split_at(length);
                events.push(Event::parse_from_bytes(event).expect("an event"));
                rest = &after[4..];
            }
        }
        events
    }

    #[test]
    fn events_reach_the_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut log = EventLog::open(folder.path());
        (0..10).for_each(|step| log.scalar("loss/policy", 1.0 / f64::from(step), step as u64));
        log.text("arena/game", "B5 A3", 10);
        drop(log);
        let events = read(folder.path());
        assert_eq!(events[0].get_file_version(), "brain.Event:2");
        assert!(events.iter().all(|event| event.get_wall_time() > 1.6e9));
        let values: Vec<_> =
            events[1..].iter().map(|event| (event.get_step(), &event.get_summary().value[0])).collect();
        assert_eq!(values.len(), 9 + 1, "not the infinite scalar");
        for (step, value) in &values[..9] {
            assert_eq!((value.get_tag(), value.get_simple_value()), ("loss/policy", (1.0 / *step as f64) as f32));
        }
        let (step, value) = values[9];
        assert_eq!((step, value.get_tag()), (10, "arena/game/text_summary"));
        assert_eq!(value.get_metadata().get_plugin_data().get_plugin_name(), "text");
        assert_eq!(
            (value.get_tensor().get_dtype(), value.get_tensor().get_string_val()),
            (DataType::DT_STRING, &[b"B5 A3".to_vec()][..])
        );

        let mut another = EventLog::open(folder.path());
        another.scalar("loss/policy", 1.0, 1);
        drop(another);
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 2, "one file for each log");
    }

    #[test]
    fn events_follow_those_of_a_clock_that_was_set_back() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let future = (now() + 1e6) as u64;
        fs::write(folder.path().join(format!("{PREFIX}{future}.turnstone.1")), "").expect("writable");
        for step in 0..3 {
            EventLog::open(folder.path()).scalar("loss/policy", 1.0, step);
        }
        let events = read(folder.path());
        let times: Vec<f64> = events.iter().map(Event::get_wall_time).collect();
        assert!(times.is_sorted() && times[0] > future as f64, "{times:?}");
        let steps: Vec<i64> = events.iter().filter(|e| e.has_summary()).map(Event::get_step).collect();
        assert_eq!(steps, [0, 1, 2], "in the order of the names");
        let mut log = EventLog::open(folder.path());
        log.file.as_mut().expect("open").last += 1e7;
        [7, 8].into_iter().for_each(|step| log.scalar("loss/policy", 1.0, step));
        drop(log);
        assert!(read(folder.path()).iter().map(Event::get_wall_time).is_sorted());
    }
}
