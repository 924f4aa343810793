//! Nim with three heaps: take any number of stones from one heap; who takes the last stone wins.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::{Action, ActionList, Error, Game, Outcome, Params, Side, Spec, Symmetry, conformance, playout};

const HEAPS: usize = 3;
const STONES: usize = 5;

/// The game. It has no parameters.
#[derive(Clone, Copy, Debug)]
pub struct Nim;

/// A position: the stones of each heap, and the mover.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    heaps: [u8; HEAPS],
    mover: Side,
}

/// Action block TAKE: `STONES * heap + taken - 1` takes that many stones from a heap.
fn heap_and_taken(action: Action) -> (usize, u8) {
    (action.index() / STONES, (action.index() % STONES) as u8 + 1)
}

/// All orders of the heaps, the identity first: they are alike, so every permutation is a symmetry.
const ORDERS: [[u8; HEAPS]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

fn symmetry(order: [u8; HEAPS]) -> Symmetry {
    let image = |action: usize| usize::from(order[action / STONES]) * STONES + action % STONES;
    let actions = (0..HEAPS * STONES).map(|action| image(action) as u16).collect();
    Symmetry { points: order.to_vec(), actions, planes: 1 }
}

impl Game for Nim {
    const NAME: &'static str = "nim";
    const VERSION: u32 = 1;
    const PARAMS: &'static [&'static str] = &[];
    type State = State;

    fn with_params(_: &Params) -> Result<Self, Error> {
        Ok(Self)
    }

    fn params(&self) -> Params {
        Params::new()
    }

    fn spec(&self) -> Spec {
        Spec {
            name: Self::NAME,
            version: Self::VERSION,
            points: HEAPS,
            lattice: [1, HEAPS],
            cells: vec![0, 1, 2],
            directions: vec![], // heaps have no neighbours
            point_planes: vec!["stones / 5".into()],
            scalars: vec![],
            actions: HEAPS * STONES,
            blocks: vec![("TAKE", HEAPS * STONES)],
            symmetries: ORDERS.map(symmetry).into(),
            second_player_map: None,
        }
    }

    fn start(&self) -> State {
        State { heaps: [3, 4, 5], mover: Side::First }
    }

    fn mover(&self, state: &State) -> Side {
        state.mover
    }

    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        for (heap, &stones) in state.heaps.iter().enumerate() {
            let first = STONES * heap;
            (first..first + usize::from(stones)).for_each(|action| out.push(Action(action as u16)));
        }
    }

    fn play(&self, state: &mut State, action: Action) {
        let (heap, taken) = heap_and_taken(action);
        state.heaps[heap] -= taken;
        state.mover = state.mover.other();
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        (state.heaps == [0; HEAPS]).then(|| Outcome::win(state.mover.other()))
    }

    fn observe(&self, state: &State, features: &mut [f32]) {
        for (feature, &stones) in features.iter_mut().zip(&state.heaps) {
            *feature = f32::from(stones) / STONES as f32;
        }
    }

    fn permuted(&self, state: &State, symmetry: &Symmetry) -> State {
        let mut image = *state;
        for (heap, &to) in symmetry.points.iter().enumerate() {
            image.heaps[usize::from(to)] = state.heaps[heap];
        }
        image
    }

    fn action_text(&self, action: Action) -> String {
        let (heap, taken) = heap_and_taken(action);
        format!("{}-{taken}", ["a", "b", "c"][heap])
    }

    fn parse_action(&self, text: &str) -> Result<Action, Error> {
        match text.as_bytes() {
            [heap @ b'a'..=b'c', b'-', taken @ b'1'..=b'5'] => {
                Ok(Action(u16::from(heap - b'a') * STONES as u16 + u16::from(taken - b'1')))
            }
            _ => Err(Error::action(text, "expected a heap and a number, e.g. `a-1` to `c-5`")),
        }
    }

    fn position_text(&self, state: &State) -> String {
        let [a, b, c] = state.heaps;
        format!("{a},{b},{c} {}", state.mover.number())
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        let fault = |what| Error::position(text, what);
        match text.as_bytes() {
            &[a @ b'0'..=b'3', b',', b @ b'0'..=b'4', b',', c @ b'0'..=b'5', b' ', mover] => {
                let mover = Side::from_number(mover.wrapping_sub(b'0')).ok_or(fault("the mover must be 1 or 2"))?;
                Ok(State { heaps: [a, b, c].map(|digit| digit - b'0'), mover })
            }
            _ => Err(fault("expected heaps of at most 3, 4 and 5 stones and the mover, e.g. `3,4,5 1`")),
        }
    }

    fn draw(&self, state: &State) -> String {
        let heap = |(name, &stones): (char, &u8)| format!("{name} {}\n", "o".repeat(usize::from(stones)));
        ('a'..='c').zip(&state.heaps).map(heap).collect()
    }
}

fn main() {
    conformance::check(&Nim, 1000, 1);
    let (mut state, mut legal) = (Nim.start(), ActionList::new());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (outcome, plies) = playout(&Nim, &mut state, &mut legal, &mut rng);
    println!("the value for player 1 after {plies} random plies: {}", outcome.value());
}
