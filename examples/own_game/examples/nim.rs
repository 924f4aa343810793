//! Nim with three heaps: take any number of stones from one heap; whoever takes the last stone wins.

use std::process::ExitCode;

use turnstone_agents::Playable;
use turnstone_env::{Action, ActionList, Error, Notation, Outcome, Rules, Side, Spec};

#[derive(Clone, Default, Debug)]
pub struct Nim;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    heaps: [u8; 3],
    mover: Side,
}

/// Action `5 heap + taken - 1` takes this many stones from a heap.
impl Rules for Nim {
    type State = State;

    fn spec(&self) -> Spec {
        Spec::new("nim", 1, [1, 3], &["stones / 5"], 15)
    }

    fn start(&self) -> State {
        State { heaps: [3, 4, 5], mover: Side::First }
    }

    fn mover(&self, state: &State) -> Side {
        state.mover
    }

    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        for (heap, &stones) in (0..).zip(&state.heaps) {
            (0..u16::from(stones)).for_each(|fewer| out.push(Action(5 * heap + fewer)));
        }
    }

    fn play(&self, state: &mut State, Action(action): Action) {
        state.heaps[usize::from(action / 5)] -= (action % 5 + 1) as u8;
        state.mover = state.mover.other();
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        (state.heaps == [0; 3]).then(|| Outcome::win(state.mover.other()))
    }

    fn observe(&self, state: &State, features: &mut [f32]) {
        features.copy_from_slice(&state.heaps.map(|stones| f32::from(stones) / 5.0));
    }
}

impl Notation for Nim {
    fn action_text(&self, _: &State, Action(action): Action) -> String {
        format!("{}-{}", ["a", "b", "c"][usize::from(action / 5)], action % 5 + 1)
    }

    fn position_text(&self, State { heaps: [a, b, c], mover }: &State) -> String {
        format!("{a},{b},{c} {}", mover.number())
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        let digits: Vec<u8> = text.bytes().map(|byte| byte.wrapping_sub(b'0')).collect();
        let [a @ 0..=3, _, b @ 0..=4, _, c @ 0..=5, _, mover @ 1..=2] = digits[..] else {
            return Err(Error::position(text, "expected three heaps and the mover, as in `3,4,5 1`"));
        };
        let state = State { heaps: [a, b, c], mover: Side::BOTH[usize::from(mover) - 1] };
        if self.position_text(&state) == text { Ok(state) } else { Err(Error::position(text, "expected `3,4,5 1`")) }
    }
}

impl Playable for Nim {
    type Game = Self;
}

fn main() -> ExitCode {
    turnstone::Program::new().with::<Nim>().main()
}
