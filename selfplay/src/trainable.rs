//! Games that networks can be trained for, of any type, and the list of them that a program knows.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use turnstone_agents::streams::Stream;
use turnstone_agents::{LoadedNetwork, Playable, PlayableGame};
use turnstone_env::{AnyState, Erased, Row, for_each_game};
use turnstone_models::NetworkError;

use crate::sample_game::{self, SamplePly, Sampling};
use crate::self_play::{self, Progress, Task};

/// A game of any type that networks can be trained for.
pub trait TrainableGame: PlayableGame {
    /// Plays the games of one iteration of self-play. `None` if `stop` was set before they were finished.
    ///
    /// # Errors
    /// The weights are not those of the network.
    fn self_play(
        &self,
        task: &Task<'_>,
        progress: &Progress,
        stop: &AtomicBool,
    ) -> Result<Option<self_play::SelfPlayGames>, NetworkError>;

    /// A running position after 0 to `most` uniformly random plies from the start, and how many they were.
    fn random_opening(&self, most: u16, rng: &mut Stream) -> (AnyState, u16);

    /// A game that a network plays against itself.
    ///
    /// # Errors
    /// The weights are not those of the network.
    fn sample_game(
        &self,
        network: &LoadedNetwork,
        sampling: &Sampling,
        rng: &mut Stream,
    ) -> Result<Vec<SamplePly>, NetworkError>;
}

impl<G: Playable> TrainableGame for Erased<G> {
    fn self_play(
        &self,
        task: &Task<'_>,
        progress: &Progress,
        stop: &AtomicBool,
    ) -> Result<Option<self_play::SelfPlayGames>, NetworkError> {
        self_play::play(self.game(), task, progress, stop)
    }

    fn random_opening(&self, most: u16, rng: &mut Stream) -> (AnyState, u16) {
        let (state, plies) = self_play::random_opening(self.game(), most, rng);
        (AnyState::new(state), plies)
    }

    fn sample_game(
        &self,
        network: &LoadedNetwork,
        sampling: &Sampling,
        rng: &mut Stream,
    ) -> Result<Vec<SamplePly>, NetworkError> {
        sample_game::play(self.game(), network, sampling, rng)
    }
}

/// The games that a program knows.
pub type Games = turnstone_env::Games<dyn TrainableGame>;

/// The row of a game in a list of games.
#[must_use]
pub fn row<G: Playable>() -> Row<dyn TrainableGame> {
    Row { name: G::NAME, make: |params| Ok(Arc::new(Erased::new(G::with_params(params)?))) }
}

/// The built-in games.
#[must_use]
pub fn built_in() -> Games {
    let mut rows = Vec::new();
    for_each_game!(G => rows.push(row::<G>()));
    rows.into_iter().collect()
}
