//! An arena that several threads can add to at once: while it is shared it has a fixed capacity, and nothing moves.
//!
//! The `unsafe` lets threads write to free slots next to each other without a lock, and adds nothing to the cost of a search
//! with one thread (docs/lab/search.md).
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};

/// Items in the order in which they were added. Items must not need to be dropped.
///
/// An index may only be read by a thread that has added the item, or has got the index from the thread that did through an
/// atomic written with [`Ordering::Release`] and read with [`Ordering::Acquire`], or across the start or end of a thread.
pub(super) struct Arena<T> {
    /// As many as the capacity; the first [`Arena::len`] are taken, and those whose index is known are written.
    slots: Vec<Slot<T>>,
    taken: AtomicU32,
}

struct Slot<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: a slot is written once, by the thread that has taken it, and read by others only after they have got its index
// from that thread; from then on it is shared as a `&T` is.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        const { assert!(!std::mem::needs_drop::<T>()) };
        Self { slots: Vec::new(), taken: AtomicU32::new(0) }
    }
}

impl<T> Arena<T> {
    /// Number of items.
    pub(super) fn len(&self) -> usize {
        (self.taken.load(Ordering::Relaxed) as usize).min(self.slots.len())
    }

    /// Number of items that fit without a move.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Removes all items and keeps the memory.
    pub(super) fn clear(&mut self) {
        *self.taken.get_mut() = 0;
    }

    /// Makes room for `more` items. If the arena has to grow, its capacity doubles.
    pub(super) fn make_room(&mut self, more: usize) {
        let needed = self.len() + more;
        if needed > self.slots.len() {
            self.slots.reserve((needed - self.slots.len()).max(self.slots.len()));
            self.use_capacity();
        }
    }

    /// Reserves memory for `items` items in all, without any to spare. Without enough memory the arena is left as it is.
    pub(super) fn reserve(&mut self, items: usize) {
        if self.slots.try_reserve_exact(items.saturating_sub(self.slots.len())).is_ok() {
            self.use_capacity();
        }
    }

    fn use_capacity(&mut self) {
        // SAFETY: the slots up to the capacity are allocated, and a slot needs no initialisation.
        unsafe { self.slots.set_len(self.slots.capacity()) };
    }

    /// Adds an item and returns its index; `None` if there is no room.
    pub(super) fn push(&self, item: T) -> Option<u32> {
        self.extend(1, std::iter::once(item))
    }

    /// Adds `count` items next to each other and returns the index of the first; `None` if there is no room for them.
    ///
    /// # Panics
    /// If there are fewer items.
    pub(super) fn extend(&self, count: usize, mut items: impl Iterator<Item = T>) -> Option<u32> {
        let first = self.take(count)?;
        for slot in &self.slots[first as usize..][..count] {
            let item = items.next().expect("as many items as were announced");
            // SAFETY: `take` has given these slots to this call alone, and nobody knows their indices yet.
            unsafe { (*slot.0.get()).write(item) };
        }
        Some(first)
    }

    /// Takes slots that are free.
    fn take(&self, count: usize) -> Option<u32> {
        let room = |taken: u32| {
            let end = taken as usize + count;
            (end <= self.slots.len()).then_some(end as u32)
        };
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).ok()
    }

    /// The item of an index that [`Arena::push`] or [`Arena::extend`] has returned.
    #[inline]
    pub(super) fn get(&self, index: u32) -> &T {
        debug_assert!((index as usize) < self.len());
        // SAFETY: the slot is written before its index is known, and only a `&mut self` can write to it again.
        unsafe { (*self.slots[index as usize].0.get()).assume_init_ref() }
    }

    /// The items of a range of indices.
    #[inline]
    pub(super) fn slice(&self, first: u32, count: usize) -> &[T] {
        debug_assert!(first as usize + count <= self.len());
        let slots = &self.slots[first as usize..][..count];
        // SAFETY: as for `get`; a slot has the layout of its item.
        unsafe { std::slice::from_raw_parts(slots.as_ptr().cast::<T>(), count) }
    }

    /// The items of a range of indices, to be changed.
    #[inline]
    pub(super) fn slice_mut(&mut self, first: u32, count: usize) -> &mut [T] {
        debug_assert!(first as usize + count <= self.len());
        let slots = &mut self.slots[first as usize..][..count];
        // SAFETY: as for `slice`, and nobody else has access.
        unsafe { std::slice::from_raw_parts_mut(slots.as_mut_ptr().cast::<T>(), count) }
    }
}

impl<T: Clone> Clone for Arena<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.make_room(self.len());
        copy.extend(self.len(), self.slice(0, self.len()).iter().cloned());
        copy
    }
}

impl<T> std::fmt::Debug for Arena<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Arena({} items)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_side_by_side() {
        const EACH: u32 = if cfg!(miri) { 50 } else { 5_000 };
        let mut arena = Arena::default();
        arena.make_room(4 * EACH as usize);
        let all = arena.capacity();
        let found: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let arena = &arena;
                    scope.spawn(move || (0..EACH).map(|i| arena.push((thread, i)).expect("there is room")).collect())
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        for (thread, indices) in found.iter().enumerate() {
            for (i, &index) in indices.iter().enumerate() {
                assert_eq!(*arena.get(index), (thread, i as u32));
            }
        }
        assert_eq!(arena.len(), 4 * EACH as usize);
        while arena.push((9, 9)).is_some() {}
        assert_eq!((arena.len(), arena.extend(2, std::iter::repeat((7, 7)))), (all, None), "it is full");
        arena.make_room(1);
        assert!(arena.capacity() >= 2 * all && *arena.get(0) == arena.slice(0, 2)[0]);
        let copy = arena.clone();
        arena.clear();
        assert_eq!((arena.len(), copy.len(), copy.get(found[2][7])), (0, all, &(2, 7)));
    }
}
