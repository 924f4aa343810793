//! Progress output on standard error: bars on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, Write, stderr};

use indicatif::{ProgressDrawTarget, ProgressStyle};

pub use indicatif::ProgressBar;

/// Prints a line on stderr. A reader that has gone or a full disk behind it must not end the program, so errors are
/// ignored.
pub fn print_stderr(line: impl std::fmt::Display) {
    // In one piece, so that lines of several threads do not mix.
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
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
}
