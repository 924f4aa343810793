//! Output to other programs, in lines that are written whole.

use std::io::Write;
use std::sync::{Arc, Mutex};

use turnstone_trainer::progress::print_stderr;

/// Line-buffered output. Clones share the writer, and lines of different clones are never mixed.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    /// Creates an output to this writer.
    pub fn new(place: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(place))))
    }

    /// Writes a line and flushes it. Exits the program if this fails, as nothing can read its output any more: quietly if
    /// the reader has gone, with one line of error otherwise.
    pub fn line(&self, text: &str) {
        let mut place = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Err(error) = place.write_all(format!("{text}\n").as_bytes()).and_then(|()| place.flush()) {
            if error.kind() == std::io::ErrorKind::BrokenPipe {
                std::process::exit(141); // as after SIGPIPE
            }
            print_stderr(format_args!("error: standard output: {error}"));
            std::process::exit(1);
        }
    }
}
