//! Child process that speaks the Universal Game Interface (UGI) over two pipes.
//!
//! Separate threads read from it and write to it, so that a program that neither answers nor reads cannot block the
//! caller.

use std::io::{BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use turnstone_base::line_io::Lines;
use turnstone_search::Stop;

use crate::interface::PlayerFault;

/// Maximum number of lines waiting to be read, after which the program blocks.
const LINES: usize = 1024;

/// Time between two looks at the flag that stops a wait.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Time for the program to exit after `quit`.
const FAREWELL: Duration = Duration::from_millis(500);

/// Until when an answer is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    deadline: Instant,
    patience: Duration,
}

impl Due {
    pub(crate) fn after(patience: Duration) -> Self {
        Self { deadline: Instant::now() + patience, patience }
    }
}

/// The child process; dropping it ends the program.
pub(crate) struct Process {
    child: Child,
    to: Option<Sender<String>>,
    from: Receiver<String>,
    /// Ends waiting for an answer, which is then a fault.
    pub(crate) stop: Stop,
}

impl Process {
    /// Starts a program; the first word is its name, the others are its arguments.
    ///
    /// # Errors
    /// The program cannot be started.
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
        Ok(Self { child, to: Some(to), from, stop: Stop::default() })
    }

    /// Sends a line. Does not fail: if the program has ended, waiting for its answer does.
    pub(crate) fn send(&self, line: String) {
        if let Some(to) = &self.to {
            _ = to.send(line);
        }
    }

    /// Sends `ugi` and returns the names of the program's options.
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

    /// Waits until the program has processed the preceding commands.
    pub(crate) fn get_ready(&mut self, patience: Duration) -> Result<(), PlayerFault> {
        self.send("isready".to_owned());
        self.wait_for("readyok", patience, |line| (line == "readyok").then_some(()))
    }

    /// The answer to `go`: its move, empty if the program names none. `None` if it is not there
    /// after `longest`.
    pub(crate) fn best_move(&mut self, due: Due, longest: Duration) -> Result<Option<String>, PlayerFault> {
        self.look_for("bestmove", due, longest, &mut |line| {
            // `bestmove MOVE ponder MOVE`, by any white space.
            let mut words = line.split_whitespace();
            (words.next() == Some("bestmove")).then(|| words.next().unwrap_or_default().to_owned())
        })
    }

    /// Waits for a line from which `read` returns a value; `what` names it in an error.
    fn wait_for<T>(
        &mut self,
        what: &str,
        patience: Duration,
        mut read: impl FnMut(&str) -> Option<T>,
    ) -> Result<T, PlayerFault> {
        let due = Due::after(patience);
        loop {
            if let Some(found) = self.look_for(what, due, LOOK_EVERY, &mut read)? {
                return Ok(found);
            }
        }
    }

    /// Reads lines up to one from which `read` returns a value. `None` if none has come after `longest`.
    fn look_for<T>(
        &mut self,
        what: &str,
        Due { deadline, patience }: Due,
        longest: Duration,
        read: &mut impl FnMut(&str) -> Option<T>,
    ) -> Result<Option<T>, PlayerFault> {
        let end = Instant::now() + longest;
        loop {
            match next(&self.from, deadline.min(end)) {
                Ok(line) => {
                    if let Some(found) = read(&line) {
                        return Ok(Some(found));
                    }
                }
                Err(RecvTimeoutError::Timeout) if self.stop.is_raised() => {
                    return Err(PlayerFault::Silent("stopped".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => return Ok(None),
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

/// The next line, or a timeout once the deadline has passed, even if more lines are waiting.
fn next(from: &Receiver<String>, deadline: Instant) -> Result<String, RecvTimeoutError> {
    match deadline.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(RecvTimeoutError::Timeout),
        left => from.recv_timeout(left),
    }
}

impl Drop for Process {
    /// Sends `quit`, kills the program if it does not exit in time, and reaps it.
    fn drop(&mut self) {
        self.send("quit".to_owned());
        self.to = None; // the writing thread then closes the pipe
        let deadline = Instant::now() + FAREWELL;
        while next(&self.from, deadline).is_ok() {}
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
