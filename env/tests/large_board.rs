//! A board of more than 256 points: three in a row on 19 x 19 = 361 points.

use turnstone_env::{Action, ActionList, Error, Notation, Outcome, Rules, Side, Spec, Symmetry, conformance};

const SIZE: usize = 19;
const POINTS: usize = SIZE * SIZE;

#[derive(Clone, Debug)]
struct ThreeInARow;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct State([Option<Side>; POINTS]);

/// The image of a point by a reflection in the diagonal.
fn reflected(point: usize) -> u16 {
    (point % SIZE * SIZE + point / SIZE) as u16
}

impl Rules for ThreeInARow {
    type State = State;

    fn spec(&self) -> Spec {
        let base = Spec::new("three_in_a_row", 1, [SIZE, SIZE], &["own", "opponent's"], POINTS);
        let images: Vec<u16> = (0..POINTS).map(reflected).collect();
        let reflection = Symmetry { points: images.clone(), actions: images, planes: 2 };
        let symmetries = vec![base.symmetries[0].clone(), reflection];
        Spec { symmetries, piece_planes: Some([0, 1]), ..base }
    }

    fn start(&self) -> State {
        State([None; POINTS])
    }

    fn mover(&self, State(points): &State) -> Side {
        if points.iter().flatten().count() % 2 == 0 { Side::First } else { Side::Second }
    }

    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        if self.outcome(state).is_none() {
            let empty = (0..POINTS).filter(|&point| state.0[point].is_none());
            empty.for_each(|point| out.push(Action(point as u16)));
        }
    }

    fn play(&self, state: &mut State, action: Action) {
        state.0[action.index()] = Some(self.mover(state));
    }

    fn outcome(&self, State(points): &State) -> Option<Outcome> {
        let three = |from: usize, step: usize| {
            points[from].filter(|_| [1, 2].iter().all(|n| points[from + n * step] == points[from]))
        };
        let across = (0..POINTS).filter(|point| point % SIZE < SIZE - 2).find_map(|point| three(point, 1));
        let winner = across.or_else(|| (0..POINTS - 2 * SIZE).find_map(|point| three(point, SIZE)));
        winner.map(Outcome::win).or_else(|| points.iter().all(Option::is_some).then(Outcome::draw))
    }

    fn observe(&self, state: &State, features: &mut [f32]) {
        let mover = self.mover(state);
        for (point, piece) in state.0.iter().enumerate() {
            features[point] = f32::from(*piece == Some(mover));
            features[POINTS + point] = f32::from(*piece == Some(mover.other()));
        }
    }

    fn permuted(&self, state: &State, symmetry: &Symmetry) -> State {
        let mut image = *state;
        symmetry.points.iter().zip(state.0).for_each(|(&to, piece)| image.0[usize::from(to)] = piece);
        image
    }
}

impl Notation for ThreeInARow {
    fn action_text(&self, _: &State, action: Action) -> String {
        let (row, column) = (SIZE - action.index() / SIZE, action.index() % SIZE);
        format!("{}{row}", char::from(b'a' + column as u8))
    }

    fn position_text(&self, state: &State) -> String {
        state.0.iter().map(|piece| piece.map_or('.', |side| ['X', 'O'][side.index()])).collect()
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        let piece = |letter| ["X", "O"].iter().position(|name| *name == letter).map(|side| Side::BOTH[side]);
        let points: Vec<_> = text.split("").filter(|letter| !letter.is_empty()).map(piece).collect();
        points.try_into().map(State).map_err(|_| Error::position(text, "expected 361 letters"))
    }
}

#[test]
fn a_board_of_19_by_19_points_conforms() {
    let point = |index: usize| usize::from(ThreeInARow.spec().symmetries[1].points[index]);
    assert_eq!((point(18), point(342), point(300)), (342, 18, 300 % 19 * 19 + 15));
    conformance::check(&ThreeInARow, 3, 1);
}
