//! Konane's board as sets of cells: which cells are whose, where the opening removes, and every jump with its number.

use std::fmt;

use crate::action::Action;
use crate::side::Side;

/// The largest size of the board: sixteen rows of sixteen cells fill the four words.
pub(super) const MAX_SIZE: usize = 16;

/// A set of cells in a state. Row `r` from the top and column `c` from the left, both from 0, are bit `r * stride + c`,
/// where the stride is 8 on boards up to size 8, which need the first word only, and 16 on larger ones.
pub(super) type Words = [u64; 4];

/// A set of cells on the `W` words that a board uses: `Cells<1>` with stride 8 or `Cells<4>` with stride 16.
#[derive(Clone, Copy)]
pub(super) struct Cells<const W: usize>([u64; W]);

impl<const W: usize> Cells<W> {
    const STRIDE: usize = if W == 1 { 8 } else { 16 };

    #[inline]
    pub(super) fn of(words: &Words) -> Self {
        Self(std::array::from_fn(|i| words[i]))
    }

    #[inline]
    pub(super) fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    #[inline]
    pub(super) fn without(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    /// The cells, each moved down by `by` bits; those that leave at the bottom come in at the top.
    #[inline]
    fn rotated(self, by: usize) -> Self {
        let (words, bits) = (by / 64, by % 64);
        Self(std::array::from_fn(|i| {
            let (low, high) = (self.0[(i + words) % W], self.0[(i + words + 1) % W]);
            ((u128::from(high) << 64 | u128::from(low)) >> bits) as u64
        }))
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Number of cells in the set.
    #[inline]
    fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    #[inline]
    fn or(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    /// Whether exactly one cell is in the set.
    #[inline]
    pub(super) fn is_single(self) -> bool {
        let mut words = self.0.iter().filter(|&&word| word != 0);
        words.next().is_some_and(|word| word.is_power_of_two()) && words.next().is_none()
    }

    /// Row and column, from 0, of the cells in increasing order.
    #[inline]
    pub(super) fn for_each(self, mut visit: impl FnMut(usize, usize)) {
        for (i, mut word) in self.0.into_iter().enumerate() {
            while word != 0 {
                let bit = 64 * i + word.trailing_zeros() as usize;
                visit(bit / Self::STRIDE, bit % Self::STRIDE);
                word &= word - 1;
            }
        }
    }
}

/// The four directions of a jump in the order of the actions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    /// Towards the top, row n.
    Up,
    /// Towards greater columns.
    Right,
    /// Towards the bottom, row 1.
    Down,
    /// Towards smaller columns.
    Left,
}

impl Direction {
    pub(super) const ALL: [Self; 4] = [Self::Up, Self::Right, Self::Down, Self::Left];

    /// The change of row from the top and of column by one cell.
    pub(super) const fn step(self) -> [isize; 2] {
        match self {
            Self::Up => [-1, 0],
            Self::Right => [0, 1],
            Self::Down => [1, 0],
            Self::Left => [0, -1],
        }
    }
}

/// A whole jump: `jumps` jumps in one direction from the cell at `row` from the top and `column`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Jump {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) direction: Direction,
    pub(super) jumps: usize,
}

impl Jump {
    /// Row from the top and column of the cell `cells` further on, which lies on the board.
    pub(super) fn cell(&self, cells: usize) -> (usize, usize) {
        let [down, right] = self.direction.step();
        let moved = |from: usize, step: isize| from.wrapping_add_signed(step * cells as isize);
        (moved(self.row, down), moved(self.column, right))
    }
}

/// A side's actions, as if it were its turn.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Mobility {
    /// Jumps, each prefix of a longer one counted too: the number of legal actions.
    pub jumps: u32,
    /// Stones that can jump.
    pub stones: u32,
}

/// An action in full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ply {
    Remove { row: usize, column: usize },
    Jump(Jump),
}

/// The actions of one direction and number of jumps. They are numbered by the cells that they start from in increasing
/// order, which form a rectangle: cell (row, column) has action `offset + row * width + column`.
struct Block {
    /// The cells from which the jump stays on the board.
    from: Words,
    /// How far the last cell jumped over lies from the start, as a rotation of the bits.
    over: usize,
    /// The same for the last cell landed on.
    landing: usize,
    offset: usize,
    width: usize,
}

/// All that depends on the size of the board alone, computed once.
pub(super) struct Geometry {
    pub(super) size: usize,
    /// All cells.
    pub(super) full: Words,
    /// The cells of each side: X for `First`, O for `Second`.
    pub(super) coloured: [Words; 2],
    /// Actions that may remove the first stone, by side, in increasing order.
    pub(super) openings: [[Action; 4]; 2],
    /// For each direction, the blocks of one jump, of two jumps, and so on.
    blocks: [Vec<Block>; 4],
    /// Every action.
    pub(super) plies: Vec<Ply>,
    /// The cells that an action changes: a stone or its absence is toggled on each.
    pub(super) changes: Vec<Words>,
}

impl Geometry {
    pub(super) fn new(size: usize) -> Self {
        let mut board = Self {
            size,
            full: [0; 4],
            coloured: [[0; 4]; 2],
            openings: [[Action(0); 4]; 2],
            blocks: [const { Vec::new() }; 4],
            plies: Vec::new(),
            changes: Vec::new(),
        };
        for (row, column) in board.points() {
            let bit = board.bit(row, column);
            toggle(&mut board.full, bit);
            toggle(&mut board.coloured[colour(row, column).index()], bit);
            board.plies.push(Ply::Remove { row, column });
        }
        board.openings = Side::BOTH.map(|side| openings(size, side));
        for direction in Direction::ALL {
            let blocks = (1..=(size - 1) / 2).map(|jumps| board.add_block(direction, jumps)).collect();
            board.blocks[direction as usize] = blocks;
        }
        board.changes = board.plies.iter().map(|ply| board.change(ply)).collect();
        board
    }

    /// Row from the top and column, both from 0, of every point.
    pub(super) fn points(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let size = self.size;
        (0..size * size).map(move |point| (point / size, point % size))
    }

    /// Numbers the actions of a block and describes it.
    fn add_block(&mut self, direction: Direction, jumps: usize) -> Block {
        let shorter = self.size - 2 * jumps;
        let (rows, columns) = match direction {
            Direction::Up => (2 * jumps..self.size, 0..self.size),
            Direction::Right => (0..self.size, 0..shorter),
            Direction::Down => (0..shorter, 0..self.size),
            Direction::Left => (0..self.size, 2 * jumps..self.size),
        };
        let (width, first) = (columns.len(), self.plies.len());
        let mut from = [0; 4];
        for (row, column) in rows.clone().flat_map(|row| columns.clone().map(move |column| (row, column))) {
            toggle(&mut from, self.bit(row, column));
            self.plies.push(Ply::Jump(Jump { row, column, direction, jumps }));
        }
        let [down, right] = direction.step();
        let bits = if self.is_small() { 64 } else { 256 };
        let rotation = |cells: usize| {
            let by = (down * self.bit(1, 0) as isize + right) * cells as isize;
            by.rem_euclid(bits) as usize
        };
        let (over, landing) = (rotation(2 * jumps - 1), rotation(2 * jumps));
        Block { from, over, landing, offset: first.wrapping_sub(rows.start * width + columns.start), width }
    }

    /// The number of a jump that stays on the board.
    pub(super) fn jump_action(&self, jump: Jump) -> Action {
        let block = &self.blocks[jump.direction as usize][jump.jumps - 1];
        block.action(jump.row, jump.column)
    }

    fn change(&self, ply: &Ply) -> Words {
        let mut change = [0; 4];
        match *ply {
            Ply::Remove { row, column } => toggle(&mut change, self.bit(row, column)),
            Ply::Jump(jump) => {
                // The start, every cell jumped over, and the last landing; the landings between stay empty.
                let over = (1..2 * jump.jumps).step_by(2);
                for (row, column) in [0, 2 * jump.jumps].into_iter().chain(over).map(|cells| jump.cell(cells)) {
                    toggle(&mut change, self.bit(row, column));
                }
            }
        }
        change
    }

    /// Whether the board fits in one word.
    #[inline]
    pub(super) fn is_small(&self) -> bool {
        self.size <= 8
    }

    /// The bit of a cell in a set, from its row from the top and its column.
    #[inline]
    pub(super) fn bit(&self, row: usize, column: usize) -> usize {
        row * if self.is_small() { Cells::<1>::STRIDE } else { Cells::<4>::STRIDE } + column
    }

    /// A row of a set from the top, one bit a column; what lies above the last column is another row's.
    #[inline]
    pub(super) fn row(&self, words: &Words, row: usize) -> u64 {
        let bit = self.bit(row, 0);
        words[bit / 64] >> (bit % 64)
    }

    /// Calls `visit` with every jump of the `own` stones, in increasing order of the actions.
    ///
    /// Next to an own stone only the opponent's can stand, and two cells on only an own one: the colours alternate.
    #[inline]
    pub(super) fn jumps<const W: usize>(&self, stones: Cells<W>, own: Cells<W>, mut visit: impl FnMut(Action)) {
        for blocks in &self.blocks {
            let mut able = own;
            for block in blocks {
                able = block.able(able, stones);
                if able.is_empty() {
                    break;
                }
                able.for_each(|row, column| visit(block.action(row, column)));
            }
        }
    }

    /// Counts the jumps of the `own` stones without listing them.
    #[inline]
    pub(super) fn mobility<const W: usize>(&self, stones: Cells<W>, own: Cells<W>) -> Mobility {
        let mut movable = Cells([0; W]);
        let mut jumps = 0;
        for blocks in &self.blocks {
            let mut able = own;
            for (i, block) in blocks.iter().enumerate() {
                able = block.able(able, stones);
                if able.is_empty() {
                    break;
                }
                jumps += able.len();
                if i == 0 {
                    movable = movable.or(able);
                }
            }
        }
        Mobility { jumps, stones: movable.len() }
    }

    /// Whether any of the `own` stones can jump.
    #[inline]
    pub(super) fn can_jump<const W: usize>(&self, stones: Cells<W>, own: Cells<W>) -> bool {
        self.blocks.iter().any(|blocks| !blocks[0].able(own, stones).is_empty())
    }
}

impl Block {
    #[inline]
    fn action(&self, row: usize, column: usize) -> Action {
        Action(self.offset.wrapping_add(row * self.width + column) as u16)
    }

    /// Those of the stones, able to make all jumps but the last of this block, that can make the last one too.
    #[inline]
    fn able<const W: usize>(&self, shorter: Cells<W>, stones: Cells<W>) -> Cells<W> {
        let jumping = shorter.and(Cells::of(&self.from)).and(stones.rotated(self.over));
        jumping.without(stones.rotated(self.landing))
    }
}

impl fmt::Debug for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Geometry({})", self.size)
    }
}

/// Whose stone a cell holds at the start: the top left one, (n, 1), is dark, and the colours alternate.
pub(super) fn colour(row: usize, column: usize) -> Side {
    if (row + column).is_multiple_of(2) { Side::First } else { Side::Second }
}

/// The actions by which a side may remove the first stone: its corners and its cells among the four in the middle.
fn openings(size: usize, side: Side) -> [Action; 4] {
    let (middle, last) = (size / 2, size - 1);
    let corners = [(0, 0), (0, last), (last, 0), (last, last)];
    let centre = [(middle - 1, middle - 1), (middle - 1, middle), (middle, middle - 1), (middle, middle)];
    let mut actions = corners.iter().chain(&centre).filter(|&&(row, column)| colour(row, column) == side);
    let mut actions = std::array::from_fn(|_| {
        let (row, column) = actions.next().expect("each colour has two corners and two cells in the middle");
        Action((row * size + column) as u16)
    });
    actions.sort_unstable();
    actions
}

#[inline]
pub(super) fn toggle(words: &mut Words, bit: usize) {
    words[bit / 64] ^= 1 << (bit % 64);
}

#[inline]
pub(super) fn contains(words: &Words, bit: usize) -> bool {
    words[bit / 64] >> (bit % 64) & 1 == 1
}
