//! A client of NATS by hand, for messages that the program would never send.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    pub(crate) fn connect(port: u16) -> Self {
        Self::with(port, "{\"verbose\":false}")
    }

    pub(crate) fn connect_as(port: u16, user: &str, password: &str) -> Self {
        Self::with(port, &format!("{{\"verbose\":false,\"user\":\"{user}\",\"pass\":\"{password}\"}}"))
    }

    fn with(port: u16, options: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
        stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).expect("a time");
        let mut client = Self(BufReader::new(stream));
        client.send(format!("CONNECT {options}\r\n").as_bytes());
        client
    }

    fn send(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).expect("the server reads");
    }

    pub(crate) fn publish(&mut self, subject: &str, payload: &[u8]) {
        self.send(format!("PUB {subject} {}\r\n", payload.len()).as_bytes());
        self.send(&[payload, b"\r\n"].concat());
    }

    /// Publishes an empty message whose answer goes to another subject.
    pub(crate) fn request(&mut self, subject: &str, answer: &str) {
        self.send(format!("PUB {subject} {answer} 0\r\n\r\n").as_bytes());
    }

    /// Waits until the server has read everything; returns what it has said.
    pub(crate) fn flush(&mut self) -> String {
        self.send(b"PING\r\n");
        let mut said = String::new();
        while !said.ends_with("PONG\r\n") {
            assert!(self.0.read_line(&mut said).expect("the server answers") > 0, "{said}");
        }
        said
    }

    /// Whether the server denies to publish on a subject.
    pub(crate) fn is_denied(&mut self, subject: &str) -> bool {
        self.publish(subject, b"x");
        self.flush().lines().any(|line| line.contains("Permissions Violation") && line.contains(subject))
    }

    /// Subscribes to a subject. To be called once.
    pub(crate) fn subscribe(&mut self, subject: &str) {
        self.send(format!("SUB {subject} 1\r\n").as_bytes());
        self.flush();
    }

    /// The next message on that subject, after its own.
    pub(crate) fn next(&mut self) -> (String, Vec<u8>) {
        let mut line = String::new();
        while !line.starts_with("MSG ") && !line.starts_with("HMSG ") {
            line.clear();
            self.0.read_line(&mut line).expect("a message");
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let length = words[words.len() - 1].parse().expect("its length");
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).expect("the message");
        (words[1].to_owned(), payload)
    }
}
