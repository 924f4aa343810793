//! Progress output: bars on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, Write, stderr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use turnstone_exact::Progress;

pub use turnstone_exact::duration;

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

/// Progress of a solver: a bar for the current layer, a line for each finished one.
#[derive(Debug)]
pub struct Layers<'a> {
    reporter: &'a Reporter,
    stop: &'a AtomicBool,
    bar: Mutex<ProgressBar>,
}

impl<'a> Layers<'a> {
    /// Creates the progress output; the solver stops when `stop` is set.
    #[must_use]
    pub fn new(reporter: &'a Reporter, stop: &'a AtomicBool) -> Self {
        Self { reporter, stop, bar: Mutex::new(ProgressBar::hidden()) }
    }

    fn with_bar<T>(&self, act: impl FnOnce(&mut ProgressBar) -> T) -> T {
        act(&mut self.bar.lock().expect("drawing a bar does not panic"))
    }
}

impl Progress for Layers<'_> {
    fn begin(&self, layer: &str, entries: u64) {
        let bar = self.reporter.bar(layer, entries);
        self.with_bar(|shown| *shown = bar);
    }

    fn advance(&self, entries: u64) {
        self.with_bar(|bar| bar.inc(entries));
    }

    fn end(&self, layer: &str, summary: &str) {
        self.with_bar(|bar| bar.finish_and_clear());
        self.reporter.line(&format!("{layer:<12} {summary}"));
    }

    fn stopped(&self) -> bool {
        let stopped = self.stop.load(Ordering::Relaxed);
        if stopped {
            self.with_bar(|bar| bar.finish_and_clear());
        }
        stopped
    }
}
