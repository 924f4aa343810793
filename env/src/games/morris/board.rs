//! The board of Morris: points, mills, letters and its drawing.

use crate::mill_board::MillBoard;

pub(super) const POINTS: usize = 18;
/// White, Black and an empty point, in positions and drawings.
pub(super) const LETTERS: [char; 3] = ['W', 'B', 'x'];

pub(super) type Mills = MillBoard<POINTS, 12>;
pub(super) static BOARD: Mills = MillBoard::new(
    ["a0", "g0", "b1", "f1", "c2", "e2", "e3", "f3", "g3", "c4", "d4", "e4", "b5", "d5", "f5", "a6", "d6", "g6"],
    [
        // diagonals
        [0, 2, 4],
        [1, 3, 5],
        [15, 12, 9],
        [17, 14, 11],
        // right sides
        [5, 6, 11],
        [3, 7, 14],
        [1, 8, 17],
        // tops
        [9, 10, 11],
        [12, 13, 14],
        [15, 16, 17],
        // spokes
        [6, 7, 8],
        [10, 13, 16],
    ],
    // left sides and bottoms
    &[[0, 1], [2, 3], [4, 5], [0, 15], [2, 12], [4, 9]],
);

pub(super) const DRAWING: &str = "\
a6----------d6----------g6
| \\         |         / |
|   b5------d5------f5  |
|   | \\     |     / |   |
|   |   c4--d4--e4  |   |
|   |   |       |   |   |
|   |   |       e3--f3--g3
|   |   |       |   |   |
|   |   c2------e2  |   |
|   | /           \\ |   |
|   b1--------------f1  |
| /                   \\ |
a0----------------------g0
";
