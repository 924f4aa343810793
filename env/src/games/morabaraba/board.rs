//! The board of Morabaraba: points, mills, letters and its drawing.

use crate::mill_board::MillBoard;

pub(super) const POINTS: usize = 24;
/// Dark, White and an empty point, in positions and drawings.
pub(super) const LETTERS: [char; 3] = ['B', 'W', '.'];

pub(super) type Mills = MillBoard<POINTS, 20>;
pub(super) static BOARD: Mills = MillBoard::new(
    [
        "a1", "a4", "a7", "b2", "b4", "b6", "c3", "c4", "c5", "d1", "d2", "d3", "d5", "d6", "d7", "e3", "e4", "e5",
        "f2", "f4", "f6", "g1", "g4", "g7",
    ],
    // In the order of their names, as positions list them: sides of the squares, spokes and diagonals.
    [
        [0, 1, 2],
        [0, 3, 6],
        [0, 9, 21],
        [1, 4, 7],
        [2, 5, 8],
        [2, 14, 23],
        [3, 4, 5],
        [3, 10, 18],
        [5, 13, 20],
        [6, 7, 8],
        [6, 11, 15],
        [8, 12, 17],
        [9, 10, 11],
        [12, 13, 14],
        [15, 16, 17],
        [15, 18, 21],
        [16, 19, 22],
        [17, 20, 23],
        [18, 19, 20],
        [21, 22, 23],
    ],
    &[],
);

pub(super) const DRAWING: &str = "\
a1----------a4----------a7
| \\         |         / |
|   b2------b4------b6  |
|   | \\     |     / |   |
|   |   c3--c4--c5  |   |
|   |   |       |   |   |
d1--d2--d3      d5--d6--d7
|   |   |       |   |   |
|   |   e3--e4--e5  |   |
|   | /     |     \\ |   |
|   f2------f4------f6  |
| /         |         \\ |
g1----------g4----------g7
";
