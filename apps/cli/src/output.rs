//! Output to files, and to other programs in lines that are written whole.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use turnstone_base::files;
use turnstone_base::terminal::{Reporter, print_stderr, terminal_size, wrapped};
use turnstone_base::text::{is_deceptive, printable};

/// Checks that [`write_file`] can write to `path`, before the work whose result goes there.
pub(crate) fn confirm_writable(path: &Path) -> Result<()> {
    files::confirm_writable(path).with_context(|| format!("writing {}", path.display()))
}

/// Writes a whole file.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<()> {
    files::atomic_write(path, text.as_bytes()).with_context(|| format!("writing {}", path.display()))
}

/// Writes an HTML page and says where it is.
pub(crate) fn write_page(path: &Path, page: &str, reporter: &Reporter) -> Result<()> {
    write_file(path, page)?;
    reporter.line(&format!("{} ({} KB)", path.display(), page.len().div_ceil(1000)));
    Ok(())
}

/// Prints lines on standard output. Deceptive characters are escaped: files, checkpoints and machines of others chose part of the
/// text.
pub(crate) fn print_text(text: &str) {
    println!("{}", printable(text.trim_end()));
}

/// Prints lines of prose as [`print_text`] does, with those that are too long for the terminal wrapped at words.
pub(crate) fn print_prose(text: &str) {
    print_text(&fitted(text));
}

/// A text as the terminal has room for it.
pub(crate) fn fitted(text: &str) -> String {
    terminal_size().map_or_else(|| text.to_owned(), |[width, _]| wrapped(text, width))
}

/// Prints a value of JSON as a line of standard output, escaped as [`print_text`] escapes lines.
pub(crate) fn print_json(value: &impl Display) {
    println!("{}", escaped_json(&value.to_string()));
}

/// JSON in which control characters from U+007F on and marks of direction, which JSON allows as they are, are escaped, so that
/// no text of a query or a file can change how a terminal shows the line.
fn escaped_json(json: &str) -> String {
    let mut line = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_deceptive(letter) {
            line.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            line.push(letter);
        }
    }
    line
}

/// Probabilities of win, draw and loss, as `win 60 %, draw 6 %, loss 34 %`.
pub(crate) fn in_words(win_draw_loss: [f32; 3]) -> String {
    let [win, draw, loss] = win_draw_loss.map(|p| 100.0 * p);
    format!("win {win:.0} %, draw {draw:.0} %, loss {loss:.0} %")
}

/// A text as one printable line of bounded length: newlines become spaces, other control characters are escaped, and
/// `more` stands for what is cut off.
pub(crate) fn one_line(text: &str, more: &str) -> String {
    const LONGEST: usize = 2000;
    let mut line = String::new();
    for letter in text.chars().take(LONGEST) {
        match letter {
            '\n' => line.push(' '),
            _ if is_deceptive(letter) => line.extend(letter.escape_default()),
            _ => line.push(letter),
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        line.push_str(more);
    }
    line
}

/// A text in Markdown as plain lines of at most `width` characters: the lines of a paragraph or an item are joined first.
pub(crate) fn reflowed(markdown: &str, width: usize) -> String {
    let (mut lines, mut fenced, mut open) = (Vec::<String>::new(), false, false);
    for line in markdown.lines() {
        let is_fence = line.starts_with("```");
        let begins =
            fenced || is_fence || line.is_empty() || ["|", "#", "- ", "    "].iter().any(|with| line.starts_with(with));
        match lines.last_mut().filter(|_| open && !begins) {
            Some(last) => {
                last.push(' ');
                last.push_str(line.trim_start());
            }
            None => lines.push(line.to_owned()),
        }
        fenced ^= is_fence;
        open = !fenced && !is_fence && !line.is_empty() && !["|", "#"].iter().any(|with| line.starts_with(with));
    }
    let mut fenced = false;
    let fit = |line: &String| {
        fenced ^= line.starts_with("```");
        if fenced { line.clone() } else { wrapped(line, width) }
    };
    let lines: Vec<String> = lines.iter().map(fit).collect();
    lines.join("\n") + if markdown.ends_with('\n') { "\n" } else { "" }
}

/// Line-buffered output. Clones share the writer, and lines of different clones are never mixed.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    /// Creates an output to this writer.
    pub fn new(place: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(place))))
    }

    /// Writes a value of JSON as a line, escaped as every printed one is.
    pub fn json(&self, value: &serde_json::Value) {
        self.line(&escaped_json(&value.to_string()));
    }

    /// Writes a line and flushes it. Exits the program if this fails, as nothing can read its output any more: quietly if
    /// the reader has gone, with one line of error otherwise.
    #[expect(clippy::disallowed_methods, reason = "nothing can read the output any more")]
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

    #[test]
    fn paragraphs_are_joined_before_they_are_wrapped() {
        let markdown = "# T\n\na b c\nd e f\n- x\n  y z\n- w\n\n```\nnot joined at\nall\n```\n| t |\n| u |\nend\n";
        let expected = "# T\n\na b c d\ne f\n- x y z\n- w\n\n```\nnot joined at\nall\n```\n| t |\n| u |\nend\n";
        assert_eq!(reflowed(markdown, 8), expected);
        assert_eq!(reflowed(markdown, 80), expected.replace("d\ne f", "d e f"));
    }

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
