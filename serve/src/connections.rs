//! Open connections: when there are too many, the one that was idle longest makes room.

use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Connections that are open at most. Each has a thread.
pub(crate) const MOST: usize = 256;

/// The open connections by number, with when each of them last began a request.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Counts events: larger is later.
    now: u64,
    open: HashMap<u64, (u64, TcpStream)>,
}

impl Connections {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection and returns its number. If there are too many, the one that was idle longest is shut down.
    pub(crate) fn add(&self, stream: TcpStream) -> u64 {
        let mut inner = self.inner();
        inner.now += 1;
        let number = inner.now;
        inner.open.insert(number, (number, stream));
        if inner.open.len() > MOST {
            let oldest = inner.open.iter().min_by_key(|(_, (since, _))| *since).map(|(number, _)| *number);
            if let Some((_, stream)) = oldest.and_then(|number| inner.open.remove(&number)) {
                // Its thread then reads the end of the stream.
                _ = stream.shutdown(Shutdown::Both);
            }
        }
        number
    }

    /// Notes that a connection has begun a request.
    pub(crate) fn touch(&self, number: u64) {
        let mut inner = self.inner();
        inner.now += 1;
        let now = inner.now;
        if let Some((since, _)) = inner.open.get_mut(&number) {
            *since = now;
        }
    }

    /// Removes a connection that has ended.
    pub(crate) fn remove(&self, number: u64) {
        self.inner().open.remove(&number);
    }

    /// Shuts all connections down.
    pub(crate) fn close(&self) {
        for (_, (_, stream)) in self.inner().open.drain() {
            _ = stream.shutdown(Shutdown::Both);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;

    #[test]
    fn the_one_idle_longest_makes_room() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connections = Connections::default();
        let mut clients = Vec::new();
        let mut numbers = Vec::new();
        for i in 0..=MOST {
            clients.push(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
            if i == MOST {
                connections.touch(numbers[0]); // the second is now the one idle longest
            }
            numbers.push(connections.add(listener.accept().unwrap().0));
        }
        clients[1].set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
        assert_eq!(clients[1].read(&mut [0]).unwrap(), 0, "shut down");
        clients[0].set_nonblocking(true).unwrap();
        assert!(clients[0].read(&mut [0]).is_err(), "still open");
    }
}
