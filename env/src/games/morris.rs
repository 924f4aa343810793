//! The 18-point Morris variant: eight pieces a side, mills along sides, spokes and diagonals; three pieces hop.
//!
//! ```text
//! a6----------d6----------g6      15------16------17
//! | \         |         / |
//! |   b5------d5------f5  |          12---13---14
//! |   | \     |     / |   |
//! |   |   c4--d4--e4  |   |           9---10---11
//! |   |   |       |   |   |
//! |   |   |       e3--f3--g3                 6---7---8
//! |   |   |       |   |   |
//! |   |   c2------e2  |   |           4--------5
//! |   | /           \ |   |
//! |   b1--------------f1  |          2-----------3
//! | /                   \ |
//! a0----------------------g0      0---------------1
//! ```
//!
//! Source: the course handout `morris_variant.txt` ("Morris Game, Variant"), whose own functions are in
//! `turnstone_hosts::morris`.
//! White places and moves first. A mill just closed removes one opponent's piece that stands in no mill, if there is
//! one; the removal is an action of its own. A player with two pieces or no legal action loses; `no_progress_limit` plies
//! in a row without a placement or a removal are a draw.

mod board;
mod state;

use std::sync::LazyLock;

use self::board::{BOARD, DRAWING, LETTERS, Mills, POINTS};
pub use self::state::{Morris, State};

use crate::action::{Action, ActionList};
use crate::board::Board;
use crate::error::Error;
use crate::mill_board::{Ply, points, write_plane};
use crate::mill_material::Material;
use crate::notation::Notation;
use crate::outcome::Outcome;
use crate::param_reader::ParamReader;
use crate::params::Params;
use crate::rules::Rules;
use crate::side::Side;
use crate::spec::Spec;
use crate::symmetry::Symmetry;

const POINT_PLANES: [&str; 2] = ["own pieces", "opponent's pieces"];
const SCALARS: [&str; 6] = [
    "own pieces in hand / pieces",
    "opponent's pieces in hand / pieces",
    "removal pending",
    "plies without progress / no_progress_limit",
    "own pieces hop",
    "opponent's pieces hop",
];

/// The mills as sets of points, point `p` at bit `p`.
#[must_use]
pub fn mills() -> &'static [u32] {
    &BOARD.mills
}

/// The neighbours of each point as a set.
#[must_use]
pub fn neighbours() -> &'static [u32] {
    &BOARD.near
}

/// The points' names.
#[must_use]
pub fn point_names() -> &'static [&'static str] {
    &BOARD.names
}

/// The pieces of both sides as sets of points, from a board's 18 letters, with which the text of a position begins.
///
/// # Errors
/// There are more letters or fewer, or other ones.
pub fn parse_board(text: &str) -> Result<[u32; 2], Error> {
    Mills::parse_board(text, LETTERS).map_err(|fault| Error::position(text, fault))
}

/// The letters of a board with these pieces of both sides.
#[must_use]
pub fn board_text(pieces: [u32; 2]) -> String {
    Mills::board_text(pieces, LETTERS)
}

impl Rules for Morris {
    type State = State;

    fn with_params(&self, params: &Params) -> Result<Self, Error> {
        let reader = ParamReader::new(self, params)?;
        Ok(Self {
            // Two would be lost from the start, ten a side would not fit on the board.
            pieces: reader.integer("pieces", 8, 3..=9)? as u8,
            no_progress_limit: reader.integer("no_progress_limit", 100, 0..=u16::MAX)?,
        })
    }

    fn params(&self) -> Params {
        Params::new().with("pieces", self.pieces).with("no_progress_limit", self.no_progress_limit)
    }

    fn spec(&self) -> Spec {
        static SYMMETRIES: LazyLock<Vec<Symmetry>> = LazyLock::new(|| BOARD.symmetries(POINT_PLANES.len()));
        Spec {
            directions: BOARD.directions(),
            scalars: SCALARS.map(String::from).to_vec(),
            bounds: [0.0, 1.0],
            blocks: Mills::blocks("REMOVE"),
            symmetries: SYMMETRIES.clone(),
            piece_planes: Some([0, 1]),
            sides: ["White", "Black"],
            ply_limits: vec!["no_progress_limit"],
            // The board is no grid: one row of points, whose neighbours the sheet lists.
            ..Spec::new("morris", 1, [1, POINTS], &POINT_PLANES, Mills::ACTIONS)
        }
    }

    fn start(&self) -> State {
        State { pieces: [0; 2], hands: [self.pieces; 2], no_progress: 0, mover: Side::First, removing: false }
    }

    #[inline]
    fn mover(&self, state: &State) -> Side {
        state.mover
    }

    #[cfg_attr(not(target_family = "wasm"), inline(always))] // playouts are up to a tenth faster
    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        if state.removing {
            Mills::push_removals(state.removable(state.mover.other()), out);
        } else if state.total(state.mover) <= 2 || self.limit_reached(state) {
            // Over. Where a blocked player's game ends, the last branch finds nothing.
        } else if state.in_hand(state.mover) > 0 {
            Mills::push_places(state.empty(), out);
        } else {
            let (own, empty) = (state.pieces(state.mover), state.empty());
            if state.hops(state.mover) {
                points(own).for_each(|from| Mills::push_moves(from, empty, out));
            } else {
                BOARD.push_steps(own, |_| empty, out);
            }
        }
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let (own, other) = (state.mover.index(), state.mover.other().index());
        let to = match Mills::ply(action) {
            Ply::Place(to) => {
                state.pieces[own] |= 1 << to;
                state.hands[own] -= 1;
                to
            }
            Ply::Move(from, to) => {
                state.pieces[own] ^= 1 << from | 1 << to;
                state.no_progress += u16::from(self.no_progress_limit > 0);
                to
            }
            Ply::Remove(point) => {
                state.pieces[other] ^= 1 << point;
                state.no_progress = 0;
                state.removing = false;
                state.mover = state.mover.other();
                return;
            }
        };
        // Where all of the opponent's pieces stand in mills, nothing is removed and the turn passes.
        if BOARD.closes(state.pieces[own], to) && state.removable(state.mover.other()) != 0 {
            state.removing = true;
        } else {
            state.mover = state.mover.other();
        }
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if state.removing {
            None
        } else if self.mover_lost(state) {
            Some(Outcome::win(state.mover.other()))
        } else if self.limit_reached(state) {
            Some(Outcome::truncation())
        } else {
            None
        }
    }

    #[inline]
    fn observe(&self, state: &State, features: &mut [f32]) {
        let sides = [state.mover, state.mover.other()];
        let (planes, scalars) = features.split_at_mut(POINT_PLANES.len() * POINTS);
        for (plane, side) in planes.as_chunks_mut::<POINTS>().0.iter_mut().zip(sides) {
            write_plane(state.pieces(side), plane);
        }
        let hand = |side| f32::from(state.in_hand(side)) / f32::from(self.pieces);
        let flag = |flag: bool| f32::from(u8::from(flag));
        scalars.copy_from_slice(&[
            hand(sides[0]),
            hand(sides[1]),
            flag(state.removing),
            f32::from(state.no_progress) / f32::from(self.no_progress_limit.max(1)),
            flag(state.hops(sides[0])),
            flag(state.hops(sides[1])),
        ]);
    }

    fn permuted(&self, state: &State, symmetry: &Symmetry) -> State {
        State { pieces: state.pieces.map(|set| symmetry.image_of_set(set.into()) as u32), ..*state }
    }
}

impl Notation for Morris {
    fn action_text(&self, _: &State, action: Action) -> String {
        BOARD.action_text(action)
    }

    fn parse_action(&self, _: &State, text: &str) -> Result<Action, Error> {
        BOARD.parse_action(text)
    }

    fn position_text(&self, state: &State) -> String {
        let board = Mills::board_text(state.pieces, LETTERS);
        let (mover, [white, black]) = (LETTERS[state.mover.index()], state.hands);
        let removing = if state.removing { 'x' } else { '-' };
        format!("{board} {mover} {white} {black} {removing} {}", state.no_progress)
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        self.read_position(text).map_err(|fault| Error::position(text, fault))
    }

    fn board(&self, state: &State, last: Option<(&State, Action)>) -> Board {
        let hops = state.hops(state.mover);
        Board {
            dark: Side::Second,
            letters: ['W', 'B', '.'],
            captured: Side::BOTH.map(|side| self.lost(state, side.other())),
            notes: self.notes(state),
            status: self.status(state),
            task: Mills::task(state.removing, state.in_hand(state.mover), hops, ["piece", "remove"]),
            reason: self.reason(state),
            ..BOARD.board(DRAWING, state.pieces)
        }
        .after(self, last)
        .with_mill(state.removing)
    }
}

impl Morris {
    /// Whose turn it is for what, or how the game ended.
    fn status(&self, state: &State) -> String {
        let spec = self.spec();
        match state.removing {
            true => format!("{} removes a piece", spec.sides[state.mover.index()]),
            false => spec.status(self.outcome(state), state.mover),
        }
    }

    /// Why the game is over, if it is.
    fn reason(&self, state: &State) -> String {
        let name = self.spec().side_name(state.mover);
        match self.outcome(state) {
            None => String::new(),
            Some(outcome) if outcome.truncated => {
                format!("{} moves without a placement or removal", self.no_progress_limit)
            }
            Some(_) if state.total(state.mover) <= 2 => format!("{name} has two pieces left"),
            Some(_) => format!("{name} cannot move"),
        }
    }

    /// The pieces that a side has lost.
    fn lost(&self, state: &State, side: Side) -> usize {
        usize::from(self.pieces) - state.total(side) as usize
    }

    /// The pieces in hand and lost, and the count of plies without progress.
    fn notes(&self, state: &State) -> Vec<(Option<Side>, String)> {
        let of_side = |side: Side| {
            let (name, hand) = (self.spec().sides[side.index()], state.in_hand(side));
            let lost = self.lost(state, side);
            let hops = if state.hops(side) { ", hops" } else { "" };
            (Some(side), format!("{name}: {hand} in hand, {lost} lost{hops}"))
        };
        let count = (state.no_progress > 0).then(|| {
            let (plies, limit) = (state.no_progress, self.no_progress_limit);
            (None, format!("plies without placement or removal: {plies} of {limit}"))
        });
        Side::BOTH.map(of_side).into_iter().chain(count).collect()
    }

    fn read_position(&self, text: &str) -> Result<State, String> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [board, mover, white, black, removing, no_progress] = fields[..] else {
            let example = self.position_text(&self.start());
            return Err(format!("expected board, mover, hands of W and B, `x` or `-`, and a count, e.g. `{example}`"));
        };
        let pieces = Mills::parse_board(board, LETTERS)?;
        let mover = match mover {
            "W" => Side::First,
            "B" => Side::Second,
            _ => return Err("the mover must be W or B".into()),
        };
        let hand = |field: &str| match field.parse() {
            Ok(hand) if hand <= self.pieces => Ok(hand),
            _ => Err(format!("the pieces in hand must be a number up to {}", self.pieces)),
        };
        let hands = [hand(white)?, hand(black)?];
        let removing = match removing {
            "x" => true,
            "-" => false,
            _ => return Err("the pending removal must be `x` or `-`".into()),
        };
        let count: u16 = no_progress.parse().map_err(|_| "the plies without progress must be a number up to 65535")?;
        let no_progress = if self.no_progress_limit > 0 { count } else { 0 };
        let state = State { pieces, hands, no_progress, mover, removing };
        self.check_position(&state)?;
        Ok(state)
    }

    /// Refuses positions that certainly no game leads to.
    fn check_position(&self, state: &State) -> Result<(), String> {
        let State { pieces: board, hands, mover, removing, no_progress } = *state;
        let material = Material { all: self.pieces, board, hands, mover, removing, letters: LETTERS };
        material.check()?;
        if removing && BOARD.in_mills(state.pieces(mover)) == 0 {
            return Err("a removal is pending, but the mover has no mill".into());
        }
        if removing && state.removable(mover.other()) == 0 {
            return Err("a removal is pending, but no opponent's piece stands outside a mill".into());
        }
        if no_progress > self.no_progress_limit {
            return Err(format!("the plies without progress exceed no_progress_limit = {}", self.no_progress_limit));
        }
        if no_progress > 0 && material.placing() {
            return Err("plies without progress are counted only when all pieces are placed".into());
        }
        Ok(())
    }
}
