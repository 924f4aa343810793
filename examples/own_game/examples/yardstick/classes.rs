//! The nine classes of positions, and how positions are drawn.

use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Range;

use own_game::{ConnectFour, OpenLines, Solver, State};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::{Action, ActionList, Notation, Rules, Side};
use turnstone_exact::SolveLimits;
use turnstone_search::classic::AlphaBeta;

/// The games of a class are drawn from this seed plus the class's number.
const SEED: u64 = 20_260_000;

/// Entries of the solver's table. The number of nodes of a search depends on it.
pub const ENTRIES: usize = 1 << 20;

/// Positions of one phase and one difficulty.
#[derive(Clone, PartialEq, Debug)]
pub struct Class {
    pub name: &'static str,
    /// Its number, which has a part in the seed.
    number: u64,
    /// Number of discs on the board.
    pub discs: Range<usize>,
    /// Number of nodes that the solver searches, beginning with an empty table, to tell whether the position is won,
    /// drawn or lost.
    pub nodes: Range<u64>,
}

/// Phases are thirds of the board. The bounds of effort are such that about a third of a phase's positions are easy, a
/// third of medium difficulty and a third hard. Left out are positions of fewer than eight discs, most of which take
/// millions of nodes, and of at least forty, where hardly a choice is left.
pub const CLASSES: [Class; 9] = [
    Class { name: "beginning-easy", number: 0, discs: 8..14, nodes: 0..20_000 },
    Class { name: "beginning-medium", number: 1, discs: 8..14, nodes: 20_000..150_000 },
    Class { name: "beginning-hard", number: 2, discs: 8..14, nodes: 150_000..2_000_000 },
    Class { name: "middle-easy", number: 3, discs: 14..28, nodes: 0..500 },
    Class { name: "middle-medium", number: 4, discs: 14..28, nodes: 500..5_000 },
    Class { name: "middle-hard", number: 5, discs: 14..28, nodes: 5_000..1_000_000 },
    Class { name: "end-easy", number: 6, discs: 28..40, nodes: 0..8 },
    Class { name: "end-medium", number: 7, discs: 28..40, nodes: 8..40 },
    Class { name: "end-hard", number: 8, discs: 28..40, nodes: 40..10_000 },
];

/// A position with the values of its actions for the mover.
#[derive(Clone, PartialEq, Debug)]
pub struct Assessed {
    pub state: State,
    pub actions: Vec<(Action, i8)>,
    /// Number of nodes of the search for its value.
    pub nodes: u64,
}

impl Assessed {
    /// Value for the mover.
    pub fn value(&self) -> i8 {
        self.actions.iter().map(|&(_, value)| value).max().expect("the game is not over")
    }

    /// The line of a truth set: position, value and values of the actions, for the first side.
    pub fn line(&self) -> String {
        let sign = if ConnectFour.mover(&self.state) == Side::First { 1 } else { -1 };
        let mut line = format!("{} ; {} ;", ConnectFour.position_text(&self.state), sign * self.value());
        for &(action, value) in &self.actions {
            write!(line, " {}={}", ConnectFour.action_text(&self.state, action), sign * value)
                .expect("strings can be written to");
        }
        line
    }
}

impl Class {
    /// Open positions of this phase, each drawn from a game of its own and none twice, mirror images counted as the
    /// same.
    pub fn candidates(&self) -> impl Iterator<Item = State> + use<> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED + self.number);
        let (mut seen, mirror) = (HashSet::new(), ConnectFour.spec().symmetries.remove(1));
        let discs = self.discs.clone();
        let candidate = move || {
            let state = position(&mut rng, discs.clone())?;
            let is_new = is_open(&state) && seen.insert(state);
            seen.insert(ConnectFour.permuted(&state, &mirror));
            is_new.then_some(state)
        };
        std::iter::repeat_with(candidate).flatten()
    }

    /// The values of a candidate's actions. `None` if it is not of this difficulty.
    pub fn assess(&self, state: State, solver: &mut Solver) -> Option<Assessed> {
        solver.value(&state, &SolveLimits::nodes(self.nodes.end - 1))?;
        let nodes = solver.nodes();
        self.nodes.contains(&nodes).then(|| Assessed { state, actions: solver.action_values(&state), nodes })
    }
}

/// A player of some strength: alpha-beta of a depth (0: random moves only), with a share of random moves.
struct Player {
    depth: u32,
    random_share: f64,
}

impl Player {
    const DEEPEST: u32 = 5;

    fn draw(rng: &mut impl RngExt) -> Self {
        Self { depth: rng.random_range(0..=Self::DEEPEST), random_share: rng.random_range(0.05..0.5) }
    }

    fn choose(&self, state: &State, legal: &ActionList, rng: &mut impl RngExt) -> Action {
        if self.depth == 0 || rng.random_bool(self.random_share) {
            return legal[rng.random_range(0..legal.len())];
        }
        let found = AlphaBeta::new(&ConnectFour, OpenLines).search(state, self.depth);
        found.action.expect("the game is not over")
    }
}

/// A position with a number of discs in the range, from a game of two players of different strength. `None` if the game
/// is over before.
fn position(rng: &mut impl RngExt, discs: Range<usize>) -> Option<State> {
    let discs = rng.random_range(discs);
    let players = [Player::draw(rng), Player::draw(rng)];
    let mut state = ConnectFour.start();
    let mut legal = ActionList::new();
    for _ in 0..discs {
        ConnectFour.legal(&state, &mut legal);
        if legal.is_empty() {
            return None;
        }
        let player = &players[ConnectFour.mover(&state).index()];
        let action = player.choose(&state, &legal, rng);
        ConnectFour.play(&mut state, action);
    }
    Some(state)
}

fn children(state: &State) -> Vec<State> {
    let mut legal = ActionList::new();
    ConnectFour.legal(state, &mut legal);
    let after = |&action: &Action| {
        let mut after = *state;
        ConnectFour.play(&mut after, action);
        after
    };
    legal.iter().map(after).collect()
}

/// Whether the mover has a choice: they do not win with the next disc, and at least two landings do not lose with the
/// opponent's answer.
pub fn is_open(state: &State) -> bool {
    let won = |after: &State| ConnectFour.outcome(after).is_some_and(|outcome| outcome.value() != 0);
    let children = children(state);
    let safe = children.iter().filter(|after| !self::children(after).iter().any(won));
    !children.is_empty() && !children.iter().any(won) && safe.count() >= 2
}
