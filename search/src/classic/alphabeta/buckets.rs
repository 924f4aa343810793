//! The memory of the table of positions: buckets that several threads can use, one at a time.
//!
//! The `unsafe` saves a search with one thread the locks, and one with several a lock in every bucket, which would make the
//! buckets larger (docs/lab/search.md).
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use turnstone_env::Action;

/// Whether a stored score is the true score or a bound on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bound {
    /// It is the true score.
    Exact,
    /// The true score is as great or greater.
    Lower,
    /// The true score is as small or smaller.
    Upper,
}

/// Stored result of a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    /// Score for the first side; wins are counted from the position itself, not from the root.
    pub(super) score: i32,
    pub(super) bound: Bound,
    /// The action that was best or caused the cutoff.
    pub(super) action: Action,
    /// Plies that were searched below the position.
    pub(super) depth: u8,
    /// No static estimate had a part in the score: it holds for every greater depth too.
    pub(super) complete: bool,
}

/// Entry of a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<S> {
    pub(super) state: S,
    pub(super) known: Stored,
    /// The search that stored it; 0 in an entry never used.
    pub(super) generation: u8,
}

/// Two entries, the places of a position.
pub(super) type Bucket<S> = [Entry<S>; 2];

/// Number of locks. A lock is held for some dozen instructions, so that threads seldom meet at one.
const LOCKS: usize = 1024;

/// The buckets of a table, whose number is a power of two, for one thread or shared.
#[derive(Debug)]
pub(super) struct Buckets<S> {
    memory: Arc<Memory<S>>,
    /// Whether other threads have them too, so that buckets have to be locked.
    is_shared: bool,
}

#[derive(Debug)]
struct Memory<S> {
    buckets: Vec<UnsafeCell<Bucket<S>>>,
    /// Lock `i` is that of the buckets whose index is `i` modulo the number of locks.
    locks: Box<[AtomicBool; LOCKS]>,
    /// The current search; 0 before the first.
    generation: AtomicU8,
}

// SAFETY: threads that share the memory hold the lock of a bucket while they use it, see `Buckets::with`.
unsafe impl<S: Send> Sync for Memory<S> {}

impl<S: Copy> Buckets<S> {
    /// The largest number of buckets of at most `bytes` bytes, at least one; fewer if the memory cannot be had. `filler` is any
    /// state.
    pub(super) fn new(bytes: usize, filler: S) -> Self {
        let known = Stored { score: 0, bound: Bound::Exact, action: Action(0), depth: 0, complete: false };
        let bucket = [Entry { state: filler, known, generation: 0 }; 2];
        let most = (bytes / size_of_val(&bucket)).max(1);
        let (mut buckets, mut count) = (Vec::new(), 1_usize << most.ilog2());
        while count > 1 && buckets.try_reserve_exact(count).is_err() {
            count /= 2;
        }
        buckets.resize_with(count, || UnsafeCell::new(bucket));
        let locks = Box::new([const { AtomicBool::new(false) }; LOCKS]);
        Self { memory: Arc::new(Memory { buckets, locks, generation: AtomicU8::new(0) }), is_shared: false }
    }

    /// The same buckets for another thread.
    pub(super) fn share(&mut self) -> Self {
        self.is_shared = true;
        Self { memory: Arc::clone(&self.memory), is_shared: true }
    }

    /// The current search; 0 before the first.
    #[inline]
    pub(super) fn generation(&self) -> u8 {
        self.memory.generation.load(Ordering::Relaxed)
    }

    pub(super) fn set_generation(&mut self, generation: u8) {
        self.memory.generation.store(generation, Ordering::Relaxed);
    }

    /// Number of buckets.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.memory.buckets.len()
    }

    /// Uses a bucket alone.
    #[inline]
    pub(super) fn with<R>(&mut self, index: usize, use_bucket: impl FnOnce(&mut Bucket<S>) -> R) -> R {
        let _lock = self.is_shared.then(|| Lock::of(&self.memory.locks[index % LOCKS]));
        // SAFETY: the lock keeps other threads out. Buckets that have not been shared are known to this `&mut self` alone.
        use_bucket(unsafe { &mut *self.memory.buckets[index].get() })
    }
}

/// A lock that is held.
struct Lock<'a>(&'a AtomicBool);

impl<'a> Lock<'a> {
    fn of(lock: &'a AtomicBool) -> Self {
        /// Tries before the processor is offered to other threads: the holder may wait for it.
        const SPINS: u32 = 100;
        let mut tries = 0;
        while lock.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            tries += 1;
            if tries < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        Self(lock)
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
