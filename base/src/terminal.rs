//! The terminal: its size, and progress on standard error, as bars on a terminal and plain lines elsewhere.

use std::io::{IsTerminal, Write, stderr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use console::{Term, measure_text_width};
use indicatif::{ProgressDrawTarget, ProgressStyle};

pub use indicatif::ProgressBar;

use crate::text::printable;

/// Prints a line on stderr. A reader that has gone or a full disk behind it must not end the program, so errors are
/// ignored. Characters that could move the cursor or reverse text are escaped: files and other programs chose part of it.
pub fn print_stderr(line: impl std::fmt::Display) {
    // In one piece, so that lines of several threads do not mix.
    let _ = stderr().write_all(printable(&format!("{line}\n")).as_bytes());
}

/// Columns and rows of the terminal that standard output is; `None` if it is none, or its size is unknown.
#[must_use]
pub fn terminal_size() -> Option<[usize; 2]> {
    let out = Term::stdout();
    let (rows, columns) = out.size_checked().filter(|&(rows, columns)| out.is_term() && rows > 0 && columns > 0)?;
    Some([columns.into(), rows.into()])
}

/// A text whose lines have at most `width` characters, as far as its words allow. A line is continued below its own
/// beginning, or below the last column that begins within the first 24 characters: two spaces or more separate columns. Rows of tables stay whole.
/// Styles of characters take no room.
#[must_use]
pub fn wrapped(text: &str, width: usize) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| wrapped_line(line, width)).collect();
    lines.join("\n")
}

fn wrapped_line(line: &str, width: usize) -> String {
    if measure_text_width(line) <= width || line.starts_with('|') {
        return line.to_owned();
    }
    let indent = indentation(line).min(width / 2);
    let (mut out, mut column) = (String::new(), 0);
    let mut rest = line;
    while !rest.is_empty() {
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        let word = &rest[..spaces + rest[spaces..].find(' ').unwrap_or(rest.len() - spaces)];
        rest = &rest[word.len()..];
        if column > indent && column + measure_text_width(word) > width {
            let word = word.trim_start_matches(' ');
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            out.push_str(word);
            column = indent + measure_text_width(word);
        } else {
            out.push_str(word);
            column += measure_text_width(word);
        }
    }
    out
}

/// Where the lines begin that continue a line.
fn indentation(line: &str) -> usize {
    const LAST_COLUMN: usize = 24;
    let own = line.len() - line.trim_start_matches(' ').len();
    let marker = if line[own..].starts_with("- ") { 2 } else { 0 };
    let gaps = line[own..].match_indices("  ").map(|(gap, _)| &line[..own + gap]);
    let column = |before: &str| {
        measure_text_width(before) + line[before.len()..].chars().take_while(|&letter| letter == ' ').count()
    };
    let columns = gaps.map(column).take_while(|&column| column <= LAST_COLUMN);
    columns.last().unwrap_or(own + marker)
}

/// Progress output of a long-running command. Finished stages are printed as lines; the stage in progress is shown as a
/// bar, on a terminal only.
#[derive(Debug)]
pub struct Reporter {
    terminal: bool,
    quiet: bool,
}

impl Reporter {
    /// Creates a reporter on standard error. If `quiet`, only warnings are printed.
    #[must_use]
    pub fn new(quiet: bool) -> Self {
        Self { terminal: stderr().is_terminal(), quiet }
    }

    /// Whether progress is a bar on a terminal, in place of lines.
    #[must_use]
    pub fn shows_bars(&self) -> bool {
        self.terminal && !self.quiet
    }

    /// Prints a line, which a terminal shows wrapped at words.
    pub fn line(&self, text: &str) {
        if !self.quiet {
            print_stderr(self.fitted(text));
        }
    }

    /// Prints a warning, even if quiet.
    pub fn warning(&self, text: &str) {
        print_stderr(self.fitted(&format!("warning: {text}")));
    }

    fn fitted(&self, text: &str) -> String {
        let columns = Term::stderr().size_checked().filter(|_| self.terminal).map(|(_, columns)| columns.into());
        columns.filter(|&columns| columns > 0).map_or_else(|| text.to_owned(), |columns| wrapped(text, columns))
    }

    /// Creates a bar for a stage of `len` parts, hidden if quiet or if standard error is not a terminal.
    #[must_use]
    pub fn bar(&self, stage: &str, len: u64) -> ProgressBar {
        let target =
            if self.shows_bars() { ProgressDrawTarget::stderr_with_hz(5) } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template("{msg:<12} {bar:30} {pos}/{len}  {elapsed} (left {eta})")
            .expect("the template is well-formed");
        ProgressBar::with_draw_target(Some(len), target).with_style(style).with_message(stage.to_owned())
    }

    /// Counts the parts of a stage: a [`Reporter::bar`], or elsewhere a line every ten seconds.
    #[must_use]
    pub fn steps(&self, stage: &str, len: u64) -> Steps {
        let told = (!self.shows_bars() && !self.quiet).then(|| Mutex::new(Instant::now()));
        Steps { stage: stage.to_owned(), bar: self.bar(stage, len), told }
    }

    /// Creates a bar for `len` games, with a long message at its right, hidden like [`Reporter::bar`].
    #[must_use]
    pub fn watched_bar(&self, len: u64) -> ProgressBar {
        let style = ProgressStyle::with_template("{bar:12} {pos}/{len} (left {eta})  {wide_msg}");
        self.bar("", len).with_style(style.expect("the template is well-formed"))
    }

    /// Creates a line for work of unknown length, with its time and a message, hidden like [`Reporter::bar`].
    #[must_use]
    pub fn clock(&self, work: &str) -> ProgressBar {
        const EVERY: Duration = Duration::from_millis(200);
        let style = ProgressStyle::with_template("{prefix}, {elapsed}{wide_msg}").expect("the template is well-formed");
        let bar = self.bar("", 0).with_style(style).with_prefix(work.to_owned());
        if !bar.is_hidden() {
            bar.enable_steady_tick(EVERY);
        }
        bar
    }
}

/// Progress of a stage of many parts.
#[derive(Debug)]
pub struct Steps {
    stage: String,
    bar: ProgressBar,
    /// When the last line was printed, where there is no bar.
    told: Option<Mutex<Instant>>,
}

impl Steps {
    /// Counts a part that is done.
    pub fn done(&self) {
        const EVERY: Duration = Duration::from_secs(10);
        self.bar.inc(1);
        let Some(mut told) = self.told.as_ref().and_then(|told| told.lock().ok()) else { return };
        if told.elapsed() >= EVERY {
            *told = Instant::now();
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
            print_stderr(format!("{}: {done} of {all}", self.stage));
        }
    }

    /// Removes the bar.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_continued_below_their_beginning() {
        assert_eq!(wrapped("one two three", 8), "one two\nthree");
        assert_eq!(
            wrapped("  undo    take back your last move", 20),
            "  undo    take back\n          your last\n          move"
        );
        assert_eq!(wrapped("ok   net      two words and more", 28), "ok   net      two words and\n              more");
        assert_eq!(wrapped("- an item that is long", 12), "- an item\n  that is\n  long");
        assert_eq!(wrapped("| a | table | row |", 6), "| a | table | row |");
        assert_eq!(wrapped("averylongword and", 5), "averylongword\nand");
        assert_eq!(wrapped("\x1b[1mone\x1b[0m two", 7), "\x1b[1mone\x1b[0m two");
        assert_eq!(wrapped("short\n\nlines", 80), "short\n\nlines");
    }
}
