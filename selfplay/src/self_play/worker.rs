//! The games of one worker, stepped together: every game goes on to its next leaf, and the leaves are evaluated in one
//! batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rand::RngExt;
use turnstone_agents::streams::{Purpose, Stream, stream};
use turnstone_env::{Action, Game, Outcome, Spec};
use turnstone_search::{EvalBatch, Evaluator, Lookup, Mcts, Requests};

use super::stats::{Progress, SelfPlayStats};
use super::task::GameRules;
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
struct Seat<G: Game> {
    number: usize,
    rng: Stream,
    search: Mcts<G>,
    ply: u16,
    /// Ply of each recorded position.
    recorded: Vec<u16>,
    moves: Vec<Action>,
    positions: Shard,
    /// Whether the current move is searched in full and recorded.
    full: bool,
    /// Simulations of the current search.
    simulations: u32,
    /// Row of the evaluation batch that holds its leaf.
    row: usize,
}

/// The games of one worker. `N` yields the numbers of those that it has not started yet.
pub(super) struct Worker<G: Game, N> {
    rules: Arc<GameRules<G>>,
    spec: Spec,
    numbers: N,
    seats: Vec<Seat<G>>,
    requests: Requests<G::State>,
    /// Searches of finished games, for reuse.
    spare: Vec<Mcts<G>>,
    pub(super) finished: Vec<FinishedGame>,
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
        let mut worker = Self {
            numbers,
            seats: Vec::new(),
            requests: Requests::new(cached),
            spare: Vec::new(),
            finished: Vec::new(),
            stats: SelfPlayStats::default(),
            features: vec![0.0; spec.features()],
            policy: Vec::new(),
            spec,
            rules,
        };
        while worker.seats.len() < seats {
            let Some(seat) = worker.next_game() else { break };
            worker.seats.push(seat);
        }
        worker
    }

    /// Begins games of these numbers while fewer than `seats` are in progress.
    pub(super) fn begin_games(&mut self, seats: usize, next: &mut dyn FnMut() -> Option<usize>) {
        // Evaluations that failed are asked for again before anything else.
        while self.requests.is_empty() && self.seats.len() < seats {
            let Some(number) = next() else { break };
            let seat = self.begin_game(number);
            self.seats.push(seat);
        }
    }

    /// Plays all games. Returns `None` if `stop` was set before they were finished.
    pub(super) fn run(
        mut self,
        evaluator: &mut impl Evaluator<G>,
        progress: &Progress,
        stop: &AtomicBool,
    ) -> Option<Part> {
        let start = Instant::now();
        let rules = Arc::clone(&self.rules);
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
        if self.requests.is_empty() {
            self.gather(progress);
        }
        if self.requests.is_empty() {
            return Ok(false);
        }
        let evaluating = Instant::now();
        self.requests.try_evaluate(evaluate)?;
        self.stats.inference += evaluating.elapsed();
        for seat in &mut self.seats {
            let (priors, estimate) = self.requests.answer(seat.row);
            seat.search.apply(priors, estimate);
        }
        self.requests.clear();
        Ok(true)
    }

    /// Advances every game to its next leaf and returns the leaves, whose evaluations [`Worker::step`] then takes; `None` if
    /// all games are finished.
    pub(super) fn leaves(&mut self, progress: &Progress) -> Option<&[G::State]> {
        if self.requests.is_empty() {
            self.gather(progress);
        }
        (!self.requests.is_empty()).then(|| self.requests.waiting())
    }

    /// Removes all cached evaluations.
    pub(super) fn forget(&mut self) {
        self.requests.forget();
    }

    /// What was done so far, without the running time.
    pub(super) fn stats(&self) -> SelfPlayStats {
        SelfPlayStats { cache: self.requests.cache(), ..self.stats }
    }

    /// Advances every game until its next leaf needs an evaluation, and adds those leaves to the batch. Leaves with a
    /// known evaluation are answered at once, finished searches make their move, and finished games are replaced by the
    /// next ones.
    fn gather(&mut self, progress: &Progress) {
        let mut i = 0;
        while i < self.seats.len() {
            let seat = &mut self.seats[i];
            if let Some((state, legal)) = seat.search.gather(&self.rules.game) {
                match self.requests.request(state, legal) {
                    Lookup::Known(priors, estimate) => seat.search.apply(priors, estimate),
                    Lookup::Waiting(row) => {
                        seat.row = row;
                        i += 1;
                    }
                }
                continue;
            }
            self.record_and_move(i);
            progress.positions.fetch_add(1, Ordering::Relaxed);
            if let Some(outcome) = self.rules.game.outcome(self.seats[i].search.state()) {
                progress.games.fetch_add(1, Ordering::Relaxed);
                // `remove` keeps the order of the other seats, and thereby the rows of the batches.
                let over = self.seats.remove(i);
                let (over, search) = over.finish(outcome);
                self.finished.push(over);
                self.spare.push(search);
                if let Some(next) = self.next_game() {
                    self.seats.insert(i, next);
                }
            } else {
                self.seats[i].begin(&self.rules);
            }
        }
    }

    /// Records the searched position if it was searched in full, and plays the action chosen by the search and the
    /// temperature.
    fn record_and_move(&mut self, i: usize) {
        let (game, seat) = (&self.rules.game, &mut self.seats[i]);
        self.stats.positions += 1;
        self.stats.simulations += u64::from(seat.simulations - seat.search.simulations_left());
        let size = seat.search.size();
        self.stats.tree = [self.stats.tree[0] + size.nodes, self.stats.tree[1] + size.bytes];
        if seat.full {
            let mover = game.mover(seat.search.state());
            game.observe(seat.search.state(), &mut self.features);
            seat.search.policy(&mut self.policy);
            let indices = seat.search.actions().map(|a| self.spec.policy_index(mover, a.action) as u16);
            let policy = indices.zip(self.policy.iter().copied());
            seat.positions.push(&self.features, policy, mover, seat.search.estimate());
            seat.recorded.push(seat.ply);
        }
        let temperature = self.rules.settings.self_play.temperature_at(seat.ply);
        let action = seat.search.choose(temperature, &mut seat.rng);
        seat.search.advance(game, action);
        seat.moves.push(action);
        seat.ply = seat.ply.saturating_add(1);
    }

    /// Starts this worker's next game, if there is one.
    fn next_game(&mut self) -> Option<Seat<G>> {
        let number = self.numbers.next()?;
        Some(self.begin_game(number))
    }

    /// Starts a game and begins its first search. Reuses the memory of a finished game's search.
    fn begin_game(&mut self, number: usize) -> Seat<G> {
        let rules = &*self.rules;
        let mut rng = stream(rules.settings.seed, Purpose::SelfPlay, [rules.settings.iteration, number as u64]);
        let (state, ply) = rules.start(&mut rng);
        let mut search = self.spare.pop().unwrap_or_else(|| Mcts::new(&rules.game, state));
        search.reset(&rules.game, state);
        let mut seat = Seat {
            number,
            rng,
            search,
            ply,
            recorded: Vec::new(),
            moves: Vec::new(),
            positions: Shard::new(rules.settings.iteration, self.spec.features()),
            full: true,
            simulations: 0,
            row: 0,
        };
        seat.begin(rules);
        seat
    }
}

impl<G: Game> Seat<G> {
    fn begin(&mut self, rules: &GameRules<G>) {
        let share = rules.settings.self_play.full_search_share;
        self.full = share >= 1.0 || self.rng.random::<f32>() < share;
        let options = if self.full {
            self.simulations = rules.settings.simulations;
            rules.settings.search.self_play(rules.settings.self_play.temperature_at(self.ply))
        } else {
            self.simulations = rules.settings.self_play.fast_simulations;
            rules.settings.search.plain()
        };
        self.search.begin(&rules.game, &options, self.simulations, &mut self.rng);
    }

    /// Returns the finished game, and its search for reuse.
    fn finish(mut self, outcome: Outcome) -> (FinishedGame, Mcts<G>) {
        self.positions.finish_game(0, &self.recorded, self.ply, &outcome);
        let Self { number, positions, ply, moves, .. } = self;
        (FinishedGame { number, positions, outcome, plies: ply, moves }, self.search)
    }
}
