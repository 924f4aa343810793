//! A board of more than 256 points: three in a row on 19 x 19 = 361 points.

use turnstone_env::{Action, ActionList, Error, Grid, Notation, Outcome, Rules, Side, Spec, Symmetry, conformance};

const SIZE: usize = 19;
const GRID: Grid = Grid::new(SIZE, SIZE);
const POINTS: usize = GRID.points();

#[derive(Clone, Debug)]
struct ThreeInARow;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct State([Option<Side>; POINTS]);

impl Rules for ThreeInARow {
    type State = State;

    fn spec(&self) -> Spec {
        let symmetries = GRID.symmetries_by_point(2, POINTS);
        let planes = ["own", "opponent's"];
        let spec = Spec::new("three_in_a_row", 1, [SIZE, SIZE], &planes, POINTS);
        Spec { symmetries, piece_planes: Some([0, 1]), ..spec }
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
        GRID.write_pieces(features, self.mover(state), |point| state.0[point]);
    }

    fn permuted(&self, state: &State, symmetry: &Symmetry) -> State {
        let mut image = *state;
        symmetry.points.iter().zip(state.0).for_each(|(&to, piece)| image.0[usize::from(to)] = piece);
        image
    }
}

impl Notation for ThreeInARow {
    fn action_text(&self, _: &State, action: Action) -> String {
        GRID.cells().label(action.index())
    }

    fn position_text(&self, state: &State) -> String {
        GRID.text(|point| state.0[point])
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        let pieces = GRID.parse(text).map_err(|fault| Error::position(text, fault))?;
        Ok(State(pieces.try_into().expect("a piece or none on every point")))
    }
}

#[test]
fn a_board_of_19_by_19_points_conforms() {
    conformance::check(&ThreeInARow, 3, 1);
}
