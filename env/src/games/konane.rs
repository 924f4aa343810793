//! Konane, Hawaiian checkers: two stones leave a full board, then players jump over each other's stones; who cannot loses.
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
//! Source: Pyro's game playing module (`konane_pyro.txt`). X (dark) is player 1, O (light) player 2; `first_player`
//! removes the first stone, from a corner or from the middle. The other removes a stone next to the gap. From then
//! on a player jumps with one stone in one straight line over any number of single stones, each into an empty cell.
//! Stones never leave their colour's cells, so the occupied cells and the mover are the whole state.

mod board;
mod shape;
mod state;
mod text;

use std::sync::Arc;

pub use self::board::Mobility;
use self::board::{MAX_SIZE, contains, toggle};
pub use self::state::{Konane, State};
use self::state::{PIECES, Phase};
use crate::action::{Action, ActionList};
use crate::board::{Board, Cells, Shape};
use crate::error::Error;
use crate::notation::Notation;
use crate::outcome::Outcome;
use crate::param_reader::ParamReader;
use crate::params::Params;
use crate::rules::Rules;
use crate::side::Side;
use crate::spec::Spec;
use crate::symmetry::Symmetry;

const FIRST_PLAYERS: [(&str, Side); 2] = [("X", Side::First), ("O", Side::Second)];

impl Default for Konane {
    fn default() -> Self {
        Self::new(8, Side::First)
    }
}

impl Konane {
    /// A board of `size` rows and columns, an even number from 4 to 16, where `first_player` removes first.
    fn new(size: usize, first_player: Side) -> Self {
        let board = Arc::new(board::Geometry::new(size));
        Self { size, first_player, spec: Arc::new(board.spec()), board }
    }
}

impl Rules for Konane {
    type State = State;

    fn with_params(&self, params: &Params) -> Result<Self, Error> {
        let reader = ParamReader::new(self, params)?;
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
    fn legal_count(&self, state: &State) -> Option<u32> {
        Some(if self.board.is_small() { self.legal_count_on::<1>(state) } else { self.legal_count_on::<4>(state) })
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

    #[inline]
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
        let now = if self.board.is_small() { self.phase::<1>(state) } else { self.phase::<4>(state) };
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
}

impl Notation for Konane {
    fn action_text(&self, _: &State, action: Action) -> String {
        let cells = self.cells(action);
        let name = if cells.len() == 1 { "remove" } else { "jump" };
        let numbers: Vec<String> = cells.iter().map(|(row, column)| format!("{row},{column}")).collect();
        format!("{name}({})", numbers.join(","))
    }

    /// The removed stone after an `x`, or the cells of a jump, with columns as letters: `xd5`, `d3-d5`.
    fn display_text(&self, _: &State, action: Action) -> String {
        let names: Vec<String> = self.cells(action).into_iter().map(text::cell_name).collect();
        if let [removed] = &names[..] { format!("x{removed}") } else { names.join("-") }
    }

    fn parse_action(&self, _: &State, text: &str) -> Result<Action, Error> {
        self.read_action(text).map_err(|fault| Error::action(text, fault))
    }

    fn position_text(&self, state: &State) -> String {
        let stone = |point: usize| self.stone_at(state, point / self.size, point % self.size);
        self.board.grid().text_with_mover(stone, state.mover)
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        self.read_position(text).map_err(|fault| Error::position(text, fault))
    }

    fn points_of(&self, _: &State, action: Action) -> Vec<usize> {
        let point = |&(row, column): &(usize, usize)| (self.size - row) * self.size + column - 1;
        self.cells(action).iter().map(point).collect()
    }

    fn board(&self, state: &State, last: Option<(&State, Action)>) -> Board {
        Board {
            contents: self.points().map(|(row, column)| self.stone_at(state, row, column).into()).collect(),
            captured: Side::BOTH.map(|side| self.missing(state, side.other())),
            status: self.spec.status(self.outcome(state), state.mover),
            task: match self.phase::<4>(state) {
                Phase::FirstRemoval => "remove one of the ringed stones".into(),
                Phase::SecondRemoval => "remove one of the ringed stones beside the gap".into(),
                Phase::Jumps => "choose a stone, then where it jumps".into(),
            },
            reason: match self.outcome(state) {
                Some(_) => format!("{} cannot jump", self.spec.side_name(state.mover)),
                None => String::new(),
            },
            ..Board::new(Shape::Cells(Cells { chequered: true, ..self.board.grid().cells() }), self.spec.points)
        }
        .after(self, last)
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
