//! Self-play: every worker steps many games at once and evaluates their leaves in one batch.
//!
//! Game `n` of an iteration is played by worker `n % workers` with a random stream of its own, so that the games do not
//! depend on the scheduling of the threads. Finished games are collected in the order of their numbers.

mod task;
mod stats;

pub use stats::{Progress, SelfPlayStats, outcome_shares};
pub use task::Task;
pub(crate) use task::random_opening;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use rand::RngExt;
use turnstone_agents::streams::{Purpose, Stream, stream};
use turnstone_agents::{NetworkEvaluator, random_observations, shape};
use turnstone_env::{Game, Outcome, Spec};
use turnstone_models::{NetworkError, QuantisedNetwork};
use turnstone_search::{Evaluator, Lookup, Mcts, Requests};

use self::task::Typed;
use crate::replay::{Archived, Shard};

/// Games of one iteration.
#[derive(Clone, Debug)]
pub struct SelfPlayGames {
    /// All recorded positions, in the order of the games.
    pub shard: Shard,
    /// Final outcome and number of plies of each game.
    pub ends: Vec<(Outcome, u16)>,
    /// Counters and times of the iteration.
    pub stats: SelfPlayStats,
}

/// Plays the games of one iteration. Returns `None` if `stop` was set before they were finished.
///
/// # Errors
/// The weights do not match the network.
pub(crate) fn play<G: Game>(
    game: &G,
    task: &Task<'_>,
    progress: &Progress,
    stop: &AtomicBool,
) -> Result<Option<SelfPlayGames>, NetworkError> {
    let archive = task.archive.iter().map(|(state, ply)| (*state.of(), *ply)).collect();
    let typed = &Typed { game, task, archive };
    let workers = task.self_play.workers();
    let mut evaluators = evaluators(game, task)?;
    let mut parts: Vec<Option<Part>> = thread::scope(|scope| {
        let threads: Vec<_> = evaluators
            .iter_mut()
            .enumerate()
            .map(|(worker, evaluator)| {
                let numbers = (worker..task.self_play.games_per_iteration).step_by(workers);
                scope.spawn(move || Worker::new(typed, numbers).run(evaluator, progress, stop))
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    if parts.iter().any(Option::is_none) {
        return Ok(None);
    }
    let shard = Shard::new(task.iteration, game.spec().features());
    let mut games = SelfPlayGames { shard, ends: Vec::new(), stats: SelfPlayStats::default() };
    parts.iter().flatten().for_each(|part| games.stats.add(&part.stats));
    let mut finished: Vec<FinishedGame> = parts.iter_mut().flatten().flat_map(|part| part.games.drain(..)).collect();
    finished.sort_by_key(|game| game.number);
    for game in finished {
        games.shard.append(&game.positions);
        games.ends.push((game.outcome, game.plies));
    }
    Ok(Some(games))
}

/// Creates an evaluator for each worker.
fn evaluators<G: Game>(game: &G, task: &Task<'_>) -> Result<Vec<NetworkEvaluator>, NetworkError> {
    let (spec, workers, batch) = (game.spec(), task.self_play.workers(), task.self_play.concurrent_games);
    if !task.self_play.precision.is_quantised() {
        let evaluator = |_| NetworkEvaluator::new(spec.clone(), task.network, task.weights, batch);
        return (0..workers).map(evaluator).collect();
    }
    let random;
    let samples = if task.samples.is_empty() {
        random = random_observations(game);
        &random
    } else {
        task.samples
    };
    let network = Arc::new(QuantisedNetwork::new(task.weights, task.network, &shape(&spec), samples)?);
    Ok((0..workers).map(|_| NetworkEvaluator::quantised(spec.clone(), &network, batch)).collect())
}

struct FinishedGame {
    number: usize,
    positions: Shard,
    outcome: Outcome,
    plies: u16,
}

/// Result of one worker.
struct Part {
    games: Vec<FinishedGame>,
    stats: SelfPlayStats,
}

/// A game in progress.
struct Seat<G: Game> {
    number: usize,
    rng: Stream,
    search: Mcts<G>,
    ply: u16,
    /// Ply of each recorded position.
    recorded: Vec<u16>,
    /// States of the recorded positions; empty if no position is archived.
    visited: Vec<G::State>,
    positions: Shard,
    /// Whether the current move is searched in full and recorded.
    full: bool,
    /// Simulations of the current search.
    simulations: u32,
    /// Row of the evaluation batch that holds its leaf.
    row: usize,
}

struct Worker<'a, G: Game, N> {
    game: &'a G,
    typed: &'a Typed<'a, G>,
    task: &'a Task<'a>,
    spec: Spec,
    /// Numbers of the games that this worker has not started yet.
    numbers: N,
    seats: Vec<Seat<G>>,
    requests: Requests<G::State>,
    finished: Vec<FinishedGame>,
    stats: SelfPlayStats,
    features: Vec<f32>,
    policy: Vec<f32>,
}

impl<'a, G: Game, N: Iterator<Item = usize>> Worker<'a, G, N> {
    fn new(typed: &'a Typed<'a, G>, numbers: N) -> Self {
        let (game, task) = (typed.game, typed.task);
        let spec = game.spec();
        Self {
            game,
            typed,
            task,
            numbers,
            seats: Vec::new(),
            requests: Requests::new(task.self_play.cached_positions),
            finished: Vec::new(),
            stats: SelfPlayStats::default(),
            features: vec![0.0; spec.features()],
            policy: Vec::new(),
            spec,
        }
    }

    fn run(mut self, evaluator: &mut impl Evaluator<G>, progress: &Progress, stop: &AtomicBool) -> Option<Part> {
        let start = Instant::now();
        while self.seats.len() < self.task.self_play.concurrent_games {
            let Some(seat) = self.next_game(None) else { break };
            self.seats.push(seat);
        }
        loop {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            self.gather(progress);
            if self.requests.is_empty() {
                let stats = SelfPlayStats { cache: self.requests.cache(), time: start.elapsed(), ..self.stats };
                return Some(Part { games: self.finished, stats });
            }
            let evaluating = Instant::now();
            self.requests.evaluate(self.game, evaluator);
            self.stats.inference += evaluating.elapsed();
            for seat in &mut self.seats {
                let (priors, estimate) = self.requests.answer(seat.row);
                seat.search.apply(priors, estimate);
            }
            self.requests.clear();
        }
    }

    /// Advances every game until its next leaf needs an evaluation, and adds those leaves to the batch. Leaves with a
    /// known evaluation are answered at once, finished searches make their move, and finished games are replaced by the
    /// next ones.
    fn gather(&mut self, progress: &Progress) {
        let mut i = 0;
        while i < self.seats.len() {
            let seat = &mut self.seats[i];
            if let Some((state, legal)) = seat.search.gather(self.game) {
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
            if let Some(outcome) = self.game.outcome(self.seats[i].search.state()) {
                progress.games.fetch_add(1, Ordering::Relaxed);
                // `remove` keeps the order of the other seats, and thereby the rows of the batches.
                let over = self.seats.remove(i);
                let (over, search) = over.finish(self.game, outcome);
                self.finished.push(over);
                if let Some(next) = self.next_game(Some(search)) {
                    self.seats.insert(i, next);
                }
            } else {
                self.seats[i].begin(self.task);
            }
        }
    }

    /// Records the searched position if it was searched in full, and plays the action chosen by the search and the
    /// temperature.
    fn record_and_move(&mut self, i: usize) {
        let (game, seat) = (self.game, &mut self.seats[i]);
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
            if self.task.self_play.archived_starts > 0.0 {
                seat.visited.push(*seat.search.state());
            }
        }
        let temperature = self.task.self_play.temperature_at(seat.ply);
        let action = seat.search.choose(temperature, &mut seat.rng);
        seat.search.advance(game, action);
        seat.ply += 1;
    }

    /// Starts this worker's next game, if there is one, and begins its first search. Reuses the memory of a finished
    /// game's search.
    fn next_game(&mut self, search: Option<Mcts<G>>) -> Option<Seat<G>> {
        let number = self.numbers.next()?;
        let task = self.task;
        let mut rng = stream(task.seed, Purpose::SelfPlay, [task.iteration, number as u64]);
        let (state, ply) = self.typed.start(&mut rng);
        let mut search = search.unwrap_or_else(|| Mcts::new(self.game, state));
        search.reset(self.game, state);
        let mut seat = Seat {
            number,
            rng,
            search,
            ply,
            recorded: Vec::new(),
            visited: Vec::new(),
            positions: Shard::new(task.iteration, self.spec.features()),
            full: true,
            simulations: 0,
            row: 0,
        };
        seat.begin(task);
        Some(seat)
    }
}

impl<G: Game> Seat<G> {
    fn begin(&mut self, task: &Task<'_>) {
        let share = task.self_play.full_search_share;
        self.full = share >= 1.0 || self.rng.random::<f32>() < share;
        let method = if self.full {
            self.simulations = task.simulations;
            task.search.self_play(task.self_play.temperature_at(self.ply))
        } else {
            self.simulations = task.self_play.fast_simulations;
            task.search.plain()
        };
        self.search.begin(&method, self.simulations, &mut self.rng);
    }

    /// Returns the finished game, and its search for reuse.
    fn finish(mut self, game: &G, outcome: Outcome) -> (FinishedGame, Mcts<G>) {
        self.positions.finish_game(0, &self.recorded, self.ply, &outcome);
        if !self.visited.is_empty() {
            let i = self.rng.random_range(0..self.visited.len());
            self.positions.archive(Archived { ply: self.recorded[i], position: game.position_text(&self.visited[i]) });
        }
        let game = FinishedGame { number: self.number, positions: self.positions, outcome, plies: self.ply };
        (game, self.search)
    }
}

#[cfg(test)]
mod recording_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{SearchConfig, SelfPlayConfig};
    use turnstone_agents::shape;
    use turnstone_env::AnyState;
    use turnstone_env::games::mu_torere::MuTorere;
    use turnstone_models::{NetworkConfig, Weights};

    #[test]
    fn games_start_from_the_archive_and_add_a_position_to_it() {
        let game = MuTorere::default();
        let network = NetworkConfig::ResidualMlp { blocks: 0, width: 4 };
        let layout = network.layout(&shape(&game.spec())).expect("a small network");
        let weights = Weights::random(&layout, 1);
        let self_play = SelfPlayConfig { games_per_iteration: 5, archived_starts: 1.0, ..SelfPlayConfig::default() };
        let mut rng = stream(1, Purpose::SelfPlay, [0, 0]);
        let (state, _) = random_opening(&game, 6, &mut rng);
        let archive = [(AnyState::new(state), 40)];
        let task = Task {
            network: &network,
            weights: &weights,
            search: &SearchConfig::default(),
            self_play: &self_play,
            simulations: 4,
            archive: &archive,
            samples: &[],
            seed: 1,
            iteration: 1,
        };
        let typed = |archive| Typed { game: &game, task: &task, archive };
        assert_eq!(typed(vec![(state, 40)]).start(&mut rng), (state, 40));
        let games =
            play(&game, &task, &Progress::default(), &AtomicBool::new(false)).expect("sound").expect("not stopped");
        assert!(games.ends.iter().all(|&(_, plies)| plies > 40));
        let archived = games.shard.archived();
        assert_eq!(archived.len(), 5);
        assert!(archived.iter().all(|a| a.ply >= 40 && game.parse_position(&a.position).is_ok()));
        assert!(typed(Vec::new()).start(&mut rng).1 <= self_play.opening_plies);
    }
}
