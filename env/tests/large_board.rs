//! A board of more than 256 points with an action that has none: three in a row on 19 x 19 = 361 points, with a pass.

use turnstone_env::{
    Action, ActionList, Error, Grid, Notation, Outcome, Rules, Side, Spec, Symmetry, clicks, conformance,
};

const SIZE: usize = 19;
const GRID: Grid = Grid::new(SIZE, SIZE);
const POINTS: usize = GRID.points();
const PASS: Action = Action(POINTS as u16);

/// A draw after two passes.
#[derive(Clone, Debug)]
struct ThreeInARow;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct State {
    pieces: [Option<Side>; POINTS],
    mover: Side,
    passes: u8,
}

impl Rules for ThreeInARow {
    type State = State;

    fn spec(&self) -> Spec {
        let (blocks, scalars) = (vec![("PLACE", POINTS), ("PASS", 1)], vec!["passes".into()]);
        let (planes, actions) = (["own", "opponent's"], POINTS + 1);
        Spec {
            blocks,
            scalars,
            symmetries: GRID.symmetries_by_point(planes.len(), actions),
            piece_planes: Some([0, 1]),
            ..Spec::new("three_in_a_row", 1, [SIZE, SIZE], &planes, actions)
        }
    }

    fn start(&self) -> State {
        State { pieces: [None; POINTS], mover: Side::First, passes: 0 }
    }

    fn mover(&self, state: &State) -> Side {
        state.mover
    }

    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        if self.outcome(state).is_none() {
            let empty = (0..POINTS).filter(|&point| state.pieces[point].is_none());
            empty.for_each(|point| out.push(Action(point as u16)));
            out.push(PASS);
        }
    }

    fn play(&self, state: &mut State, action: Action) {
        if action == PASS {
            state.passes += 1;
        } else {
            state.pieces[action.index()] = Some(state.mover);
            state.passes = 0;
        }
        state.mover = state.mover.other();
    }

    fn outcome(&self, State { pieces, passes, .. }: &State) -> Option<Outcome> {
        let three = |from: usize, step: usize| {
            pieces[from].filter(|_| [1, 2].iter().all(|n| pieces[from + n * step] == pieces[from]))
        };
        let across = (0..POINTS).filter(|point| point % SIZE < SIZE - 2).find_map(|point| three(point, 1));
        let winner = across.or_else(|| (0..POINTS - 2 * SIZE).find_map(|point| three(point, SIZE)));
        winner.map(Outcome::win).or_else(|| (*passes == 2).then(Outcome::draw))
    }

    fn observe(&self, state: &State, features: &mut [f32]) {
        GRID.write_pieces(features, state.mover, |point| state.pieces[point]);
        features[2 * POINTS] = state.passes.into();
    }

    fn permuted(&self, state: &State, symmetry: &Symmetry) -> State {
        State { pieces: symmetry.image(&state.pieces), ..*state }
    }
}

impl Notation for ThreeInARow {
    fn action_text(&self, _: &State, action: Action) -> String {
        if action == PASS { "pass".into() } else { GRID.cells().label(action.index()) }
    }

    fn position_text(&self, state: &State) -> String {
        format!("{} {}", GRID.text_with_mover(|point| state.pieces[point], state.mover), state.passes)
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        let fault = |fault: String| Error::position(text, fault);
        let number = text.rsplit_once(' ').and_then(|(rest, passes)| Some((rest, passes.parse().ok()?)));
        let (rest, passes) = number.ok_or_else(|| fault("expected rows, mover and passes".into()))?;
        let (pieces, mover) = GRID.parse_with_mover(rest).map_err(fault)?;
        Ok(State { pieces: pieces.try_into().expect("a piece or none on every point"), mover, passes })
    }
}

#[test]
fn a_board_of_19_by_19_points_with_a_pass_conforms() {
    let (game, state) = (ThreeInARow, ThreeInARow.start());
    assert!(clicks(&game, &state, PASS).is_empty());
    assert_eq!(clicks(&game, &state, Action(360)), [360]);
    assert_eq!(game.parse_action(&state, "s1"), Ok(Action(360)));
    assert_eq!(game.parse_action(&state, "pass"), Ok(PASS));
    conformance::check(&game, 3, 1);
}
