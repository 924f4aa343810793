//! Konane's parameters, and its positions as sets of cells.

use std::sync::Arc;

use super::board::{Cells, Geometry, Mobility, Ply, Words, colour, contains};
use crate::action::{Action, ActionList};
use crate::side::Side;
use crate::spec::Spec;

/// The letters of both sides' stones.
pub(super) const PIECES: [char; 2] = ['X', 'O'];

/// The game with its parameters. Actions are numbered in the blocks REMOVE, one for each point, and JUMP, by direction
/// (up, right, down, left), number of jumps, and the point that the jump starts from, as far as it stays on the board.
#[derive(Clone, Debug)]
pub struct Konane {
    pub(super) size: usize,
    pub(super) first_player: Side,
    pub(super) board: Arc<Geometry>,
    pub(super) spec: Arc<Spec>,
}

/// A position: the cells with a stone on them, whose colour decides whose it is, and the mover.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    pub(super) stones: Words,
    pub(super) mover: Side,
}

impl State {
    /// Number of stones on the board.
    #[must_use]
    pub fn stones(&self) -> usize {
        self.stones.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// The kind of action to be made, which follows from the number of gaps.
pub(super) enum Phase {
    FirstRemoval,
    SecondRemoval,
    Jumps,
}

impl Konane {
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

    /// The stones of a side that have left the board.
    pub(super) fn missing(&self, state: &State, side: Side) -> usize {
        let gone = state.stones.iter().zip(&self.board.coloured[side.index()]).map(|(stones, all)| all & !stones);
        gone.map(|word| word.count_ones() as usize).sum()
    }

    /// The jumps of a side, whether or not it is its turn.
    #[inline]
    #[must_use]
    pub fn mobility(&self, state: &State, side: Side) -> Mobility {
        fn count<const W: usize>(board: &Geometry, stones: &Words, side: Side) -> Mobility {
            let stones = Cells::<W>::of(stones);
            board.mobility(stones, stones.and(Cells::of(&board.coloured[side.index()])))
        }
        if self.board.is_small() {
            count::<1>(&self.board, &state.stones, side)
        } else {
            count::<4>(&self.board, &state.stones, side)
        }
    }

    pub(super) fn stone_at(&self, state: &State, row: usize, column: usize) -> Option<Side> {
        contains(&state.stones, self.board.bit(row, column)).then(|| colour(row, column))
    }

    /// Row from the top and column, both from 0, of every point.
    pub(super) fn points(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        self.board.points()
    }

    #[inline]
    pub(super) fn phase<const W: usize>(&self, state: &State) -> Phase {
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
    pub(super) fn legal_on<const W: usize>(&self, state: &State, out: &mut ActionList) {
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
    pub(super) fn legal_count_on<const W: usize>(&self, state: &State) -> u32 {
        match self.phase::<W>(state) {
            Phase::FirstRemoval => self.board.openings[state.mover.index()].len() as u32,
            Phase::SecondRemoval => self.neighbours(self.gap(state)).count() as u32,
            Phase::Jumps => {
                let (stones, own) = self.stones_and_own::<W>(state);
                self.board.mobility(stones, own).jumps
            }
        }
    }

    #[inline]
    pub(super) fn is_over_on<const W: usize>(&self, state: &State) -> bool {
        let (stones, own) = self.stones_and_own::<W>(state);
        !self.board.can_jump(stones, own) && matches!(self.phase::<W>(state), Phase::Jumps)
    }

    #[inline]
    pub(super) fn stones_and_own<const W: usize>(&self, state: &State) -> (Cells<W>, Cells<W>) {
        let stones = Cells::of(&state.stones);
        (stones, stones.and(Cells::of(&self.board.coloured[state.mover.index()])))
    }

    /// The first empty point.
    pub(super) fn gap(&self, state: &State) -> usize {
        let empty = |(row, column)| !contains(&state.stones, self.board.bit(row, column));
        self.points().position(empty).expect("only a board with gaps is asked for one")
    }

    /// The points beside a point in increasing order.
    pub(super) fn neighbours(&self, point: usize) -> impl Iterator<Item = usize> + use<> {
        let grid = self.board.grid();
        [[-1, 0], [0, -1], [0, 1], [1, 0]].into_iter().filter_map(move |step| grid.step(point, step))
    }
}
