//! Input from other programs: lines of bounded length.

use std::io::{self, BufRead};

use thiserror::Error;

use crate::text::without_mark;

/// Maximum length of an input line in bytes.
pub const LONGEST_LINE: usize = 1 << 20;

/// Error of reading a line. Later lines can still be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum LineFault {
    /// It is longer than [`LONGEST_LINE`] and has been skipped.
    #[error("the line is longer than {LONGEST_LINE} bytes")]
    TooLong,
    /// It is not UTF-8.
    #[error("the line is not UTF-8")]
    NotUtf8,
}

/// Reader of lines that keeps at most one of them in memory, of at most [`LONGEST_LINE`] bytes.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    line: Vec<u8>,
    /// Whether a line has been read: a byte-order mark may precede the first.
    begun: bool,
}

impl<R: BufRead> Lines<R> {
    /// Creates a reader of the lines of `input`.
    pub fn new(input: R) -> Self {
        Self { input, line: Vec::new(), begun: false }
    }

    /// Reads the next line, without its line break; `None` at the end. The last line may lack a line break.
    ///
    /// # Errors
    /// Reading from the input fails.
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
        let is_first = !std::mem::replace(&mut self.begun, true);
        let line = std::str::from_utf8(&self.line).map(|line| line.trim_end_matches('\r'));
        Ok(Some(line.map(|line| if is_first { without_mark(line) } else { line }).map_err(|_| LineFault::NotUtf8)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_content_are_read() {
        let long = "x".repeat(LONGEST_LINE + 1);
        let fits = "y".repeat(LONGEST_LINE);
        let input =
            ["\u{feff}ugi\r\n\n".as_bytes(), long.as_bytes(), b"\n", fits.as_bytes(), b"\n\xff\na\0b\nlast"].concat();
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
