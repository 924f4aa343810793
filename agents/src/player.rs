//! Players: whoever chooses actions in a game.

use std::time::Duration;

use thiserror::Error;
use turnstone_env::{Action, AnyState, Game};

use crate::request::SearchRequest;
use crate::streams::Stream;

/// Why a player gave no action that counts.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PlayerFault {
    /// It is gone, or its answer makes no sense.
    #[error("crashed: {0}")]
    Crashed(String),
    /// It gave no answer, within the time that anyone waits for one.
    #[error("no answer: {0}")]
    Silent(String),
    /// What it wants to play is not legal.
    #[error("illegal move `{0}`")]
    IllegalMove(String),
    /// It says itself that its time is up.
    #[error("out of time")]
    OutOfTime,
}

/// Chooses actions in one game at a time.
pub trait Player: Send {
    /// A new game begins. Nothing of earlier games may influence it.
    fn new_game(&mut self, _state: &AnyState, _rng: &mut Stream) {}

    /// What is left of the player's time for the whole game, told before each choice of a game with clocks.
    fn clock(&mut self, _remaining: Duration) {}

    /// A legal action in a running position. `rng` belongs to the game and the seat.
    ///
    /// # Errors
    /// The player has none to give; it may be asked again, and a new game may be begun with it.
    fn choose(&mut self, state: &AnyState, rng: &mut Stream) -> Result<Action, PlayerFault> {
        self.search(state, &mut SearchRequest::default(), rng)
    }

    /// The same within a move's own budget, while somebody looks on.
    ///
    /// # Errors
    /// As [`Player::choose`].
    fn search(
        &mut self,
        state: &AnyState,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault>;

    /// Either player has played an action in the current game.
    fn played(&mut self, _action: Action) {}

    /// The probabilities of win, draw and loss for the mover that the player's network gives a running position without
    /// search, if it has a network.
    fn predict(&mut self, _state: &AnyState) -> Option<[f32; 3]> {
        None
    }

    /// What the player info of the position of its last choice, in a few words, if it has something to say.
    fn comment(&self) -> Option<String> {
        None
    }
}

/// A [`Player`] of a game of a known type, which is given the game with every call.
pub trait TypedPlayer<G: Game>: Send {
    /// A new game begins. Nothing of earlier games may influence it.
    fn new_game(&mut self, _game: &G, _state: &G::State, _rng: &mut Stream) {}

    /// What is left of the player's time for the whole game, told before each choice of a game with clocks.
    fn clock(&mut self, _remaining: Duration) {}

    /// A legal action in a running position. `rng` belongs to the game and the seat.
    ///
    /// # Errors
    /// The player has none to give; it may be asked again, and a new game may be begun with it.
    fn choose(&mut self, game: &G, state: &G::State, rng: &mut Stream) -> Result<Action, PlayerFault> {
        self.search(game, state, &mut SearchRequest::default(), rng)
    }

    /// The same within a move's own budget, while somebody looks on.
    ///
    /// # Errors
    /// As [`TypedPlayer::choose`].
    fn search(
        &mut self,
        game: &G,
        state: &G::State,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault>;

    /// Either player has played an action in the current game.
    fn played(&mut self, _game: &G, _action: Action) {}

    /// The probabilities of win, draw and loss for the mover that the player's network gives a running position without
    /// search, if it has a network.
    fn predict(&mut self, _game: &G, _state: &G::State) -> Option<[f32; 3]> {
        None
    }

    /// What the player info of the position of its last choice, in a few words, if it has something to say.
    fn comment(&self) -> Option<String> {
        None
    }
}

/// A typed player with its game, as a [`Player`].
pub(crate) struct Seat<G: Game, P> {
    pub(crate) game: G,
    pub(crate) player: P,
}

impl<G: Game, P: TypedPlayer<G>> Player for Seat<G, P> {
    fn new_game(&mut self, state: &AnyState, rng: &mut Stream) {
        self.player.new_game(&self.game, state.of(), rng);
    }

    fn clock(&mut self, remaining: Duration) {
        self.player.clock(remaining);
    }

    fn search(
        &mut self,
        state: &AnyState,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault> {
        self.player.search(&self.game, state.of(), request, rng)
    }

    fn played(&mut self, action: Action) {
        self.player.played(&self.game, action);
    }

    fn predict(&mut self, state: &AnyState) -> Option<[f32; 3]> {
        self.player.predict(&self.game, state.of())
    }

    fn comment(&self) -> Option<String> {
        self.player.comment()
    }
}
