//! Reduction of positions: conceivable jumps, the regions that they form, and free moves.

use turnstone_env::Side;

use turnstone_exact::shared_table::hash;

use super::board::{Cells, Direction, Position, able, after, coloured};

/// Number of the opponent's stones up to which the longest sequence of jumps in a region is searched.
const MOST_TAKEN: u32 = 8;

/// A position without the cells that cannot affect its value.
#[derive(Clone, Copy)]
pub(super) struct Reduced {
    pub(super) position: Position,
    /// Upper bounds of the jumps that the mover and the opponent can make: one per stone that they may take.
    most_jumps: [i32; 2],
}

impl Reduced {
    pub(super) fn of(mut position: Position) -> Self {
        let jumps = Conceivable::of(&position);
        let mut left = jumps.cells();
        position.cells = left;
        while left != 0 {
            let region = jumps.region(left & left.wrapping_neg());
            left &= !region;
            let [own, other] = [position.mover, position.mover.other()].map(|side| {
                let alone = jumps.starts() & region & coloured(side.other()) == 0;
                let few = (position.stones & region & coloured(side.other())).count_ones() <= MOST_TAKEN;
                (alone && few).then(|| longest(position.stones & region, region, side))
            });
            if let Some(free) = own.or(other.map(|moves| -moves)) {
                position.free += free;
                position.cells &= !region;
            }
        }
        position.stones &= position.cells;
        let most_jumps = [position.mover, position.mover.other()].map(|side| {
            let takes = jumps.over(side) & position.cells != 0;
            if takes { position.stones_of(side.other()).count_ones() as i32 } else { 0 }
        });
        Self { position: position.canonical(), most_jumps }
    }

    /// The position as three words; the lowest bit of the last is free, and no position equals an empty entry.
    #[inline]
    pub(super) fn words(&self) -> [u64; 3] {
        let Position { cells, stones, mover, free } = self.position;
        [cells, stones, u64::from(free as u16) << 8 | u64::from(mover.number()) << 1]
    }

    #[inline]
    pub(super) fn hash(&self) -> u64 {
        let [cells, stones, rest] = self.words();
        hash(stones, cells ^ rest)
    }

    /// Whether the mover wins, where counting moves decides it.
    pub(super) fn decided(&self) -> Option<bool> {
        let [own, other] = self.most_jumps;
        if self.position.free > other {
            return Some(true);
        }
        // The mover runs out of moves first.
        (-self.position.free >= own).then_some(false)
    }
}

/// An over-approximation of all jumps that can ever happen, by direction: the cells that they start from. Stones and gaps
/// are only added, never removed, until nothing changes.
struct Conceivable([Cells; 4]);

impl Conceivable {
    fn of(position: &Position) -> Self {
        let (mut stones, mut empty) = (position.stones, position.cells & !position.stones);
        loop {
            let starts = Direction::ALL.map(|direction| able(stones, stones, empty, direction));
            let (mut landings, mut left) = (0, 0);
            for (direction, starts) in Direction::ALL.into_iter().zip(starts) {
                let over = direction.ahead(starts);
                left |= starts | over;
                landings |= direction.ahead(over);
            }
            if landings & !stones == 0 && left & !empty == 0 {
                return Self(starts);
            }
            stones |= landings;
            empty |= left;
        }
    }

    fn by_direction(&self) -> impl Iterator<Item = (Direction, Cells)> {
        Direction::ALL.into_iter().zip(self.0)
    }

    /// All cells of the jumps.
    fn cells(&self) -> Cells {
        self.by_direction().fold(0, |cells, (direction, starts)| cells | whole_jumps(starts, direction))
    }

    /// The cells that jumps of a side pass over.
    fn over(&self, side: Side) -> Cells {
        self.by_direction().fold(0, |over, (direction, starts)| over | direction.ahead(starts & coloured(side)))
    }

    fn starts(&self) -> Cells {
        self.0.iter().fold(0, |all, starts| all | starts)
    }

    /// The cells that are joined to `cell` by jumps.
    fn region(&self, cell: Cells) -> Cells {
        let mut region = cell;
        loop {
            let grown = self.by_direction().fold(region, |grown, (direction, starts)| {
                let before = direction.behind(region);
                let touching = starts & (region | before | direction.behind(before));
                grown | whole_jumps(touching, direction)
            });
            if grown == region {
                return region;
            }
            region = grown;
        }
    }
}

fn whole_jumps(starts: Cells, direction: Direction) -> Cells {
    let over = direction.ahead(starts);
    starts | over | direction.ahead(over)
}

/// The most jumps that a side can make one after the other.
fn longest(stones: Cells, cells: Cells, side: Side) -> i32 {
    let mut most = 0;
    for direction in Direction::ALL {
        let mut starts = able(stones & coloured(side), stones, cells & !stones, direction);
        while starts != 0 {
            let start = starts & starts.wrapping_neg();
            starts ^= start;
            most = most.max(1 + longest(after(stones, start, direction), cells, side));
        }
    }
    most
}
