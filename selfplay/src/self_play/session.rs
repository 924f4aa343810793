//! Endless self-play in steps, with any evaluator: for programs whose networks live outside of this workspace.

use std::convert::Infallible;
use std::sync::Arc;

use turnstone_env::{Game, Spec};
use turnstone_search::tensors::evaluate_tensors;
use turnstone_search::{Evaluator, TensorEvaluator, TensorFault, Uniform};

use super::stats::{Progress, SelfPlayStats};
use super::task::{GameRules, GameSettings};
use super::worker::{FinishedGame, Worker};

/// Endless self-play of one worker, object-safe.
pub trait Session: Send {
    /// Advances every game to its next leaf and evaluates the leaves in one batch with a function on tensors.
    ///
    /// # Errors
    /// That of the evaluation. Nothing is lost: the next step evaluates the same batch again.
    fn step(&mut self, evaluator: &mut dyn TensorEvaluator) -> Result<(), TensorFault>;

    /// [`Session::step`] with equal priors and value 0, the evaluator that costs nothing.
    fn step_uniform(&mut self);

    /// Takes the games that have been finished since the last call.
    fn take_finished(&mut self) -> Vec<FinishedGame>;

    /// Removes all cached evaluations, as when the network has changed.
    fn forget(&mut self);

    /// Amount of work so far.
    fn stats(&self) -> SelfPlayStats;
}

struct Endless<G: Game> {
    rules: Arc<GameRules<G>>,
    spec: Spec,
    worker: Worker<G, Box<dyn Iterator<Item = usize> + Send>>,
}

/// Creates a session for each of `self_play.threads` (0: one per core), with `concurrent_games` games each: session `i`
/// of `n` plays the games `i`, `i + n`, `i + 2n` and so on, so that a game does not depend on their scheduling.
/// `games_per_iteration` is ignored.
pub(crate) fn sessions<G: Game>(game: &G, settings: &GameSettings) -> Vec<Box<dyn Session>> {
    let rules = Arc::new(GameRules::new(game, settings));
    let workers = settings.self_play.workers();
    let session = |first: usize| {
        let numbers: Box<dyn Iterator<Item = usize> + Send> = Box::new((first..).step_by(workers));
        let worker = Worker::new(Arc::clone(&rules), numbers, settings.self_play.concurrent_games);
        Box::new(Endless { rules: Arc::clone(&rules), spec: rules.game.spec(), worker }) as Box<dyn Session>
    };
    (0..workers).map(session).collect()
}

impl<G: Game> Session for Endless<G> {
    fn step(&mut self, evaluator: &mut dyn TensorEvaluator) -> Result<(), TensorFault> {
        let (game, spec) = (&self.rules.game, &self.spec);
        self.worker.step(&Progress::default(), |batch| evaluate_tensors(game, spec, batch, evaluator))?;
        Ok(())
    }

    fn step_uniform(&mut self) {
        let game = &self.rules.game;
        let Ok(_) = self.worker.step(&Progress::default(), |batch| {
            Uniform.evaluate(game, batch);
            Ok::<(), Infallible>(())
        });
    }

    fn take_finished(&mut self) -> Vec<FinishedGame> {
        std::mem::take(&mut self.worker.finished)
    }

    fn forget(&mut self) {
        self.worker.forget();
    }

    fn stats(&self) -> SelfPlayStats {
        self.worker.stats()
    }
}

#[cfg(test)]
mod tests {
    use turnstone_env::games::Mancala;

    use super::*;
    use crate::config::{SearchConfig, SelfPlayConfig};

    /// Answers like [`Uniform`], and fails in every third call.
    struct Unreliable(u32);

    impl TensorEvaluator for Unreliable {
        fn evaluate(
            &mut self,
            rows: usize,
            fill: &mut dyn FnMut(&mut [f32], &mut [bool]),
            read: &mut turnstone_search::ReadTensors<'_>,
        ) -> Result<(), TensorFault> {
            self.0 += 1;
            if self.0.is_multiple_of(3) {
                return Err("out of order".into());
            }
            let spec = Mancala::default().spec();
            fill(&mut vec![0.0; rows * spec.tensor_len()], &mut vec![false; rows * spec.actions]);
            read(&vec![1.0; rows * spec.actions], &vec![0.0; rows])
        }
    }

    #[test]
    fn failures_and_scheduling_change_no_game() {
        let self_play = |threads, concurrent_games| SelfPlayConfig { threads, concurrent_games, ..Default::default() };
        let search = SearchConfig { simulations: 8, ..SearchConfig::default() };
        let settings = |self_play: SelfPlayConfig| GameSettings::new(&search, &self_play, 5, 0);
        let first_games = |mut games: Vec<FinishedGame>| {
            games.sort_by_key(|game| game.number);
            games.truncate(4);
            assert_eq!(games.iter().map(|game| game.number).collect::<Vec<_>>(), [0, 1, 2, 3]);
            games.into_iter().map(|game| (game.positions, game.outcome, game.plies)).collect::<Vec<_>>()
        };
        let reference = {
            let mut sessions = sessions(&Mancala::default(), &settings(self_play(1, 4)));
            let mut games = Vec::new();
            for _ in 0..3000 {
                sessions[0].step_uniform();
                games.extend(sessions[0].take_finished());
            }
            assert!(sessions[0].stats().positions > 100);
            first_games(games)
        };
        let mut sessions = sessions(&Mancala::default(), &settings(self_play(2, 3)));
        let (mut games, mut failures) = (Vec::new(), 0);
        for (number, session) in sessions.iter_mut().enumerate() {
            let mut evaluator = Unreliable(number as u32);
            for _ in 0..3000 {
                failures += u32::from(session.step(&mut evaluator).is_err());
                games.extend(session.take_finished());
            }
        }
        assert_eq!(failures, 2000);
        assert_eq!(first_games(games), reference);
    }
}
