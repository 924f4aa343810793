//! Self-play in steps, for callers that bring the numbers of the games or the evaluator.

use std::convert::Infallible;
use std::sync::Arc;

use turnstone_env::{Game, Spec};
use turnstone_search::tensors::evaluate_tensors;
use turnstone_search::{Evaluator, TensorEvaluator, TensorFault, Uniform};

use super::stats::{Progress, SelfPlayStats};
use super::task::{GameRules, GameSettings};
use super::worker::{FinishedGame, Worker};

/// Self-play of one worker, object-safe. Every game is the same as in any other way to play it.
pub trait Session: Send {
    /// Begins games while fewer than `seats` (at most `concurrent_games`) are in progress and `next` yields numbers, then
    /// advances every game to its next leaf and evaluates the leaves in one batch. Returns false if no game is in
    /// progress.
    fn step(&mut self, seats: usize, next: &mut dyn FnMut() -> Option<usize>, progress: &Progress) -> bool;

    /// [`Session::step`] with a function on tensors as the evaluator, and without games to begin.
    ///
    /// # Errors
    /// That of the evaluation. Nothing is lost: the next step evaluates the same batch again.
    fn step_with(&mut self, evaluator: &mut dyn TensorEvaluator) -> Result<(), TensorFault>;

    /// Takes the games that have been finished since the last call.
    fn take_finished(&mut self) -> Vec<FinishedGame>;

    /// Removes all cached evaluations, as when the network has changed.
    fn forget(&mut self);

    /// Amount of work so far, without the running time.
    fn stats(&self) -> SelfPlayStats;
}

struct WorkerSession<G: Game, N, E> {
    rules: Arc<GameRules<G>>,
    spec: Spec,
    evaluator: E,
    worker: Worker<G, N>,
}

/// A session that plays the games whose numbers it is given.
pub(super) fn session<G: Game>(
    rules: &Arc<GameRules<G>>,
    evaluator: impl Evaluator<G> + Send + 'static,
) -> Box<dyn Session> {
    let worker = Worker::new(Arc::clone(rules), std::iter::empty(), 0);
    Box::new(WorkerSession { rules: Arc::clone(rules), spec: rules.game.spec(), evaluator, worker })
}

/// Endless self-play with equal priors and value 0, or an evaluator of the caller: a session for each of
/// `self_play.threads` (0: one per core), with `concurrent_games` games each. Session `i` of `n` plays the games `i`,
/// `i + n`, `i + 2n` and so on, so that a game does not depend on their scheduling. `games_per_iteration` is ignored.
pub(crate) fn sessions<G: Game>(game: &G, settings: &GameSettings) -> Vec<Box<dyn Session>> {
    let rules = Arc::new(GameRules::new(game, settings));
    let workers = settings.self_play.workers();
    let session = |first: usize| {
        let numbers = (first..).step_by(workers);
        let worker = Worker::new(Arc::clone(&rules), numbers, settings.self_play.concurrent_games);
        let (rules, spec) = (Arc::clone(&rules), rules.game.spec());
        Box::new(WorkerSession { rules, spec, evaluator: Uniform, worker }) as Box<dyn Session>
    };
    (0..workers).map(session).collect()
}

impl<G: Game, N: Iterator<Item = usize> + Send, E: Evaluator<G> + Send> Session for WorkerSession<G, N, E> {
    fn step(&mut self, seats: usize, next: &mut dyn FnMut() -> Option<usize>, progress: &Progress) -> bool {
        self.worker.begin_games(seats.clamp(1, self.rules.settings.self_play.concurrent_games), next);
        let (game, evaluator) = (&self.rules.game, &mut self.evaluator);
        let Ok(more) = self.worker.step(progress, |batch| {
            evaluator.evaluate(game, batch);
            Ok::<(), Infallible>(())
        });
        more
    }

    fn step_with(&mut self, evaluator: &mut dyn TensorEvaluator) -> Result<(), TensorFault> {
        let (game, spec) = (&self.rules.game, &self.spec);
        self.worker.step(&Progress::default(), |batch| evaluate_tensors(game, spec, batch, evaluator)).map(drop)
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
                sessions[0].step(0, &mut || None, &Progress::default());
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
                failures += u32::from(session.step_with(&mut evaluator).is_err());
                games.extend(session.take_finished());
            }
        }
        assert_eq!(failures, 2000);
        assert_eq!(first_games(games), reference);
    }
}
