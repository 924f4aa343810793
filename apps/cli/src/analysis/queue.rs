//! Queue of tasks for the workers, with termination of waiting and running tasks.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::query::Task;
use turnstone_search::Stop;

/// Maximum number of waiting tasks.
const MOST_WAITING: usize = 100_000;

/// Nor do tasks of more bytes in all: each has a copy of the name of its query.
const MOST_BYTES: usize = 64 << 20;

/// A task in the queue or with a worker.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) task: Task,
    /// Raised when the task is terminated.
    pub(super) stop: Stop,
    number: u64,
}

/// Orders by priority, then by arrival; the greatest ticket is searched first.
impl Ord for Ticket {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.task.priority, other.number).cmp(&(other.task.priority, self.number))
    }
}

impl PartialOrd for Ticket {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ticket {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ticket {}

/// About the memory that a task takes.
fn size_of_task(task: &Task) -> usize {
    size_of::<Ticket>() + task.id.len()
}

/// Queue between the reader of queries and the workers.
#[derive(Debug)]
pub(super) struct Queue {
    inner: Mutex<Inner>,
    changed: Condvar,
    workers: usize,
}

#[derive(Debug)]
struct Inner {
    waiting: BinaryHeap<Ticket>,
    /// Sum of [`size_of_task`] over `waiting`.
    bytes: usize,
    /// Tasks that workers have taken and not finished.
    taken: Vec<Taken>,
    next: u64,
    closed: bool,
}

#[derive(Debug)]
struct Taken {
    number: u64,
    id: String,
    turn: usize,
    stop: Stop,
}

impl Queue {
    pub(super) fn new(workers: usize) -> Self {
        let inner = Inner { waiting: BinaryHeap::new(), bytes: 0, taken: Vec::new(), next: 0, closed: false };
        Self { inner: Mutex::new(inner), changed: Condvar::new(), workers }
    }

    /// Adds tasks. Returns false, and adds none, if more than [`MOST_WAITING`] would wait.
    pub(super) fn put(&self, tasks: Vec<Task>) -> bool {
        let mut inner = self.lock();
        let bytes: usize = tasks.iter().map(size_of_task).sum();
        if inner.waiting.len() + tasks.len() > MOST_WAITING || inner.bytes + bytes > MOST_BYTES {
            return false;
        }
        inner.bytes += bytes;
        for task in tasks {
            let number = inner.next;
            inner.next += 1;
            inner.waiting.push(Ticket { task, stop: Stop::default(), number });
        }
        self.changed.notify_all();
        true
    }

    /// Takes a worker's share of the waiting tasks, at most `room`. If `idle`, blocks until there is one; an empty
    /// result then means that the queue is closed and empty.
    pub(super) fn take(&self, room: usize, idle: bool) -> Vec<Ticket> {
        let mut inner = self.lock();
        while idle && inner.waiting.is_empty() && !inner.closed {
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
        let share = inner.waiting.len().div_ceil(self.workers).min(room);
        let tickets: Vec<Ticket> = (0..share).filter_map(|_| inner.waiting.pop()).collect();
        inner.bytes -= tickets.iter().map(|ticket| size_of_task(&ticket.task)).sum::<usize>();
        for ticket in &tickets {
            let (id, turn, stop) = (ticket.task.id.clone(), ticket.task.turn, ticket.stop.clone());
            inner.taken.push(Taken { number: ticket.number, id, turn, stop });
        }
        tickets
    }

    /// Marks a taken task as answered.
    pub(super) fn finish(&self, ticket: &Ticket) {
        self.lock().taken.retain(|taken| taken.number != ticket.number);
    }

    /// Terminates the tasks of the query `id`, or of all queries, with the given turns, or all. Removes and returns
    /// those that wait; stops those that a worker has taken.
    pub(super) fn terminate(&self, id: Option<&str>, turns: Option<&[usize]>) -> Vec<Task> {
        let is_meant =
            |task: &str, turn: usize| id.is_none_or(|id| id == task) && turns.is_none_or(|turns| turns.contains(&turn));
        let mut inner = self.lock();
        inner.taken.iter().filter(|taken| is_meant(&taken.id, taken.turn)).for_each(|taken| taken.stop.raise());
        let waiting = std::mem::take(&mut inner.waiting).into_vec();
        let (given_up, kept): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|ticket| is_meant(&ticket.task.id, ticket.task.turn));
        inner.bytes = kept.iter().map(|ticket| size_of_task(&ticket.task)).sum();
        inner.waiting = kept.into();
        given_up.into_iter().map(|ticket| ticket.task).collect()
    }

    /// Closes the queue: no more tasks will be added.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::AnyState;

    fn task(id: &str, turn: usize, priority: i64) -> Task {
        Task { id: id.to_owned(), turn, state: AnyState::new(()), simulations: 1, priority }
    }

    #[test]
    fn greater_priority_comes_first_then_first_come() {
        let queue = Queue::new(1);
        assert!(queue.put(vec![task("a", 0, 0), task("b", 0, 5), task("c", 0, 0), task("d", 0, 5)]));
        let names: String = queue.take(9, true).into_iter().map(|ticket| ticket.task.id).collect();
        assert_eq!(names, "bdac");
        assert!(!queue.put((0..=MOST_WAITING).map(|turn| task("e", turn, 0)).collect()));
    }

    #[test]
    fn what_waits_is_bounded_in_bytes() {
        let queue = Queue::new(1);
        let long = "x".repeat(1 << 20);
        let put = || queue.put(vec![task(&long, 0, 0)]);
        assert_eq!((0..100).filter(|_| put()).count(), 63);
        assert_eq!(queue.take(3, true).len(), 3);
        assert!(put() && put() && put() && !put());
        assert_eq!(queue.terminate(None, None).len(), 63);
        assert_eq!((0..100).filter(|_| put()).count(), 63);
    }

    #[test]
    fn what_waits_is_given_up_at_once_and_what_runs_is_stopped() {
        let queue = Queue::new(1);
        assert!(queue.put(vec![task("a", 0, 1), task("a", 1, 0), task("b", 0, 0)]));
        let running = queue.take(1, true).remove(0);
        let given_up = queue.terminate(Some("a"), None);
        assert_eq!(given_up, [task("a", 1, 0)]);
        assert!(running.stop.is_raised());
        queue.finish(&running);
        queue.close();
        assert_eq!(queue.take(9, true).len(), 1);
        assert!(queue.take(9, true).is_empty());
    }
}
