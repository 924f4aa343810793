//! Players: choose the actions of one side in a game.

use std::time::Duration;

use thiserror::Error;
use turnstone_base::streams::Stream;
use turnstone_env::{Action, AnyState};
use turnstone_models::DeviceError;

use crate::request::SearchRequest;

/// Reason why a player did not return a legal action in time.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PlayerFault {
    /// The player is gone, or its answer is malformed.
    #[error("crashed: {0}")]
    Crashed(String),
    /// The player did not answer in time.
    #[error("no answer: {0}")]
    Silent(String),
    /// The chosen action is malformed or not legal.
    #[error("illegal move `{0}`")]
    IllegalMove(String),
    /// The player reports that its time is up.
    #[error("out of time")]
    OutOfTime,
    /// The GPU that evaluates the player's positions failed: no fault of the player's.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Chooses actions in one game at a time.
pub trait Player: Send {
    /// Starts a new game. Earlier games must not influence it.
    fn new_game(&mut self, _state: &AnyState, _rng: &mut Stream) {}

    /// Sets the player's remaining time for the game; called before each choice in games with clocks.
    fn clock(&mut self, _remaining: Duration) {}

    /// Chooses a legal action in a position in which the game is not over. `rng` is the random stream of the game and
    /// seat.
    ///
    /// # Errors
    /// The player has no action to play. It can be asked again, or start a new game.
    fn choose(&mut self, state: &AnyState, rng: &mut Stream) -> Result<Action, PlayerFault> {
        self.search(state, &mut SearchRequest::default(), rng)
    }

    /// Chooses an action with the limits, stop flag and progress callback of a request.
    ///
    /// # Errors
    /// As [`Player::choose`].
    fn search(
        &mut self,
        state: &AnyState,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault>;

    /// Sets the number of threads of a search. Players whose searches have one thread ignore it.
    fn set_threads(&mut self, _threads: usize) {}

    /// Notifies the player of an action of either side in the current game.
    fn played(&mut self, _action: Action) {}

    /// Probabilities of win, draw and loss for the mover, evaluated by the player's network without search; `None`
    /// without a network.
    ///
    /// # Errors
    /// The GPU failed.
    fn predict(&mut self, _state: &AnyState) -> Result<Option<[f32; 3]>, DeviceError> {
        Ok(None)
    }

    /// Short description of the player's evaluation at its last choice, if it has one.
    fn comment(&self) -> Option<String> {
        None
    }
}
