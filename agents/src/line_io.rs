//! Talking with another program line by line: lines of bounded length in, whole lines out.

use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex};

use thiserror::Error;

/// The longest line that is read, in bytes.
pub const LONGEST_LINE: usize = 1 << 20;

/// Why a line cannot be read. The lines after it can.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum LineFault {
    /// It is longer than [`LONGEST_LINE`]; it has been passed over.
    #[error("the line is longer than {LONGEST_LINE} bytes")]
    TooLong,
    /// Its bytes are no text.
    #[error("the line is not UTF-8")]
    NotUtf8,
}

/// Reads lines and never keeps more than one in memory, however long they are.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// The lines of this input.
    pub fn new(input: R) -> Self {
        Self { input, line: Vec::new() }
    }

    /// The next line without its end, or `None` after the last. A last line without an end is a line.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn read(&mut self) -> io::Result<Option<Result<&str, LineFault>>> {
        self.line.clear();
        let mut length = 0;
        loop {
            let bytes = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if bytes.is_empty() && length == 0 {
                return Ok(None);
            }
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let part = end.unwrap_or(bytes.len());
            length += part;
            if length <= LONGEST_LINE {
                self.line.extend_from_slice(&bytes[..part]);
            }
            let last = end.is_some() || bytes.is_empty();
            let used = part + usize::from(end.is_some());
            self.input.consume(used);
            if last {
                break;
            }
        }
        if length > LONGEST_LINE {
            return Ok(Some(Err(LineFault::TooLong)));
        }
        Ok(Some(
            std::str::from_utf8(&self.line).map(|line| line.trim_end_matches('\r')).map_err(|_| LineFault::NotUtf8),
        ))
    }
}

/// Where lines go; clones write to the same place, one whole line at a time.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    /// Writes to this place.
    pub fn new(place: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(place))))
    }

    /// Writes a line and flushes it. If nobody can read it any more the program ends: there is nobody left to work for.
    pub fn line(&self, text: &str) {
        let mut place = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if place.write_all(format!("{text}\n").as_bytes()).and_then(|()| place.flush()).is_err() {
            std::process::exit(141); // as after SIGPIPE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_whatever_they_hold() {
        let long = "x".repeat(LONGEST_LINE + 1);
        let fits = "y".repeat(LONGEST_LINE);
        let input = [b"ugi\r\n\n".as_slice(), long.as_bytes(), b"\n", fits.as_bytes(), b"\n\xff\na\0b\nlast"].concat();
        for capacity in [1 << 16, 7] {
            let mut lines = Lines::new(io::BufReader::with_capacity(capacity, &*input));
            let mut next = || lines.read().expect("readable").map(|line| line.map(str::to_owned));
            assert_eq!(next(), Some(Ok("ugi".to_owned())));
            assert_eq!(next(), Some(Ok(String::new())));
            assert_eq!(next(), Some(Err(LineFault::TooLong)));
            assert_eq!(next(), Some(Ok(fits.clone())));
            assert_eq!(next(), Some(Err(LineFault::NotUtf8)));
            assert_eq!(next(), Some(Ok("a\0b".to_owned())));
            assert_eq!(next(), Some(Ok("last".to_owned())));
            assert_eq!(next(), None);
        }
    }
}
