//! Reading Konane's command strings and positions.

use super::board::{colour, toggle};
use super::state::{Konane, PIECES, State};
use crate::action::Action;
use crate::side::Side;

/// What an action looks like.
const FORM: &str = "expected a stone to remove, `xd5` or `remove(5,4)`, or a jump, `d3-d5` or `jump(3,4,5,4)`";

impl Konane {
    pub(super) fn read_action(&self, text: &str) -> Result<Action, String> {
        let cells = self.read_names(text)?.map_or_else(|| self.read_command(text), Ok)?;
        let path: Vec<_> = cells.into_iter().map(|(row, column)| (self.size - row, column - 1)).collect();
        self.board.path_action(&path)
    }

    /// The rows and columns of an action as people see it, `xe4` or `e6-e4`; `None` if it is written otherwise.
    fn read_names(&self, text: &str) -> Result<Option<Vec<(usize, usize)>>, String> {
        let (is_removal, names) = text.strip_prefix('x').map_or((false, text), |name| (true, name));
        let named = |name: &str| {
            let letter = name.bytes().next().filter(u8::is_ascii_lowercase)?;
            name[1..].bytes().all(|b| b.is_ascii_digit()).then(|| (letter, name[1..].to_owned()))
        };
        let Some(names) = names.split('-').map(named).collect::<Option<Vec<_>>>() else { return Ok(None) };
        if is_removal != (names.len() == 1) {
            return Err(FORM.into());
        }
        let cell = |(letter, row): (u8, String)| {
            let column = usize::from(letter - b'a') + 1;
            let found = self.coordinate(&row).ok().filter(|_| column <= self.size);
            let last = cell_name((self.size, self.size));
            found
                .map(|row| (row, column))
                .ok_or_else(|| format!("`{}{row}` is no cell from a1 to {last}", char::from(letter)))
        };
        names.into_iter().map(cell).collect::<Result<_, _>>().map(Some)
    }

    /// The rows and columns of a command string of the source.
    fn read_command(&self, text: &str) -> Result<Vec<(usize, usize)>, String> {
        let (name, rest) = text.split_once('(').ok_or(FORM)?;
        let numbers = rest.strip_suffix(')').ok_or(FORM)?;
        let numbers: Vec<usize> = numbers.split(',').map(|n| self.coordinate(n)).collect::<Result<_, _>>()?;
        match (name, numbers.len()) {
            ("remove", 2) => {}
            ("remove", _) => return Err("`remove` takes one row and one column".into()),
            ("jump", n) if n >= 4 && n % 2 == 0 => {}
            ("jump", _) => return Err("`jump` takes the row and column of two cells or more".into()),
            _ => return Err(FORM.into()),
        }
        Ok(numbers.chunks_exact(2).map(|cell| (cell[0], cell[1])).collect())
    }

    /// A row or column from 1, written without sign or leading zero.
    fn coordinate(&self, text: &str) -> Result<usize, String> {
        let plain = text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
        let number = if plain { text.parse().ok() } else { None };
        number
            .filter(|number| (1..=self.size).contains(number))
            .ok_or_else(|| format!("`{}` is not a row or column from 1 to {}", text.escape_debug(), self.size))
    }

    pub(super) fn read_position(&self, text: &str) -> Result<State, String> {
        let (pieces, mover) = self.board.grid().parse_with_mover(text)?;
        let mut state = State { stones: [0; 4], mover };
        for ((row, column), side) in self.points().zip(pieces).filter_map(|(cell, piece)| Some((cell, piece?))) {
            if side != colour(row, column) {
                let [owner, found] = [side.other(), side].map(|side| PIECES[side.index()]);
                let cell = cell_name((self.size - row, column + 1));
                return Err(format!("cell {cell} must be {owner} or `.`, not `{found}`"));
            }
            toggle(&mut state.stones, self.board.bit(row, column));
        }
        self.impossible(&state).map_or(Ok(state), Err)
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

/// A cell's name by its row and column from 1: the column's letter, and the row.
pub(super) fn cell_name((row, column): (usize, usize)) -> String {
    format!("{}{row}", char::from(b'a' + (column - 1) as u8))
}
