//! Mu Torere's squares, their neighbours and the numbers of the moves.

use crate::action::Action;
use crate::lines::{both_ways, direction};

pub(super) const HUB: u8 = 4;
pub(super) const SQUARES: u8 = 9;
/// The ring's squares clockwise from the top left.
pub(super) const RING: [u8; 8] = [0, 1, 2, 5, 8, 7, 6, 3];

/// Adjacent squares of each square in increasing order (`adjacent_squares` of the notebook).
pub const ADJACENT: [&[u8]; 9] = [
    &[1, 3, 4],
    &[0, 2, 4],
    &[1, 4, 5],
    &[0, 4, 6],
    &[0, 1, 2, 3, 5, 6, 7, 8],
    &[2, 4, 8],
    &[3, 4, 7],
    &[4, 6, 8],
    &[4, 5, 7],
];

/// Action block MOVE: every pair of adjacent squares (start, end), in the order of the notebook's `valid_moves`.
pub(super) const MOVES: [(u8, u8); 32] = {
    let mut moves = [(0, 0); 32];
    let mut n = 0;
    let mut start = 0;
    while start < 9 {
        let mut i = 0;
        while i < ADJACENT[start].len() {
            moves[n] = (start as u8, ADJACENT[start][i]);
            n += 1;
            i += 1;
        }
        start += 1;
    }
    moves
};

/// Squares adjacent to each square, as a bit set.
pub(super) const NEAR: [u16; 9] = {
    let mut near = [0; 9];
    let mut square = 0;
    while square < 9 {
        let mut i = 0;
        while i < ADJACENT[square].len() {
            near[square] |= 1 << ADJACENT[square][i];
            i += 1;
        }
        square += 1;
    }
    near
};

/// What each action changes in the set of the mover's pieces.
pub(super) static CHANGES: [u16; 32] = {
    let mut changes = [0; 32];
    let mut action = 0;
    while action < MOVES.len() {
        changes[action] = 1 << MOVES[action].0 | 1 << MOVES[action].1;
        action += 1;
    }
    changes
};

/// For each empty square, the moves into it by their starts: from a set of the squares 0 to 4, and of 5 to 8.
pub(super) static INTO: [([u32; 32], [u32; 16]); 9] = {
    let mut into = [([0; 32], [0; 16]); 9];
    let mut action = 0;
    while action < MOVES.len() {
        let (start, end) = MOVES[action];
        let (low, high) = &mut into[end as usize];
        let mut set = 0;
        while set < 32 {
            if start < 5 && set >> start & 1 == 1 {
                low[set] |= 1 << action;
            }
            if start >= 5 && set < 16 && set >> (start - 5) & 1 == 1 {
                high[set] |= 1 << action;
            }
            set += 1;
        }
        action += 1;
    }
    into
};

/// Round the ring both ways, and from each ring square through the hub to the square opposite.
pub(super) fn directions() -> Vec<Vec<Option<u16>>> {
    let (points, hub, ring) = (usize::from(SQUARES), usize::from(HUB), RING.map(usize::from));
    let across = (0..ring.len()).map(|k| direction(points, [(ring[k], hub), (hub, ring[(k + 4) % ring.len()])]));
    both_ways(points, &ring).into_iter().chain(across).collect()
}

/// The action that moves between two squares, if they are adjacent.
pub(super) fn move_index(start: u8, end: u8) -> Option<Action> {
    MOVES.iter().position(|&m| m == (start, end)).map(|i| Action(i as u16))
}

/// The board as text: each digit is the square of that number.
pub(super) const DRAWING: &str = concat!(
    "      _.1._\n",
    "   0-'  |  '-2\n",
    "  /  \\  |  /  \\\n",
    " /    \\ | /    \\\n",
    "3-------4-------5\n",
    " \\    / | \\    /\n",
    "  \\  /  |  \\  /\n",
    "   6-.  |  .-8\n",
    "      '-7-'\n",
);
