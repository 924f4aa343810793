//! Games behind one object-safe trait, for code that is compiled once and not once per game.
//!
//! Search, self-play and solvers are generic over [`Rules`](crate::Rules). Everything around them (arena, protocols, commands, reports)
//! talks to a [`DynGame`], whose positions are [`AnyState`]s. [`Erased`] turns the one into the other.

use std::any::Any;
use std::fmt::{self, Debug};
use std::marker::PhantomData;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::action::{Action, ActionList};
use crate::any_state::AnyState;
use crate::board::Board;
use crate::error::Error;
#[cfg(not(target_family = "wasm"))]
use crate::game_batch::{AutoReset, BatchOf, GameBatch};
use crate::notation::Notation;
use crate::outcome::Outcome;
use crate::params::Params;
use crate::perft::perft;
use crate::playout::playout;
use crate::side::Side;
use crate::spec::Spec;

/// A game of any type. Its methods are those of [`Rules`](crate::Rules) and [`Notation`], with [`AnyState`] for the state.
///
/// # Panics
/// Every method that takes a state panics if the state belongs to another game.
pub trait DynGame: Debug + Send + Sync {
    /// The game's name, [`Spec::name`].
    fn name(&self) -> &'static str {
        self.spec().name
    }

    /// The version of its rules, [`Spec::version`].
    fn version(&self) -> u32 {
        self.spec().version
    }

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

    /// The action's text in a position, as files, protocols and programs see it.
    fn action_text(&self, state: &AnyState, action: Action) -> String;

    /// The action's text as people see it.
    fn display_text(&self, state: &AnyState, action: Action) -> String;

    /// The action that either text names in a position; that it is legal is not checked.
    ///
    /// # Errors
    /// The text names no action of this game.
    fn parse_action(&self, state: &AnyState, text: &str) -> Result<Action, Error>;

    /// The state's text.
    fn position_text(&self, state: &AnyState) -> String;

    /// The state that a text describes.
    ///
    /// # Errors
    /// The text is malformed or describes an impossible position.
    fn parse_position(&self, text: &str) -> Result<AnyState, Error>;

    /// The board of a position. `last` is the position before it and the action that was played there.
    fn board(&self, state: &AnyState, last: Option<(&AnyState, Action)>) -> Board;

    /// The points to click, in order, to play a legal action; empty if it is not played on the board.
    fn clicks(&self, state: &AnyState, action: Action) -> Vec<usize>;

    /// The board drawn as an SVG document, with the position as its title.
    fn draw_svg(&self, state: &AnyState, last: Option<(&AnyState, Action)>) -> String {
        self.board(state, last).svg(&format!("{}: {}", self.name(), self.position_text(state)))
    }

    /// Number of sequences of exactly `depth` plies from `state`.
    fn perft(&self, state: &AnyState, depth: u32) -> u64;

    /// Plays uniformly random legal actions from the start, and returns the outcome and the number of plies.
    fn playout(&self, rng: &mut Xoshiro256PlusPlus) -> (Outcome, u64);

    /// Many games that write into buffers of their caller, stepped by up to `threads` threads. Not on WebAssembly, where it
    /// would add a tenth to the page's module, which does not step games in batches.
    ///
    /// # Panics
    /// If `envs` is 0.
    #[cfg(not(target_family = "wasm"))]
    fn game_batch(&self, envs: usize, threads: usize, auto_reset: AutoReset) -> Box<dyn GameBatch>;

    /// The image of a position under the symmetry of this index in [`Spec::symmetries`].
    ///
    /// # Panics
    /// If there is no such symmetry.
    fn permuted(&self, state: &AnyState, symmetry: usize) -> AnyState;

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

    /// Plays an action that a person has typed, in either notation, and returns it.
    ///
    /// # Errors
    /// The text is no action, or the action is illegal: then the legal ones are named as people see them. The state is then
    /// unchanged.
    fn play_typed(&self, state: &mut AnyState, text: &str) -> Result<Action, Error> {
        let action = self.parse_action(state, text)?;
        self.try_play(state, action).map_err(|error| match error {
            Error::Illegal { .. } => {
                Error::Illegal { action: self.display_text(state, action), legal: self.legal_display(state).join(" ") }
            }
            Error::GameOver { .. } => Error::GameOver { action: self.display_text(state, action) },
            other => other,
        })?;
        Ok(action)
    }

    /// The texts of the legal actions.
    fn legal_texts(&self, state: &AnyState) -> Vec<String> {
        self.legal_actions(state).iter().map(|&action| self.action_text(state, action)).collect()
    }

    /// The texts of the legal actions as people see them.
    fn legal_display(&self, state: &AnyState) -> Vec<String> {
        self.legal_actions(state).iter().map(|&action| self.display_text(state, action)).collect()
    }

    /// The texts of legal actions that are played one after another from a position.
    fn line_texts(&self, state: &AnyState, line: &[Action]) -> Vec<String> {
        let mut state = state.clone();
        let texts = line.iter().map(|&action| {
            let text = self.action_text(&state, action);
            self.play(&mut state, action);
            text
        });
        texts.collect()
    }

    /// The same as people see them.
    fn line_display(&self, state: &AnyState, line: &[Action]) -> Vec<String> {
        let mut state = state.clone();
        let texts = line.iter().map(|&action| {
            let text = self.display_text(&state, action);
            self.play(&mut state, action);
            text
        });
        texts.collect()
    }

    /// A side with its letter in text drawings and its name, as in `player 1 (X, dark)`.
    fn side_label(&self, side: Side) -> String {
        let (name, number) = (self.spec().sides[side.index()], side.to_string());
        let letter = self.board(&self.start(), None).letter(side).map(String::from);
        let others = letter.as_deref().into_iter().chain(Some(name).filter(|name| !name.starts_with(&number)));
        match others.collect::<Vec<_>>()[..] {
            [] => name.to_owned(),
            ref others => format!("{number} ({})", others.join(", ")),
        }
    }

    /// The legal actions in increasing order.
    fn legal_actions(&self, state: &AnyState) -> ActionList {
        let mut legal = ActionList::new();
        self.legal(state, &mut legal);
        legal
    }
}

/// A game of a known type as a [`DynGame`]. `K` is a type for what other crates know about the game; they implement their
/// own traits for `Erased<G, K>`.
pub struct Erased<G: Notation, K = ()> {
    game: G,
    spec: Spec,
    knowledge: PhantomData<fn() -> K>,
}

impl<G: Notation> Erased<G> {
    /// Wraps a game.
    #[must_use]
    pub fn new(game: G) -> Self {
        Self::with_knowledge(game)
    }
}

impl<G: Notation, K> Erased<G, K> {
    /// Wraps a game together with what is known about it: `Erased::<_, K>::with_knowledge(game)`.
    #[must_use]
    pub fn with_knowledge(game: G) -> Self {
        Self { spec: game.spec(), game, knowledge: PhantomData }
    }

    /// The game itself.
    #[must_use]
    pub fn game(&self) -> &G {
        &self.game
    }
}

impl<G: Notation, K> Clone for Erased<G, K> {
    fn clone(&self) -> Self {
        Self { game: self.game.clone(), spec: self.spec.clone(), knowledge: PhantomData }
    }
}

impl<G: Notation, K> Debug for Erased<G, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Erased").field("game", &self.game).field("spec", &self.spec).finish()
    }
}

impl<G: Notation, K: 'static> DynGame for Erased<G, K> {
    fn params(&self) -> Params {
        self.game.params()
    }

    fn default_params(&self) -> Params {
        self.game.with_params(&Params::new()).expect("the defaults are valid").params()
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

    fn action_text(&self, state: &AnyState, action: Action) -> String {
        self.game.action_text(state.of(), action)
    }

    fn display_text(&self, state: &AnyState, action: Action) -> String {
        self.game.display_text(state.of(), action)
    }

    fn parse_action(&self, state: &AnyState, text: &str) -> Result<Action, Error> {
        self.game.parse_action(state.of(), text)
    }

    fn position_text(&self, state: &AnyState) -> String {
        self.game.position_text(state.of())
    }

    fn parse_position(&self, text: &str) -> Result<AnyState, Error> {
        self.game.parse_position(text).map(AnyState::new)
    }

    fn board(&self, state: &AnyState, last: Option<(&AnyState, Action)>) -> Board {
        self.game.board(state.of(), last.map(|(before, action)| (before.of(), action)))
    }

    fn clicks(&self, state: &AnyState, action: Action) -> Vec<usize> {
        crate::notation::clicks(&self.game, state.of(), action)
    }

    fn perft(&self, state: &AnyState, depth: u32) -> u64 {
        perft(&self.game, state.of(), depth)
    }

    fn playout(&self, rng: &mut Xoshiro256PlusPlus) -> (Outcome, u64) {
        playout(&self.game, &mut self.game.start(), &mut ActionList::new(), rng)
    }

    #[cfg(not(target_family = "wasm"))]
    fn game_batch(&self, envs: usize, threads: usize, auto_reset: AutoReset) -> Box<dyn GameBatch> {
        Box::new(BatchOf::new(self.game.clone(), envs, threads, auto_reset))
    }

    fn permuted(&self, state: &AnyState, symmetry: usize) -> AnyState {
        AnyState::new(self.game.permuted(state.of(), &self.spec.symmetries[symmetry]))
    }

    fn inner(&self) -> &dyn Any {
        &self.game
    }

    fn try_play(&self, state: &mut AnyState, action: Action) -> Result<(), Error> {
        crate::notation::try_play(&self.game, state.of_mut(), action)
    }

    fn play_text(&self, state: &mut AnyState, moves: &str) -> Result<Vec<Action>, Error> {
        crate::notation::play_text(&self.game, state.of_mut(), moves)
    }
}
