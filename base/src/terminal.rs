//! The terminal: its size, and progress on standard error, as bars on a terminal and plain lines elsewhere.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use console::Term;
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

    /// Prints a line.
    pub fn line(&self, text: &str) {
        if !self.quiet {
            print_stderr(text);
        }
    }

    /// Prints a warning, even if quiet.
    pub fn warning(&self, text: &str) {
        print_stderr(format_args!("warning: {text}"));
    }

    /// Creates a bar for a stage of `len` parts, hidden if quiet or if standard error is not a terminal.
    #[must_use]
    pub fn bar(&self, stage: &str, len: u64) -> ProgressBar {
        let target = if self.terminal && !self.quiet {
            ProgressDrawTarget::stderr_with_hz(5)
        } else {
            ProgressDrawTarget::hidden()
        };
        let style = ProgressStyle::with_template("{msg:<12} {bar:30} {pos}/{len}  {elapsed} (left {eta})")
            .expect("the template is well-formed");
        ProgressBar::with_draw_target(Some(len), target).with_style(style).with_message(stage.to_owned())
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
