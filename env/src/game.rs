//! What a game is: the [`Game`] trait.

use std::fmt::Debug;
use std::hash::Hash;

use crate::action::{Action, ActionList};
use crate::error::Error;
use crate::outcome::Outcome;
use crate::params::Params;
use crate::side::Side;
use crate::spec::Spec;
use crate::svg::{self, BoardPoint, CellBoard};
use crate::symmetry::Symmetry;

/// A two-player, zero-sum game of perfect information. The value holds the game's parameters, its [`Game::State`] the
/// position.
pub trait Game: Clone + Debug + Send + Sync + 'static {
    /// The name in commands, configs and checkpoints. Empty if the values of the type are different games, whose names and
    /// versions are in [`Spec`] alone, as those are whose rules are written in another language.
    const NAME: &'static str;

    /// Raised when rules, action indices or planes change meaning; old replays and checkpoints are refused by it.
    const VERSION: u32;

    /// Names of the parameters of [`Game::with_params`]; none by default.
    const PARAMS: &'static [&'static str] = &[];

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

    /// The same game with these parameters: [`Game::with_params`], unless the values of the type are different games.
    ///
    /// # Errors
    /// As [`Game::with_params`].
    fn remade(&self, params: &Params) -> Result<Self, Error> {
        Self::with_params(params)
    }

    /// All parameters with their values in force; none by default.
    fn params(&self) -> Params {
        Params::new()
    }

    /// Names and shapes of planes, number of actions, symmetries. Some default methods call it once per position or action,
    /// so it has to be cheap: at most some microseconds. One that takes longer to compute is kept in the game and
    /// cloned.
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

    /// The number of actions of [`Game::legal`], or `None`, in every state, where the game counts no faster than it lists.
    /// Proofs in a search count the actions of every position that they meet.
    #[inline]
    fn legal_count(&self, state: &Self::State) -> Option<u32> {
        self.legal_set(state).map(u64::count_ones)
    }

    /// Plays a legal action. It trusts its caller; [`try_play`] and [`Env`](crate::Env) check.
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

    /// Writes the feature vectors of several states, `[states, features]`: [`Game::observe`] for each, unless the rules can
    /// do better with many at once.
    fn observe_many(&self, states: &[Self::State], features: &mut [f32]) {
        let length = features.len() / states.len().max(1);
        for (state, row) in states.iter().zip(features.chunks_exact_mut(length.max(1))) {
            self.observe(state, row);
        }
    }

    /// Called with the actions that are about to be played in many games, whose new states are then observed. Rules that
    /// answer faster for many states at once can compute the answers now and keep them.
    #[inline]
    fn expect_plays<'a>(&self, _plays: impl Iterator<Item = (&'a Self::State, Action)>) {}

    /// The state with its board mapped by a symmetry of the game. The default is right where [`Spec::symmetries`] has the
    /// identity only.
    fn permuted(&self, state: &Self::State, symmetry: &Symmetry) -> Self::State {
        let _ = symmetry;
        *state
    }

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

    /// The action that a text names; that it is legal is not checked. The default compares the text with that of every
    /// action.
    ///
    /// # Errors
    /// The text names no action of this game.
    fn parse_action(&self, text: &str) -> Result<Action, Error> {
        let mut actions = (0..self.spec().actions as u16).map(Action);
        let found = actions.find(|&action| self.action_text(action) == text);
        found.ok_or_else(|| Error::action(text, format!("{} has no such action", Self::NAME)))
    }

    /// The action's text in a position: [`Game::action_text`] unless it depends on the position, as where actions are
    /// numbered from the mover's side of the board and the text names points of the board. Of legal actions no two may have
    /// the same text. Records, protocols and people see this text; [`Game::action_text`] names actions where there is
    /// no position, in lists of all of them.
    fn action_text_in(&self, state: &Self::State, action: Action) -> String {
        let _ = state;
        self.action_text(action)
    }

    /// The action that a text names in a position, the inverse of [`Game::action_text_in`]; that it is legal is not checked.
    /// By default what [`Game::parse_action`] says, unless it is another action that has the text in this position.
    ///
    /// # Errors
    /// The text names no action of this game.
    fn parse_action_in(&self, state: &Self::State, text: &str) -> Result<Action, Error> {
        let parsed = self.parse_action(text);
        let means = |action: &Action| self.action_text_in(state, *action) == text;
        if parsed.as_ref().is_ok_and(means) {
            return parsed;
        }
        let mut actions = (0..self.spec().actions as u16).map(Action);
        actions.find(means).map_or(parsed, Ok)
    }

    /// The state's text.
    fn position_text(&self, state: &Self::State) -> String;

    /// The state that a text describes.
    ///
    /// # Errors
    /// The text is malformed or describes an impossible position.
    fn parse_position(&self, text: &str) -> Result<Self::State, Error>;

    /// The board drawn as text, several lines, for a person to read. By default the lattice with [`Game::pieces`], `X`
    /// those of player 1 and `O` those of player 2, or else [`Game::position_text`].
    fn draw(&self, state: &Self::State) -> String {
        match self.pieces(state) {
            Some(pieces) => cell_board(self, &pieces).text(),
            None => self.position_text(state) + "\n",
        }
    }

    /// What belongs to each player in the text drawings: `●`, or a letter and a colour as in `W, White`; empty by
    /// default.
    fn belongings(&self) -> [String; 2] {
        Default::default()
    }

    /// Whose piece is on each point of the board as the first player sees it, for the default drawings and
    /// [`Game::point_contents`]; `None` if the board does not consist of the players' pieces.
    ///
    /// By default as the first two planes of points have it, if they are `own ...` and `opponent's ...`. **A game that turns
    /// the board for the second player in [`Game::observe`] has to implement it**: the default would show every second
    /// position upside down, which the conformance suite finds.
    fn pieces(&self, state: &Self::State) -> Option<Vec<Option<Side>>> {
        let spec = self.spec();
        if !planes_show_pieces(&spec) {
            return None;
        }
        let mut features = vec![0.0; spec.features()];
        self.observe(state, &mut features);
        let mover = self.mover(state);
        let piece = |point: usize| match [features[point], features[spec.points + point]] {
            [1.0, _] => Some(mover),
            [_, 1.0] => Some(mover.other()),
            _ => None,
        };
        Some((0..spec.points).map(piece).collect())
    }

    /// The board drawn as an SVG document, with the cells marked that `last`, the action that led to the state, concerned.
    /// By default a [`CellBoard`]: the lattice's cells with [`Game::pieces`] on them, [`Game::marked`]
    /// points, columns named by letters and rows by numbers from the bottom; or else [`Game::draw`] in a frame.
    fn draw_svg(&self, state: &Self::State, last: Option<Action>) -> String {
        let Some(pieces) = self.pieces(state) else { return svg::text_board(Self::NAME, &self.draw(state)) };
        let title = format!("{}: {}", Self::NAME, self.position_text(state));
        let caption = svg::status(self.outcome(state), self.mover(state), self.side_names());
        let marked = last.map(|action| self.marked(state, action)).unwrap_or_default();
        CellBoard { title: &title, marked: &marked, caption: &caption, ..cell_board(self, &pieces) }.draw()
    }

    /// Where [`Game::draw_svg`] draws the points of the board, in the order of [`Spec`]'s points as the first player
    /// sees them. The places are the same in every position. By default those of the default drawing; empty where a
    /// drawing shows no points.
    fn board_points(&self) -> Vec<BoardPoint> {
        match self.pieces(&self.start()) {
            Some(pieces) => cell_board(self, &pieces).board_points(),
            None => Vec::new(),
        }
    }

    /// The players' names, that of the first side first.
    fn side_names(&self) -> [&'static str; 2] {
        ["player 1", "player 2"]
    }

    /// The side whose stones are dark in the drawing.
    fn dark_side(&self) -> Side {
        Side::First
    }

    /// What is on each point in a few words, for screen readers. By default whose piece it is by [`Game::pieces`], else
    /// nothing.
    fn point_contents(&self, state: &Self::State) -> Vec<String> {
        let names = self.side_names();
        let words = |piece: Option<Side>| piece.map_or("empty", |side| names[side.index()]).to_owned();
        match self.pieces(state) {
            Some(pieces) => pieces.into_iter().map(words).collect(),
            None => vec![String::new(); self.spec().points],
        }
    }

    /// The points to click, in order, to play a legal action: one for a placement or a removal, two for a move. Points
    /// are numbered as in [`Game::board_points`]. Among the legal actions of a state no two lists are equal and none
    /// begins with another. Empty for an action that is not played on the board; it is chosen by its text.
    ///
    /// By default [`Spec::points_of`].
    fn clicks(&self, state: &Self::State, action: Action) -> Vec<usize> {
        let _ = state;
        self.spec().points_of(action)
    }

    /// The points that the action concerned that led to the state, which the default drawing marks. The default follows the
    /// blocks of actions, as that of [`Game::clicks`].
    fn marked(&self, state: &Self::State, last: Action) -> Vec<usize> {
        let _ = state;
        self.spec().points_of(last)
    }

    /// Lines of pieces to emphasise on the board: the closed mills, four in a row.
    fn formed_lines(&self, _state: &Self::State) -> Vec<Vec<usize>> {
        Vec::new()
    }
}

/// Whether the first two planes of points are the players' pieces.
fn planes_show_pieces(spec: &Spec) -> bool {
    let [own, opponents, ..] = &spec.point_planes[..] else { return false };
    own.starts_with("own ") && opponents.starts_with("opponent's ")
}

/// The default drawing with these pieces.
fn cell_board<'a, G: Game>(game: &G, pieces: &'a [Option<Side>]) -> CellBoard<'a> {
    let spec = game.spec();
    CellBoard {
        lattice: spec.lattice,
        cells: spec.cells.into(),
        pieces,
        dark: game.dark_side(),
        ..CellBoard::default()
    }
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
    game.remade(&params)
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
    let text =
        if action.index() < game.spec().actions { game.action_text_in(state, action) } else { action.0.to_string() };
    if game.outcome(state).is_some() {
        return Err(Error::GameOver { action: text });
    }
    let legal: Vec<String> = legal.iter().map(|&a| game.action_text_in(state, a)).collect();
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
        let action = game.parse_action_in(&after, text)?;
        try_play(game, &mut after, action)?;
        actions.push(action);
    }
    *state = after;
    Ok(actions)
}
