//! Konane, Hawaiian checkers: two stones leave a full board, then each player jumps over the other's; who cannot, loses.
//!
//! ```text
//!        1 2 3 4 5 6 7 8
//!
//!   8    X O X O X O X O        coordinates are (row, column): (8,1) is the dark stone at the top left;
//!   7    O X O X O X O X        O stands where row and column are both even or both odd
//!   6    X O X O X O X O
//!   5    O X O X O X O X        points are numbered in reading order: (8,1) is 0, (8,2) is 1, (1,8) is 63
//!   4    X O X O X O X O
//!   3    O X O X O X O X
//!   2    X O X O X O X O
//!   1    O X O X O X O X
//! ```
//!
//! Source: Pyro's game playing module (`konane_pyro.txt`). X (dark) is player 1, O (light) player 2; `first_player` says
//! who removes the first stone, from a corner or from the middle. The other removes a stone next to the gap. From then
//! on a player jumps with one stone in one straight line over any number of single stones, each into an empty cell.
//! Stones never leave their colour's cells, so the occupied cells and the mover are the whole state.

mod board;
mod shape;
mod svg;
mod text;

use std::sync::Arc;

pub use self::board::Mobility;
use self::board::{Board, Cells, MAX_SIZE, Ply, Words, colour, contains, toggle};
use crate::action::{Action, ActionList};
use crate::error::Error;
use crate::game::{Game, Spec};
use crate::outcome::Outcome;
use crate::params::{ParamReader, Params};
use crate::side::Side;
use crate::symmetry::Symmetry;

const PIECES: [char; 2] = ['X', 'O'];
const PLANES: [&str; 3] = ["own stones", "opponent's stones", "empty cells"];
const SCALARS: [&str; 2] = ["first removal", "second removal"];
const FIRST_PLAYERS: [(&str, Side); 2] = [("X", Side::First), ("O", Side::Second)];

/// The game with its parameters. Actions are numbered in the blocks REMOVE, one for each point, and JUMP, by direction
/// (up, right, down, left), number of jumps, and the point that the jump starts from, as far as it stays on the board.
#[derive(Clone, Debug)]
pub struct Konane {
    size: usize,
    first_player: Side,
    board: Arc<Board>,
    spec: Arc<Spec>,
}

impl Default for Konane {
    fn default() -> Self {
        Self::new(8, Side::First)
    }
}

/// A position: the cells with a stone on them, whose colour decides whose it is, and the mover.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    stones: Words,
    mover: Side,
}

/// What the mover has to do; the number of gaps tells.
enum Phase {
    FirstRemoval,
    SecondRemoval,
    Jumps,
}

impl Konane {
    /// A board of `size` rows and columns, an even number from 4 to 16, where `first_player` removes first.
    fn new(size: usize, first_player: Side) -> Self {
        let board = Arc::new(Board::new(size));
        Self { size, first_player, spec: Arc::new(board.spec()), board }
    }

    /// Number of rows, and of columns.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whose stone stands on a cell, by its row and column from 1; `None` if it is empty.
    ///
    /// # Panics
    /// If the cell is not on the board.
    #[must_use]
    pub fn stone(&self, state: &State, row: usize, column: usize) -> Option<Side> {
        let on_board = (1..=self.size).contains(&row) && (1..=self.size).contains(&column);
        assert!(on_board, "cell ({row},{column}) lies outside the board of size {}", self.size);
        self.stone_at(state, self.size - row, column - 1)
    }

    /// The cells that an action names, as (row, column) from 1: the one removed, or where the jump starts and lands.
    #[must_use]
    pub fn cells(&self, action: Action) -> Vec<(usize, usize)> {
        let named = |(row, column)| (self.size - row, column + 1);
        match self.board.plies[action.index()] {
            Ply::Remove { row, column } => vec![named((row, column))],
            Ply::Jump(jump) => (0..=jump.jumps).map(|jumps| named(jump.cell(2 * jumps))).collect(),
        }
    }

    /// The jumps of a side, whether or not it is its turn.
    #[inline]
    #[must_use]
    pub fn mobility(&self, state: &State, side: Side) -> Mobility {
        fn count<const W: usize>(board: &Board, stones: &Words, side: Side) -> Mobility {
            let stones = Cells::<W>::of(stones);
            board.mobility(stones, stones.and(Cells::of(&board.coloured[side.index()])))
        }
        if self.board.is_small() {
            count::<1>(&self.board, &state.stones, side)
        } else {
            count::<4>(&self.board, &state.stones, side)
        }
    }

    fn stone_at(&self, state: &State, row: usize, column: usize) -> Option<Side> {
        contains(&state.stones, self.board.bit(row, column)).then(|| colour(row, column))
    }

    /// Row from the top and column, both from 0, of every point.
    fn points(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        self.board.points()
    }

    #[inline]
    fn phase<const W: usize>(&self, state: &State) -> Phase {
        let gaps = Cells::<W>::of(&self.board.full).without(Cells::of(&state.stones));
        if gaps.is_empty() {
            Phase::FirstRemoval
        } else if gaps.is_single() {
            Phase::SecondRemoval
        } else {
            Phase::Jumps
        }
    }

    #[inline]
    fn legal_on<const W: usize>(&self, state: &State, out: &mut ActionList) {
        match self.phase::<W>(state) {
            Phase::FirstRemoval => {
                self.board.openings[state.mover.index()].iter().for_each(|&action| out.push(action));
            }
            Phase::SecondRemoval => self.neighbours(self.gap(state)).for_each(|point| out.push(Action(point as u16))),
            Phase::Jumps => {
                let (stones, own) = self.stones_and_own::<W>(state);
                self.board.jumps(stones, own, |action| out.push(action));
            }
        }
    }

    #[inline]
    fn is_over_on<const W: usize>(&self, state: &State) -> bool {
        let (stones, own) = self.stones_and_own::<W>(state);
        !self.board.can_jump(stones, own) && matches!(self.phase::<W>(state), Phase::Jumps)
    }

    #[inline]
    fn stones_and_own<const W: usize>(&self, state: &State) -> (Cells<W>, Cells<W>) {
        let stones = Cells::of(&state.stones);
        (stones, stones.and(Cells::of(&self.board.coloured[state.mover.index()])))
    }

    /// The first empty point.
    fn gap(&self, state: &State) -> usize {
        let empty = |(row, column)| !contains(&state.stones, self.board.bit(row, column));
        self.points().position(empty).expect("only a board with gaps is asked for one")
    }

    /// The points beside a point in increasing order.
    fn neighbours(&self, point: usize) -> impl Iterator<Item = usize> + use<> {
        let (size, column) = (self.size, point % self.size);
        let beside = [
            (point >= size).then(|| point - size),
            (column > 0).then(|| point - 1),
            (column + 1 < size).then(|| point + 1),
            (point + size < size * size).then(|| point + size),
        ];
        beside.into_iter().flatten()
    }

    /// The first reason why play cannot lead to a state, if it is one of those looked for.
    fn impossible(&self, state: &State) -> Option<String> {
        let gaps: Vec<usize> = (0..self.size * self.size)
            .filter(|point| self.stone_at(state, point / self.size, point % self.size).is_none())
            .collect();
        let side = |point: usize| colour(point / self.size, point % self.size);
        let is_opening = |point: usize| self.board.openings[side(point).index()].contains(&Action(point as u16));
        let opener = |point: &usize| side(*point) == state.mover && is_opening(*point);
        match gaps[..] {
            [] => None,
            [gap] if !is_opening(gap) => Some("the first gap must be at a corner or in the middle".into()),
            [gap] if side(gap) == state.mover => {
                Some(format!("{} has removed, the other is to move", PIECES[state.mover.index()]))
            }
            [first, second] if !self.neighbours(first).any(|point| point == second) => {
                Some("the first two gaps must be side by side".into())
            }
            [_, _] if !gaps.iter().any(opener) => {
                let mover = PIECES[state.mover.index()];
                Some(format!("with two gaps, {mover} to move must have removed at a corner or in the middle"))
            }
            _ if gaps.len() == self.size * self.size => Some("the board cannot be empty".into()),
            [_, _, ..] => Side::BOTH
                .into_iter()
                .find(|side| gaps.iter().all(|&gap| colour(gap / self.size, gap % self.size) != *side))
                .map(|side| format!("{} has lost no stone, but each player removes one", PIECES[side.index()])),
            [_] => None,
        }
    }
}

impl Game for Konane {
    const NAME: &'static str = "konane";
    const VERSION: u32 = 1;
    const PARAMS: &'static [&'static str] = &["size", "first_player"];
    type State = State;

    fn with_params(params: &Params) -> Result<Self, Error> {
        let reader = ParamReader::new(Self::NAME, params, Self::PARAMS)?;
        let size = reader.integer("size", 8, 4..=MAX_SIZE as u16)?;
        if size % 2 == 1 {
            return Err(reader.fault("size", "must be even"));
        }
        Ok(Self::new(usize::from(size), reader.choice("first_player", &FIRST_PLAYERS)?))
    }

    fn params(&self) -> Params {
        Params::new().with("size", self.size).with("first_player", PIECES[self.first_player.index()])
    }

    fn spec(&self) -> Spec {
        Spec::clone(&self.spec)
    }

    fn start(&self) -> State {
        State { stones: self.board.full, mover: self.first_player }
    }

    #[inline]
    fn mover(&self, state: &State) -> Side {
        state.mover
    }

    #[inline]
    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        if self.board.is_small() { self.legal_on::<1>(state, out) } else { self.legal_on::<4>(state, out) }
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        for (stones, change) in state.stones.iter_mut().zip(&self.board.changes[action.index()]) {
            *stones ^= change;
        }
        state.mover = state.mover.other();
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        let over = if self.board.is_small() { self.is_over_on::<1>(state) } else { self.is_over_on::<4>(state) };
        over.then(|| Outcome::win(state.mover.other()))
    }

    fn observe(&self, state: &State, features: &mut [f32]) {
        let points = self.size * self.size;
        let (planes, phase) = features.split_at_mut(3 * points);
        let (own, planes) = planes.split_at_mut(points);
        let (opponents, empty) = planes.split_at_mut(points);
        let rows = own.chunks_exact_mut(self.size).zip(opponents.chunks_exact_mut(self.size));
        for (row, ((own, opponents), empty)) in rows.zip(empty.chunks_exact_mut(self.size)).enumerate() {
            let stones = self.board.row(&state.stones, row);
            let mine = stones & self.board.row(&self.board.coloured[state.mover.index()], row);
            write_bits(mine, own);
            write_bits(stones ^ mine, opponents);
            write_bits(!stones, empty);
        }
        let now = self.phase::<4>(state);
        phase[0] = f32::from(u8::from(matches!(now, Phase::FirstRemoval)));
        phase[1] = f32::from(u8::from(matches!(now, Phase::SecondRemoval)));
    }

    fn permuted(&self, state: &State, symmetry: &Symmetry) -> State {
        let mut stones = [0; 4];
        for (point, (row, column)) in self.points().enumerate() {
            if contains(&state.stones, self.board.bit(row, column)) {
                let image = usize::from(symmetry.points[point]);
                toggle(&mut stones, self.board.bit(image / self.size, image % self.size));
            }
        }
        State { stones, ..*state }
    }

    /// By the share of the cells with a stone: three quarters or more, half or more, less.
    fn phase(&self, state: &State) -> &'static str {
        let stones: usize = state.stones.iter().map(|word| word.count_ones() as usize).sum();
        match 4 * stones / (self.size * self.size) {
            3.. => "opening",
            2 => "midgame",
            _ => "endgame",
        }
    }

    fn action_text(&self, action: Action) -> String {
        let cells = self.cells(action);
        let name = if cells.len() == 1 { "remove" } else { "jump" };
        let numbers: Vec<String> = cells.iter().map(|(row, column)| format!("{row},{column}")).collect();
        format!("{name}({})", numbers.join(","))
    }

    fn parse_action(&self, text: &str) -> Result<Action, Error> {
        self.read_action(text).map_err(|fault| Error::action(text, fault))
    }

    fn position_text(&self, state: &State) -> String {
        let cell = |row, column| self.stone_at(state, row, column).map_or('.', |side| PIECES[side.index()]);
        let row = |row| (0..self.size).map(|column| cell(row, column)).collect();
        let rows: Vec<String> = (0..self.size).map(row).collect();
        format!("{} {}", rows.join("/"), PIECES[state.mover.index()])
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        self.read_position(text).map_err(|fault| Error::position(text, fault))
    }

    fn draw(&self, state: &State) -> String {
        let header: String = (1..=self.size).map(|column| format!("{column:>3}")).collect();
        let row = |row: usize| {
            let cell = |column| self.stone_at(state, row, column).map_or('.', |side| PIECES[side.index()]);
            let cells: String = (0..self.size).map(|column| format!("{:>3}", cell(column))).collect();
            format!("{:>4} {cells}\n", self.size - row)
        };
        let rows: String = (0..self.size).map(row).collect();
        format!("     {header}\n\n{rows}")
    }

    fn draw_svg(&self, state: &State, last: Option<Action>) -> String {
        svg::draw(self, state, last)
    }
}

/// The lowest bits of a row, one to a feature.
#[inline]
fn write_bits(bits: u64, features: &mut [f32]) {
    let write = |features: &mut [f32]| {
        for (column, feature) in features.iter_mut().enumerate() {
            *feature = if bits & 1 << column == 0 { 0.0 } else { 1.0 };
        }
    };
    match <&mut [f32; 8]>::try_from(&mut *features) {
        Ok(row) => write(row), // the common size, as a loop of known length
        Err(_) => write(features),
    }
}
