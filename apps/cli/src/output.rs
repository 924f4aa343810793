//! Output to other programs, in lines that are written whole.

use std::io::Write;
use std::sync::{Arc, Mutex};

use turnstone_base::terminal::print_stderr;

/// A text as one printable line of bounded length: newlines become spaces, other control characters are escaped, and
/// `more` stands for what is cut off.
pub(crate) fn one_line(text: &str, more: &str) -> String {
    const LONGEST: usize = 2000;
    let mut line = String::new();
    for letter in text.chars().take(LONGEST) {
        match letter {
            '\n' => line.push(' '),
            _ if letter.is_control() => line.extend(letter.escape_default()),
            _ => line.push(letter),
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        line.push_str(more);
    }
    line
}

/// Line-buffered output. Clones share the writer, and lines of different clones are never mixed.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    /// Creates an output to this writer.
    pub fn new(place: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(place))))
    }

    /// Writes a value of JSON as a line. Control characters from U+007F on, which JSON allows as they are, are escaped, so
    /// that no text of a query can move a terminal's cursor.
    pub fn json(&self, value: &serde_json::Value) {
        let mut line = String::new();
        for letter in value.to_string().chars() {
            if letter.is_control() {
                line.push_str(&format!("\\u{:04x}", u32::from(letter)));
            } else {
                line.push(letter);
            }
        }
        self.line(&line);
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[derive(Clone, Default)]
    struct Record(Arc<Mutex<Vec<u8>>>);

    impl Write for Record {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("no writer panics").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn json_has_no_control_characters_and_the_same_value() {
        let (record, value) = (Record::default(), json!({ "id": "a\u{1b}\u{7f}\u{9b}2J\u{e9}\n" }));
        Output::new(record.clone()).json(&value);
        let text = String::from_utf8(record.0.lock().expect("no writer panics").clone()).expect("UTF-8");
        assert_eq!(text, "{\"id\":\"a\\u001b\\u007f\\u009b2J\u{e9}\\n\"}\n");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
