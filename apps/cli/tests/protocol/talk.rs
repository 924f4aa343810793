//! A running program and its pipes, for the tests of the protocols.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Timeout of a test, long enough for a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A running program with its two pipes.
pub(crate) struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
}

impl Talk {
    /// Starts `turnstone` with these arguments.
    pub(crate) fn start<S: AsRef<str>>(args: &[S]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_turnstone"))
            .args(args.iter().map(AsRef::as_ref))
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let (sender, output) = mpsc::channel();
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { input: child.stdin.take(), child, output }
    }

    /// Sends a line.
    pub(crate) fn say(&mut self, line: &str) {
        self.send(format!("{line}\n").as_bytes());
    }

    /// Sends bytes. Succeeds even if the program has closed its input.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        _ = self.input.as_mut().expect("the input is open").write_all(bytes);
    }

    /// Receives the next line.
    pub(crate) fn hear(&self) -> String {
        self.output.recv_timeout(PATIENCE).expect("an answer in time")
    }

    /// Receives the next line that starts with a prefix; skips others.
    pub(crate) fn hear_of(&self, beginning: &str) -> String {
        loop {
            let line = self.hear();
            if line.starts_with(beginning) {
                return line;
            }
        }
    }

    /// Closes the input, waits until the program has ended, and returns the rest of its output.
    pub(crate) fn end(mut self) -> (Vec<String>, ExitStatus) {
        drop(self.input.take());
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().expect("a child") {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    _ = self.child.kill();
                    panic!("the program continues after the end of its input");
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        (self.output.iter().collect(), status)
    }
}
