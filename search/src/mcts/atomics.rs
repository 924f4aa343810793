//! Atomic numbers of a tree. A search with one thread changes them by a load and a store, which cost what plain numbers do;
//! threads that share the tree change them in one step.

use std::sync::atomic::{AtomicI8, AtomicU32, Ordering};

/// Access to the numbers of a tree, by one thread or by several.
pub(super) trait Access {
    /// Whether other threads may change the tree at the same time.
    const SHARED: bool;
}

/// One thread has the tree to itself.
pub(super) struct SingleThread;

/// Several threads share the tree.
pub(super) struct MultiThread;

impl Access for SingleThread {
    const SHARED: bool = false;
}

impl Access for MultiThread {
    const SHARED: bool = true;
}

/// Adds to a count.
#[inline]
pub(super) fn count<A: Access>(number: &AtomicU32, more: u32) {
    if A::SHARED {
        number.fetch_add(more, Ordering::Relaxed);
    } else {
        number.store(number.load(Ordering::Relaxed) + more, Ordering::Relaxed);
    }
}

/// A float that threads can add to.
#[derive(Default, Debug)]
pub(super) struct Sum(AtomicU32);

impl Sum {
    pub(super) fn new(value: f32) -> Self {
        Self(AtomicU32::new(value.to_bits()))
    }

    #[inline]
    pub(super) fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }

    #[inline]
    pub(super) fn set(&self, value: f32) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn add<A: Access>(&self, more: f32) {
        if A::SHARED {
            let added = |bits| Some((f32::from_bits(bits) + more).to_bits());
            // It cannot fail: the function always returns a value.
            _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, added);
        } else {
            self.set(self.get() + more);
        }
    }
}

/// An exact value for the first side, once it is proven: -1, 0 or 1.
#[derive(Debug)]
pub(super) struct Proven(AtomicI8);

impl Proven {
    const UNKNOWN: i8 = i8::MIN;

    pub(super) fn new(value: Option<i8>) -> Self {
        Self(AtomicI8::new(value.unwrap_or(Self::UNKNOWN)))
    }

    #[inline]
    pub(super) fn get(&self) -> Option<i8> {
        Some(self.0.load(Ordering::Relaxed)).filter(|value| *value != Self::UNKNOWN)
    }

    #[inline]
    pub(super) fn set(&self, value: i8) {
        self.0.store(value, Ordering::Relaxed);
    }
}
