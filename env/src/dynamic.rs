//! Games behind one object-safe trait, for code that is compiled once and not once per game.
//!
//! Search, self-play and solvers are generic over [`Game`]. Everything around them (arena, protocols, commands, reports)
//! talks to a [`DynGame`], whose positions are [`AnyState`]s. [`Erased`] turns the one into the other, and [`Games`] is a
//! list of games by name to which a program may add its own.

use std::any::Any;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::action::{Action, ActionList};
use crate::error::{Error, nearest};
use crate::game::{Game, Spec};
use crate::gym::{AnyEnv, AnyVecEnv, Env, VecEnv};
use crate::outcome::Outcome;
use crate::params::Params;
use crate::perft::perft;
use crate::playout::playout;
use crate::side::Side;

/// A position of some game. Two states are equal if they are of the same game and equal there.
pub struct AnyState(Box<dyn ErasedState>);

impl AnyState {
    /// Boxes a state.
    #[must_use]
    pub fn new<S: Copy + Eq + Hash + Debug + Send + Sync + 'static>(state: S) -> Self {
        Self(Box::new(state))
    }

    /// The state itself.
    ///
    /// # Panics
    /// If it is a state of another type: states must not be mixed between games.
    #[must_use]
    pub fn of<S: 'static>(&self) -> &S {
        self.0.as_any().downcast_ref().expect("a state belongs to the game that made it")
    }

    /// The state itself, to be changed.
    ///
    /// # Panics
    /// As [`AnyState::of`].
    pub fn of_mut<S: 'static>(&mut self) -> &mut S {
        self.0.as_any_mut().downcast_mut().expect("a state belongs to the game that made it")
    }
}

impl Clone for AnyState {
    fn clone(&self) -> Self {
        Self(self.0.boxed_clone())
    }
}

impl PartialEq for AnyState {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(&*other.0)
    }
}

impl Eq for AnyState {}

impl Hash for AnyState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash_into(hasher);
    }
}

impl Debug for AnyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

trait ErasedState: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn boxed_clone(&self) -> Box<dyn ErasedState>;
    fn equals(&self, other: &dyn ErasedState) -> bool;
    fn hash_into(&self, hasher: &mut dyn Hasher);
}

impl<S: Copy + Eq + Hash + Debug + Send + Sync + 'static> ErasedState for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn ErasedState> {
        Box::new(*self)
    }

    fn equals(&self, other: &dyn ErasedState) -> bool {
        other.as_any().downcast_ref::<S>() == Some(self)
    }

    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

/// A [`Game`] of any type. Its methods are those of [`Game`], with [`AnyState`] for the state.
///
/// # Panics
/// Every method that takes a state panics if the state is of another game.
pub trait DynGame: Debug + Send + Sync {
    /// [`Game::NAME`].
    fn name(&self) -> &'static str;

    /// [`Game::VERSION`].
    fn version(&self) -> u32;

    /// All parameters with their values in force.
    fn params(&self) -> Params;

    /// All parameters with their default values.
    fn default_params(&self) -> Params;

    /// Names and shapes of planes, number of actions, symmetries.
    fn spec(&self) -> &Spec;

    /// Bytes of a state in memory.
    fn state_bytes(&self) -> usize;

    /// The starting state.
    fn start(&self) -> AnyState;

    /// Whose turn it is, or would be if the game is over.
    fn mover(&self, state: &AnyState) -> Side;

    /// Fills `out` with the legal actions in increasing order; empty exactly when the game is over.
    fn legal(&self, state: &AnyState, out: &mut ActionList);

    /// Plays a legal action without checking it; see [`DynGame::try_play`].
    fn play(&self, state: &mut AnyState, action: Action);

    /// How the game ended, `None` while it runs.
    fn outcome(&self, state: &AnyState) -> Option<Outcome>;

    /// Writes the feature vector, `[features]` long, as seen by the mover.
    fn observe(&self, state: &AnyState, features: &mut [f32]);

    /// `opening`, `midgame` or `endgame`.
    fn phase(&self, state: &AnyState) -> &'static str;

    /// The position with the counters of its ply limits at 0.
    fn without_counters(&self, state: &AnyState) -> AnyState;

    /// The action's text.
    fn action_text(&self, action: Action) -> String;

    /// The action that a text names; that it is legal is not checked.
    ///
    /// # Errors
    /// The text names no action of this game.
    fn parse_action(&self, text: &str) -> Result<Action, Error>;

    /// The state's text.
    fn position_text(&self, state: &AnyState) -> String;

    /// The state that a text describes.
    ///
    /// # Errors
    /// The text is malformed or describes an impossible position.
    fn parse_position(&self, text: &str) -> Result<AnyState, Error>;

    /// The board drawn as text.
    fn draw(&self, state: &AnyState) -> String;

    /// The board drawn as an SVG document, with the cells that `last` concerned marked.
    fn draw_svg(&self, state: &AnyState, last: Option<Action>) -> String;

    /// Number of sequences of exactly `depth` plies from `state`.
    fn perft(&self, state: &AnyState, depth: u32) -> u64;

    /// Plays uniformly random legal actions from the start, and returns the outcome and the number of plies.
    fn playout(&self, rng: &mut Xoshiro256PlusPlus) -> (Outcome, u64);

    /// An environment of this game.
    fn env(&self) -> Box<dyn AnyEnv>;

    /// An environment of many games, stepped by up to `threads` threads.
    ///
    /// # Panics
    /// If `envs` is 0.
    fn vec_env(&self, envs: usize, threads: usize) -> Box<dyn AnyVecEnv>;

    /// The game itself, for code that knows its type: `game.inner().downcast_ref::<Mancala>()`.
    fn inner(&self) -> &dyn Any;

    /// Plays an action after checking that it is legal.
    ///
    /// # Errors
    /// The game is over, or the action is illegal: then the legal ones are named and the state is unchanged.
    fn try_play(&self, state: &mut AnyState, action: Action) -> Result<(), Error>;

    /// Plays actions given as text, separated by white space, and returns them.
    ///
    /// # Errors
    /// The first action that is malformed or illegal; the state is then unchanged.
    fn play_text(&self, state: &mut AnyState, moves: &str) -> Result<Vec<Action>, Error>;

    /// The legal actions in increasing order.
    fn legal_actions(&self, state: &AnyState) -> ActionList {
        let mut legal = ActionList::new();
        self.legal(state, &mut legal);
        legal
    }
}

/// A game of a known type as a [`DynGame`].
#[derive(Clone, Debug)]
pub struct Erased<G: Game> {
    game: G,
    spec: Spec,
}

impl<G: Game> Erased<G> {
    /// Wraps a game.
    #[must_use]
    pub fn new(game: G) -> Self {
        let spec = game.spec();
        Self { game, spec }
    }

    /// The game itself.
    #[must_use]
    pub fn game(&self) -> &G {
        &self.game
    }
}

impl<G: Game> DynGame for Erased<G> {
    fn name(&self) -> &'static str {
        G::NAME
    }

    fn version(&self) -> u32 {
        G::VERSION
    }

    fn params(&self) -> Params {
        self.game.params()
    }

    fn default_params(&self) -> Params {
        G::with_params(&Params::new()).expect("the defaults are valid").params()
    }

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn state_bytes(&self) -> usize {
        size_of::<G::State>()
    }

    fn start(&self) -> AnyState {
        AnyState::new(self.game.start())
    }

    fn mover(&self, state: &AnyState) -> Side {
        self.game.mover(state.of())
    }

    fn legal(&self, state: &AnyState, out: &mut ActionList) {
        self.game.legal(state.of(), out);
    }

    fn play(&self, state: &mut AnyState, action: Action) {
        self.game.play(state.of_mut(), action);
    }

    fn outcome(&self, state: &AnyState) -> Option<Outcome> {
        self.game.outcome(state.of())
    }

    fn observe(&self, state: &AnyState, features: &mut [f32]) {
        self.game.observe(state.of(), features);
    }

    fn phase(&self, state: &AnyState) -> &'static str {
        self.game.phase(state.of())
    }

    fn without_counters(&self, state: &AnyState) -> AnyState {
        AnyState::new(self.game.without_counters(state.of()))
    }

    fn action_text(&self, action: Action) -> String {
        self.game.action_text(action)
    }

    fn parse_action(&self, text: &str) -> Result<Action, Error> {
        self.game.parse_action(text)
    }

    fn position_text(&self, state: &AnyState) -> String {
        self.game.position_text(state.of())
    }

    fn parse_position(&self, text: &str) -> Result<AnyState, Error> {
        self.game.parse_position(text).map(AnyState::new)
    }

    fn draw(&self, state: &AnyState) -> String {
        self.game.draw(state.of())
    }

    fn draw_svg(&self, state: &AnyState, last: Option<Action>) -> String {
        self.game.draw_svg(state.of(), last)
    }

    fn perft(&self, state: &AnyState, depth: u32) -> u64 {
        perft(&self.game, state.of(), depth)
    }

    fn playout(&self, rng: &mut Xoshiro256PlusPlus) -> (Outcome, u64) {
        playout(&self.game, &mut self.game.start(), &mut ActionList::new(), rng)
    }

    fn env(&self) -> Box<dyn AnyEnv> {
        Box::new(Env::new(self.game.clone()))
    }

    fn vec_env(&self, envs: usize, threads: usize) -> Box<dyn AnyVecEnv> {
        Box::new(VecEnv::new(self.game.clone(), envs).with_threads(threads))
    }

    fn inner(&self) -> &dyn Any {
        &self.game
    }

    fn try_play(&self, state: &mut AnyState, action: Action) -> Result<(), Error> {
        crate::game::try_play(&self.game, state.of_mut(), action)
    }

    fn play_text(&self, state: &mut AnyState, moves: &str) -> Result<Vec<Action>, Error> {
        crate::game::play_text(&self.game, state.of_mut(), moves)
    }
}

/// A list of games by name, `T` being what a game is looked at as: [`dyn DynGame`](DynGame), or a trait of another crate
/// that adds to it.
pub struct Games<T: ?Sized> {
    rows: Vec<Row<T>>,
}

/// A game's row in a list: its name, and how it is made from its parameters.
pub struct Row<T: ?Sized> {
    /// The game's name.
    pub name: &'static str,
    /// Makes the game.
    pub make: fn(&Params) -> Result<Arc<T>, Error>,
}

impl<T: ?Sized> Clone for Row<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Row<T> {}

impl<T: ?Sized> Clone for Games<T> {
    fn clone(&self) -> Self {
        Self { rows: self.rows.clone() }
    }
}

impl<T: ?Sized> Debug for Games<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl<T: ?Sized> FromIterator<Row<T>> for Games<T> {
    fn from_iter<I: IntoIterator<Item = Row<T>>>(rows: I) -> Self {
        rows.into_iter().fold(Self { rows: Vec::new() }, Self::with)
    }
}

impl<T: ?Sized> Games<T> {
    /// The list with one more game. A game of the same name is replaced, so that a program can bring its own version.
    #[must_use]
    pub fn with(mut self, row: Row<T>) -> Self {
        match self.rows.iter_mut().find(|other| other.name == row.name) {
            Some(other) => *other = row,
            None => self.rows.push(row),
        }
        self
    }

    /// The names of the games, in the order of the list.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.rows.iter().map(|row| row.name)
    }

    /// The game of this name with these parameters; absent ones take their defaults.
    ///
    /// # Errors
    /// An unknown name or parameter, or a parameter value out of its range.
    pub fn make(&self, name: &str, params: &Params) -> Result<Arc<T>, Error> {
        match self.rows.iter().find(|row| row.name == name) {
            Some(row) => (row.make)(params),
            None => Err(Error::UnknownGame {
                name: crate::error::shortened(name),
                nearest: nearest(name, self.names()),
                known: self.names().collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// Every game of the list with its default parameters.
    pub fn defaults(&self) -> impl Iterator<Item = Arc<T>> + '_ {
        self.rows.iter().map(|row| (row.make)(&Params::new()).expect("the defaults are valid"))
    }
}

impl Row<dyn DynGame> {
    /// The row of a game.
    #[must_use]
    pub fn of<G: Game>() -> Self {
        Self { name: G::NAME, make: |params| Ok(Arc::new(Erased::new(G::with_params(params)?))) }
    }
}
