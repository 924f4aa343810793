//! Mu Torere on the 3x3 grid: eight ring squares around a hub, four pieces a side, block to win.
//!
//! ```text
//!       _.1._                 0 - 1 - 2
//!    0-'  |  '-2              | \ | / |
//!   /  \  |  /  \             3 - 4 - 5      4 is the hub (putahi);
//!  /    \ | /    \            | / | \ |      the ring is 0-1-2-5-8-7-6-3-0
//! 3-------4-------5           6 - 7 - 8
//!  \    / | \    /
//!   \  /  |  \  /             the same as the source's grid
//!    6-.  |  .-8
//!       '-7-'
//! ```
//!
//! Source: the notebook `mu_torere_notebook.txt` (Game package, "3x3 Grid Version"), whose `valid_moves` is the
//! authority. A piece moves into the one empty square if adjacent; from the ring only if an opponent's piece stands on
//! a square adjacent to the destination. The player who cannot move loses; `max_plies` ends the game as a draw.

mod board;
mod state;

use std::sync::{Arc, LazyLock};

pub use self::board::ADJACENT;
use self::board::{CHANGES, DRAWING, HUB, MOVES, RING, SQUARES, directions, move_index};
use self::state::owner;
pub use self::state::{MuTorere, State};
use crate::action::{Action, ActionList};
use crate::board::{Board, Graph, Shape};
use crate::error::Error;
use crate::notation::Notation;
use crate::outcome::Outcome;
use crate::param_reader::ParamReader;
use crate::params::Params;
use crate::rules::Rules;
use crate::side::Side;
use crate::spec::Spec;
use crate::symmetry::{Symmetry, automorphisms};

fn symmetries() -> Vec<Symmetry> {
    let edges: Vec<Vec<u16>> = MOVES.iter().filter(|(a, b)| a < b).map(|&(a, b)| vec![a.into(), b.into()]).collect();
    let symmetry = |points: Vec<u16>| {
        let image = |&(start, end): &(u8, u8)| move_index(points[start as usize] as u8, points[end as usize] as u8);
        let actions = MOVES.iter().map(|m| image(m).expect("a symmetry maps edges to edges").0).collect();
        Symmetry { points, actions, planes: 2 }
    };
    automorphisms(usize::from(SQUARES), &edges).into_iter().map(symmetry).collect()
}

impl Rules for MuTorere {
    type State = State;

    fn with_params(&self, params: &Params) -> Result<Self, Error> {
        let reader = ParamReader::new(self, params)?;
        Ok(Self {
            max_plies: reader.integer("max_plies", 100, 0..=u16::MAX)?,
            hub_needs_neighbour: reader.flag("hub_needs_neighbour", false)?,
        })
    }

    fn params(&self) -> Params {
        Params::new().with("max_plies", self.max_plies).with("hub_needs_neighbour", self.hub_needs_neighbour)
    }

    fn spec(&self) -> Spec {
        static SYMMETRIES: LazyLock<Vec<Symmetry>> = LazyLock::new(symmetries);
        Spec {
            directions: directions(),
            scalars: vec!["plies played / max_plies".into()],
            bounds: [0.0, 1.0],
            blocks: vec![("MOVE", MOVES.len())],
            symmetries: SYMMETRIES.clone(),
            piece_planes: Some([0, 1]),
            sides: ["dark", "light"],
            ply_limits: vec!["max_plies"],
            ..Spec::new("mu_torere", 1, [3, 3], &["own pieces", "opponent's pieces"], MOVES.len())
        }
    }

    fn start(&self) -> State {
        State { pieces: [0b1_0100_0101, 0b0_1010_1010], plies: 0, mover: Side::First }
    }

    #[inline]
    fn mover(&self, state: &State) -> Side {
        state.mover
    }

    #[cfg_attr(not(target_family = "wasm"), inline(always))] // playouts are up to a tenth faster
    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        if !self.limit_reached(state) {
            // Nobody has more than four pieces.
            out.push_set::<4>(self.moves(state).into(), |action| Action(action as u16));
        }
    }

    #[inline]
    fn legal_set(&self, state: &State) -> Option<u64> {
        Some(if self.limit_reached(state) { 0 } else { self.moves(state).into() })
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let change = CHANGES[action.index()];
        // An index by the mover would make the next reader wait for memory.
        for (pieces, side) in state.pieces.iter_mut().zip(Side::BOTH) {
            *pieces ^= if side == state.mover { change } else { 0 };
        }
        state.plies += u16::from(self.max_plies > 0);
        state.mover = state.mover.other();
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if self.starts(state) == 0 {
            Some(Outcome::win(state.mover.other()))
        } else if self.limit_reached(state) {
            Some(Outcome::truncation())
        } else {
            None
        }
    }

    #[inline]
    fn observe(&self, state: &State, features: &mut [f32]) {
        let (planes, plies) = features.split_at_mut(18);
        let sides = [state.mover, state.mover.other()];
        for (plane, side) in planes.chunks_exact_mut(9).zip(sides) {
            let pieces = u32::from(state.pieces[side.index()]);
            let plane: &mut [f32; 9] = plane.try_into().expect("it is a chunk of nine");
            for (square, cell) in plane.iter_mut().enumerate() {
                *cell = if pieces & 1 << square == 0 { 0.0 } else { 1.0 }; // becomes SIMD, unlike a shift of `pieces`
            }
        }
        plies[0] = f32::from(state.plies) / f32::from(self.max_plies.max(1));
    }

    fn permuted(&self, state: &State, symmetry: &Symmetry) -> State {
        let image = |set: u16| symmetry.image_of_set(set.into()) as u16;
        State { pieces: state.pieces.map(image), ..*state }
    }
}

impl Notation for MuTorere {
    fn action_text(&self, _: &State, action: Action) -> String {
        let (start, end) = MOVES[action.index()];
        format!("{start},{end}")
    }

    fn display_text(&self, _: &State, action: Action) -> String {
        let (start, end) = MOVES[action.index()];
        format!("{start}-{end}")
    }

    fn parse_action(&self, _: &State, text: &str) -> Result<Action, Error> {
        let malformed = || Error::action(text, "expected `start-end` with squares 0 to 8, e.g. `0-4`");
        let square = |s: &str| match s.as_bytes() {
            [digit @ b'0'..=b'8'] => Some(digit - b'0'),
            _ => None,
        };
        let (start, end) = text.split_once([',', '-']).ok_or_else(malformed)?;
        let (start, end) = square(start).zip(square(end)).ok_or_else(malformed)?;
        move_index(start, end).ok_or_else(|| Error::action(text, format!("squares {start} and {end} are not adjacent")))
    }

    fn position_text(&self, state: &State) -> String {
        let board: String = (0..9).map(|square| char::from(b'0' + owner(state, square))).collect();
        format!("{board} {} {}", state.mover.number(), state.plies)
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        let fault = |what: &str| Error::position(text, what);
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [board, mover, plies] = fields[..] else {
            return Err(fault("expected nine digits, the player to move and the plies played, e.g. `121202121 1 0`"));
        };
        if board.len() != 9 || !board.bytes().all(|b| (b'0'..=b'2').contains(&b)) {
            return Err(fault("the board must be nine digits 0, 1 or 2"));
        }
        let set = |digit| board.bytes().enumerate().filter(|&(_, b)| b == digit).map(|(p, _)| 1u16 << p).sum::<u16>();
        let pieces = [set(b'1'), set(b'2')];
        if pieces.map(u16::count_ones) != [4, 4] {
            return Err(fault("each player must have four pieces"));
        }
        let mover = mover.parse().ok().and_then(Side::from_number).ok_or_else(|| fault("the mover must be 1 or 2"))?;
        let plies: u16 = plies.parse().map_err(|_| fault("the plies played must be a number up to 65535"))?;
        if self.max_plies > 0 && plies > self.max_plies {
            return Err(fault(&format!("the plies played exceed max_plies = {}", self.max_plies)));
        }
        Ok(State { pieces, plies: if self.max_plies > 0 { plies } else { 0 }, mover })
    }

    fn points_of(&self, _: &State, action: Action) -> Vec<usize> {
        let (start, end) = MOVES[action.index()];
        vec![start.into(), end.into()]
    }

    fn board(&self, state: &State, last: Option<(&State, Action)>) -> Board {
        Board {
            contents: (0..SQUARES).map(|square| Side::from_number(owner(state, square)).into()).collect(),
            letters: ['●', '○', '.'],
            status: self.spec().status(self.outcome(state), state.mover),
            task: "choose one of your stones: it moves to the empty point".into(),
            reason: match self.starts(state) {
                0 => format!("{} cannot move", self.spec().side_name(state.mover)),
                _ => String::new(),
            },
            ..Board::new(Shape::Graph(graph()), usize::from(SQUARES))
        }
        .after(self, last)
    }
}

/// The ring around the hub, an eighth of a turn from one square to the next.
fn graph() -> Arc<Graph> {
    const RADIUS: f32 = 2.1;
    static GRAPH: LazyLock<Arc<Graph>> = LazyLock::new(|| {
        let (hub, ring) = (usize::from(HUB), RING.map(usize::from));
        let mut points = vec![[RADIUS; 2]; usize::from(SQUARES)];
        for (eighth, &square) in (0u8..).zip(&ring) {
            let angle = (f32::from(eighth) - 1.0) * std::f32::consts::FRAC_PI_4;
            points[square] = [RADIUS + RADIUS * angle.sin(), RADIUS - RADIUS * angle.cos()];
        }
        let names = (0..SQUARES).map(|square| square.to_string()).collect();
        let (spokes, circle) = (ring.map(|square| vec![square, hub]).into(), (points[hub], RADIUS));
        Graph::new(DRAWING, names, Some(points), spokes, vec![circle]).into()
    });
    Arc::clone(&GRAPH)
}
