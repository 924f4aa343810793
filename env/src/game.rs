//! What a game is: its shape ([`Spec`]) and the [`Game`] trait.

use std::fmt::Debug;
use std::hash::Hash;

use crate::action::{Action, ActionList};
use crate::cell_board;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::params::Params;
use crate::side::Side;
use crate::svg::{self, BoardPoint};
use crate::symmetry::Symmetry;

/// The shape of a game with its parameters: all that a network, a replay record or a drawing needs to know of it.
///
/// A state is observed as a vector of *features* `[point_planes * points + scalars]`: first the planes that hold a
/// number per point, each `[points]` long, then the scalars. [`Spec::expand`] turns it into the full tensor
/// `[planes, height, width]`, where a scalar fills a plane of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Spec {
    /// The game's name.
    pub name: &'static str,
    /// The game's [`Game::VERSION`].
    pub version: u32,
    /// Number of points (cells, pits) of the board.
    pub points: usize,
    /// Height and width of the lattice that the board is laid on.
    pub lattice: [usize; 2],
    /// Lattice cell (`row * width + column`) of each point; cells that are no point stay zero.
    pub cells: Vec<u16>,
    /// The lines of the board: for each direction, the next point in it from every point, `None` where the line ends.
    /// Going on in one direction follows one line of the board, a ring round and round; no two points have the same
    /// next point in a direction, and none is its own. Symmetries keep the lines, though they may turn their
    /// directions. Empty where the points lie on no lines.
    pub directions: Vec<Vec<Option<u16>>>,
    /// Names of the planes that hold a number per point.
    pub point_planes: Vec<String>,
    /// Names of the planes that are constant over the board.
    pub scalars: Vec<String>,
    /// Number of actions.
    pub actions: usize,
    /// The blocks that the actions are numbered in: names, and how many actions each has.
    pub blocks: Vec<(&'static str, usize)>,
    /// The board's symmetries, the identity first.
    pub symmetries: Vec<Symmetry>,
    /// Where the players act on different points (Mancala): for each action, the action that it becomes when the board
    /// is turned so that the second player sits in the first player's place. `None` where both act on the same points.
    pub second_player_map: Option<Vec<u16>>,
}

impl Spec {
    /// Greatest size of a feature, far above what a network can learn from: good ones are around 1.
    pub const MAX_FEATURE: f32 = 1e6;

    /// Length of a feature vector.
    #[must_use]
    pub fn features(&self) -> usize {
        self.point_planes.len() * self.points + self.scalars.len()
    }

    /// Number of planes of the full tensor.
    #[must_use]
    pub fn planes(&self) -> usize {
        self.point_planes.len() + self.scalars.len()
    }

    /// Length of the full tensor `[planes, height, width]`.
    #[must_use]
    pub fn tensor_len(&self) -> usize {
        self.planes() * self.lattice[0] * self.lattice[1]
    }

    /// The action's index in a policy vector, which is seen by the mover as the features are: the two players' sides
    /// of a turned board share their indices. Its own inverse.
    #[must_use]
    pub fn policy_index(&self, mover: Side, action: Action) -> usize {
        match (&self.second_player_map, mover) {
            (Some(turned), Side::Second) => turned[action.index()] as usize,
            _ => action.index(),
        }
    }

    /// Spreads a feature vector over the full tensor `[planes, height, width]`.
    ///
    /// # Panics
    /// If the slices do not have the lengths [`Spec::features`] and [`Spec::tensor_len`].
    pub fn expand(&self, features: &[f32], tensor: &mut [f32]) {
        assert_eq!(features.len(), self.features(), "feature vector length");
        assert_eq!(tensor.len(), self.tensor_len(), "observation tensor length");
        let area = self.lattice[0] * self.lattice[1];
        let (per_point, scalars) = features.split_at(self.point_planes.len() * self.points);
        let (point_planes, scalar_planes) = tensor.split_at_mut(self.point_planes.len() * area);
        point_planes.fill(0.0);
        for (plane, values) in point_planes.chunks_exact_mut(area).zip(per_point.chunks_exact(self.points)) {
            for (&cell, &value) in self.cells.iter().zip(values) {
                plane[cell as usize] = value;
            }
        }
        for (plane, &value) in scalar_planes.chunks_exact_mut(area).zip(scalars) {
            plane.fill(value);
        }
    }
}

/// A two-player, zero-sum game of perfect information. The value holds the game's parameters, its [`Game::State`] the
/// position.
pub trait Game: Clone + Debug + Send + Sync + 'static {
    /// The name in commands, configs and checkpoints.
    const NAME: &'static str;

    /// Raised when rules, action indices or planes change meaning; old replays and checkpoints are refused by it.
    const VERSION: u32;

    /// Names of the parameters of [`Game::with_params`].
    const PARAMS: &'static [&'static str];

    /// Those of [`Game::PARAMS`] that end a game after a number of plies; 0 switches each of them off. Exact values are
    /// those of the game without such limits ([`without_limits`]).
    const PLY_LIMITS: &'static [&'static str] = &[];

    /// Whether games can end in a draw. Proofs in a search of a game without draws take half the work.
    const DRAWS: bool = true;

    /// All that decides the future and nothing else: equal states have equal futures. Small enough to copy instead of
    /// undoing plies.
    type State: Copy + Eq + Hash + Debug + Send + Sync + 'static;

    /// The game with these parameters; absent ones take their defaults.
    ///
    /// # Errors
    /// An unknown key or a value out of its range.
    fn with_params(params: &Params) -> Result<Self, Error>;

    /// All parameters with their values in force.
    fn params(&self) -> Params;

    /// Names and shapes of planes, number of actions, symmetries.
    fn spec(&self) -> Spec;

    /// The starting state.
    fn start(&self) -> Self::State;

    /// Whose turn it is. It may stay the same after a ply. In a finished game, whose turn it would be.
    fn mover(&self, state: &Self::State) -> Side;

    /// Fills `out` with the legal actions in increasing order; it is empty exactly when the game is over.
    fn legal(&self, state: &Self::State, out: &mut ActionList);

    /// The actions of [`Game::legal`] as a set, action `a` at bit `a`, or `None`, in every state, where the game does not
    /// offer it. Worth offering where there are at most 64 actions and the rules work on sets: vectorised environments
    /// then need no lists.
    #[inline]
    fn legal_set(&self, _state: &Self::State) -> Option<u64> {
        None
    }

    /// Plays a legal action. It trusts its caller; [`try_play`] and [`crate::gym::Env`] check.
    fn play(&self, state: &mut Self::State, action: Action);

    /// How the game ended, `None` while it runs.
    fn outcome(&self, state: &Self::State) -> Option<Outcome>;

    /// The value for the first side that a running game will end with, whatever is played, where the position shows it: as
    /// when most of the stones are in one store. `None` says nothing about the value. Proofs in a search end there.
    #[inline]
    fn decided(&self, _state: &Self::State) -> Option<i8> {
        None
    }

    /// Writes the feature vector (see [`Spec`]), `[features]` long, as seen by the mover. Every entry is written and at
    /// most [`Spec::MAX_FEATURE`] in size, and together they decide the legal actions as [`Spec::policy_index`] numbers
    /// them.
    fn observe(&self, state: &Self::State, features: &mut [f32]);

    /// The state with its board mapped by a symmetry of the game.
    fn permuted(&self, state: &Self::State, symmetry: &Symmetry) -> Self::State;

    /// The part of the game that the position belongs to: `opening`, `midgame` or `endgame`, as its sheet defines them.
    /// For reports only.
    fn phase(&self, _state: &Self::State) -> &'static str {
        "midgame"
    }

    /// The position as if it had just come up: counters that truncate a game by a limit are set back. Exact values
    /// ignore these limits, so this is the position that they speak of.
    fn without_counters(&self, state: &Self::State) -> Self::State {
        *state
    }

    /// The action's text.
    fn action_text(&self, action: Action) -> String;

    /// The action that a text names; that it is legal is not checked.
    ///
    /// # Errors
    /// The text names no action of this game.
    fn parse_action(&self, text: &str) -> Result<Action, Error>;

    /// The state's text.
    fn position_text(&self, state: &Self::State) -> String;

    /// The state that a text describes.
    ///
    /// # Errors
    /// The text is malformed or describes an impossible position.
    fn parse_position(&self, text: &str) -> Result<Self::State, Error>;

    /// The board drawn as text, several lines, for a person to read.
    fn draw(&self, state: &Self::State) -> String;

    /// The board drawn as text from the second player's side; by default the same as [`Game::draw`].
    fn draw_flipped(&self, state: &Self::State) -> String {
        self.draw(state)
    }

    /// What belongs to each player in the text drawings: `●`, or a letter and a colour as in `W, White`; empty by
    /// default.
    fn belongings(&self) -> [String; 2] {
        Default::default()
    }

    /// The board drawn as an SVG document, with the cells that `last` concerned marked. By default the lattice's cells
    /// with the stones on them, if the first two planes of points are `own ...` and `opponent's ...`, else
    /// [`Game::draw`] in a frame.
    fn draw_svg(&self, state: &Self::State, last: Option<Action>) -> String {
        let _ = last;
        let Some(stones) = stones(self, state) else { return svg::text_board(Self::NAME, &self.draw(state)) };
        let spec = self.spec();
        let title = format!("{}: {}", Self::NAME, self.position_text(state));
        let caption = svg::status(self.outcome(state), self.mover(state), self.side_names());
        cell_board::draw(&title, spec.lattice, &spec.cells, &stones, &caption)
    }

    /// Where [`Game::draw_svg`] draws the points of the board, in the order of [`Spec`]'s points as the first player
    /// sees them. The places are the same in every position. By default those of the default drawing; empty where a
    /// drawing shows no points.
    fn board_points(&self) -> Vec<BoardPoint> {
        let spec = self.spec();
        if planes_show_stones(&spec) { cell_board::board_points(spec.lattice[1], &spec.cells) } else { Vec::new() }
    }

    /// The players' names, that of the first side first.
    fn side_names(&self) -> [&'static str; 2] {
        ["player 1", "player 2"]
    }

    /// The side whose stones are dark in the drawing.
    fn dark_side(&self) -> Side {
        Side::First
    }

    /// What is on each point in a few words, for screen readers. By default whose piece it is, where the first two
    /// planes of points are `own ...` and `opponent's ...`, else nothing.
    fn point_contents(&self, state: &Self::State) -> Vec<String> {
        let names = self.side_names();
        let words = |stone: Option<Side>| stone.map_or("empty", |side| names[side.index()]).to_owned();
        match stones(self, state) {
            Some(stones) => stones.into_iter().map(words).collect(),
            None => vec![String::new(); self.spec().points],
        }
    }

    /// The points to click, in order, to play a legal action: one for a placement or a removal, two for a move. Points
    /// are numbered as in [`Game::board_points`]. Among the legal actions of a state no two lists are equal and none
    /// begins with another. Empty for an action that is not played on the board; it is chosen by its text.
    ///
    /// The default follows the blocks of actions: one click in a block with as many actions as points, two in a block
    /// with an action for every ordered pair of points, or of different points.
    fn clicks(&self, state: &Self::State, action: Action) -> Vec<usize> {
        let _ = state;
        let spec = self.spec();
        let (points, mut index) = (spec.points, action.index());
        for (_, length) in spec.blocks {
            if index >= length {
                index -= length;
            } else if length == points {
                return vec![index];
            } else if length == points * points {
                return vec![index / points, index % points];
            } else if length == points * (points - 1) {
                let (from, rest) = (index / (points - 1), index % (points - 1));
                return vec![from, rest + usize::from(rest >= from)];
            } else {
                break;
            }
        }
        Vec::new()
    }

    /// Lines of pieces to emphasise on the board: the closed mills, four in a row.
    fn formed_lines(&self, _state: &Self::State) -> Vec<Vec<usize>> {
        Vec::new()
    }
}

/// Whether the first two planes of points are the players' pieces.
fn planes_show_stones(spec: &Spec) -> bool {
    let [own, opponents, ..] = &spec.point_planes[..] else { return false };
    own.starts_with("own ") && opponents.starts_with("opponent's ")
}

/// Whose piece is on each point, if the first two planes of points show it.
fn stones<G: Game>(game: &G, state: &G::State) -> Option<Vec<Option<Side>>> {
    let spec = game.spec();
    if !planes_show_stones(&spec) {
        return None;
    }
    let mut features = vec![0.0; spec.features()];
    game.observe(state, &mut features);
    let mover = game.mover(state);
    let stone = |point: usize| match [features[point], features[spec.points + point]] {
        [1.0, _] => Some(mover),
        [_, 1.0] => Some(mover.other()),
        _ => None,
    };
    Some((0..spec.points).map(stone).collect())
}

/// The same game without limits on its plies ([`Game::PLY_LIMITS`]).
///
/// # Errors
/// A parameter of the list is unknown to the game or cannot be 0, which the conformance suite rules out.
pub fn without_limits<G: Game>(game: &G) -> Result<G, Error> {
    let mut params = game.params();
    for limit in G::PLY_LIMITS {
        params.set(*limit, 0);
    }
    G::with_params(&params)
}

/// Plays an action after checking that it is legal.
///
/// # Errors
/// The game is over, or the action is illegal: then the legal ones are named and the state is unchanged.
pub fn try_play<G: Game>(game: &G, state: &mut G::State, action: Action) -> Result<(), Error> {
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    if legal.contains(action) {
        game.play(state, action);
        return Ok(());
    }
    let text = if action.index() < game.spec().actions { game.action_text(action) } else { action.0.to_string() };
    if game.outcome(state).is_some() {
        return Err(Error::GameOver { action: text });
    }
    let legal: Vec<String> = legal.iter().map(|&a| game.action_text(a)).collect();
    Err(Error::Illegal { action: text, legal: legal.join(" ") })
}

/// Plays actions given as text, separated by white space, and returns the actions.
///
/// # Errors
/// The first action that is malformed or illegal; the state is then unchanged.
pub fn play_text<G: Game>(game: &G, state: &mut G::State, moves: &str) -> Result<Vec<Action>, Error> {
    let mut after = *state;
    let mut actions = Vec::new();
    for text in moves.split_whitespace() {
        let action = game.parse_action(text)?;
        try_play(game, &mut after, action)?;
        actions.push(action);
    }
    *state = after;
    Ok(actions)
}
