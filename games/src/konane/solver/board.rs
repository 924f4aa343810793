//! Konane's positions as sets of cells, on boards up to 8x8.

use turnstone_env::games::{Konane, konane::State};
use turnstone_env::{Rules, Side};

/// Cells as bits: row `r` and column `c`, both from 0, are bit `8 r + c`.
pub(super) type Cells = u64;

const LEFT_COLUMN: Cells = 0x0101_0101_0101_0101;
const RIGHT_COLUMN: Cells = LEFT_COLUMN << 7;
/// The cells of each side: dark stones stand where row and column, from 0, have an odd sum.
const COLOURED: [Cells; 2] = [0x55aa_55aa_55aa_55aa, 0xaa55_aa55_aa55_aa55];

#[derive(Clone, Copy)]
pub(super) enum Direction {
    Up,
    Right,
    Down,
    Left,
}

impl Direction {
    pub(super) const ALL: [Self; 4] = [Self::Up, Self::Right, Self::Down, Self::Left];

    /// The cells one step further; cells off the board are dropped.
    #[inline]
    pub(super) fn ahead(self, cells: Cells) -> Cells {
        match self {
            Self::Up => cells << 8,
            Self::Right => (cells & !RIGHT_COLUMN) << 1,
            Self::Down => cells >> 8,
            Self::Left => (cells & !LEFT_COLUMN) >> 1,
        }
    }

    /// The cells one step back.
    #[inline]
    pub(super) fn behind(self, cells: Cells) -> Cells {
        match self {
            Self::Up => Self::Down.ahead(cells),
            Self::Right => Self::Left.ahead(cells),
            Self::Down => Self::Up.ahead(cells),
            Self::Left => Self::Right.ahead(cells),
        }
    }
}

/// A reduced position. Cells outside `cells` count as outside the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    pub(super) cells: Cells,
    /// The stones on them.
    pub(super) stones: Cells,
    pub(super) mover: Side,
    /// Free moves of the mover in dropped regions, less those of the opponent.
    pub(super) free: i32,
}

impl Position {
    pub(super) fn of(game: &Konane, state: &State) -> Self {
        let mut position = Self { cells: 0, stones: 0, mover: game.mover(state), free: 0 };
        for (row, column) in (0..game.size()).flat_map(|row| (0..game.size()).map(move |column| (row, column))) {
            let cell = 1 << (8 * row + column);
            position.cells |= cell;
            if game.stone(state, row + 1, column + 1).is_some() {
                position.stones |= cell;
            }
        }
        position
    }

    #[inline]
    pub(super) fn stones_of(&self, side: Side) -> Cells {
        self.stones & coloured(side)
    }

    /// The stones of `side` that can jump in a direction.
    #[inline]
    pub(super) fn able(&self, side: Side, direction: Direction) -> Cells {
        able(self.stones_of(side), self.stones, self.cells & !self.stones, direction)
    }

    /// Number of single jumps that a side has.
    #[inline]
    pub(super) fn jumps(&self, side: Side) -> i32 {
        Direction::ALL.iter().map(|&direction| self.able(side, direction).count_ones() as i32).sum()
    }

    /// Calls `visit` with every position that a jump of the mover leads to.
    #[inline]
    pub(super) fn for_each_next(&self, mut visit: impl FnMut(Self)) {
        for direction in Direction::ALL {
            let mut starts = self.able(self.mover, direction);
            while starts != 0 {
                let start = starts & starts.wrapping_neg();
                starts ^= start;
                let (mut at, mut stones) = (start, self.stones);
                while at != 0 {
                    stones = after(stones, at, direction);
                    at = direction.ahead(direction.ahead(at));
                    visit(Self { stones, mover: self.mover.other(), free: -self.free, ..*self });
                    at = able(at, stones, self.cells & !stones, direction);
                }
            }
        }
    }

    /// The least of the eight positions that the board's turns and reflections make of this one. Those that take even
    /// cells to odd ones exchange the colours.
    pub(super) fn canonical(&self) -> Self {
        let mut least = *self;
        let mut image = *self;
        for turn in 0..8 {
            image = if turn % 2 == 0 { image.flipped() } else { image.transposed() };
            if (image.cells, image.stones, image.mover) < (least.cells, least.stones, least.mover) {
                least = image;
            }
        }
        least
    }

    /// The first row becomes the last.
    fn flipped(&self) -> Self {
        let (cells, stones) = (self.cells.swap_bytes(), self.stones.swap_bytes());
        Self { cells, stones, mover: self.mover.other(), ..*self }
    }

    fn transposed(&self) -> Self {
        Self { cells: transposed(self.cells), stones: transposed(self.stones), ..*self }
    }

    /// The position after the mover has used up a free move.
    pub(super) fn free_move(&self) -> Self {
        Self { mover: self.mover.other(), free: 1 - self.free, ..*self }
    }
}

pub(super) fn coloured(side: Side) -> Cells {
    COLOURED[side.index()]
}

/// The starts from which a jump passes a stone and lands on an empty cell.
#[inline]
pub(super) fn able(starts: Cells, stones: Cells, empty: Cells, direction: Direction) -> Cells {
    starts & direction.behind(stones & direction.behind(empty))
}

/// The stones after a single jump.
#[inline]
pub(super) fn after(stones: Cells, start: Cells, direction: Direction) -> Cells {
    let over = direction.ahead(start);
    (stones & !start & !over) | direction.ahead(over)
}

/// Rows become columns (Warren, Hacker's Delight, 7-3).
fn transposed(mut cells: Cells) -> Cells {
    for (mask, shift) in [(0x00aa_00aa_00aa_00aa, 7), (0x0000_cccc_0000_cccc, 14), (0x0000_0000_f0f0_f0f0, 28)] {
        let moved = (cells ^ cells >> shift) & mask;
        cells ^= moved ^ moved << shift;
    }
    cells
}
