//! Othello on 4x4, 6x6 or 8x8: a disc is placed so that it turns discs of the opponent between it and another own one; a player
//! who can place none passes; the game ends when neither can.
//!
//! Sets of points are bits, the point in row `r` and column `c` from the top left at bit `size r + c`.

use std::path::Path;

use turnstone_agents::{Effort, Playable};
use turnstone_env::board::{Board, Shape};
use turnstone_env::{
    Action, ActionList, Error, Grid, Notation, Outcome, ParamReader, Params, Rules, Side, Spec, Symmetry,
    board_of_planes,
};
use turnstone_exact::{ExactValues, TableError};
use turnstone_search::classic::{Heuristic, WinLoss};

const PLANES: [&str; 3] = ["own discs", "opponent's discs", "points where the mover can place a disc"];

/// The game; its parameter is the size.
#[derive(Clone, Copy, Debug)]
pub struct Othello {
    grid: Grid,
    board: u64,
    left: u64,
    right: u64,
}

/// A position: the points with a disc of each player, and who is to move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    discs: [u64; 2],
    mover: Side,
}

impl State {
    /// Discs of the first player minus those of the second.
    #[must_use]
    pub fn margin(&self) -> i16 {
        let [first, second] = self.discs.map(|discs| discs.count_ones() as i16);
        first - second
    }

    /// The discs of the mover and of the opponent.
    fn own_and_other(&self) -> [u64; 2] {
        [self.mover, self.mover.other()].map(|side| self.discs[side.index()])
    }

    fn piece(&self, point: usize) -> Option<Side> {
        Side::BOTH.into_iter().find(|side| self.discs[side.index()] >> point & 1 != 0)
    }
}

impl Default for Othello {
    fn default() -> Self {
        Self::new(8)
    }
}

impl Othello {
    fn new(size: usize) -> Self {
        let column = (0..size).fold(0, |column, row| column | 1 << (size * row));
        let board = u64::MAX >> (64 - size * size);
        Self { grid: Grid::new(size, size), board, left: column, right: column << (size - 1) }
    }

    /// The action that places no disc.
    fn pass(&self) -> Action {
        Action(self.grid.points() as u16)
    }

    /// The points one step further in one of the eight directions.
    fn shifted(&self, points: u64, [down, right]: [isize; 2]) -> u64 {
        let rows = match down {
            1 => points << self.grid.width,
            -1 => points >> self.grid.width,
            _ => points,
        };
        self.board
            & match right {
                1 => rows << 1 & !self.left,
                -1 => rows >> 1 & !self.right,
                _ => rows,
            }
    }

    /// The discs of `other` in a row from `points` on in a direction.
    fn run(&self, points: u64, other: u64, step: [isize; 2]) -> u64 {
        let mut run = self.shifted(points, step) & other;
        for _ in 3..self.grid.width {
            run |= self.shifted(run, step) & other;
        }
        run
    }

    /// The empty points where a disc turns at least one of `other`.
    fn placements(&self, [own, other]: [u64; 2]) -> u64 {
        let beyond = |step| self.shifted(self.run(own, other, step), step);
        Grid::STEPS.into_iter().fold(0, |placements, step| placements | beyond(step)) & !(own | other)
    }

    /// The discs of `other` that a disc on this point turns.
    fn turned(&self, point: u64, [own, other]: [u64; 2]) -> u64 {
        let between = |step| {
            let run = self.run(point, other, step);
            if self.shifted(run, step) & own == 0 { 0 } else { run }
        };
        Grid::STEPS.into_iter().fold(0, |turned, step| turned | between(step))
    }

    /// The four points in the middle.
    fn middle(&self) -> [u64; 4] {
        let (size, half) = (self.grid.width, self.grid.width / 2);
        [(half - 1, half - 1), (half - 1, half), (half, half - 1), (half, half)]
            .map(|(row, column)| 1 << (size * row + column))
    }
}

impl Rules for Othello {
    type State = State;

    fn spec(&self) -> Spec {
        let points = self.grid.points();
        Spec {
            directions: self.grid.directions(&Grid::STEPS),
            bounds: [0.0, 1.0],
            blocks: vec![("PLACE", points), ("PASS", 1)],
            symmetries: self.grid.symmetries_by_point(PLANES.len(), points + 1),
            piece_planes: Some([0, 1]),
            sides: ["black (X)", "white (O)"],
            ..Spec::new("othello", 1, [self.grid.height, self.grid.width], &PLANES, points + 1)
        }
    }

    fn params(&self) -> Params {
        Params::new().with("size", self.grid.width)
    }

    fn with_params(&self, params: &Params) -> Result<Self, Error> {
        let reader = ParamReader::new(self, params)?;
        match reader.integer("size", 8, 4..=8)? {
            size @ (4 | 6 | 8) => Ok(Self::new(usize::from(size))),
            _ => Err(reader.fault("size", "must be even")),
        }
    }

    fn start(&self) -> State {
        let [a, b, c, d] = self.middle();
        State { discs: [b | c, a | d], mover: Side::First }
    }

    fn mover(&self, state: &State) -> Side {
        state.mover
    }

    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        let [own, other] = state.own_and_other();
        let mut placements = self.placements([own, other]);
        if placements == 0 && self.placements([other, own]) != 0 {
            out.push(self.pass());
        }
        while placements != 0 {
            out.push(Action(placements.trailing_zeros() as u16));
            placements &= placements - 1;
        }
    }

    fn play(&self, state: &mut State, action: Action) {
        if action != self.pass() {
            let (point, mover) = (1 << action.0, state.mover.index());
            let turned = self.turned(point, state.own_and_other());
            state.discs[mover] |= point | turned;
            state.discs[1 - mover] &= !turned;
        }
        state.mover = state.mover.other();
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        let [own, other] = state.own_and_other();
        let is_over = self.placements([own, other]) | self.placements([other, own]) == 0;
        is_over.then(|| Outcome::by_margin(state.margin()))
    }

    fn observe(&self, state: &State, features: &mut [f32]) {
        let [own, other] = state.own_and_other();
        for (plane, points) in [own, other, self.placements([own, other])].into_iter().enumerate() {
            self.grid.write_plane(features, plane, |point| points >> point & 1 != 0);
        }
    }

    fn permuted(&self, state: &State, symmetry: &Symmetry) -> State {
        State { discs: state.discs.map(|discs| symmetry.image_of_set(discs)), ..*state }
    }
}

impl Notation for Othello {
    /// The point by its column and its row from the top, as in `d3`, or `pass`.
    fn action_text(&self, _: &State, action: Action) -> String {
        if action == self.pass() { "pass".into() } else { self.grid.cells().from_the_top().label(action.index()) }
    }

    /// The rows from the top down and the player to move: `..../.OX./.XO./.... X`.
    fn position_text(&self, state: &State) -> String {
        self.grid.text_with_mover(|point| state.piece(point), state.mover)
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        let (pieces, mover) = self.grid.parse_with_mover(text).map_err(|fault| Error::position(text, fault))?;
        let mut discs = [0; 2];
        for (point, piece) in pieces.into_iter().enumerate() {
            piece.into_iter().for_each(|side| discs[side.index()] |= 1 << point);
        }
        if self.middle().iter().any(|point| (discs[0] | discs[1]) & point == 0) {
            return Err(Error::position(text, "the four points in the middle always have discs"));
        }
        Ok(State { discs, mover })
    }

    fn board(&self, state: &State, last: Option<(&State, Action)>) -> Board {
        let board = board_of_planes(self, state, last);
        Board { shape: Shape::Cells(self.grid.cells().from_the_top()), ..board }
    }
}

impl Playable for Othello {
    type Game = Self;

    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>> {
        vec![Box::new(Mobility), Box::new(WinLoss)]
    }

    fn exact_values(game: &Self, _: &Path, effort: Effort) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        Ok(Some(effort.searched(game)))
    }
}

/// Ten for each placement that a player has, thirty for each corner.
#[derive(Clone, Copy, Default, Debug)]
pub struct Mobility;

impl Heuristic<Othello> for Mobility {
    fn name(&self) -> &'static str {
        "mobility"
    }

    fn lead(&self) -> f32 {
        50.0
    }

    fn estimate(&self, game: &Othello, state: &State) -> i32 {
        let ([first, second], size) = (state.discs, game.grid.width);
        let top = (1 << size) - 1;
        let corners = (game.left | game.right) & (top | top << (size * (size - 1)));
        let count = |points: u64| points.count_ones() as i32;
        let of = |own: u64, other: u64| 10 * count(game.placements([own, other])) + 30 * count(own & corners);
        of(first, second) - of(second, first)
    }
}
