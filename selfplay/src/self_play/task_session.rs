//! Games of one task on one thread, whose numbers come a few at a time from elsewhere.

use std::sync::Arc;

use turnstone_agents::NetworkEvaluator;
use turnstone_env::Game;

use super::stats::{Progress, SelfPlayStats};
use super::task::GameRules;
use super::worker::{FinishedGame, Worker};

/// Games of one task on one thread, object-safe. Every game is the same as in any other way to play the task.
pub trait TaskSession: Send {
    /// Begins games while fewer than `seats` (at most `concurrent_games`) are in progress and `next` yields numbers, then
    /// advances every game to its next leaf and evaluates the leaves in one batch. Returns false if no game is in
    /// progress.
    fn step(&mut self, seats: usize, next: &mut dyn FnMut() -> Option<usize>, progress: &Progress) -> bool;

    /// Takes the games that have been finished since the last call.
    fn take_finished(&mut self) -> Vec<FinishedGame>;

    /// Amount of work so far, without the running time.
    fn stats(&self) -> SelfPlayStats;
}

pub(super) struct OfTask<G: Game> {
    rules: Arc<GameRules<G>>,
    evaluator: NetworkEvaluator,
    worker: Worker<G, std::iter::Empty<usize>>,
}

impl<G: Game> OfTask<G> {
    pub(super) fn new(rules: Arc<GameRules<G>>, evaluator: NetworkEvaluator) -> Self {
        let worker = Worker::new(Arc::clone(&rules), std::iter::empty(), 0);
        Self { rules, evaluator, worker }
    }
}

impl<G: Game> TaskSession for OfTask<G> {
    fn step(&mut self, seats: usize, next: &mut dyn FnMut() -> Option<usize>, progress: &Progress) -> bool {
        self.worker.begin_games(seats.clamp(1, self.rules.settings.self_play.concurrent_games), next);
        let (game, evaluator) = (&self.rules.game, &mut self.evaluator);
        let Ok(more) = self.worker.step(progress, |batch| {
            turnstone_search::Evaluator::evaluate(evaluator, game, batch);
            Ok::<(), std::convert::Infallible>(())
        });
        more
    }

    fn take_finished(&mut self) -> Vec<FinishedGame> {
        std::mem::take(&mut self.worker.finished)
    }

    fn stats(&self) -> SelfPlayStats {
        self.worker.stats()
    }
}
