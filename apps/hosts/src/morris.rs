//! The handout's own functions over boards of 18 letters, each under the handout's name.
//!
//! They are kept to the letter, so they differ from [`Morris`](turnstone_env::games::Morris) where the handout is looser: a board
//! has no pieces in hand, a move and its removal are one step, the generators move White, and lists keep the
//! order and the duplicates of the pseudo-code. (Its printed indices 11 and 20 for g3 and g6 belong to a larger board;
//! here they are 8 and 17.)
//!
//! ```
//! use turnstone_hosts::morris::{Board, generate_moves_opening, static_estimation_opening};
//!
//! let board: Board = "WxWxxxBBxxxxxxxxxx".parse()?;
//! let list = generate_moves_opening(&board);
//! assert_eq!(list.len(), 15); // 14 points, and at c2 the mill a0-b1-c2 can remove either black piece
//! assert_eq!(list[2].to_string(), "WxWxWxxBxxxxxxxxxx");
//! assert_eq!(static_estimation_opening(&list[2]), 2);
//! # Ok::<(), turnstone_env::Error>(())
//! ```

use std::fmt;
use std::str::FromStr;

use turnstone_env::games::morris::{State, board_text, mills, neighbours, parse_board};
use turnstone_env::{Error, Side};

const LOCATIONS: usize = 18;

/// A board of the handout: each of the 18 locations holds a white piece, a black piece or nothing.
///
/// Its text is 18 letters `W`, `B` and `x` in the order of the locations, "bottom-left and continuing left-right bottom
/// up". Any such text is a board, reachable or not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Board([Option<Side>; LOCATIONS]);

/// A step of the generators: which part of the game the board is in, which the board itself does not say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// Pieces are still being placed.
    Opening,
    /// All pieces are placed.
    MidgameEndgame,
}

impl Board {
    /// The piece at a location, White being [`Side::First`].
    #[must_use]
    pub fn piece(&self, location: usize) -> Option<Side> {
        self.0.get(location).copied().flatten()
    }

    /// The handout's `numWhitePieces` and `numBlackPieces`.
    #[must_use]
    pub fn count(&self, side: Side) -> usize {
        self.0.iter().filter(|&&piece| piece == Some(side)).count()
    }

    /// The board with the colours swapped (the handout's `tempb`).
    #[must_use]
    pub fn swapped(&self) -> Self {
        Self(self.0.map(|piece| piece.map(Side::other)))
    }

    fn with(mut self, location: usize, piece: Option<Side>) -> Self {
        self.0[location] = piece;
        self
    }

    /// The board with these sets of white and black pieces.
    fn new(pieces: [u32; 2]) -> Self {
        let on = |location: usize| Side::BOTH.into_iter().find(|side| pieces[side.index()] >> location & 1 == 1);
        Self(std::array::from_fn(on))
    }

    fn locations(&self, piece: Option<Side>) -> impl Iterator<Item = usize> {
        (0..LOCATIONS).filter(move |&location| self.0[location] == piece)
    }

    fn set(&self, piece: Option<Side>) -> u32 {
        self.locations(piece).map(|location| 1 << location).sum()
    }
}

impl From<&State> for Board {
    fn from(state: &State) -> Self {
        Self::new(Side::BOTH.map(|side| state.pieces(side)))
    }
}

impl FromStr for Board {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse_board(text).map(Self::new)
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&board_text(Side::BOTH.map(|side| self.set(Some(side)))))
    }
}

/// Every list of this phase for either side: `GenerateMovesOpening` or `GenerateMovesMidgameEndgame`, for Black with
/// the colours swapped before and after.
#[must_use]
pub fn generate(board: &Board, side: Side, phase: Phase) -> Vec<Board> {
    let generator = match phase {
        Phase::Opening => generate_moves_opening,
        Phase::MidgameEndgame => generate_moves_midgame_endgame,
    };
    match side {
        Side::First => generator(board),
        Side::Second => generate_for_black(board, generator),
    }
}

/// The handout's "move generator for Black": the colours swapped, White's generator, and the colours of all results
/// swapped back.
#[must_use]
pub fn generate_for_black(board: &Board, generator: impl Fn(&Board) -> Vec<Board>) -> Vec<Board> {
    generator(&board.swapped()).iter().map(Board::swapped).collect()
}

/// `GenerateMovesOpening`: the list of [`generate_add`].
#[must_use]
pub fn generate_moves_opening(board: &Board) -> Vec<Board> {
    generate_add(board)
}

/// `GenerateMovesMidgameEndgame`: [`generate_hopping`] if the board has exactly three white pieces, else
/// [`generate_move`].
#[must_use]
pub fn generate_moves_midgame_endgame(board: &Board) -> Vec<Board> {
    if board.count(Side::First) == 3 { generate_hopping(board) } else { generate_move(board) }
}

/// `GenerateAdd`: all boards after a white piece is added, with the removal if it closes a mill.
#[must_use]
pub fn generate_add(board: &Board) -> Vec<Board> {
    let mut list = Vec::new();
    for location in board.locations(None) {
        settle(board.with(location, Some(Side::First)), location, &mut list);
    }
    list
}

/// `GenerateHopping`: all boards after a white piece hops to any empty location, with the removal if it closes a mill.
#[must_use]
pub fn generate_hopping(board: &Board) -> Vec<Board> {
    let mut list = Vec::new();
    for from in board.locations(Some(Side::First)) {
        for to in board.locations(None) {
            settle(board.with(from, None).with(to, Some(Side::First)), to, &mut list);
        }
    }
    list
}

/// `GenerateMove`: all boards after a white piece moves to an empty neighbour, with the removal if it closes a mill.
#[must_use]
pub fn generate_move(board: &Board) -> Vec<Board> {
    let mut list = Vec::new();
    for from in board.locations(Some(Side::First)) {
        for to in neighbors(from).into_iter().filter(|&to| board.0[to].is_none()) {
            settle(board.with(from, None).with(to, Some(Side::First)), to, &mut list);
        }
    }
    list
}

/// What the three generators have in common: the removals if the piece at `location` closes a mill, else the board.
fn settle(board: Board, location: usize, list: &mut Vec<Board>) {
    if close_mill(location, &board) {
        generate_remove(&board, list);
    } else {
        list.push(board);
    }
}

/// `GenerateRemove`: adds to the list all boards after the removal of a black piece that is in no mill, or the board
/// itself if there is no such piece.
pub fn generate_remove(board: &Board, list: &mut Vec<Board>) {
    let before = list.len();
    for location in board.locations(Some(Side::Second)) {
        if !close_mill(location, board) {
            list.push(board.with(location, None));
        }
    }
    if list.len() == before {
        list.push(*board);
    }
}

/// `neighbors`: the locations next to `location`, in increasing order; none for a number that is no location.
#[must_use]
pub fn neighbors(location: usize) -> Vec<usize> {
    let near = neighbours().get(location).copied().unwrap_or(0);
    (0..LOCATIONS).filter(|location| near >> location & 1 == 1).collect()
}

/// `closeMill`: whether the piece at `location` stands in a mill of its colour; false where there is no piece (the
/// handout asks for one).
#[must_use]
pub fn close_mill(location: usize, board: &Board) -> bool {
    let Some(color) = board.piece(location) else { return false };
    let own = board.set(Some(color));
    mills().iter().any(|&mill| mill >> location & 1 == 1 && own & mill == mill)
}

/// The "static estimation for MidgameEndgame", for White.
#[must_use]
pub fn static_estimation_midgame_endgame(board: &Board) -> i32 {
    let (white, black) = (board.count(Side::First) as i32, board.count(Side::Second) as i32);
    let black_moves = generate(board, Side::Second, Phase::MidgameEndgame).len() as i32;
    if black <= 2 {
        10_000
    } else if white <= 2 {
        -10_000
    } else if black_moves == 0 {
        10_000
    } else {
        1000 * (white - black) - black_moves
    }
}

/// The "static estimation for Opening", for White.
#[must_use]
pub fn static_estimation_opening(board: &Board) -> i32 {
    board.count(Side::First) as i32 - board.count(Side::Second) as i32
}
