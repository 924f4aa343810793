//! Open connections: when there are too many, the one that has been idle longest is closed.

use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of open connections. Each has a thread.
pub(crate) const MOST: usize = 1024;

/// Time for which a connection must be idle before it can be closed for another.
const IDLE: Duration = Duration::from_millis(200);

/// The open connections by number.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    last: u64,
    open: HashMap<u64, Open>,
}

#[derive(Debug)]
struct Open {
    stream: Arc<TcpStream>,
    /// When bytes were last received or sent; `None` while an answer is made.
    active: Option<Instant>,
}

impl Connections {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no further connection can be accepted.
    pub(crate) fn are_full(&self) -> bool {
        self.inner().open.len() >= MOST
    }

    /// Adds a connection and returns its number.
    pub(crate) fn add(&self, stream: Arc<TcpStream>) -> u64 {
        let mut inner = self.inner();
        inner.last += 1;
        let number = inner.last;
        inner.open.insert(number, Open { stream, active: Some(Instant::now()) });
        number
    }

    /// Closes the connection that has been idle longest. Returns false if none has been idle for long enough.
    pub(crate) fn make_room(&self) -> bool {
        let mut inner = self.inner();
        let still = inner.open.iter().filter_map(|(number, open)| Some((open.active?, *number)));
        match still.min().filter(|(active, _)| active.elapsed() >= IDLE) {
            Some((_, number)) => {
                if let Some(open) = inner.open.remove(&number) {
                    // Its thread then reads the end of the stream.
                    _ = open.stream.shutdown(Shutdown::Both);
                }
                true
            }
            None => false,
        }
    }

    /// Notes that bytes were received or sent.
    pub(crate) fn active(&self, number: u64) {
        self.set(number, Some(Instant::now()));
    }

    /// Notes that an answer is being made.
    pub(crate) fn busy(&self, number: u64) {
        self.set(number, None);
    }

    fn set(&self, number: u64, active: Option<Instant>) {
        if let Some(open) = self.inner().open.get_mut(&number) {
            open.active = active;
        }
    }

    /// Removes a connection that has ended.
    pub(crate) fn remove(&self, number: u64) {
        self.inner().open.remove(&number);
    }

    /// Shuts all connections down.
    pub(crate) fn close(&self) {
        for (_, open) in self.inner().open.drain() {
            _ = open.stream.shutdown(Shutdown::Both);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;
    use std::thread::sleep;

    #[test]
    fn the_one_that_was_idle_longest_makes_room() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connections = Connections::default();
        let mut clients = Vec::new();
        let mut numbers = Vec::new();
        for _ in 0..3 {
            clients.push(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
            numbers.push(connections.add(Arc::new(listener.accept().unwrap().0)));
        }
        assert!(!connections.make_room(), "all of them have just come");
        sleep(IDLE);
        connections.busy(numbers[0]);
        connections.active(numbers[1]);
        assert!(connections.make_room() && !connections.make_room());
        clients[2].set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        assert_eq!(clients[2].read(&mut [0]).unwrap(), 0, "shut down");
        for client in &mut clients[..2] {
            client.set_nonblocking(true).unwrap();
            assert!(client.read(&mut [0]).is_err(), "still open");
        }
        assert!(!connections.are_full());
    }
}
