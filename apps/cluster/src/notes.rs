//! Log lines of a leader or worker, with a limit on lines that other machines can cause; locks that survive a panic.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A line of the log of a leader or worker.
#[derive(Clone, Debug)]
pub enum Note {
    /// For information.
    Line(String),
    /// Something is wrong with a worker or the server.
    Warning(String),
}

/// Prints or records notes.
pub type TakeNote = Arc<dyn Fn(Note) + Send + Sync>;

/// Locks a mutex, also after a thread has panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a reason")
}

/// Maximum number of lines about one name.
const PER_NAME: u32 = 5;
/// Maximum number of lines in total.
const IN_ALL: u32 = 200;

/// Limits how many lines others can add to the log: workers to their leader's, a server to its client's.
#[derive(Debug, Default)]
pub(crate) struct LogLimit {
    count: u32,
    by_name: HashMap<String, u32>,
}

impl LogLimit {
    /// Returns the line if it is within the limits. The last line within a limit says that no more follow.
    pub(crate) fn allow(&mut self, name: &str, line: String) -> Option<String> {
        if self.count >= IN_ALL {
            return None;
        }
        let of_name = self.by_name.entry(name.to_owned()).or_default();
        *of_name += 1;
        if *of_name > PER_NAME {
            return None;
        }
        self.count += 1;
        Some(match (self.count, *of_name) {
            (IN_ALL, _) => format!("{line} (further messages of this kind are not shown)"),
            (_, PER_NAME) => format!("{line} (further messages about it are not shown)"),
            _ => line,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_one_fills_the_log() {
        let mut limit = LogLimit::default();
        let said: Vec<String> = (0..100).filter_map(|_| limit.allow("a", "x".into())).collect();
        assert_eq!((said.len(), &*said[0]), (5, "x"));
        assert!(said[4].contains("further messages about it are not shown"));
        let all = (0..9999).filter_map(|number| limit.allow(&format!("n{number}"), "x".into())).count();
        assert_eq!(all, 195);
        assert!(limit.by_name.len() <= 200);
    }
}
