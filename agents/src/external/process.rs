//! A program that speaks the Universal Game Interface, at the far end of two pipes.
//!
//! A thread of its own reads, and one writes, so that a program that neither answers nor listens cannot hold anyone up.

use std::io::{BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::line_io::Lines;
use crate::player::PlayerFault;

/// Lines that wait to be read; then the program has to wait.
const LINES: usize = 1024;

/// How long the program may take to end after `quit`.
const FAREWELL: Duration = Duration::from_millis(500);

/// The program. It is ended when this is dropped.
pub(crate) struct Process {
    child: Child,
    to: Option<Sender<String>>,
    from: Receiver<String>,
}

impl Process {
    /// Starts a program.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start(words: &[String]) -> Result<Self, PlayerFault> {
        let (program, arguments) = words.split_first().expect("a spec names a program");
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| PlayerFault::Crashed(format!("cannot start `{program}`: {error}")))?;
        let mut input = child.stdin.take().expect("piped");
        let output = child.stdout.take().expect("piped");
        let (to, orders) = mpsc::channel::<String>();
        thread::spawn(move || {
            for order in orders {
                if input.write_all(format!("{order}\n").as_bytes()).and_then(|()| input.flush()).is_err() {
                    return;
                }
            }
        });
        let (answers, from) = mpsc::sync_channel(LINES);
        thread::spawn(move || {
            let mut lines = Lines::new(BufReader::new(output));
            while let Ok(Some(line)) = lines.read() {
                if line.is_ok_and(|line| answers.send(line.trim().to_owned()).is_err()) {
                    return;
                }
            }
        });
        Ok(Self { child, to: Some(to), from })
    }

    /// Sends a line. If the program is gone, its answer will not come either.
    pub(crate) fn send(&self, line: String) {
        if let Some(to) = &self.to {
            _ = to.send(line);
        }
    }

    /// Says hello; returns the names of the program's options.
    pub(crate) fn introduce(&mut self, patience: Duration) -> Result<Vec<String>, PlayerFault> {
        self.send("ugi".to_owned());
        let mut options = Vec::new();
        self.wait_for("ugiok", patience, |line| {
            if let Some(rest) = line.strip_prefix("option name ") {
                options.push(rest.split(" type ").next().unwrap_or(rest).trim().to_owned());
            }
            (line == "ugiok").then_some(())
        })?;
        Ok(options)
    }

    /// Waits until the program has done what it was told before.
    pub(crate) fn get_ready(&mut self, patience: Duration) -> Result<(), PlayerFault> {
        self.send("isready".to_owned());
        self.wait_for("readyok", patience, |line| (line == "readyok").then_some(()))
    }

    /// Waits for the move that it was asked for.
    pub(crate) fn best_move(&mut self, patience: Duration) -> Result<String, PlayerFault> {
        self.wait_for("bestmove", patience, |line| {
            let text = line.strip_prefix("bestmove")?;
            text.is_empty().then(String::new).or_else(|| Some(text.strip_prefix(' ')?.trim().to_owned()))
        })
    }

    /// Waits for a line in which `read` finds what it looks for.
    fn wait_for<T>(
        &mut self,
        what: &str,
        patience: Duration,
        mut read: impl FnMut(&str) -> Option<T>,
    ) -> Result<T, PlayerFault> {
        let deadline = Instant::now() + patience;
        loop {
            match next(&self.from, deadline) {
                Ok(line) => {
                    if let Some(found) = read(&line) {
                        return Ok(found);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(PlayerFault::Silent(format!("no `{what}` within {} s", patience.as_secs_f64())));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PlayerFault::Crashed(format!("its output ended before `{what}`")));
                }
            }
        }
    }
}

/// The next line; none after the deadline, even if the program goes on talking.
fn next(from: &Receiver<String>, deadline: Instant) -> Result<String, RecvTimeoutError> {
    match deadline.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(RecvTimeoutError::Timeout),
        left => from.recv_timeout(left),
    }
}

impl Drop for Process {
    /// Asks the program to end, makes it end if it does not, and takes note of its end.
    fn drop(&mut self) {
        self.send("quit".to_owned());
        self.to = None; // and with it, soon, the pipe
        let deadline = Instant::now() + FAREWELL;
        while next(&self.from, deadline).is_ok() {}
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
