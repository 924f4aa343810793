//! Mu Torere on the 3x3 grid: eight ring squares around a hub, four pieces a side, block to win.
//!
//! ```text
//! 0 - 1 - 2
//! | \ | / |
//! 3 - 4 - 5      4 is the hub (putahi); the ring is 0-1-2-5-8-7-6-3-0
//! | / | \ |
//! 6 - 7 - 8
//! ```
//!
//! Source: the notebook `mu_torere_notebook.txt` (Game package, "3x3 Grid Version"), whose `valid_moves` is the
//! authority. A piece moves into the one empty square if adjacent; from the ring only if an opponent's piece stands on
//! a square adjacent to the destination. The player who cannot move loses; `max_plies` ends the game as a draw.

mod svg;

use crate::action::{Action, ActionList};
use crate::error::Error;
use crate::game::{Game, Spec};
use crate::lines::{both_ways, direction};
use crate::outcome::Outcome;
use crate::params::{ParamReader, Params};
use crate::side::Side;
use crate::symmetry::{Symmetry, automorphisms};

const HUB: u8 = 4;
const SQUARES: u8 = 9;
/// The ring's squares clockwise from the top left.
const RING: [u8; 8] = [0, 1, 2, 5, 8, 7, 6, 3];

/// Adjacent squares of each square in increasing order (`adjacent_squares` of the notebook).
pub const ADJACENT: [&[u8]; 9] = [
    &[1, 3, 4],
    &[0, 2, 4],
    &[1, 4, 5],
    &[0, 4, 6],
    &[0, 1, 2, 3, 5, 6, 7, 8],
    &[2, 4, 8],
    &[3, 4, 7],
    &[4, 6, 8],
    &[4, 5, 7],
];

/// Action block MOVE: every pair of adjacent squares (start, end), in the order of the notebook's `valid_moves`.
const MOVES: [(u8, u8); 32] = {
    let mut moves = [(0, 0); 32];
    let mut n = 0;
    let mut start = 0;
    while start < 9 {
        let mut i = 0;
        while i < ADJACENT[start].len() {
            moves[n] = (start as u8, ADJACENT[start][i]);
            n += 1;
            i += 1;
        }
        start += 1;
    }
    moves
};

/// Squares adjacent to each square, as a bit set.
const NEAR: [u16; 9] = {
    let mut near = [0; 9];
    let mut square = 0;
    while square < 9 {
        let mut i = 0;
        while i < ADJACENT[square].len() {
            near[square] |= 1 << ADJACENT[square][i];
            i += 1;
        }
        square += 1;
    }
    near
};

/// For each empty square, the moves into it: action index and start, in the order of the actions.
const INTO: [[(u8, u8); 8]; 9] = {
    let mut into = [[(u8::MAX, 0); 8]; 9];
    let mut count = [0; 9];
    let mut action = 0;
    while action < MOVES.len() {
        let (start, end) = MOVES[action];
        into[end as usize][count[end as usize]] = (action as u8, start);
        count[end as usize] += 1;
        action += 1;
    }
    into
};

/// Round the ring both ways, and from each ring square through the hub to the square opposite.
fn directions() -> Vec<Vec<Option<u16>>> {
    let (points, hub, ring) = (usize::from(SQUARES), usize::from(HUB), RING.map(usize::from));
    let across = (0..ring.len()).map(|k| direction(points, [(ring[k], hub), (hub, ring[(k + 4) % ring.len()])]));
    both_ways(points, &ring).into_iter().chain(across).collect()
}

/// The game with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MuTorere {
    /// Plies after which the game is a draw; 0 means no limit.
    pub max_plies: u16,
    /// The traditional rule: a ring piece may enter the hub only if an opponent's piece is next to it on the ring, and
    /// a move along the ring is always allowed.
    pub hub_needs_neighbour: bool,
}

impl Default for MuTorere {
    fn default() -> Self {
        Self { max_plies: 100, hub_needs_neighbour: false }
    }
}

/// A position. Equality covers the ply count, which is 0 throughout where no limit needs it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// Pieces of each side as bit sets of squares.
    pieces: [u16; 2],
    plies: u16,
    mover: Side,
}

impl State {
    fn empty_square(&self) -> u8 {
        (!(self.pieces[0] | self.pieces[1])).trailing_zeros() as u8
    }
}

impl MuTorere {
    fn limit_reached(&self, state: &State) -> bool {
        self.max_plies > 0 && state.plies >= self.max_plies
    }

    /// Whether the mover may move from `start` into the empty square `end` next to it.
    #[inline]
    fn allowed(&self, state: &State, start: u8, end: u8) -> bool {
        let opponents = state.pieces[state.mover.other().index()];
        if state.pieces[state.mover.index()] >> start & 1 == 0 {
            return false;
        }
        if self.hub_needs_neighbour {
            return end != HUB || opponents & NEAR[start as usize] & !(1 << HUB) != 0;
        }
        start == HUB || opponents & NEAR[end as usize] != 0
    }

    /// The mover's moves by the rules of movement alone, limits aside.
    #[inline]
    fn moves(&self, state: &State) -> impl Iterator<Item = Action> {
        let end = state.empty_square();
        let reach = if end == HUB { 8 } else { 3 };
        INTO[end as usize][..reach]
            .iter()
            .filter(move |&&(_, start)| self.allowed(state, start, end))
            .map(|&(action, _)| Action(u16::from(action)))
    }
}

impl Game for MuTorere {
    const NAME: &'static str = "mu_torere";
    const VERSION: u32 = 1;
    const PARAMS: &'static [&'static str] = &["max_plies", "hub_needs_neighbour"];
    const PLY_LIMITS: &'static [&'static str] = &["max_plies"];
    type State = State;

    fn with_params(params: &Params) -> Result<Self, Error> {
        let reader = ParamReader::new(Self::NAME, params, Self::PARAMS)?;
        Ok(Self {
            max_plies: reader.integer("max_plies", 100, 0..=u16::MAX)?,
            hub_needs_neighbour: reader.flag("hub_needs_neighbour", false)?,
        })
    }

    fn params(&self) -> Params {
        Params::new().with("max_plies", self.max_plies).with("hub_needs_neighbour", self.hub_needs_neighbour)
    }

    fn spec(&self) -> Spec {
        let edges: Vec<Vec<u8>> = MOVES.iter().filter(|(a, b)| a < b).map(|&(a, b)| vec![a, b]).collect();
        let symmetry = |points: Vec<u8>| {
            let image = |&(start, end): &(u8, u8)| move_index(points[start as usize], points[end as usize]);
            let actions = MOVES.iter().map(|m| image(m).expect("a symmetry maps edges to edges").0).collect();
            Symmetry { points, actions, planes: 2 }
        };
        Spec {
            name: Self::NAME,
            version: Self::VERSION,
            points: usize::from(SQUARES),
            lattice: [3, 3],
            cells: (0..u16::from(SQUARES)).collect(),
            directions: directions(),
            point_planes: vec!["own pieces".into(), "opponent's pieces".into()],
            scalars: vec!["plies played / max_plies".into()],
            actions: MOVES.len(),
            blocks: vec![("MOVE", MOVES.len())],
            symmetries: automorphisms(usize::from(SQUARES), &edges).into_iter().map(symmetry).collect(),
            turned: None,
            margin_scale: None,
        }
    }

    fn start(&self) -> State {
        State { pieces: [0b1_0100_0101, 0b0_1010_1010], plies: 0, mover: Side::First }
    }

    #[inline]
    fn mover(&self, state: &State) -> Side {
        state.mover
    }

    #[inline]
    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        if !self.limit_reached(state) {
            self.moves(state).for_each(|action| out.push(action));
        }
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let (start, end) = MOVES[action.index()];
        state.pieces[state.mover.index()] ^= 1 << start | 1 << end;
        state.plies += u16::from(self.max_plies > 0);
        state.mover = state.mover.other();
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if self.moves(state).next().is_none() {
            Some(Outcome::win(state.mover.other()))
        } else if self.limit_reached(state) {
            Some(Outcome::truncation())
        } else {
            None
        }
    }

    fn observe(&self, state: &State, features: &mut [f32]) {
        let (own, rest) = features.split_at_mut(9);
        let (opponents, plies) = rest.split_at_mut(9);
        let mover = state.mover.index();
        for square in 0..9 {
            own[square] = f32::from(state.pieces[mover] >> square & 1);
            opponents[square] = f32::from(state.pieces[1 - mover] >> square & 1);
        }
        plies[0] = f32::from(state.plies) / f32::from(self.max_plies.max(1));
    }

    fn permuted(&self, state: &State, symmetry: &Symmetry) -> State {
        let image = |set: u16| (0..9).filter(|p| set >> p & 1 == 1).map(|p| 1 << symmetry.points[p]).sum();
        State { pieces: state.pieces.map(image), ..*state }
    }

    fn without_counters(&self, state: &State) -> State {
        State { plies: 0, ..*state }
    }

    fn action_text(&self, action: Action) -> String {
        let (start, end) = MOVES[action.index()];
        format!("{start},{end}")
    }

    fn parse_action(&self, text: &str) -> Result<Action, Error> {
        let malformed = || Error::action(text, "expected `start,end` with squares 0 to 8, e.g. `0,4`");
        let square = |s: &str| match s.as_bytes() {
            [digit @ b'0'..=b'8'] => Some(digit - b'0'),
            _ => None,
        };
        let (start, end) = text.split_once(',').ok_or_else(malformed)?;
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

    fn draw(&self, state: &State) -> String {
        let row = |first: u8| {
            let cell = |square: u8| ['.', '●', '○'][usize::from(owner(state, square))];
            format!(
                " {} │ {} │ {}      {} {} {}\n",
                cell(first),
                cell(first + 1),
                cell(first + 2),
                first,
                first + 1,
                first + 2
            )
        };
        let line = "───┼───┼───\n";
        format!("{}{line}{}{line}{}", row(0), row(3), row(6))
    }

    fn draw_svg(&self, state: &State, last: Option<Action>) -> String {
        svg::draw(self, state, last)
    }
}

/// 0 for an empty square, else the number of the player whose piece stands there.
fn owner(state: &State, square: u8) -> u8 {
    Side::BOTH.iter().find(|side| state.pieces[side.index()] >> square & 1 == 1).map_or(0, |side| side.number())
}

fn move_index(start: u8, end: u8) -> Option<Action> {
    MOVES.iter().position(|&m| m == (start, end)).map(|i| Action(i as u16))
}
