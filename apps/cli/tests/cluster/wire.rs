//! A client of NATS by hand, for messages that the program would never send.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub(crate) struct Client {
    stream: TcpStream,
    read: Vec<u8>,
    errors: Vec<String>,
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
        let mut client = Self { stream, read: Vec::new(), errors: Vec::new(), pongs: 0 };
        client.send(format!("CONNECT {options}\r\n").as_bytes());
        client
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
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

    fn read_some(&mut self, wait: Duration) {
        self.stream.set_read_timeout(Some(wait)).expect("a time");
        let mut some = [0; 1 << 16];
        if let Ok(count) = self.stream.read(&mut some) {
            self.read.extend_from_slice(&some[..count]);
        }
        while let Some(end) = self.read.windows(2).position(|pair| pair == b"\r\n") {
            let line = String::from_utf8_lossy(&self.read[..end]).into_owned();
            self.read.drain(..end + 2);
            match line.split_whitespace().next() {
                Some("PING") => self.send(b"PONG\r\n"),
                Some("PONG") => self.pongs += 1,
                Some("-ERR") => self.errors.push(line),
                _ => {}
            }
        }
    }
}
