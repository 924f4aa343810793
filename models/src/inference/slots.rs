//! Buffers of the results of operations, shared by results whose lives do not overlap.

use std::ops::Range;

/// The room that a result takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Numbers per position.
    pub(super) size: usize,
    /// Whether it holds the whole batch, not only the positions that pass through the network together.
    pub(super) whole: bool,
}

/// The buffers of a network, numbered.
#[derive(Debug, Clone)]
pub(super) struct Slots<T> {
    rooms: Vec<Room>,
    buffers: Vec<Vec<T>>,
}

/// Lets the registers of `passes` share slots: replaces the number of each register by that of its slot, in the passes and
/// in `outputs`, which are read at the end. Returns the rooms of the slots.
pub(super) fn assign<P>(
    passes: &mut [P],
    registers: fn(&mut P) -> Vec<&mut usize>,
    rooms: &[Room],
    outputs: &mut [usize],
) -> Vec<Room> {
    let end = passes.len();
    let mut lives: Vec<Option<[usize; 2]>> = vec![None; rooms.len()];
    let mut extend = |register: usize, pass: usize| {
        lives[register] = Some([lives[register].map_or(pass, |[first, _]| first), pass]);
    };
    for (index, pass) in passes.iter_mut().enumerate() {
        registers(pass).into_iter().for_each(|register| extend(*register, index));
    }
    outputs.iter().for_each(|&register| extend(register, end));
    let (slots, of_slots) = share(rooms, &lives);
    passes.iter_mut().flat_map(registers).chain(outputs).for_each(|register| *register = slots[*register]);
    of_slots
}

/// The slot of each register, and the rooms of the slots. `lives` are the first and the last pass that writes or reads a
/// register, `None` if there is none. Registers with equal room share a slot if one is read for the last time before the
/// other is written.
fn share(rooms: &[Room], lives: &[Option<[usize; 2]>]) -> (Vec<usize>, Vec<Room>) {
    let mut order: Vec<usize> = (0..rooms.len()).filter(|&register| lives[register].is_some()).collect();
    order.sort_by_key(|&register| lives[register]);
    let (mut slots, mut of_slots): (Vec<usize>, Vec<Room>) = (vec![usize::MAX; rooms.len()], Vec::new());
    let mut free_after: Vec<usize> = Vec::new();
    for register in order {
        let Some([first, last]) = lives[register] else { continue };
        let free = (0..of_slots.len()).find(|&slot| of_slots[slot] == rooms[register] && free_after[slot] < first);
        let slot = free.unwrap_or_else(|| {
            of_slots.push(rooms[register]);
            free_after.push(0);
            of_slots.len() - 1
        });
        (slots[register], free_after[slot]) = (slot, last);
    }
    (slots, of_slots)
}

impl<T: Copy + Default> Slots<T> {
    /// Buffers for up to `near` positions, or up to `batch` for those that hold a whole batch.
    pub(super) fn new(rooms: &[Room], near: usize, batch: usize) -> Slots<T> {
        let buffer = |room: &Room| vec![T::default(); room.size * if room.whole { batch } else { near }];
        Slots { rooms: rooms.to_vec(), buffers: rooms.iter().map(buffer).collect() }
    }

    /// A slot's numbers for some positions of the batch.
    #[inline]
    pub(super) fn read(&self, slot: usize, positions: &Range<usize>) -> &[T] {
        &self.buffers[slot][self.range(slot, positions)]
    }

    /// Calls `write` with what a slot holds of some positions of the batch, and with the slots, of which it may read all
    /// others.
    #[inline]
    pub(super) fn write(&mut self, slot: usize, positions: &Range<usize>, write: impl FnOnce(&Slots<T>, &mut [T])) {
        let range = self.range(slot, positions);
        let mut buffer = std::mem::take(&mut self.buffers[slot]);
        write(self, &mut buffer[range]);
        self.buffers[slot] = buffer;
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
    fn passes_and_outputs_name_the_slots_of_their_registers() {
        let room = Room { size: 4, whole: false };
        // Each pass reads its first register and writes its second.
        let mut passes = vec![[0, 1], [1, 2], [2, 3]];
        let mut outputs = [3];
        let rooms = assign(&mut passes, |pass| pass.iter_mut().collect(), &[room; 5], &mut outputs);
        assert_eq!((passes, outputs, rooms.len()), (vec![[0, 1], [1, 0], [0, 1]], [1], 2));
    }

    #[test]
    fn positions_are_where_the_room_says() {
        let mut slots = Slots::<u8>::new(&[Room { size: 2, whole: false }, Room { size: 1, whole: true }], 2, 5);
        slots.write(1, &(3..5), |_, y| y.copy_from_slice(&[7, 8]));
        slots.write(0, &(3..5), |slots, near| {
            assert_eq!(near.len(), 4);
            near[..2].copy_from_slice(slots.read(1, &(3..5)));
            near[2..].fill(9);
        });
        assert_eq!(slots.read(0, &(0..2)), [7, 8, 9, 9]);
        assert_eq!(slots.read(1, &(0..5)), [0, 0, 0, 7, 8]);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn what_is_written_cannot_be_read() {
        let mut slots = Slots::<u8>::new(&[Room { size: 2, whole: false }], 1, 1);
        slots.write(0, &(0..1), |slots, _| {
            slots.read(0, &(0..1));
        });
    }
}
