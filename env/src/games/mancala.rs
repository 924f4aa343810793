//! Mancala with two rows of pits and two stores (Kalah sowing), six pits of four stones each by default.
//!
//! ```text
//!        player 2
//!   A   1 | A2 A3 A4 A5 A6 A7 |           sowing is counter-clockwise:
//!   B     | B2 B3 B4 B5 B6 B7 | 8         B2..B7, store 8, A7..A2, store 1, B2..
//!        player 1
//! ```
//!
//! Source: CSE 140, assignment 3 (`mancala_cse140.txt`). The opponent's store is skipped, a last stone in one's own
//! store gives another turn, a last stone in an empty own pit takes it and the opposite pit, and when the player to move
//! has no stones the other takes those left on the own side.

mod state;
mod sowing;

use self::state::{END_RULES, HOLES, MAX_PITS};
pub use self::state::{EndRule, Mancala, State};
use crate::action::{Action, ActionList};
use crate::board::{Board, Content, Pits, Place, Shape, Step};
use crate::error::Error;
use crate::lines::both_ways;
use crate::notation::Notation;
use crate::outcome::Outcome;
use crate::param_reader::ParamReader;
use crate::params::Params;
use crate::rules::Rules;
use crate::side::Side;
use crate::spec::Spec;

/// Seven low bits of every byte.
const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
/// Multiplied by it, the lowest bit of byte `i` comes to be bit `56 + i`.
const SIDE_BY_SIDE: u64 = 0x0102_0408_1020_4080;
/// Number of the per-pit planes "at least k stones", from k = 1 up to a lap of six pits.
const LEAST_COUNTS: usize = 13;

impl Mancala {
    /// A position from the pits in label order (B2.. and A2..), the stores and the mover, by player. Stones left when
    /// the game is over already go to their owner's store.
    ///
    /// # Errors
    /// What is impossible about it: a wrong number of pits, or stones not conserved.
    pub fn position(&self, rows: [&[u8]; 2], stores: [u8; 2], mover: Side) -> Result<State, String> {
        if let Some(row) = rows.iter().find(|row| row.len() != self.pits()) {
            return Err(format!("a row must have {} pits, not {}", self.pits, row.len()));
        }
        let stones: u32 = rows.concat().iter().chain(&stores).map(|&n| u32::from(n)).sum();
        if stones != u32::from(self.total()) {
            return Err(format!("there must be {} stones in all, not {stones}", self.total()));
        }
        let mut state = State { holes: [0; HOLES], mover };
        for side in Side::BOTH {
            let first = self.first_hole(side);
            let row = &mut state.holes[first..first + self.pits()];
            row.copy_from_slice(rows[side.index()]);
            if side == Side::Second {
                row.reverse(); // labels run against the sowing there
            }
            state.holes[self.store_hole(side)] = stores[side.index()];
        }
        self.finish(&mut state);
        Ok(state)
    }
}

impl Rules for Mancala {
    type State = State;

    fn with_params(&self, params: &Params) -> Result<Self, Error> {
        let reader = ParamReader::new(self, params)?;
        let pits = reader.integer("pits", 6, 1..=MAX_PITS)?;
        let most = u16::from(u8::MAX) / (2 * pits);
        Ok(Self {
            pits: pits as u8,
            stones: reader.integer("stones", 4, 1..=most)? as u8,
            empty_capture: reader.flag("empty_capture", true)?,
            end_rule: reader.choice("end_rule", &END_RULES)?,
            first_player: reader.choice("first_player", &[("1", Side::First), ("2", Side::Second)])?,
        })
    }

    fn params(&self) -> Params {
        let end_rule = END_RULES.iter().find(|(_, rule)| *rule == self.end_rule).expect("all end rules are named").0;
        Params::new()
            .with("pits", self.pits)
            .with("stones", self.stones)
            .with("empty_capture", self.empty_capture)
            .with("end_rule", end_rule)
            .with("first_player", self.first_player.number())
    }

    fn spec(&self) -> Spec {
        let (points, pits) = (2 * self.pits(), u16::from(self.pits));
        let at_least = (1..=LEAST_COUNTS).map(|k| format!("at least {k} stones"));
        let planes: Vec<String> = std::iter::once("stones / 16".to_owned()).chain(at_least).collect();
        let planes: Vec<&str> = planes.iter().map(String::as_str).collect();
        Spec {
            // The way that stones are sown, past the stores, and back.
            directions: both_ways(points, &(0..self.pits()).chain((self.pits()..points).rev()).collect::<Vec<_>>())
                .into(),
            scalars: vec![
                "own store / all stones".into(),
                "opponent's store / all stones".into(),
                "store difference / 16".into(),
            ],
            bounds: [-f32::from(self.total()) / 16.0, (f32::from(self.total()) / 16.0).max(1.0)],
            blocks: vec![("SOW", points)],
            second_player_map: Some((0..2 * pits).rev().collect()),
            sides: ["player 1 (B, below)", "player 2 (A, above)"],
            // Own pits left to right in the first row, the opponent's pits opposite them in the second.
            ..Spec::new("mancala", 1, [2, self.pits()], &planes, points)
        }
    }

    fn start(&self) -> State {
        let mut holes = [0; HOLES];
        for side in Side::BOTH {
            holes[self.first_hole(side)..self.store_hole(side)].fill(self.stones);
        }
        State { holes, mover: self.first_player }
    }

    #[inline]
    fn mover(&self, state: &State) -> Side {
        state.mover
    }

    #[cfg_attr(not(target_family = "wasm"), inline(always))] // playouts are up to a tenth faster
    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        out.push_set::<8>(self.sowable(state), |action| Action(action as u16));
    }

    #[inline]
    fn legal_set(&self, state: &State) -> Option<u64> {
        Some(self.sowable(state))
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        // Where the last stone falls is as good as random, so only a capture, the rarest case, is a branch.
        let last = self.sow(state, self.hole(action));
        self.capture(state, last);
        let again = last == self.store_hole(state.mover);
        state.mover = if again { state.mover } else { state.mover.other() };
        self.finish(state);
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        let [first, second] = Side::BOTH.map(|side| i16::from(self.store(state, side)));
        self.is_over(state).then(|| Outcome::by_margin(first - second))
    }

    #[inline]
    fn decided(&self, state: &State) -> Option<i8> {
        let half = self.pits() * usize::from(self.stones);
        let [first, second] = Side::BOTH.map(|side| usize::from(self.store(state, side)) > half);
        (first || second).then_some(if first { 1 } else { -1 })
    }

    #[inline]
    fn observe(&self, state: &State, features: &mut [f32]) {
        let points = 2 * self.pits();
        let own = self.row_bytes(state, state.mover);
        let opponents = self.reversed(self.row_bytes(state, state.mover.other()));
        let mut counts = [0; HOLES];
        counts[..8].copy_from_slice(&own.to_le_bytes());
        counts[self.pits()..self.pits() + 8].copy_from_slice(&opponents.to_le_bytes());
        let counts = counts.map(f32::from);
        let (planes, places) = features.split_at_mut(points * (1 + LEAST_COUNTS));
        match counts.first_chunk() {
            Some(counts) if points == 12 => write_planes::<12>(counts, planes), // the usual board, with its length known
            _ => {
                let (stones, at_least) = planes.split_at_mut(points);
                stones.iter_mut().zip(counts).for_each(|(feature, count)| *feature = count / 16.0);
                for (plane, fewer) in at_least.chunks_exact_mut(points).zip(0_u8..) {
                    let fewer = f32::from(fewer);
                    plane.iter_mut().zip(counts).for_each(|(to, count)| *to = f32::from(u8::from(count > fewer)));
                }
            }
        }
        let stores = [state.mover, state.mover.other()].map(|side| f32::from(self.store(state, side)));
        let total = f32::from(self.total());
        let scalars = [stores[0] / total, stores[1] / total, (stores[0] - stores[1]) / 16.0];
        places.copy_from_slice(&scalars);
    }
}

impl Notation for Mancala {
    fn action_text(&self, _: &State, action: Action) -> String {
        let (row, column) = (action.index() / self.pits(), action.index() % self.pits());
        format!("{}{}", ['B', 'A'][row], column + 2)
    }

    fn parse_action(&self, _: &State, text: &str) -> Result<Action, Error> {
        let fault = || {
            let last = self.pits + 1;
            Error::action(text, format!("expected a pit B2 to B{last} or A2 to A{last}"))
        };
        let row = match text.as_bytes() {
            [b'B', b'2'..=b'9'] => 0,
            [b'A', b'2'..=b'9'] => 1,
            _ => return Err(fault()),
        };
        let column = u16::from(text.as_bytes()[1] - b'2');
        if column >= u16::from(self.pits) {
            return Err(fault());
        }
        Ok(Action(row * u16::from(self.pits) + column))
    }

    fn position_text(&self, state: &State) -> String {
        let side = |side: Side| {
            let mut row = self.row(state, side).to_vec();
            if side == Side::Second {
                row.reverse();
            }
            let row: Vec<String> = row.iter().map(u8::to_string).collect();
            format!("{}/{}", row.join(","), self.store(state, side))
        };
        format!("{} {} {}", side(Side::First), side(Side::Second), state.mover.number())
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        let fault = |what: String| Error::position(text, what);
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [first, second, mover] = fields[..] else {
            return Err(fault("expected `pits/store` of player 1, of player 2, and the mover".into()));
        };
        let side = |field: &str| -> Result<(Vec<u8>, u8), Error> {
            let number = |s: &str| {
                s.parse::<u8>().map_err(|_| fault(format!("`{}` is not a number up to 255", s.escape_debug())))
            };
            let (row, store) = field.split_once('/').ok_or_else(|| fault("a side must be `pits/store`".into()))?;
            Ok((row.split(',').map(number).collect::<Result<_, _>>()?, number(store)?))
        };
        let (first, second) = (side(first)?, side(second)?);
        let mover =
            mover.parse().ok().and_then(Side::from_number).ok_or_else(|| fault("the mover must be 1 or 2".into()))?;
        self.position([&first.0, &second.0], [first.1, second.1], mover).map_err(fault)
    }

    fn board(&self, state: &State, last: Option<(&State, Action)>) -> Board {
        let mut rows = Side::BOTH.map(|side| self.row(state, side).to_vec());
        rows[1].reverse(); // labels run against the sowing there
        let stores = Side::BOTH.map(|side| self.store(state, side));
        let pits = Pits { pits: self.pits(), rows: ['B', 'A'], first: 2, stores };
        let again = last.is_some_and(|(before, _)| before.mover == state.mover) && !self.is_over(state);
        let (steps, captured) = last.map(|(before, action)| self.steps(before, action)).unwrap_or_default();
        let board = Board {
            contents: rows.concat().into_iter().map(Content::Stones).collect(),
            status: self.spec().status(self.outcome(state), state.mover),
            task: "choose one of your pits to sow from".into(),
            reason: match (self.is_over(state), self.end_rule) {
                (false, _) => String::new(),
                (_, EndRule::MoverCannotMove) => format!("{} has no stones left", self.spec().side_name(state.mover)),
                (_, EndRule::EitherSideEmpty) => "One row is empty".into(),
            },
            ..Board::new(Shape::Pits(pits), 2 * self.pits())
        };
        let event = match captured {
            0 if again => "Another turn".into(),
            0 => String::new(),
            captured => format!("{captured} captured"),
        };
        Board { steps, event, ..board.after(self, last) }
    }
}

impl Mancala {
    /// Where the stones of an action go: from hole to hole, one fewer each time, then what is captured, and at the end of the
    /// game what is left. With it, the number of stones captured.
    fn steps(&self, before: &State, action: Action) -> (Vec<Step>, u8) {
        let (holes, mover) = (2 * self.pits() + 2, before.mover);
        let place = |hole: usize| match Side::BOTH.into_iter().find(|&side| self.store_hole(side) == hole) {
            Some(side) => Place::Beside(side),
            None => Place::Point(if hole < self.pits() { hole } else { 3 * self.pits() - hole }),
        };
        let step = |from, to, stones| Step { from: place(from), to: place(to), what: Content::Stones(stones) };
        let mut steps = Vec::new();
        let mut hole = self.hole(action);
        for stones in (1..=before.holes[hole]).rev() {
            let skipped = self.store_hole(mover.other());
            let next = (1..3).map(|further| (hole + further) % holes).find(|&next| next != skipped);
            let next = next.expect("one of two is not the store");
            steps.push(step(hole, next, stones));
            hole = next;
        }
        let mut state = *before;
        let last = self.sow(&mut state, self.hole(action));
        let (sown, store) = (state, self.store_hole(mover));
        self.capture(&mut state, last);
        let taken = |hole: &usize| sown.holes[*hole] > state.holes[*hole];
        let captures: Vec<usize> = (0..holes).filter(taken).collect();
        steps.extend(captures.iter().map(|&hole| step(hole, store, sown.holes[hole])));
        let captured = state.holes[store] - sown.holes[store];
        state.mover = if last == store { mover } else { mover.other() };
        if self.is_over(&state) {
            for side in Side::BOTH {
                let (first, store) = (self.first_hole(side), self.store_hole(side));
                let left = (first..store).filter(|&hole| state.holes[hole] > 0);
                steps.extend(left.map(|hole| step(hole, store, state.holes[hole])));
            }
        }
        (steps, captured)
    }
}

impl Mancala {
    /// The pits that the mover can sow, as a set of actions.
    #[inline]
    fn sowable(&self, state: &State) -> u64 {
        let row = self.row_bytes(state, state.mover);
        let labelled = match state.mover {
            Side::First => row,
            Side::Second => self.reversed(row), // labels run against the sowing there
        };
        // The high bit of every byte that is not zero, and these bits side by side.
        let filled = (labelled | ((labelled & LOW_BITS) + LOW_BITS)) & !LOW_BITS;
        let pits = (filled >> 7).wrapping_mul(SIDE_BY_SIDE) >> 56;
        pits << (state.mover.index() * self.pits())
    }
}

/// Writes the planes of `POINTS` points from the stones in each of them.
#[inline]
fn write_planes<const POINTS: usize>(counts: &[f32; POINTS], planes: &mut [f32]) {
    let [stones, at_least @ ..] = planes.as_chunks_mut::<POINTS>().0 else { return };
    *stones = counts.map(|count| count / 16.0);
    // 1 or 0, as both are whole numbers, by arithmetic: the compiler turns a comparison into one of bytes, and these back
    // into numbers. The sum keeps it from writing four planes at once, number by number. Both take twice as long.
    let mut fewer = 0.0;
    for plane in at_least {
        *plane = counts.map(|count| (count - fewer).clamp(0.0, 1.0));
        fewer += 1.0;
    }
}
