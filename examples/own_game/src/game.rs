//! Connect Four: discs drop into seven columns of six cells; four of one player in a row win.
//!
//! ```text
//!   6  .  .  .  .  .  .  .
//!   5  .  .  .  .  .  .  .      X is player 1, O player 2
//!   4  .  .  .  .  .  .  .
//!   3  .  .  .  .  .  .  .      points are numbered in reading order: 0 is the top left
//!   2  .  .  .  .  .  .  .      cell, 41 the bottom right one
//!   1  .  .  .  .  .  .  .
//!      1  2  3  4  5  6  7
//! ```
//!
//! On bitboards a column takes seven bits: its six cells from the bottom up, and one that stays empty, so that no line
//! of four leads over the top of one column to the bottom of the next.

use turnstone_env::board::{Board, Cells, Shape};
use turnstone_env::{Action, ActionList, Error, Grid, Notation, Outcome, Rules, Side, Spec, Symmetry, board_of_planes};

const COLUMNS: usize = 7;
const ROWS: usize = 6;
const GRID: Grid = Grid::new(ROWS, COLUMNS);
const POINTS: usize = GRID.points();

/// Distance of two cells of a row in bits.
const COLUMN_BITS: usize = ROWS + 1;
/// The lowest cell of every column.
pub(crate) const BOTTOM: u64 = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28 | 1 << 35 | 1 << 42;
/// All cells.
pub(crate) const BOARD: u64 = BOTTOM * ((1 << ROWS) - 1);
/// The first, third and fifth row: player 1 fills them where player 2 always answers in the same column.
const ODD_ROWS: u64 = BOTTOM * 0b01_0101;
/// Distance in bits of two neighbours: in a column, in a row, and in the falling and rising diagonals.
pub(crate) const STEPS: [usize; 4] = [1, COLUMN_BITS, COLUMN_BITS - 1, COLUMN_BITS + 1];

/// The cell of each point.
const CELLS: [u64; POINTS] = {
    let mut cells = [0; POINTS];
    let mut point = 0;
    while point < POINTS {
        cells[point] = 1 << (COLUMN_BITS * (point % COLUMNS) + ROWS - 1 - point / COLUMNS);
        point += 1;
    }
    cells
};

const PLANES: [&str; 6] = [
    "own discs",
    "opponent's discs",
    "cells where a disc can land",
    "empty cells that complete four own discs",
    "empty cells that complete four of the opponent's discs",
    "rows that are the mover's where both fill a column in turn",
];

/// The game. It has no parameters.
#[derive(Clone, Copy, Default, Debug)]
pub struct ConnectFour;

/// A position: the cells with a disc of each player. The number of discs decides whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct State {
    pub(crate) discs: [u64; 2],
}

impl State {
    /// Number of discs.
    pub(crate) fn count(&self) -> u32 {
        self.occupied().count_ones()
    }

    pub(crate) fn occupied(&self) -> u64 {
        self.discs[0] | self.discs[1]
    }

    /// Whose disc is on a point.
    fn piece(&self, point: usize) -> Option<Side> {
        Side::BOTH.into_iter().find(|side| self.discs[side.index()] & CELLS[point] != 0)
    }

    pub(crate) fn mover(&self) -> Side {
        if self.occupied().count_ones().is_multiple_of(2) { Side::First } else { Side::Second }
    }
}

/// The cells where the next disc of each column lands.
pub(crate) fn landings(occupied: u64) -> u64 {
    (occupied + BOTTOM) & BOARD
}

/// Whether some four of the discs lie in a row.
pub(crate) fn has_four(discs: u64) -> bool {
    STEPS.iter().any(|step| {
        let pairs = discs & discs >> step;
        pairs & pairs >> (2 * step) != 0
    })
}

/// The empty cells where one more disc makes four in a row: three of a line of four are there.
pub(crate) fn completing_cells(discs: u64, occupied: u64) -> u64 {
    let mut cells = 0;
    for step in STEPS {
        let [one, two, three] = [step, 2 * step, 3 * step];
        // The missing cell is the lowest of the line, the second, the third, the highest.
        cells |= discs >> one & discs >> two & discs >> three;
        cells |= discs << one & discs >> one & discs >> two;
        cells |= discs << two & discs << one & discs >> one;
        cells |= discs << three & discs << two & discs << one;
    }
    cells & BOARD & !occupied
}

/// Action block DROP: the column, counted from 0.
fn column(action: Action) -> u64 {
    ((1 << ROWS) - 1) << (COLUMN_BITS * action.index())
}

/// The identity, and the reflection of left and right: the symmetries that leave the top row at the top.
fn symmetries() -> Vec<Symmetry> {
    let image = |action: Action, points: &[u16]| Action(points[action.index()] % COLUMNS as u16);
    let mut symmetries = GRID.symmetries(PLANES.len(), COLUMNS, image);
    symmetries.retain(|symmetry| usize::from(symmetry.points[0]) < COLUMNS);
    symmetries
}

impl Rules for ConnectFour {
    type State = State;

    fn spec(&self) -> Spec {
        Spec {
            directions: GRID.directions(&Grid::STEPS),
            bounds: [0.0, 1.0],
            blocks: vec![("DROP", COLUMNS)],
            symmetries: symmetries(),
            piece_planes: Some([0, 1]),
            ..Spec::new("connect_four", 2, [ROWS, COLUMNS], &PLANES, COLUMNS)
        }
    }

    fn start(&self) -> State {
        State::default()
    }

    fn mover(&self, state: &State) -> Side {
        state.mover()
    }

    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        if self.outcome(state).is_some() {
            return;
        }
        let landings = landings(state.occupied());
        for action in (0..COLUMNS as u16).map(Action) {
            if landings & column(action) != 0 {
                out.push(action);
            }
        }
    }

    fn play(&self, state: &mut State, action: Action) {
        let landing = landings(state.occupied()) & column(action);
        state.discs[state.mover().index()] |= landing;
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        match Side::BOTH.into_iter().find(|side| has_four(state.discs[side.index()])) {
            Some(winner) => Some(Outcome::win(winner)),
            None => (state.occupied() == BOARD).then(Outcome::draw),
        }
    }

    fn observe(&self, state: &State, features: &mut [f32]) {
        let mover = state.mover();
        let own = state.discs[mover.index()];
        let opponents = state.discs[mover.other().index()];
        let occupied = own | opponents;
        let planes = [
            own,
            opponents,
            landings(occupied),
            completing_cells(own, occupied),
            completing_cells(opponents, occupied),
            if mover == Side::First { ODD_ROWS } else { BOARD & !ODD_ROWS },
        ];
        for (plane, cells) in planes.into_iter().enumerate() {
            GRID.write_plane(features, plane, |point| cells & CELLS[point] != 0);
        }
    }

    fn permuted(&self, state: &State, symmetry: &Symmetry) -> State {
        let image = |discs: u64| {
            let points = (0..POINTS).filter(|&point| discs & CELLS[point] != 0);
            points.fold(0, |image, point| image | CELLS[usize::from(symmetry.points[point])])
        };
        State { discs: state.discs.map(image) }
    }
}

impl Notation for ConnectFour {
    /// The column, 1 to 7.
    fn action_text(&self, _: &State, action: Action) -> String {
        (action.0 + 1).to_string()
    }

    fn parse_action(&self, _: &State, text: &str) -> Result<Action, Error> {
        match text.as_bytes() {
            [column @ b'1'..=b'7'] => Ok(Action(u16::from(column - b'1'))),
            _ => Err(Error::action(text, "expected a column, 1 to 7")),
        }
    }

    /// The rows from the top down, e.g. `......./......./......./......./...O.../...X...`.
    fn position_text(&self, state: &State) -> String {
        GRID.text(|point| state.piece(point))
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        let fault = |fault: String| Error::position(text, fault);
        let mut state = State::default();
        for (cell, piece) in CELLS.iter().zip(GRID.parse(text).map_err(fault)?) {
            piece.into_iter().for_each(|side| state.discs[side.index()] |= cell);
        }
        check(&state).map_err(|reason| fault(reason.to_owned()))?;
        Ok(state)
    }

    /// The cell where the disc lands.
    fn points_of(&self, state: &State, action: Action) -> Vec<usize> {
        let landing = landings(state.occupied()) & column(action);
        CELLS.iter().position(|&cell| cell == landing).into_iter().collect()
    }

    /// The columns have numbers; the fours that end the game are emphasised, and a person is told what to do.
    fn board(&self, state: &State, last: Option<(&State, Action)>) -> Board {
        let columns = (1..=COLUMNS).map(|column| column.to_string()).collect();
        let shape = Shape::Cells(Cells { columns, ..GRID.cells() });
        let task = "choose the point where your disc lands".into();
        Board { shape, formed: fours(state), task, ..board_of_planes(self, state, last) }
    }
}

fn fours(state: &State) -> Vec<Vec<usize>> {
    let mut lines = Vec::new();
    for step in STEPS {
        for (discs, first) in state.discs.iter().flat_map(|&discs| CELLS.map(|cell| (discs, cell))) {
            let four = first | first << step | first << (2 * step) | first << (3 * step);
            if discs & four == four {
                lines.push((0..POINTS).filter(|&point| four & CELLS[point] != 0).collect());
            }
        }
    }
    lines
}

/// Refuses positions that no game leads to: with the wrong number of discs, discs in the air, or plies after the end.
fn check(state: &State) -> Result<(), &'static str> {
    let [first, second] = state.discs.map(u64::count_ones);
    if first != second && first != second + 1 {
        return Err("player 1 (X) must have as many discs as player 2 (O), or one more");
    }
    let occupied = state.occupied();
    let supported = occupied << 1 | BOTTOM;
    if occupied & !supported != 0 {
        return Err("a disc has an empty cell below it");
    }
    let mover = state.mover();
    let last = state.discs[mover.other().index()];
    let tops = last & !(occupied >> 1);
    let mut candidates = CELLS.into_iter().filter(|cell| tops & cell != 0);
    let ended_before = has_four(last) && candidates.all(|cell| has_four(last & !cell));
    if has_four(state.discs[mover.index()]) || ended_before {
        return Err("there were four in a row before the last disc");
    }
    Ok(())
}
