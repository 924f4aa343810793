//! Open connections: when there are too many, the one that has stood still longest makes room.

use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Connections that are open at most. Each has a thread.
pub(crate) const MOST: usize = 1024;

/// Time that a connection may stand still before it can be made to leave.
const STILL: Duration = Duration::from_millis(200);

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
    /// When bytes last came or went; `None` while an answer is made.
    moved: Option<Instant>,
}

impl Connections {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no further connection is to be accepted now.
    pub(crate) fn are_full(&self) -> bool {
        self.inner().open.len() >= MOST
    }

    /// Adds a connection and returns its number.
    pub(crate) fn add(&self, stream: Arc<TcpStream>) -> u64 {
        let mut inner = self.inner();
        inner.last += 1;
        let number = inner.last;
        inner.open.insert(number, Open { stream, moved: Some(Instant::now()) });
        number
    }

    /// Shuts down the connection that has stood still longest. Returns false if none has for long enough.
    pub(crate) fn make_room(&self) -> bool {
        let mut inner = self.inner();
        let still = inner.open.iter().filter_map(|(number, open)| Some((open.moved?, *number)));
        match still.min().filter(|(moved, _)| moved.elapsed() >= STILL) {
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

    /// Notes that bytes came or went.
    pub(crate) fn moved(&self, number: u64) {
        self.set(number, Some(Instant::now()));
    }

    /// Notes that an answer is being made.
    pub(crate) fn busy(&self, number: u64) {
        self.set(number, None);
    }

    fn set(&self, number: u64, moved: Option<Instant>) {
        if let Some(open) = self.inner().open.get_mut(&number) {
            open.moved = moved;
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
    fn the_one_that_stood_still_longest_makes_room() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connections = Connections::default();
        let mut clients = Vec::new();
        let mut numbers = Vec::new();
        for _ in 0..3 {
            clients.push(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
            numbers.push(connections.add(Arc::new(listener.accept().unwrap().0)));
        }
        assert!(!connections.make_room(), "all of them have just come");
        sleep(STILL);
        connections.busy(numbers[0]);
        connections.moved(numbers[1]);
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
