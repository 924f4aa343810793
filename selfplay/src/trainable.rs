//! Object-safe interface to games that networks can be trained for.

use turnstone_agents::{Playable, PlayableGame};
use turnstone_base::streams::Stream;
use turnstone_env::{AnyState, Erased, Row};
use turnstone_models::NetworkError;
use turnstone_search::Stop;
use turnstone_search::{Fault, TensorFunction};

use crate::self_play::{self, GameSettings, SelfPlayCounters, Session, Task, TranscriptDecoder};

/// Object-safe interface to a game that networks can be trained for.
pub trait TrainableGame: PlayableGame {
    /// Plays the games of one iteration of self-play. Returns `None` if `stop` was raised before they were finished.
    ///
    /// # Errors
    /// The weights do not match the network, or the GPU cannot be used or failed.
    fn self_play(
        &self,
        task: &Task,
        progress: &SelfPlayCounters,
        stop: &Stop,
    ) -> Result<Option<self_play::SelfPlayGames>, Fault>;

    /// Starts `threads` sessions that play games of a task whose numbers come from elsewhere.
    ///
    /// # Errors
    /// The weights do not match the network.
    fn task_sessions(&self, task: &Task, threads: usize) -> Result<Vec<Box<dyn Session>>, NetworkError>;

    /// Restores the games of a task from their transcripts.
    fn transcript_decoder(&self, task: &Task) -> TranscriptDecoder;

    /// Starts a session for each of `self_play.threads` (0: one per core), whose positions are evaluated by a function on
    /// tensors, or else with equal priors and value 0. The numbers of the games come from elsewhere.
    fn sessions(&self, settings: &GameSettings, function: Option<&TensorFunction>) -> Vec<Box<dyn Session>>;

    /// Plays 0 to `most` uniformly random plies from the start; returns the position, in which the game is not over,
    /// and the number of plies.
    fn random_opening(&self, most: u16, rng: &mut Stream) -> (AnyState, u16);
}

impl<K: Playable> TrainableGame for Erased<K::Game, K> {
    fn self_play(
        &self,
        task: &Task,
        progress: &SelfPlayCounters,
        stop: &Stop,
    ) -> Result<Option<self_play::SelfPlayGames>, Fault> {
        self_play::play(self.game(), task, progress, stop)
    }

    fn task_sessions(&self, task: &Task, threads: usize) -> Result<Vec<Box<dyn Session>>, NetworkError> {
        self_play::task_sessions(self.game(), task, threads)
    }

    fn transcript_decoder(&self, task: &Task) -> TranscriptDecoder {
        self_play::transcript_decoder(self.game(), task)
    }

    fn sessions(&self, settings: &GameSettings, function: Option<&TensorFunction>) -> Vec<Box<dyn Session>> {
        self_play::sessions(self.game(), settings, function)
    }

    fn random_opening(&self, most: u16, rng: &mut Stream) -> (AnyState, u16) {
        let (state, plies) = self_play::random_opening(self.game(), most, rng);
        (AnyState::new(state), plies)
    }
}

/// List of the games available to a program.
pub type Games = turnstone_env::Games<dyn TrainableGame>;

/// Entry of a game for the list of games.
#[must_use]
pub fn row<K: Playable<Game: Default>>() -> Row<dyn TrainableGame> {
    Row::with_knowledge::<K::Game, K>(|game| game)
}
