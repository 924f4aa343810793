//! Faults planted in a game, each found by the conformance suite: Breakthrough on a board of 4 columns and 5 rows.

use std::panic::{AssertUnwindSafe, catch_unwind};

use turnstone_env::board::{Board, Content};
use turnstone_env::{
    Action, ActionList, Error, Notation, Outcome, Params, Rules, Side, Spec, Symmetry, board_of_planes, conformance,
};

const WIDTH: usize = 4;
const HEIGHT: usize = 5;
const POINTS: usize = WIDTH * HEIGHT;

/// What is wrong with the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// The drawing reads pieces from the features, which are turned for the second player.
    UpsideDown,
    /// `spec` computes for milliseconds.
    SlowSpec,
    UnsortedActions,
    /// Games go on until nobody can move, and then nobody has won.
    NoOutcome,
    /// A feature is not written.
    Unwritten,
    WrongBounds,
    /// The features do not show the opponent's pieces.
    Hidden,
    /// The position's text does not say who is to move.
    MoverLost,
    /// Two legal actions have one text.
    OneText,
    /// The texts count rows from the top, the drawing from the bottom.
    WrongRows,
    /// The mirror image of a move goes the same way.
    WrongSymmetry,
    /// `permuted` leaves the board as it is.
    Unmirrored,
    /// A lost piece is called decisive, and is not.
    NotDecided,
    /// Moves straight ahead and diagonal moves have the same clicks.
    SameClicks,
    /// A win is drawn in a game that says that it has no draws.
    Draw,
    /// The limit of plies, which ends games, is not named as one.
    HiddenLimit,
    /// A parameter is forgotten.
    ParamLost,
    /// A direction leads beyond the board.
    WrongDirection,
    /// Turning the board twice does not give the first action.
    WrongTurn,
    /// The second player clicks the other end of the board, and its actions are marked there.
    TurnedPoints,
    /// The second player's actions are named from its own end of the board.
    TurnedTexts,
    /// What people see of an action is not read.
    Unread,
    /// What people see of an action is what programs see of another.
    Mirrored,
    /// Two legal actions have one text for people.
    OneDisplay,
}

/// The game, with a fault.
#[derive(Clone, Debug)]
struct Breakthrough {
    fault: Fault,
    max_plies: u8,
}

/// Pieces by point from the top left; player 1 moves up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct State {
    pieces: [Option<Side>; POINTS],
    mover: Side,
    plies: u8,
}

/// Action `3 point + step + 1`, as the first player sees it: one row up and `step` columns to the right. The second player's
/// are numbered after all of the first player's.
fn action(side: Side, point: usize, step: i32) -> Action {
    let seen = if side == Side::First { point } else { POINTS - 1 - point };
    let step = if side == Side::First { step } else { -step };
    Action((3 * POINTS * side.index() + 3 * seen) as u16 + (step + 1) as u16)
}

/// Side, point and step of an action, in the first player's coordinates.
fn parts(action: Action) -> (Side, usize, i32) {
    let side = Side::BOTH[action.index() / (3 * POINTS)];
    let (seen, step) = (action.index() % (3 * POINTS) / 3, (action.index() % 3) as i32 - 1);
    if side == Side::First { (side, seen, step) } else { (side, POINTS - 1 - seen, -step) }
}

/// The point that an action leads to, if it is on the board.
fn target(side: Side, point: usize, step: i32) -> Option<usize> {
    let forward = if side == Side::First { -1 } else { 1 };
    let (row, column) = ((point / WIDTH) as i32 + forward, (point % WIDTH) as i32 + step);
    let on_board = (0..HEIGHT as i32).contains(&row) && (0..WIDTH as i32).contains(&column);
    on_board.then(|| row as usize * WIDTH + column as usize)
}

fn mirrored(point: usize) -> usize {
    point / WIDTH * WIDTH + WIDTH - 1 - point % WIDTH
}

/// The name of a point in the default drawing.
fn label(point: usize) -> String {
    format!("{}{}", (b'a' + (point % WIDTH) as u8) as char, HEIGHT - point / WIDTH)
}

impl Breakthrough {
    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// Points of a side's action, turned by this fault.
    fn shown(&self, points: [usize; 2], side: Side, fault: Fault) -> [usize; 2] {
        if self.has(fault) && side == Side::Second { points.map(|point| POINTS - 1 - point) } else { points }
    }
}

impl Rules for Breakthrough {
    type State = State;

    fn with_params(&self, params: &Params) -> Result<Self, Error> {
        let mut game = Self { max_plies: 100, ..self.clone() };
        if game.has(Fault::ParamLost) {
            return Ok(game);
        }
        if let Some((_, value)) = params.iter().find(|(key, _)| *key == "max_plies") {
            game.max_plies = value.parse().expect("a number");
        }
        Ok(game)
    }

    fn params(&self) -> Params {
        Params::new().with("max_plies", u32::from(self.max_plies))
    }

    fn spec(&self) -> Spec {
        let base =
            Spec::new("small_breakthrough", 1, [HEIGHT, WIDTH], &["own pieces", "opponent's pieces"], 6 * POINTS);
        let images = (0..6 * POINTS as u16).map(|index| {
            let (side, point, step) = parts(Action(index));
            action(side, mirrored(point), if self.has(Fault::WrongSymmetry) { step } else { -step }).0
        });
        let mirror = Symmetry {
            points: (0..POINTS).map(|point| mirrored(point) as u16).collect(),
            actions: images.collect(),
            planes: 2,
        };
        if self.has(Fault::SlowSpec) {
            std::thread::sleep(std::time::Duration::from_millis(if cfg!(debug_assertions) { 25 } else { 2 }));
        }
        let mut right: Vec<_> = (0..POINTS).map(|p| (p % WIDTH + 1 < WIDTH).then_some(p as u16 + 1)).collect();
        if self.has(Fault::WrongDirection) {
            right[POINTS - 1] = Some(POINTS as u16);
        }
        let left = (0..POINTS).map(|p| (p % WIDTH > 0).then(|| p as u16 - 1)).collect();
        let turned = (0..6 * POINTS as u16).map(|index| (index + 3 * POINTS as u16) % (6 * POINTS as u16));
        let turned = turned.map(|image| if self.has(Fault::WrongTurn) { image / 2 } else { image });
        Spec {
            directions: vec![right, left],
            blocks: vec![("UP", 3 * POINTS), ("DOWN", 3 * POINTS)],
            symmetries: vec![base.symmetries[0].clone(), mirror],
            second_player_map: Some(turned.collect()),
            scalars: vec!["plies / 100".into()],
            bounds: [0.0, if self.has(Fault::WrongBounds) { 0.5 } else { 1.0 }],
            piece_planes: Some([0, 1]),
            ply_limits: vec!["max_plies"],
            ..base
        }
    }

    fn start(&self) -> State {
        let piece = |point| match point / WIDTH {
            0 => Some(Side::Second),
            row if row == HEIGHT - 1 => Some(Side::First),
            _ => None,
        };
        State { pieces: std::array::from_fn(piece), mover: Side::First, plies: 0 }
    }

    fn mover(&self, state: &State) -> Side {
        state.mover
    }

    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        if self.outcome(state).is_some() {
            return;
        }
        let mut found = Vec::new();
        for point in (0..POINTS).filter(|&point| state.pieces[point] == Some(state.mover)) {
            for step in -1..=1 {
                let Some(to) = target(state.mover, point, step) else { continue };
                let free = state.pieces[to].is_none();
                if free || step != 0 && state.pieces[to] == Some(state.mover.other()) {
                    found.push(action(state.mover, point, step));
                }
            }
        }
        found.sort_unstable();
        if self.has(Fault::UnsortedActions) {
            found.reverse();
        }
        found.into_iter().for_each(|action| out.push(action));
    }

    fn play(&self, state: &mut State, action: Action) {
        let (side, point, step) = parts(action);
        state.pieces[target(side, point, step).expect("a legal action")] = Some(side);
        state.pieces[point] = None;
        state.mover = side.other();
        state.plies += 1;
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        let there = |side: Side, row: usize| state.pieces[row * WIDTH..][..WIDTH].contains(&Some(side));
        let arrived = (there(Side::First, 0) || there(Side::Second, HEIGHT - 1)).then(|| state.mover.other());
        let stuck = !(0..POINTS).filter(|&point| state.pieces[point] == Some(state.mover)).any(|point| {
            (-1..=1).any(|step| {
                target(state.mover, point, step).is_some_and(|to| match state.pieces[to] {
                    None => true,
                    Some(side) => step != 0 && side != state.mover,
                })
            })
        });
        let winner = arrived.or_else(|| stuck.then(|| state.mover.other())).filter(|_| !self.has(Fault::NoOutcome));
        match winner {
            Some(_) if self.has(Fault::Draw) => Some(Outcome { truncated: true, ..Outcome::win(Side::First) }),
            Some(winner) => Some(Outcome::win(winner)),
            None if state.plies >= 100 || self.max_plies > 0 && state.plies >= self.max_plies => {
                Some(Outcome::truncation())
            }
            None if self.has(Fault::HiddenLimit) && state.plies >= 6 => Some(Outcome::truncation()),
            None => None,
        }
    }

    fn decided(&self, state: &State) -> Option<i8> {
        let pieces = |side| state.pieces.iter().filter(|&&piece| piece == Some(side)).count();
        let behind = pieces(Side::First) < pieces(Side::Second);
        (self.has(Fault::NotDecided) && behind).then_some(-1)
    }

    fn observe(&self, state: &State, features: &mut [f32]) {
        for seen in 0..POINTS {
            let piece = state.pieces[if state.mover == Side::Second { POINTS - 1 - seen } else { seen }];
            features[seen] = f32::from(piece == Some(state.mover));
            features[POINTS + seen] = f32::from(piece == Some(state.mover.other()) && !self.has(Fault::Hidden));
        }
        if !self.has(Fault::Unwritten) {
            features[2 * POINTS] = f32::from(state.plies) / 100.0;
        }
    }

    fn permuted(&self, state: &State, symmetry: &Symmetry) -> State {
        let mut image = *state;
        for (point, &to) in symmetry.points.iter().enumerate() {
            image.pieces[if self.has(Fault::Unmirrored) { point } else { usize::from(to) }] = state.pieces[point];
        }
        image
    }
}

impl Notation for Breakthrough {
    /// Where the action leads, for the mover.
    fn action_text(&self, state: &State, action: Action) -> String {
        let (side, point, step) = parts(action);
        match target(side, point, step) {
            Some(to) if side == state.mover && self.has(Fault::OneText) => format!("to {to}"),
            Some(to) if side == state.mover => {
                let upside_down =
                    |point: usize| if self.has(Fault::WrongRows) { POINTS - 1 - mirrored(point) } else { point };
                let [from, to] = self.shown([point, to], side, Fault::TurnedTexts).map(upside_down).map(label);
                format!("{from}-{to}")
            }
            _ => format!("{}:{point}:{step}", side.number()),
        }
    }

    fn display_text(&self, state: &State, action: Action) -> String {
        let text = self.action_text(state, action);
        let (side, point, step) = parts(action);
        let image = || self.action_text(state, self::action(side, mirrored(point), -step));
        match (self.fault, target(side, point, step)) {
            (Fault::Unread, _) => text + "!",
            (Fault::Mirrored, Some(_)) => image(),
            (Fault::OneDisplay, Some(to)) if side == state.mover => format!("to {to}"),
            _ => text,
        }
    }

    fn parse_action(&self, state: &State, text: &str) -> Result<Action, Error> {
        let named = |action: &Action| {
            self.action_text(state, *action) == text
                || !self.has(Fault::Unread) && self.display_text(state, *action) == text
        };
        let mut legal = ActionList::new();
        self.legal(state, &mut legal);
        let found = legal.iter().copied().find(named);
        found.ok_or_else(|| Error::action(text, "no legal action"))
    }

    fn position_text(&self, state: &State) -> String {
        let pieces = state.pieces.map(|piece| piece.map_or('.', |side| ['1', '2'][side.index()]));
        let mover = if self.has(Fault::MoverLost) { 1 } else { state.mover.number() };
        format!("{} {mover} {}", String::from_iter(pieces), state.plies)
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        let fault = || Error::position(text, "expected pieces, mover and plies");
        let [pieces, mover, plies] = text.split(' ').collect::<Vec<_>>()[..] else { return Err(fault()) };
        let mut state = State { plies: plies.parse().map_err(|_| fault())?, ..self.start() };
        state.mover = mover.parse().ok().and_then(Side::from_number).ok_or_else(fault)?;
        for (point, letter) in state.pieces.iter_mut().zip(pieces.bytes()) {
            *point = Side::from_number(letter.wrapping_sub(b'0'));
        }
        Ok(state)
    }

    fn points_of(&self, _: &State, action: Action) -> Vec<usize> {
        let (side, point, step) = parts(action);
        let step = if self.has(Fault::SameClicks) { 0 } else { step };
        target(side, point, step)
            .map_or_else(Vec::new, |to| self.shown([point, to], side, Fault::TurnedPoints).to_vec())
    }

    fn board(&self, state: &State, last: Option<(&State, Action)>) -> Board {
        let mut contents: Vec<Content> = state.pieces.map(Content::from).into();
        if self.has(Fault::UpsideDown) && state.mover == Side::Second {
            contents.reverse(); // as the features have it
        }
        Board { contents, ..board_of_planes(self, state, last) }
    }
}

/// Error of the conformance suite for the game with this fault.
fn complaint(fault: Fault) -> Option<String> {
    let checked = catch_unwind(AssertUnwindSafe(|| conformance::check(&Breakthrough { fault, max_plies: 90 }, 50, 1)));
    checked.err().map(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or(panic.downcast_ref::<&str>().copied()).expect("a panic has a text").to_owned()
    })
}

#[test]
fn every_planted_fault_is_found() {
    assert_eq!(complaint(Fault::None), None);
    let faults = [
        (Fault::UpsideDown, "is turned with the player to move"),
        (Fault::SlowSpec, "spec() takes"),
        (Fault::UnsortedActions, "legal actions increase"),
        (Fault::NoOutcome, "no legal action exactly when over"),
        (Fault::Unwritten, "all features written"),
        (Fault::WrongBounds, "all features written, from 0 to 0.5"),
        (Fault::Hidden, "equal features mean equal legal actions"),
        (Fault::MoverLost, "is read as another state"),
        (Fault::OneText, "names another action at"),
        (Fault::WrongRows, "are not those of the drawing"),
        (Fault::WrongSymmetry, "a symmetry maps the legal actions"),
        (Fault::Unmirrored, "a symmetry maps the features"),
        (Fault::NotDecided, "what is decided stays so"),
        (Fault::SameClicks, "clicks are unambiguous"),
        (Fault::Draw, "a limit ends a game as a draw"),
        (Fault::HiddenLimit, "a ply limit that ply_limits does not name"),
        (Fault::ParamLost, "parameters survive a round trip"),
        (Fault::WrongDirection, "a direction leads to points"),
        (Fault::WrongTurn, "turning twice is the identity"),
        (Fault::TurnedPoints, "points_of() is turned for player 2"),
        (Fault::TurnedTexts, "display_text() is turned for player 2"),
        (Fault::Unread, "display text"),
        (Fault::Mirrored, "names another action at"),
        (Fault::OneDisplay, "display text"),
    ];
    for (fault, expected) in faults {
        let said = complaint(fault).unwrap_or_else(|| panic!("{fault:?} is not found"));
        assert!(said.contains(expected), "{fault:?}: {said}");
    }
}
