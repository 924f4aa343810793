//! Go with positional superko and area scoring: a game whose state holds its history, with passes and results of half points.

use std::path::Path;

use turnstone_agents::{Effort, Playable};
use turnstone_env::{
    Action, ActionList, Error, Grid, History, Notation, Outcome, ParamReader, Params, Rules, Side, Spec, Symmetry,
    conformance, play_text,
};
use turnstone_exact::{ExactValues, TableError};

/// Go on 2x2 to 5x5. Suicide is forbidden, and so is every board that the game has had; two passes end it.
#[derive(Clone, Copy, Debug)]
struct Go {
    grid: Grid,
    /// In half points.
    komi: i16,
}

/// The stones of each player as sets of points.
type Stones = [u32; 2];

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct State {
    stones: Stones,
    mover: Side,
    /// Passes since the last stone.
    passes: u8,
    /// All boards, with the present one.
    history: History<Stones, 60>,
}

impl Default for Go {
    fn default() -> Self {
        Self { grid: Grid::new(5, 5), komi: 0 }
    }
}

impl Go {
    fn neighbours(&self, points: u32) -> u32 {
        let beside = |point: usize| Grid::STEPS[..4].iter().filter_map(move |&step| self.grid.step(point, step));
        bits(points).flat_map(beside).fold(0, |found, point| found | 1 << point)
    }

    /// The connected points of `within` around `seed`.
    fn group(&self, seed: u32, within: u32) -> u32 {
        let grown = seed | self.neighbours(seed) & within;
        if grown == seed { seed } else { self.group(grown, within) }
    }

    /// The stones of the second set without groups that have no liberty.
    fn alive(&self, other: u32, stones: u32) -> u32 {
        let empty = self.all() & !(other | stones);
        bits(stones)
            .map(|point| self.group(1 << point, stones))
            .filter(|&group| self.neighbours(group) & empty != 0)
            .fold(0, |alive, group| alive | group)
    }

    fn all(&self) -> u32 {
        (1 << self.grid.points()) - 1
    }

    fn pass(&self) -> Action {
        Action(self.grid.points() as u16)
    }

    /// The board after a stone on an empty point, if it may be placed there.
    fn placed(&self, state: &State, point: u32) -> Option<Stones> {
        let (own, other) = (state.mover.index(), state.mover.other().index());
        let mut stones = state.stones;
        stones[own] |= point;
        stones[other] = self.alive(stones[own], stones[other]);
        let is_suicide = self.neighbours(self.group(point, stones[own])) & self.all() & !(stones[0] | stones[1]) == 0;
        (!is_suicide && state.history.count(&stones) == 0).then_some(stones)
    }

    fn placements(&self, state: &State) -> u32 {
        let empty = self.all() & !(state.stones[0] | state.stones[1]);
        bits(empty)
            .map(|point| 1 << point)
            .filter(|&point| self.placed(state, point).is_some())
            .fold(0, |all, point| all | point)
    }

    /// Stones and the empty points around which only those of one player are, first minus second.
    fn area(&self, [first, second]: Stones) -> i16 {
        let empty = self.all() & !(first | second);
        let surrounded = |own: u32, other: u32| {
            let is_own = |point: &usize| {
                let around = self.neighbours(self.group(1 << point, empty));
                around & own != 0 && around & other == 0
            };
            (own.count_ones() as usize + bits(empty).filter(is_own).count()) as i16
        };
        surrounded(first, second) - surrounded(second, first)
    }

    fn stones_text(&self, stones: &Stones) -> String {
        self.grid.text(|point| Side::BOTH.into_iter().find(|side| stones[side.index()] >> point & 1 != 0))
    }

    fn parse_stones(&self, text: &str) -> Result<Stones, String> {
        let mut stones = [0; 2];
        for (point, piece) in self.grid.parse(text)?.into_iter().enumerate() {
            piece.into_iter().for_each(|side| stones[side.index()] |= 1 << point);
        }
        let [first, second] = stones;
        let is_alive = self.alive(first, second) == second && self.alive(second, first) == first;
        if is_alive { Ok(stones) } else { Err(format!("stones without a liberty in {text}")) }
    }
}

fn bits(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        lowest
    })
}

impl Rules for Go {
    type State = State;

    fn spec(&self) -> Spec {
        let (planes, points) =
            (["own stones", "opponent's stones", "where the mover may place a stone"], self.grid.points());
        Spec {
            scalars: ["passes", "the mover is player 1", "boards of the game"].map(String::from).to_vec(),
            bounds: [0.0, 1.0],
            blocks: vec![("PLACE", points), ("PASS", 1)],
            symmetries: self.grid.symmetries_by_point(planes.len(), points + 1),
            half_points: true,
            ..Spec::new("go", 1, [self.grid.height, self.grid.width], &planes, points + 1)
        }
    }

    fn params(&self) -> Params {
        Params::new().with("size", self.grid.width).with("komi", f64::from(self.komi) / 2.0)
    }

    fn with_params(&self, params: &Params) -> Result<Self, Error> {
        let reader = ParamReader::new(self, params)?;
        let size = usize::from(reader.integer("size", 5, 2..=5)?);
        let komi = 2.0 * reader.number("komi", 0.0, 0.0..=50.0)?;
        if komi.fract() != 0.0 {
            return Err(reader.fault("komi", "must be a multiple of a half"));
        }
        Ok(Self { grid: Grid::new(size, size), komi: komi as i16 })
    }

    fn start(&self) -> State {
        let mut history = History::default();
        history.push([0; 2]);
        State { stones: [0; 2], mover: Side::First, passes: 0, history }
    }

    fn mover(&self, state: &State) -> Side {
        state.mover
    }

    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        if self.outcome(state).is_none() {
            bits(self.placements(state)).for_each(|point| out.push(Action(point as u16)));
            out.push(self.pass());
        }
    }

    fn play(&self, state: &mut State, action: Action) {
        if action == self.pass() {
            state.passes += 1;
        } else {
            state.stones = self.placed(state, 1 << action.0).expect("a legal action");
            state.passes = 0;
            state.history.push(state.stones);
        }
        state.mover = state.mover.other();
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        if state.passes == 2 {
            return Some(Outcome::by_margin(2 * self.area(state.stones) - self.komi));
        }
        state.history.is_full().then(Outcome::truncation)
    }

    fn observe(&self, state: &State, features: &mut [f32]) {
        let planes =
            [state.stones[state.mover.index()], state.stones[state.mover.other().index()], self.placements(state)];
        for (plane, points) in planes.into_iter().enumerate() {
            self.grid.write_plane(features, plane, |point| points >> point & 1 != 0);
        }
        let is_first = f32::from(u8::from(state.mover == Side::First));
        let scalars = [f32::from(state.passes) / 2.0, is_first, state.history.boards().len() as f32 / 60.0];
        features[planes.len() * self.grid.points()..].copy_from_slice(&scalars);
    }

    fn permuted(&self, state: &State, symmetry: &Symmetry) -> State {
        let image = |stones: Stones| stones.map(|set| symmetry.image_of_set(set.into()) as u32);
        State { stones: image(state.stones), history: state.history.map(image), ..*state }
    }
}

impl Notation for Go {
    fn action_text(&self, _: &State, action: Action) -> String {
        if action == self.pass() { "pass".into() } else { self.grid.cells().label(action.index()) }
    }

    /// The rows from the top, the player to move, the passes since the last stone, and all boards: `X./.. O 0 X./..,../..`.
    fn position_text(&self, state: &State) -> String {
        let mover = state.mover.number();
        format!(
            "{} {mover} {} {}",
            self.stones_text(&state.stones),
            state.passes,
            state.history.text(|it| self.stones_text(it))
        )
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        let fault = |fault: String| Error::position(text, fault);
        let fields: Vec<&str> = text.split(' ').collect();
        let [stones, mover @ ("1" | "2"), passes @ ("0" | "1" | "2"), history] = fields[..] else {
            return Err(fault("expected the rows, the mover 1 or 2, 0 to 2 passes, and the boards of the game".into()));
        };
        let stones = self.parse_stones(stones).map_err(fault)?;
        let history = History::parse(history, |board| self.parse_stones(board)).map_err(fault)?;
        if history.count(&stones) != 1 || history.boards().windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(fault("each board of the game, with the present one, must be there once".into()));
        }
        let mover = if mover == "1" { Side::First } else { Side::Second };
        Ok(State { stones, mover, passes: passes.as_bytes()[0] - b'0', history })
    }
}

impl Playable for Go {
    type Game = Self;

    fn exact_values(game: &Self, _: &Path, effort: Effort) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        Ok(Some(effort.searched(game)))
    }
}

fn go(size: usize, komi: f64) -> Go {
    Go::default().with_params(&Params::new().with("size", size).with("komi", komi)).expect("one of its sizes")
}

#[test]
fn the_game_conforms() {
    conformance::check(&Go::default(), 200, 1);
    conformance::check(&go(3, 1.5), 500, 1);
}

/// Numbers of boards on which every group has a liberty (Tromp and Farnebäck, *Combinatorics of Go*).
#[test]
fn legal_boards() {
    for (size, known) in [(2, 57), (3, 12_675)] {
        let (game, points) = (go(size, 0.0), size * size);
        let board = |number: usize| {
            let letter = |point: u32| b".XO"[number / 3usize.pow(point) % 3] as char;
            let rows: Vec<String> = (0..size as u32)
                .map(|row| (0..size as u32).map(|column| letter(size as u32 * row + column)).collect())
                .collect();
            rows.join("/")
        };
        let legal = (0..3usize.pow(points as u32)).filter(|&number| game.parse_stones(&board(number)).is_ok()).count();
        assert_eq!(legal, known, "{size}x{size}");
    }
}

#[test]
fn no_board_comes_twice() {
    let (game, mut state, mut legal) = (go(4, 0.0), go(4, 0.0).start(), ActionList::new());
    play_text(&game, &mut state, "b3 c3 a2 d2 b1 c1 pass b2 c2").expect("legal");
    assert_eq!(game.position_text(&state).split(' ').next(), Some("..../.XO./X.XO/.XO."), "b2 is taken");
    let b2 = Action(9);
    game.legal(&state, &mut legal);
    assert!(!legal.contains(b2), "the board before");
    play_text(&game, &mut state, "d4 a4").expect("legal");
    game.legal(&state, &mut legal);
    assert!(legal.contains(b2) && game.action_text(&state, b2) == "b2", "the board is another one");
}

#[test]
fn areas_and_komi_decide() {
    let outcome = |komi, moves| {
        let (game, mut state) = (go(5, komi), go(5, komi).start());
        play_text(&game, &mut state, moves).expect("legal");
        (game.outcome(&state).expect("over"), game.spec().status(game.outcome(&state), Side::First))
    };
    assert_eq!(outcome(0.0, "c3 pass pass"), (Outcome::by_margin(50), "player 1 has won by 25".into()));
    assert_eq!(outcome(24.5, "c3 pass pass"), (Outcome::by_margin(1), "player 1 has won by 0.5".into()));
    assert_eq!(outcome(0.5, "c3 c4 pass pass"), (Outcome::by_margin(-1), "player 2 has won by 0.5".into()));
}

#[test]
fn known_values() {
    for (size, komi, value) in [(2, 0.5, 1), (2, 1.5, -1), (3, 8.5, 1)] {
        let game = go(size, komi);
        let solver = Go::exact_values(&game, "".as_ref(), Effort::Full).expect("no file").expect("it has a solver");
        assert_eq!(solver.value(&game, &game.start()), Some(value), "{size}x{size} with komi {komi}");
    }
}
