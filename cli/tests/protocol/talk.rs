//! A conversation with the program, for the tests of its protocols.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for anything: far longer than it may take, so that a busy machine fails no test.
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
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
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

    /// Sends bytes; whether the program still reads them is not asked.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        _ = self.input.as_mut().expect("the input is open").write_all(bytes);
    }

    /// The next line.
    pub(crate) fn hear(&self) -> String {
        self.output.recv_timeout(PATIENCE).expect("an answer in time")
    }

    /// The next line that begins so; others are passed over.
    pub(crate) fn hear_of(&self, beginning: &str) -> String {
        loop {
            let line = self.hear();
            if line.starts_with(beginning) {
                return line;
            }
        }
    }

    /// Closes the input and returns all that is still said, once the program has ended.
    pub(crate) fn end(mut self) -> (Vec<String>, ExitStatus) {
        drop(self.input.take());
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().expect("a child") {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    _ = self.child.kill();
                    panic!("the program goes on after the end of its input");
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        (self.output.iter().collect(), status)
    }
}
