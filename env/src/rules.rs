//! What the rules of a game are: the [`Rules`] trait.

use std::fmt::Debug;
use std::hash::Hash;

use crate::action::{Action, ActionList};
use crate::error::Error;
use crate::outcome::Outcome;
use crate::params::Params;
use crate::side::Side;
use crate::spec::Spec;
use crate::symmetry::Symmetry;

/// The rules of a two-player, zero-sum game of perfect information: all that search and learning need. The value holds the
/// game's parameters, its [`Rules::State`] a position. Texts and drawings are in [`Notation`](crate::Notation).
pub trait Rules: Clone + Debug + Send + Sync + 'static {
    /// All that decides the future and nothing else: equal states have equal futures. Small enough to copy instead of
    /// undoing plies.
    type State: Copy + Eq + Hash + Debug + Send + Sync + 'static;

    /// Name and version of the game, names and shapes of planes, number of actions, symmetries. Some default methods call it
    /// once per position or action, so it has to be cheap: at most some microseconds. One that takes longer to compute is
    /// kept in the game and cloned.
    fn spec(&self) -> Spec;

    /// The starting state.
    fn start(&self) -> Self::State;

    /// Whose turn it is. It may stay the same after a ply. In a finished game, whose turn it would be.
    fn mover(&self, state: &Self::State) -> Side;

    /// Fills `out` with the legal actions in increasing order; it is empty exactly when the game is over.
    fn legal(&self, state: &Self::State, out: &mut ActionList);

    /// Plays a legal action. It trusts its caller; [`try_play`](crate::try_play) and [`Env`](crate::Env) check.
    fn play(&self, state: &mut Self::State, action: Action);

    /// How the game ended, `None` while it runs.
    fn outcome(&self, state: &Self::State) -> Option<Outcome>;

    /// Writes the feature vector (see [`Spec`]), `[features]` long, as seen by the mover. Every entry is written and at
    /// most [`Spec::MAX_FEATURE`] in size, and together they decide the legal actions as [`Spec::policy_index`] numbers
    /// them.
    fn observe(&self, state: &Self::State, features: &mut [f32]);

    /// The state with its board mapped by a symmetry of the game. The default is right where [`Spec::symmetries`] has the
    /// identity only.
    fn permuted(&self, state: &Self::State, symmetry: &Symmetry) -> Self::State {
        let _ = symmetry;
        *state
    }

    /// All parameters with their values in force; none by default.
    fn params(&self) -> Params {
        Params::new()
    }

    /// The same game with these parameters; absent ones take their defaults, whatever they are in `self`. The default
    /// refuses every parameter.
    ///
    /// # Errors
    /// An unknown key or a value out of its range.
    fn with_params(&self, params: &Params) -> Result<Self, Error> {
        match params.iter().next() {
            None => Ok(self.clone()),
            Some((key, _)) => {
                Err(Error::UnknownParam { game: self.spec().name, key: key.to_owned(), known: Vec::new() })
            }
        }
    }

    /// The actions of [`Rules::legal`] as a set, action `a` at bit `a`, or `None`, in every state, where the game does not
    /// offer it. Worth offering where there are at most 64 actions and the rules work on sets: vectorised environments
    /// then need no lists.
    #[inline]
    fn legal_set(&self, _state: &Self::State) -> Option<u64> {
        None
    }

    /// The number of actions of [`Rules::legal`], or `None`, in every state, where the game counts no faster than it lists.
    /// Proofs in a search count the actions of every position that they meet.
    #[inline]
    fn legal_count(&self, state: &Self::State) -> Option<u32> {
        self.legal_set(state).map(u64::count_ones)
    }

    /// The value for the first side that a running game will end with, whatever is played, where the position shows it: as
    /// when most of the stones are in one store. `None` says nothing about the value. Proofs in a search end there.
    #[inline]
    fn decided(&self, _state: &Self::State) -> Option<i8> {
        None
    }
}

/// The same game without limits on its plies ([`Spec::ply_limits`]).
///
/// # Errors
/// A parameter of the list is unknown to the game or cannot be 0, which the conformance suite rules out.
pub fn without_limits<G: Rules>(game: &G) -> Result<G, Error> {
    let mut params = game.params();
    for limit in game.spec().ply_limits {
        params.set(limit, 0);
    }
    game.with_params(&params)
}
