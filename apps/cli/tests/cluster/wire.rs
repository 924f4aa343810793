//! A client of NATS by hand, for messages that the program would never send.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub(crate) struct Client {
    stream: TcpStream,
    read: Vec<u8>,
    messages: VecDeque<(String, Vec<u8>)>,
    errors: Vec<String>,
    subscriptions: u32,
    pongs: u32,
}

impl Client {
    pub(crate) fn connect(port: u16) -> Self {
        Self::with(port, "{\"verbose\":false,\"pedantic\":false}")
    }

    pub(crate) fn connect_as(port: u16, user: &str, password: &str) -> Self {
        Self::with(port, &format!("{{\"verbose\":false,\"user\":\"{user}\",\"pass\":\"{password}\"}}"))
    }

    fn with(port: u16, options: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
        let (read, messages, errors) = (Vec::new(), VecDeque::new(), Vec::new());
        let mut client = Self { stream, read, messages, errors, subscriptions: 0, pongs: 0 };
        client.send(format!("CONNECT {options}\r\n").as_bytes());
        client
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    pub(crate) fn subscribe(&mut self, subject: &str) {
        self.subscriptions += 1;
        let number = self.subscriptions;
        self.send(format!("SUB {subject} {number}\r\n").as_bytes());
        self.flush();
    }

    pub(crate) fn publish(&mut self, subject: &str, payload: &[u8]) {
        self.send(format!("PUB {subject} {}\r\n", payload.len()).as_bytes());
        self.send(payload);
        self.send(b"\r\n");
    }

    /// Whether the server denies to publish on a subject.
    pub(crate) fn is_denied(&mut self, subject: &str) -> bool {
        self.publish(subject, b"x");
        self.flush();
        self.errors.iter().any(|error| error.contains("Permissions Violation") && error.contains(subject))
    }

    /// Waits until the server has read everything.
    pub(crate) fn flush(&mut self) {
        let pongs = self.pongs;
        self.send(b"PING\r\n");
        let until = Instant::now() + Duration::from_secs(10);
        while self.pongs == pongs && Instant::now() < until {
            self.read_some(Duration::from_millis(100));
        }
    }

    /// The next message, if one comes in time.
    pub(crate) fn next(&mut self, wait: Duration) -> Option<(String, Vec<u8>)> {
        let until = Instant::now() + wait;
        while self.messages.is_empty() && Instant::now() < until {
            self.read_some(Duration::from_millis(100));
        }
        self.messages.pop_front()
    }

    fn read_some(&mut self, wait: Duration) {
        self.stream.set_read_timeout(Some(wait)).expect("a time");
        let mut some = [0; 1 << 16];
        if let Ok(count) = self.stream.read(&mut some) {
            self.read.extend_from_slice(&some[..count]);
        }
        while let Some(end) = self.read.windows(2).position(|pair| pair == b"\r\n") {
            let line = String::from_utf8_lossy(&self.read[..end]).into_owned();
            let words: Vec<&str> = line.split_whitespace().collect();
            let (head, length) = match words.as_slice() {
                ["MSG", .., length] => (0, length.parse::<usize>().expect("a length")),
                ["HMSG", .., head, length] => (head.parse().expect("a length"), length.parse().expect("a length")),
                _ => {
                    match words.first().copied() {
                        Some("PING") => self.send(b"PONG\r\n"),
                        Some("PONG") => self.pongs += 1,
                        Some("-ERR") => self.errors.push(line.clone()),
                        _ => {}
                    }
                    self.read.drain(..end + 2);
                    continue;
                }
            };
            if self.read.len() < end + 2 + length + 2 {
                return;
            }
            let payload = self.read[end + 2 + head..end + 2 + length].to_vec();
            self.messages.push_back((words[1].to_owned(), payload));
            self.read.drain(..end + 2 + length + 2);
        }
    }
}
