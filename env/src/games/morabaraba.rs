//! Morabaraba, the twelve men's morris of Southern Africa: twelve cows a side, twenty mills; broken mills are banned.
//!
//! ```text
//! a1----------a4----------a7       0-----------1-----------2
//! | \         |         / |
//! |   b2------b4------b6  |           3-------4-------5
//! |   | \     |     / |   |
//! |   |   c3--c4--c5  |   |               6---7---8
//! |   |   |       |   |   |
//! d1--d2--d3      d5--d6--d7       9--10--11      12--13--14
//! |   |   |       |   |   |
//! |   |   e3--e4--e5  |   |               15--16--17
//! |   | /     |     \ |   |
//! |   f2------f4------f6  |           18------19------20
//! | /         |         \ |
//! g1----------g4----------g7       21----------22----------23
//! ```
//!
//! Source: the contest handout `morabaraba_maic2022.txt` ("Morabaraba: MAIC 2022"), whose query functions are in
//! `turnstone_hosts::morabaraba`. Dark places first. A mill just formed shoots one opponent's cow that stands in no mill, or any if all do;
//! the shot is an action of its own. The score is the number of cows shot, and however the game ends, the higher score
//! wins.

mod board;
mod ban;
mod state;
mod text;

use std::sync::LazyLock;

use self::ban::Ban;
use self::board::{BOARD, DRAWING, LETTERS, Mills, POINTS};
pub use self::state::{Morabaraba, State};
use crate::action::{Action, ActionList};
use crate::board::Board;
use crate::error::Error;
pub use crate::mill_board::Ply;
use crate::mill_board::{points, write_plane};
use crate::notation::Notation;
use crate::outcome::Outcome;
use crate::param_reader::ParamReader;
use crate::params::Params;
use crate::rules::Rules;
use crate::side::Side;
use crate::spec::Spec;
use crate::symmetry::Symmetry;

const POINT_PLANES: [&str; 4] = ["own cows", "opponent's cows", "own banned mills", "opponent's banned mills"];
const SCALARS: [&str; 9] = [
    "own cows in hand / cows",
    "opponent's cows in hand / cows",
    "shot pending",
    "plies without a shot / quiet_limit",
    "plies of flight without a shot / fly_limit",
    "own score / cows",
    "opponent's score / cows",
    "own cows fly",
    "opponent's cows fly",
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

/// The pieces of both sides as sets of points, from a board's 24 letters, with which the text of a position begins.
///
/// # Errors
/// There are more letters or fewer, or other ones.
pub fn parse_board(text: &str) -> Result<[u32; 2], Error> {
    Mills::parse_board(text, LETTERS).map_err(|fault| Error::position(text, fault))
}

/// The letters of a board with these pieces of both sides.
#[must_use]
pub fn board_text(cows: [u32; 2]) -> String {
    Mills::board_text(cows, LETTERS)
}

/// An action taken apart.
#[must_use]
pub fn ply(action: Action) -> Ply {
    Mills::ply(action)
}

/// The cows of a side that its opponent may shoot: those in no mill, or all if each is in one.
#[must_use]
pub fn targets(cows: u32) -> u32 {
    state::targets(cows)
}

impl Rules for Morabaraba {
    type State = State;

    fn with_params(&self, params: &Params) -> Result<Self, Error> {
        let reader = ParamReader::new(self, params)?;
        let limit = |key, default| reader.integer(key, default, 0..=u16::from(u8::MAX)).map(|limit| limit as u8);
        Ok(Self {
            // Two would be lost from the start, thirteen a side would not fit on the board.
            cows: reader.integer("cows", 12, 3..=12)? as u8,
            quiet_limit: limit("quiet_limit", 50)?,
            fly_limit: limit("fly_limit", 10)?,
        })
    }

    fn params(&self) -> Params {
        Params::new().with("cows", self.cows).with("quiet_limit", self.quiet_limit).with("fly_limit", self.fly_limit)
    }

    fn spec(&self) -> Spec {
        static SYMMETRIES: LazyLock<Vec<Symmetry>> = LazyLock::new(|| BOARD.symmetries(POINT_PLANES.len()));
        Spec {
            directions: BOARD.directions(),
            scalars: SCALARS.map(String::from).to_vec(),
            bounds: [0.0, 1.0],
            blocks: Mills::blocks("SHOOT"),
            symmetries: SYMMETRIES.clone(),
            piece_planes: Some([0, 1]),
            sides: ["Dark", "White"],
            ply_limits: vec!["quiet_limit", "fly_limit"],
            // The board is no grid: one row of points, whose neighbours the sheet lists.
            ..Spec::new("morabaraba", 1, [1, POINTS], &POINT_PLANES, Mills::ACTIONS)
        }
    }

    fn start(&self) -> State {
        State {
            cows: [0; 2],
            hands: [self.cows; 2],
            bans: [Ban::NONE; 2],
            quiet: 0,
            fly: 0,
            mover: Side::First,
            shooting: false,
        }
    }

    #[inline]
    fn mover(&self, state: &State) -> Side {
        state.mover
    }

    #[inline]
    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        if state.shooting {
            Mills::push_removals(targets(state.cows(state.mover.other())), out);
        } else if state.total(state.mover) <= 2 || self.limit_reached(state) {
            // Over. Where a blocked player's game ends, the last branch finds nothing.
        } else if state.in_hand(state.mover) > 0 {
            Mills::push_places(state.empty(), out);
        } else {
            let (own, open) = (state.cows(state.mover), state.open(state.mover));
            if state.flies(state.mover) {
                points(own).for_each(|from| Mills::push_moves(from, open(from), out));
            } else {
                BOARD.push_steps(own, open, out);
            }
        }
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let (own, other) = (state.mover.index(), state.mover.other().index());
        let flight = Side::BOTH.iter().any(|&side| state.flies(side));
        let to = match Mills::ply(action) {
            Ply::Place(to) => {
                state.hands[own] -= 1;
                to
            }
            Ply::Move(from, to) => {
                let rest = state.cows[own] ^ 1 << from;
                state.bans[own] = Ban::new(from, |others| rest & others == others);
                state.bans[other] = state.bans[other].occupied(to);
                state.cows[own] = rest;
                to
            }
            Ply::Remove(point) => {
                state.cows[other] ^= 1 << point;
                state.bans[other] = state.bans[other].shot(point);
                (state.quiet, state.fly) = (0, 0);
                state.shooting = false;
                state.mover = state.mover.other();
                return;
            }
        };
        state.cows[own] |= 1 << to;
        state.quiet += u8::from(self.quiet_limit > 0);
        state.fly += u8::from(self.fly_limit > 0 && flight);
        // The opponent has just put a cow on the board, unless the position was not reached by play.
        if BOARD.closes(state.cows[own], to) && state.cows[other] != 0 {
            state.shooting = true;
        } else {
            state.mover = state.mover.other();
        }
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if state.shooting || !self.is_over(state) {
            return None;
        }
        let [first, second] = Side::BOTH.map(|side| self.score(state, side) as i16);
        Some(Outcome::by_margin(first - second))
    }

    #[inline]
    fn observe(&self, state: &State, features: &mut [f32]) {
        let sides = [state.mover, state.mover.other()];
        let banned = |side: Side| state.bans[side.index()].mills().fold(0, |set, mill| set | mill);
        let sets = [state.cows(sides[0]), state.cows(sides[1]), banned(sides[0]), banned(sides[1])];
        let (planes, scalars) = features.split_at_mut(POINT_PLANES.len() * POINTS);
        for (plane, set) in planes.as_chunks_mut::<POINTS>().0.iter_mut().zip(sets) {
            write_plane(set, plane);
        }
        let hand = |side| f32::from(state.in_hand(side)) / f32::from(self.cows);
        let score = |side| self.score(state, side) as f32 / f32::from(self.cows);
        let flag = |flag: bool| f32::from(u8::from(flag));
        scalars.copy_from_slice(&[
            hand(sides[0]),
            hand(sides[1]),
            flag(state.shooting),
            f32::from(state.quiet) / f32::from(self.quiet_limit.max(1)),
            f32::from(state.fly) / f32::from(self.fly_limit.max(1)),
            score(sides[0]),
            score(sides[1]),
            flag(state.flies(sides[0])),
            flag(state.flies(sides[1])),
        ]);
    }

    fn permuted(&self, state: &State, symmetry: &Symmetry) -> State {
        State {
            cows: state.cows.map(|set| symmetry.image_of_set(set.into()) as u32),
            bans: state.bans.map(|ban| ban.permuted(symmetry)),
            ..*state
        }
    }
}

impl Notation for Morabaraba {
    fn action_text(&self, _: &State, action: Action) -> String {
        BOARD.action_text(action)
    }

    fn parse_action(&self, _: &State, text: &str) -> Result<Action, Error> {
        BOARD.parse_action(text)
    }

    fn position_text(&self, state: &State) -> String {
        text::position_text(state)
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        text::parse_position(self, text).map_err(|fault| Error::position(text, fault))
    }

    fn board(&self, state: &State, last: Option<(&State, Action)>) -> Board {
        let banned = state.bans.iter().flat_map(|ban| ban.mills());
        Board {
            letters: LETTERS,
            // A mill's points in increasing order follow its line.
            banned: banned.map(|mill| points(mill).map(usize::from).collect()).collect(),
            captured: Side::BOTH.map(|side| self.score(state, side) as usize),
            notes: text::notes(self, state),
            status: text::status_of(self, state),
            task: Mills::task(state.shooting, state.in_hand(state.mover), state.flies(state.mover), ["cow", "shoot"]),
            reason: text::reason(self, state),
            ..BOARD.board(DRAWING, state.cows)
        }
        .after(self, last)
        .with_mill(state.shooting)
    }
}
