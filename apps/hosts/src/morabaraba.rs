//! The contest's query functions, each under the contest's name, over its (x, y) coordinates.
//!
//! Cells are `(x, y)` with x the digit less one and y the letter: a4 is `(3, 0)`, g1 is `(0, 6)`. Players have the
//! contest's numbers, -1 for Dark, who begins, and 1 for White. Lists of cells are sorted by x, then y, unless a
//! function says otherwise. Functions of a [`Board`] take any arrangement of cows, reachable or not.
//!
//! ```
//! use turnstone_hosts::morabaraba::{self, Board, Player};
//!
//! let board: Board = "BBB.W.W.................".parse()?;
//! assert_eq!(morabaraba::is_making_mill(&board, Player::DARK, (0, 0)), (true, vec![[(0, 0), (3, 0), (6, 0)]]));
//! assert_eq!(morabaraba::stealables(Player::DARK, &board), [(2, 2), (3, 1)]);
//! assert_eq!(morabaraba::names((2, 2)), Some("c3"));
//! # Ok::<(), turnstone_env::Error>(())
//! ```

use std::fmt;
use std::str::FromStr;

use turnstone_env::games::Morabaraba;
use turnstone_env::games::morabaraba::{self as rules, Ply, State, ply, point_names, targets};
use turnstone_env::{Action, ActionList, Error, Rules, Side};

const POINTS: u8 = 24;
const ALL: u32 = (1 << POINTS) - 1;

/// Coordinates (x, y).
pub type Cell = (u8, u8);

/// The cells of a mill.
pub type Mill = [Cell; 3];

/// A player by the contest's number ("the player characteristic number").
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Player(Side);

impl Player {
    /// The player -1, who has the dark cows and begins.
    pub const DARK: Self = Self(Side::First);
    /// The player 1.
    pub const WHITE: Self = Self(Side::Second);

    /// The player with this number, if it is -1 or 1.
    #[must_use]
    pub const fn from_number(number: i8) -> Option<Self> {
        match number {
            -1 => Some(Self::DARK),
            1 => Some(Self::WHITE),
            _ => None,
        }
    }

    /// The player's number, -1 or 1.
    #[must_use]
    pub const fn number(self) -> i8 {
        match self.0 {
            Side::First => -1,
            Side::Second => 1,
        }
    }

    /// The player's side.
    #[must_use]
    pub const fn side(self) -> Side {
        self.0
    }
}

impl From<Side> for Player {
    fn from(side: Side) -> Self {
        Self(side)
    }
}

/// The contest's `MorabarabaBoard`: which cows stand where. Its text is the board of a position, 24 letters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Board {
    cows: [u32; 2],
}

/// `get_board`: the board of a state.
#[must_use]
pub fn get_board(state: &State) -> Board {
    Board { cows: Side::BOTH.map(|side| state.cows(side)) }
}

impl FromStr for Board {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        rules::parse_board(text).map(|cows| Self { cows })
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&rules::board_text(self.cows))
    }
}

/// An action in the contest's terms; shown as the contest prints it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PlayerAction {
    /// Places a cow.
    Add {
        /// Where it comes to stand.
        to: Cell,
    },
    /// Moves a cow to a neighbouring cell.
    Move {
        /// Where it stands.
        at: Cell,
        /// Where it goes.
        to: Cell,
    },
    /// Shoots a cow.
    Steal {
        /// Where it stands.
        at: Cell,
    },
    /// Moves a cow of a player who has only three, to any cell.
    Fly {
        /// Where it stands.
        at: Cell,
        /// Where it goes.
        to: Cell,
    },
}

impl PlayerAction {
    fn new(action: Action, flies: bool) -> Self {
        match ply(action) {
            Ply::Place(to) => Self::Add { to: cell(to) },
            Ply::Move(at, to) if flies => Self::Fly { at: cell(at), to: cell(to) },
            Ply::Move(at, to) => Self::Move { at: cell(at), to: cell(to) },
            Ply::Remove(at) => Self::Steal { at: cell(at) },
        }
    }
}

impl fmt::Display for PlayerAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, arguments) = match self {
            Self::Add { to } => ("ADD", format!("'to': {to:?}")),
            Self::Move { at, to } => ("MOVE", format!("'at': {at:?}, 'to': {to:?}")),
            Self::Steal { at } => ("STEAL", format!("'at': {at:?}")),
            Self::Fly { at, to } => ("FLY", format!("'at': {at:?}, 'to': {to:?}")),
        };
        write!(f, "{{'action_type': '{name}', 'action': {{{arguments}}}}}")
    }
}

/// `get_effective_cell_moves`: where the cow on a cell can move or fly, in the order of the points (a1, a4, a7, b2 ..).
///
/// A cow of a player who flies reaches every empty cell, and mills that its owner may not form again are respected.
/// Empty where no cow stands; whose turn it is, and whether its owner still has cows to place, does not matter.
#[must_use]
pub fn get_effective_cell_moves(state: &State, cell: Cell) -> Vec<Cell> {
    let Some(point) = point(cell) else { return Vec::new() };
    let Some(side) = owner(state, point) else { return Vec::new() };
    points(state.reach(side, point)).map(self::cell).collect()
}

/// `get_player_actions`: what a player could do in this state if it were their turn, sorted by cell (`at`, then `to`).
///
/// The shots while the player's shot is pending; empty while the opponent's is, and when the game is over.
#[must_use]
pub fn get_player_actions(game: &Morabaraba, state: &State, player: Player) -> Vec<PlayerAction> {
    let side = player.side();
    if (state.shot_pending() && game.mover(state) != side) || game.outcome(state).is_some() {
        return Vec::new();
    }
    let mut legal = ActionList::new();
    game.legal(&state.with_mover(side), &mut legal);
    let mut actions: Vec<_> = legal.iter().map(|&action| PlayerAction::new(action, state.flies(side))).collect();
    actions.sort_by_key(|&action| match action {
        PlayerAction::Add { to: cell } | PlayerAction::Steal { at: cell } => (cell, cell),
        PlayerAction::Move { at, to } | PlayerAction::Fly { at, to } => (at, to),
    });
    actions
}

/// `is_making_mill`: whether the player's cow that has just come to a cell completes a mill, and which, in the order of
/// [`mills`]. The cow counts as standing there, whether the board shows it or not.
#[must_use]
pub fn is_making_mill(board: &Board, player: Player, cell: Cell) -> (bool, Vec<Mill>) {
    let Some(point) = point(cell) else { return (false, Vec::new()) };
    let own = board.cows[player.side().index()] | 1 << point;
    let formed: Vec<Mill> = mills_in(own).into_iter().filter(|mill| mill.contains(&cell)).collect();
    (!formed.is_empty(), formed)
}

/// `stealables`: the opponent's cows that `player` may shoot: those in no mill, or all if each is in one.
#[must_use]
pub fn stealables(player: Player, board: &Board) -> Vec<Cell> {
    sorted(targets(board.cows[player.side().other().index()]))
}

/// `get_latest_move`: the last of the actions that led to this state, `None` at the start. A state does not hold its
/// past, so the actions played are given with it.
#[must_use]
pub fn get_latest_move(state: &State, played: &[Action]) -> Option<PlayerAction> {
    played.last().map(|&action| {
        let flew = match ply(action) {
            Ply::Move(_, to) => owner(state, to).is_some_and(|side| state.flies(side)),
            Ply::Place(_) | Ply::Remove(_) => false,
        };
        PlayerAction::new(action, flew)
    })
}

/// `get_all_empty_cells`: the cells where no cow stands.
#[must_use]
pub fn get_all_empty_cells(board: &Board) -> Vec<Cell> {
    sorted(ALL & !(board.cows[0] | board.cows[1]))
}

/// `get_player_pieces_on_board`: the cells where the player's cows stand.
#[must_use]
pub fn get_player_pieces_on_board(board: &Board, player: Player) -> Vec<Cell> {
    sorted(board.cows[player.side().index()])
}

/// `mills`: all twenty mills: rows from the top, columns from the left, diagonals. Cells of a mill are sorted.
#[must_use]
pub fn mills() -> Vec<Mill> {
    mills_in(ALL)
}

/// `player_mills`: the mills that the player has on the board, in the order of [`mills`].
#[must_use]
pub fn player_mills(board: &Board, player: Player) -> Vec<Mill> {
    mills_in(board.cows[player.side().index()])
}

/// `names`: the name of a cell, `None` where the board has no cell.
#[must_use]
pub fn names(cell: Cell) -> Option<&'static str> {
    point(cell).map(|point| point_names()[point as usize])
}

/// `coordinates`: the cell of this name, `None` if there is none.
#[must_use]
pub fn coordinates(name: &str) -> Option<Cell> {
    (0..POINTS).find(|&point| point_names()[point as usize] == name).map(cell)
}

/// The coordinates of a point.
fn cell(point: u8) -> Cell {
    match point_names()[point as usize].as_bytes() {
        [letter, digit] => (digit - b'1', letter - b'a'),
        _ => unreachable!("names are two letters"),
    }
}

fn point(cell: Cell) -> Option<u8> {
    (0..POINTS).find(|&point| self::cell(point) == cell)
}

/// Whose cow stands on the point.
fn owner(state: &State, point: u8) -> Option<Side> {
    Side::BOTH.into_iter().find(|&side| state.cows(side) >> point & 1 == 1)
}

/// The points of a set in increasing order.
fn points(set: u32) -> impl Iterator<Item = u8> {
    (0..POINTS).filter(move |point| set >> point & 1 == 1)
}

fn sorted(set: u32) -> Vec<Cell> {
    let mut cells: Vec<Cell> = points(set).map(cell).collect();
    cells.sort_unstable();
    cells
}

fn mills_in(set: u32) -> Vec<Mill> {
    let standing = rules::mills().iter().filter(|&&mill| set & mill == mill);
    let mut mills: Vec<Mill> = standing.map(|&mill| std::array::from_fn(|i| sorted(mill)[i])).collect();
    mills.sort_by_key(|&[(x, y), middle, (last_x, last_y)]| {
        let (row, column) = (y == last_y, x == last_x);
        // Columns go by x, then y; rows by y, then x; the diagonals go from top to bottom by their middle.
        match (row, column) {
            (true, _) => (0, y, x),
            (_, true) => (1, x, y),
            _ => (2, middle.1, middle.0),
        }
    });
    mills
}
