//! Cached answers of rules written in Python, by the bytes of the question.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory of the answers in each of the two generations of a cache, in bytes.
const MEMORY: usize = 16 << 20;

/// Answers in two generations: when the younger one is full it becomes the older one, which is forgotten.
pub(super) struct Cache<T>(Mutex<Generations<T>>);

struct Generations<T> {
    young: HashMap<Box<[u8]>, T>,
    old: HashMap<Box<[u8]>, T>,
    /// Most entries of a generation.
    most: usize,
}

impl<T: Clone> Cache<T> {
    /// A cache of answers of about this many bytes, with their question.
    pub(super) fn new(bytes: usize) -> Self {
        let most = (MEMORY / (bytes + 64)).clamp(1 << 10, 1 << 16);
        Self(Mutex::new(Generations { young: HashMap::new(), old: HashMap::new(), most }))
    }

    pub(super) fn get(&self, question: &[u8]) -> Option<T> {
        let mut generations = self.lock();
        if let Some(answer) = generations.young.get(question) {
            return Some(answer.clone());
        }
        let (question, answer) = generations.old.remove_entry(question)?;
        let forgotten = generations.put(question, answer.clone());
        drop(generations);
        drop(forgotten);
        Some(answer)
    }

    pub(super) fn has(&self, question: &[u8]) -> bool {
        let generations = self.lock();
        generations.young.contains_key(question) || generations.old.contains_key(question)
    }

    pub(super) fn put(&self, question: &[u8], answer: T) {
        let forgotten = self.lock().put(question.into(), answer);
        drop(forgotten);
    }

    /// Forgets all answers.
    pub(super) fn clear(&self) {
        let forgotten = {
            let mut generations = self.lock();
            (std::mem::take(&mut generations.young), std::mem::take(&mut generations.old))
        };
        drop(forgotten);
    }

    fn lock(&self) -> MutexGuard<'_, Generations<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Generations<T> {
    /// Returns what is forgotten, to be dropped without the lock: an object of Python may do anything when it goes.
    fn put(&mut self, question: Box<[u8]>, answer: T) -> (HashMap<Box<[u8]>, T>, Option<T>) {
        let is_full = self.young.len() >= self.most;
        let old =
            if is_full { std::mem::replace(&mut self.old, std::mem::take(&mut self.young)) } else { HashMap::new() };
        (old, self.young.insert(question, answer))
    }
}
