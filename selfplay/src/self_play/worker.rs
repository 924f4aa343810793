//! The games of one worker, stepped together: every game continues to its next leaf, and the leaves are evaluated in one
//! batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::{Action, Game, Outcome, Spec};
use turnstone_search::{EvalBatch, Evaluator, Mcts, Pool, Pooled, Spare};

use super::stats::{Progress, SelfPlayStats};
use super::task::{GameRules, GameSettings};
use crate::replay::Shard;

/// A finished game of self-play.
#[derive(Clone, Debug)]
pub struct FinishedGame {
    /// Number of the game, from 0.
    pub number: usize,
    /// The recorded positions.
    pub positions: Shard,
    /// How it ended.
    pub outcome: Outcome,
    /// Number of plies, those of the opening included.
    pub plies: u16,
    /// The actions after the opening.
    pub moves: Vec<Action>,
}

/// Result of one worker.
pub(super) struct Part {
    pub(super) games: Vec<FinishedGame>,
    pub(super) stats: SelfPlayStats,
}

/// A game in progress.
struct Running<G: Game> {
    number: usize,
    rng: Stream,
    search: Mcts<G>,
    ply: u16,
    moves: Vec<Action>,
    positions: Shard,
}

impl<G: Game> Pooled<G> for Running<G> {
    fn search(&mut self) -> &mut Mcts<G> {
        &mut self.search
    }
}

/// The games of one worker. `N` yields the numbers of those that it has not started yet.
pub(super) struct Worker<G: Game, N> {
    pool: Pool<G, Running<G>>,
    numbers: N,
    recorder: Recorder<G>,
    pub(super) finished: Vec<FinishedGame>,
}

/// What turns searches into recorded games.
struct Recorder<G: Game> {
    rules: Arc<GameRules<G>>,
    spec: Spec,
    stats: SelfPlayStats,
    features: Vec<f32>,
    policy: Vec<f32>,
}

impl<G: Game, N: Iterator<Item = usize>> Worker<G, N> {
    /// Starts the first games, `seats` or fewer, which is the number of games played at once.
    pub(super) fn new(rules: Arc<GameRules<G>>, numbers: N, seats: usize) -> Self {
        let cached = rules.settings.self_play.cached_positions;
        Self::with_cache(rules, numbers, seats, cached)
    }

    /// [`Worker::new`] with an evaluation cache of `cached` positions.
    pub(super) fn with_cache(rules: Arc<GameRules<G>>, numbers: N, seats: usize, cached: usize) -> Self {
        let spec = rules.game.spec();
        let (features, policy) = (vec![0.0; spec.features()], Vec::new());
        let recorder = Recorder { rules, spec, stats: SelfPlayStats::default(), features, policy };
        let mut worker = Self { pool: Pool::new(cached), numbers, recorder, finished: Vec::new() };
        while worker.pool.len() < seats {
            let Some(number) = worker.numbers.next() else { break };
            worker.begin_game(number);
        }
        worker
    }

    /// Begins games of these numbers while fewer than `seats` are in progress.
    pub(super) fn begin_games(&mut self, seats: usize, next: &mut dyn FnMut() -> Option<usize>) {
        // Evaluations that failed are asked for again before anything else.
        while self.pool.waiting().is_empty() && self.pool.len() < seats {
            let Some(number) = next() else { break };
            self.begin_game(number);
        }
    }

    fn begin_game(&mut self, number: usize) {
        let game = self.recorder.begin_game(number, self.pool.spare());
        self.pool.push(game);
    }

    /// Plays all games. Returns `None` if `stop` was set before they were finished.
    pub(super) fn run(
        mut self,
        evaluator: &mut impl Evaluator<G>,
        progress: &Progress,
        stop: &AtomicBool,
    ) -> Option<Part> {
        let start = Instant::now();
        let rules = Arc::clone(&self.recorder.rules);
        loop {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let Ok(more) = self.step(progress, |batch| {
                evaluator.evaluate(&rules.game, batch);
                Ok::<(), std::convert::Infallible>(())
            });
            if !more {
                let stats = SelfPlayStats { time: start.elapsed(), ..self.stats() };
                return Some(Part { games: self.finished, stats });
            }
        }
    }

    /// Advances every game to its next leaf and evaluates the leaves in one batch. Returns false if all games are
    /// finished.
    ///
    /// # Errors
    /// That of `evaluate`; the next step evaluates the same batch again.
    pub(super) fn step<E>(
        &mut self,
        progress: &Progress,
        evaluate: impl FnOnce(&mut EvalBatch<G::State>) -> Result<(), E>,
    ) -> Result<bool, E> {
        self.gather(progress);
        let inference = &mut self.recorder.stats.inference;
        self.pool.evaluate(|batch| {
            let start = Instant::now();
            evaluate(batch)?;
            *inference += start.elapsed();
            Ok(())
        })
    }

    /// Advances every game to its next leaf and returns the leaves, whose evaluations [`Worker::step`] then takes; `None` if
    /// all games are finished.
    pub(super) fn leaves(&mut self, progress: &Progress) -> Option<&[G::State]> {
        self.gather(progress);
        Some(self.pool.waiting()).filter(|leaves| !leaves.is_empty())
    }

    /// Removes all cached evaluations.
    pub(super) fn forget(&mut self) {
        self.pool.forget();
    }

    /// What was done so far, without the running time.
    pub(super) fn stats(&self) -> SelfPlayStats {
        SelfPlayStats { cache: self.pool.cache(), ..self.recorder.stats }
    }

    /// Advances every game until its next leaf needs an evaluation. Finished searches make their move, and finished games
    /// are replaced by the next ones.
    fn gather(&mut self, progress: &Progress) {
        let (recorder, numbers, finished) = (&mut self.recorder, &mut self.numbers, &mut self.finished);
        let rules = Arc::clone(&recorder.rules);
        self.pool.gather(&rules.game, |mut game, spare| {
            recorder.record_and_move(&mut game);
            progress.positions.fetch_add(1, Ordering::Relaxed);
            let Some(outcome) = rules.outcome(game.search.state(), game.ply) else {
                game.begin(&rules);
                return Some(game);
            };
            progress.games.fetch_add(1, Ordering::Relaxed);
            let (over, search) = game.finish(outcome);
            finished.push(over);
            spare.keep(search);
            numbers.next().map(|number| recorder.begin_game(number, spare))
        });
    }
}

impl<G: Game> Recorder<G> {
    /// Records the searched position, and plays the action chosen by the search and the temperature.
    fn record_and_move(&mut self, running: &mut Running<G>) {
        let GameRules { game, settings, .. } = &*self.rules;
        self.stats.positions += 1;
        self.stats.simulations += u64::from(settings.simulations - running.search.simulations_left());
        let size = running.search.size();
        self.stats.tree = [self.stats.tree[0] + size.nodes, self.stats.tree[1] + size.bytes];
        let mover = game.mover(running.search.state());
        game.observe(running.search.state(), &mut self.features);
        running.search.policy(&mut self.policy);
        let indices = running.search.actions().map(|a| self.spec.policy_index(mover, a.action) as u16);
        let policy = indices.zip(self.policy.iter().copied());
        running.positions.push(&self.features, policy, mover, running.search.estimate());
        let temperature = settings.self_play.temperature_at(running.ply);
        let action = running.search.choose(temperature, &mut running.rng);
        running.play(game, action);
    }

    /// Starts a game and begins its first search.
    fn begin_game(&mut self, number: usize, spare: &mut Spare<G>) -> Running<G> {
        let (rules, settings) = (&*self.rules, &self.rules.settings);
        let mut rng = stream(settings.seed, Purpose::SelfPlay, [settings.iteration, number as u64]);
        let (state, ply) = rules.start(&mut rng);
        let mut running = Running {
            number,
            rng,
            search: spare.search(&rules.game, state),
            ply,
            moves: Vec::new(),
            positions: Shard::new(settings.iteration, self.spec.features()),
        };
        running.begin(rules);
        running
    }
}

impl<G: Game> Running<G> {
    fn play(&mut self, game: &G, action: Action) {
        self.search.advance(game, action);
        self.moves.push(action);
        self.ply = self.ply.saturating_add(1);
    }

    fn begin(&mut self, rules: &GameRules<G>) {
        let GameSettings { search, self_play, simulations, .. } = &rules.settings;
        let options = search.self_play(self_play.temperature_at(self.ply));
        self.search.begin(&rules.game, &options, *simulations, &mut self.rng);
    }

    /// Returns the finished game, and its search for reuse.
    fn finish(mut self, outcome: Outcome) -> (FinishedGame, Mcts<G>) {
        self.positions.finish_game(&outcome);
        let Self { number, positions, ply, moves, .. } = self;
        (FinishedGame { number, positions, outcome, plies: ply, moves }, self.search)
    }
}
