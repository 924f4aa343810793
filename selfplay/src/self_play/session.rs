//! The games of one thread, stepped together: every game continues to its next leaf, and the leaves are evaluated in one
//! batch.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::{Action, Notation, Outcome, Spec};
use turnstone_search::{Backend, Cached, EvalBatch, Fault, Pace, Seats};

use super::stats::{SelfPlayCounters, SelfPlayStats};
use super::task::GameContext;
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

/// Self-play of one thread, object-safe. A game depends on its number, and neither on the other games nor on the session.
pub trait Session: Send {
    /// Begins games while fewer than `seats` (at most `concurrent_games`) are in progress and `next` yields numbers, and takes every game to its next leaf.
    /// Where searches are over, it makes their moves, and otherwise evaluates the leaves in one batch. Returns false if no game
    /// is left to go on with.
    ///
    /// # Errors
    /// The evaluation failed. Nothing is lost: the next step evaluates the same leaves again.
    fn step(
        &mut self,
        seats: usize,
        next: &mut dyn FnMut() -> Option<usize>,
        progress: &SelfPlayCounters,
    ) -> Result<bool, Fault>;

    /// Takes the games that have been finished since the last call.
    fn take_finished(&mut self) -> Vec<FinishedGame>;

    /// Removes all cached evaluations, as when the network has changed.
    fn forget(&mut self);

    /// Amount of work so far, without the running time.
    fn stats(&self) -> SelfPlayStats;
}

/// The games of a session, and their searches in seats of the same numbers.
pub(super) struct GamesInSeats<G: Notation, B> {
    rules: Arc<GameContext<G>>,
    games: Vec<Option<Running>>,
    searches: Seats<G, Cached<G::State, Timed<B>>>,
    recorder: Recorder,
    finished: Vec<FinishedGame>,
    over: Vec<usize>,
}

/// A game in progress.
struct Running {
    number: usize,
    rng: Stream,
    ply: u16,
    moves: Vec<Action>,
    positions: Shard,
}

/// Counters and buffers of every move.
struct Recorder {
    spec: Spec,
    stats: SelfPlayStats,
    features: Vec<f32>,
    policy: Vec<f32>,
}

/// A backend whose time is measured.
struct Timed<B> {
    backend: B,
    time: Duration,
}

impl<G: Notation, B: Backend<G>> Backend<G> for Timed<B> {
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), Fault> {
        let start = Instant::now();
        self.backend.evaluate(game, batch)?;
        self.time += start.elapsed();
        Ok(())
    }
}

impl<G: Notation, B: Backend<G>> GamesInSeats<G, B> {
    /// Without games, with a cache of `cached` evaluations.
    pub(super) fn new(rules: &Arc<GameContext<G>>, backend: B, cached: usize) -> Self {
        let spec = rules.game.spec();
        let (features, policy) = (vec![0.0; spec.features()], Vec::new());
        Self {
            rules: Arc::clone(rules),
            games: Vec::new(),
            searches: Seats::new(Cached::new(Timed { backend, time: Duration::ZERO }, cached)),
            recorder: Recorder { spec, stats: SelfPlayStats::default(), features, policy },
            finished: Vec::new(),
            over: Vec::new(),
        }
    }

    /// Begins games in free seats.
    fn fill(&mut self, seats: usize, next: &mut dyn FnMut() -> Option<usize>) {
        let mut playing = self.games.iter().flatten().count();
        for seat in 0.. {
            if playing >= seats {
                break;
            }
            if seat == self.games.len() {
                self.games.push(None);
            }
            if self.games[seat].is_none() {
                let Some(number) = next() else { break };
                self.begin_game(seat, number);
                playing += 1;
            }
        }
    }

    fn begin_game(&mut self, seat: usize, number: usize) {
        let settings = &self.rules.settings;
        let mut rng = stream(settings.seed, Purpose::SelfPlay, [settings.iteration, number as u64]);
        let (state, ply) = self.rules.start(&mut rng);
        self.searches.idle(&self.rules.game, seat).reset(&self.rules.game, state);
        let positions = Shard::new(settings.iteration, self.recorder.spec.features());
        self.games[seat] = Some(Running { number, rng, ply, moves: Vec::new(), positions });
        self.begin_search(seat);
    }

    fn begin_search(&mut self, seat: usize) {
        let (settings, Some(running)) = (&self.rules.settings, &mut self.games[seat]) else { return };
        let options = settings.search.self_play(settings.self_play.temperature_at(running.ply));
        self.searches.begin(&self.rules.game, seat, &options, settings.simulations, &mut running.rng);
    }

    /// Records the searched position of a seat, plays the action chosen by the search and the temperature, and begins what
    /// follows.
    fn record_and_move(&mut self, seat: usize, progress: &SelfPlayCounters) {
        let GameContext { game, settings, .. } = &*self.rules;
        let (recorder, Some(running)) = (&mut self.recorder, &mut self.games[seat]) else { return };
        let search = self.searches.idle(game, seat);
        recorder.stats.positions += 1;
        recorder.stats.simulations += u64::from(settings.simulations - search.simulations_left());
        let size = search.size();
        recorder.stats.tree = [recorder.stats.tree[0] + size.nodes, recorder.stats.tree[1] + size.bytes];
        let mover = game.mover(search.state());
        game.observe(search.state(), &mut recorder.features);
        search.policy(&mut recorder.policy);
        let indices = search.actions().map(|a| recorder.spec.policy_index(mover, a.action) as u16);
        let policy = indices.zip(recorder.policy.iter().copied());
        running.positions.push(&recorder.features, policy, mover, search.estimate());
        let action = search.choose(settings.self_play.temperature_at(running.ply), &mut running.rng);
        search.advance(game, action);
        running.moves.push(action);
        running.ply = running.ply.saturating_add(1);
        progress.positions.fetch_add(1, Ordering::Relaxed);
        match self.rules.outcome(search.state(), running.ply) {
            None => self.begin_search(seat),
            Some(outcome) => {
                progress.games.fetch_add(1, Ordering::Relaxed);
                self.finished.extend(self.games[seat].take().map(|running| running.finish(outcome)));
            }
        }
    }
}

impl Running {
    fn finish(self, outcome: Outcome) -> FinishedGame {
        let Self { number, mut positions, ply, moves, .. } = self;
        positions.finish_game(&outcome);
        FinishedGame { number, positions, outcome, plies: ply, moves }
    }
}

impl<G: Notation, B: Backend<G> + Send> Session for GamesInSeats<G, B> {
    fn step(
        &mut self,
        seats: usize,
        next: &mut dyn FnMut() -> Option<usize>,
        progress: &SelfPlayCounters,
    ) -> Result<bool, Fault> {
        // The backend has room for the leaves of so many games.
        self.fill(seats.clamp(1, self.rules.settings.self_play.concurrent_games), next);
        let mut over = std::mem::take(&mut self.over);
        let advanced = self.searches.advance(&self.rules.game, |_, _| Pace::Continue, &mut over);
        over.iter().for_each(|&seat| self.record_and_move(seat, progress));
        self.over = over;
        advanced.map(|()| self.games.iter().any(Option::is_some) || !self.over.is_empty())
    }

    fn take_finished(&mut self) -> Vec<FinishedGame> {
        std::mem::take(&mut self.finished)
    }

    fn forget(&mut self) {
        self.searches.backend_mut().forget();
    }

    fn stats(&self) -> SelfPlayStats {
        let cache = self.searches.backend();
        SelfPlayStats { cache: cache.stats(), inference: cache.backend().time, ..self.recorder.stats }
    }
}

#[cfg(test)]
mod tests {
    use turnstone_env::Rules;
    use turnstone_env::games::Mancala;
    use turnstone_search::{TensorFunction, Tensors, Uniform};

    use super::*;
    use crate::config::{SearchConfig, SelfPlayConfig};
    use crate::self_play::task::GameSettings;

    /// Answers like [`Uniform`], and fails in every third call.
    fn unreliable() -> TensorFunction {
        let calls = std::sync::atomic::AtomicU32::new(0);
        Arc::new(move |rows| {
            if calls.fetch_add(1, Ordering::Relaxed) % 3 == 2 {
                return Err(Fault::new("out of order"));
            }
            let (spec, rows_asked) = (Mancala::default().spec(), rows.rows());
            rows.fill(&mut vec![0.0; rows_asked * spec.tensor_len()], &mut vec![false; rows_asked * spec.actions]);
            rows.answer(&vec![1.0; rows_asked * spec.actions], &vec![0.0; rows_asked])
        })
    }

    #[test]
    fn failures_and_scheduling_change_no_game() {
        let search = SearchConfig { simulations: 8, ..SearchConfig::default() };
        let settings = GameSettings::new(&search, &SelfPlayConfig::default(), 5, 0);
        let rules = Arc::new(GameContext::new(&Mancala::default(), &settings));
        let played = |sessions: &mut [Box<dyn Session>], seats: usize| {
            let (mut games, mut faults, count) = (Vec::new(), 0, sessions.len());
            for (first, session) in sessions.iter_mut().enumerate() {
                let mut numbers = (first..).step_by(count);
                for _ in 0..3000 {
                    faults +=
                        u32::from(session.step(seats, &mut || numbers.next(), &SelfPlayCounters::default()).is_err());
                    games.extend(session.take_finished());
                }
                assert!(session.stats().positions > 100);
            }
            games.sort_by_key(|game: &FinishedGame| game.number);
            games.truncate(4);
            assert_eq!(games.iter().map(|game| game.number).collect::<Vec<_>>(), [0, 1, 2, 3]);
            let games = games.into_iter().map(|game| (game.positions, game.outcome, game.plies)).collect::<Vec<_>>();
            (games, faults)
        };
        let (reference, faults) = played(&mut [Box::new(GamesInSeats::new(&rules, Uniform, 0))], 4);
        assert_eq!(faults, 0);
        let session = || {
            let backend = Tensors::new(Mancala::default().spec(), unreliable());
            Box::new(GamesInSeats::new(&rules, backend, 64)) as Box<dyn Session>
        };
        let (games, faults) = played(&mut [session(), session()], 3);
        assert!(faults > 1000, "{faults}");
        assert_eq!(games, reference);
    }
}
