//! Buffers of the results of operations, shared by those whose lives do not overlap.

use std::ops::Range;

/// The room that a result takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Numbers per position.
    pub(super) size: usize,
    /// Whether it holds the whole batch, not only the positions that pass through the network together.
    pub(super) whole: bool,
}

/// The buffers.
#[derive(Debug, Clone)]
pub(super) struct Slots<T> {
    rooms: Vec<Room>,
    buffers: Vec<Vec<T>>,
}

/// Gives each result a slot. `lives` are the first and the last pass that writes or reads each, `None` if there is none.
/// Results with equal room share a slot if one is read for the last time before the other is written.
pub(super) fn share(rooms: &[Room], lives: &[Option<[usize; 2]>]) -> (Vec<usize>, Vec<Room>) {
    let mut order: Vec<usize> = (0..rooms.len()).filter(|&result| lives[result].is_some()).collect();
    order.sort_by_key(|&result| lives[result]);
    let (mut slots, mut of_slots): (Vec<usize>, Vec<Room>) = (vec![usize::MAX; rooms.len()], Vec::new());
    let mut free_after: Vec<usize> = Vec::new();
    for result in order {
        let Some([first, last]) = lives[result] else { continue };
        let free = (0..of_slots.len()).find(|&slot| of_slots[slot] == rooms[result] && free_after[slot] < first);
        let slot = free.unwrap_or_else(|| {
            of_slots.push(rooms[result]);
            free_after.push(0);
            of_slots.len() - 1
        });
        (slots[result], free_after[slot]) = (slot, last);
    }
    (slots, of_slots)
}

impl<T: Copy + Default> Slots<T> {
    /// Buffers for up to `near` positions, or up to `batch` for those that hold a whole batch.
    pub(super) fn new(rooms: &[Room], near: usize, batch: usize) -> Slots<T> {
        let buffer = |room: &Room| vec![T::default(); room.size * if room.whole { batch } else { near }];
        Slots { rooms: rooms.to_vec(), buffers: rooms.iter().map(buffer).collect() }
    }

    /// What a slot holds of some positions of the batch.
    #[inline]
    pub(super) fn get(&self, slot: usize, positions: &Range<usize>) -> &[T] {
        &self.buffers[slot][self.range(slot, positions)]
    }

    /// What a slot holds of some positions of the batch, to write.
    #[inline]
    pub(super) fn get_mut(&mut self, slot: usize, positions: &Range<usize>) -> &mut [T] {
        let range = self.range(slot, positions);
        &mut self.buffers[slot][range]
    }

    /// What a slot `x` holds of some positions, and another one `y` to write.
    #[inline]
    pub(super) fn pair(&mut self, x: usize, y: usize, positions: &Range<usize>) -> (&[T], &mut [T]) {
        let (of_x, of_y) = (self.range(x, positions), self.range(y, positions));
        let [x, y] = self.buffers.get_disjoint_mut([x, y]).expect("what is read lives as long as what is written");
        (&x[of_x], &mut y[of_y])
    }

    /// What slots `x` hold of some positions, and another one `y` to write.
    pub(super) fn triple(&mut self, x: [usize; 2], y: usize, positions: &Range<usize>) -> ([&[T]; 2], &mut [T]) {
        let ([of_first, of_second], of_y) = (x.map(|x| self.range(x, positions)), self.range(y, positions));
        if x[0] == x[1] {
            let (x, y) = self.pair(x[0], y, positions);
            return ([x; 2], y);
        }
        let buffers = self.buffers.get_disjoint_mut([x[0], x[1], y]);
        let [first, second, y] = buffers.expect("what is read lives as long as what is written");
        ([&first[of_first], &second[of_second]], &mut y[of_y])
    }

    #[inline]
    fn range(&self, slot: usize, positions: &Range<usize>) -> Range<usize> {
        let Room { size, whole } = self.rooms[slot];
        let first = if whole { positions.start } else { 0 };
        first * size..(first + positions.len()) * size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_share_a_slot_when_their_lives_do_not_overlap() {
        let near = |size| Room { size, whole: false };
        let rooms = [near(4), near(4), near(4), near(8), Room { size: 4, whole: true }, near(4)];
        let lives = [Some([0, 1]), Some([1, 2]), Some([2, 3]), Some([3, 4]), Some([4, 5]), None];
        let (slots, of_slots) = share(&rooms, &lives);
        // The third is written when the first has been read; the second is read then.
        assert_eq!(slots[..5], [0, 1, 0, 2, 3]);
        assert_eq!(of_slots, [near(4), near(4), near(8), Room { size: 4, whole: true }]);
    }

    #[test]
    fn positions_lie_where_the_room_says() {
        let mut slots = Slots::<u8>::new(&[Room { size: 2, whole: false }, Room { size: 1, whole: true }], 2, 5);
        slots.get_mut(1, &(3..5)).copy_from_slice(&[7, 8]);
        let (whole, near) = slots.pair(1, 0, &(3..5));
        near[..2].copy_from_slice(whole);
        near[2..].fill(9);
        let ([same, again], near) = slots.triple([1, 1], 0, &(3..5));
        assert_eq!((same, again, near.len()), (&[7, 8][..], &[7, 8][..], 4));
        assert_eq!(slots.get(0, &(0..2)), [7, 8, 9, 9]);
        assert_eq!(slots.get(1, &(0..5)), [0, 0, 0, 7, 8]);
    }
}
