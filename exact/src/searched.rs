//! Exact values by search: alpha-beta to the end of the game, for any game.

use std::sync::{Mutex, PoisonError};

use turnstone_env::{Action, ActionList, Notation, Rules, without_limits};
use turnstone_search::Stop;
use turnstone_search::classic::{AlphaBeta, Control, Limits, MAX_DEPTH, WinLoss};

use crate::limits::SolveLimits;
use crate::values::{ExactValues, best_by, unlimited};

/// Exact values of the positions from which alpha-beta reaches the ends of the game within limits. Its depth grows until the
/// result is decided, so that wins in few plies are found soon; games that take more than [`MAX_DEPTH`] plies to decide are
/// not covered.
///
/// As all exact values, they are those of the game without its ply limits, unless these cannot be switched off.
///
/// ```
/// use turnstone_env::{Notation, games::Konane, Params, Rules};
/// use turnstone_exact::{ExactValues, Searched, SolveLimits};
///
/// let game = Konane::default().with_params(&Params::new().with("size", 4))?;
/// let truth = Searched::new(&game, SolveLimits::nodes(10_000));
/// assert_eq!(truth.value(&game, &game.start()), Some(-1));
/// # Ok::<(), turnstone_env::Error>(())
/// ```
#[derive(Debug)]
pub struct Searched<G: Rules> {
    /// The game without limits.
    game: G,
    limits: SolveLimits,
    stop: Stop,
    search: Mutex<AlphaBeta<G, WinLoss>>,
}

/// Most entries of the transposition table.
const ENTRIES: usize = 1 << 21;
/// Bytes of an entry besides the state, about.
const ENTRY: usize = 24;
/// Nodes that a search visits on one thread before others help.
const ALONE: u64 = 100_000;

impl<G: Notation> Searched<G> {
    /// Searches every position within these limits. With a limit of nodes a query does not depend on those before it, and
    /// one thread searches; with a limit of no nodes nothing is covered.
    #[must_use]
    pub fn new(game: &G, limits: SolveLimits) -> Self {
        let game = without_limits(game).unwrap_or_else(|_| game.clone());
        let entries = usize::try_from(limits.nodes).unwrap_or(usize::MAX).min(ENTRIES);
        let search = AlphaBeta::new(&game, WinLoss).with_table(entries * (size_of::<G::State>() + ENTRY));
        Self { game, limits, stop: Stop::default(), search: Mutex::new(search) }
    }

    /// Asks with a table that is empty where the number of nodes is limited.
    fn ask<T>(&self, question: impl FnOnce(&mut AlphaBeta<G, WinLoss>) -> Option<T>) -> Option<T> {
        if self.limits.nodes == 0 {
            return None;
        }
        let mut search = self.search.lock().unwrap_or_else(PoisonError::into_inner);
        if self.limits.nodes < u64::MAX {
            search.forget();
        }
        question(&mut search)
    }

    fn solve(&self, search: &mut AlphaBeta<G, WinLoss>, mut state: G::State) -> Option<i8> {
        let mut legal = ActionList::new();
        for _ in 0..MAX_DEPTH {
            if let Some(outcome) = self.game.outcome(&state) {
                return Some(outcome.value());
            }
            self.game.legal(&state, &mut legal);
            let [forced] = legal[..] else { break };
            self.game.play(&mut state, forced);
        }
        let SolveLimits { nodes, time, threads } = self.limits;
        let control = Control::from(self.stop.clone());
        let limits = Limits { nodes: (nodes < u64::MAX).then_some(nodes), time, ..Limits::default() };
        if limits.nodes.is_some() || threads <= 1 {
            return self.decided(search, &state, &limits, &control);
        }
        let started = control.clock.now();
        let found = self.decided(search, &state, &Limits { nodes: Some(ALONE), ..limits }, &control);
        let spent = control.clock.now().saturating_sub(started);
        if found.is_some() || control.stop.is_raised() || time.is_some_and(|time| spent >= time) {
            return found;
        }
        let limits = Limits { time: time.map(|time| time.saturating_sub(spent)), ..limits };
        let helpers: Vec<_> = (1..threads).map(|_| AlphaBeta::new(&self.game, WinLoss).with_table_of(search)).collect();
        let done = Stop::default();
        std::thread::scope(|scope| {
            for mut helper in helpers {
                let (control, state) = (Control::from(done.clone()), &state);
                scope.spawn(move || helper.deepen_until(state, &Limits::default(), &control, &mut |_| {}));
            }
            let found = self.decided(search, &state, &limits, &control);
            done.raise();
            found
        })
    }

    /// The value, if a depth that was searched in full decides it.
    fn decided(
        &self,
        search: &mut AlphaBeta<G, WinLoss>,
        state: &G::State,
        limits: &Limits,
        control: &Control,
    ) -> Option<i8> {
        let mut value = None;
        search.deepen_until(state, limits, control, &mut |found| {
            value = (found.complete || found.score != 0).then(|| found.score.signum() as i8);
        });
        value
    }
}

impl<G: Notation> ExactValues<G> for Searched<G> {
    fn value(&self, game: &G, state: &G::State) -> Option<i8> {
        let state = unlimited(game, state, &self.game)?;
        self.ask(|search| self.solve(search, state))
    }

    /// One query, in which the successors share a table.
    fn best_actions(&self, game: &G, state: &G::State) -> Option<Vec<Action>> {
        let state = unlimited(game, state, &self.game)?;
        self.ask(|search| best_by(&self.game, &state, |state| self.solve(search, *state)))
    }

    fn stop_by(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use turnstone_env::games::{Konane, Mancala, MuTorere};
    use turnstone_env::toy::Toy;
    use turnstone_env::{Params, conformance::random_game};

    use super::*;
    use crate::reachable::Unlimited;

    /// On random trees, whose players may move several times in a row, and positions of a game with draws by infinite play.
    #[test]
    fn values_are_those_of_minimax_and_enumeration() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for threads in [1, 2].repeat(100) {
            let toy = Toy::random(&mut rng, 5, 3, 1);
            let truth = Searched::new(&toy, SolveLimits::NONE.with_threads(threads));
            let value = toy.value(toy.start()).signum() as i8;
            assert_eq!(truth.value(&toy, &toy.start()), Some(value), "{toy:?}");
        }
        let game = MuTorere::default();
        let all = Unlimited::of(&game, 10_000).expect("it can be 0").expect("small");
        let truth = Searched::new(&game, SolveLimits::nodes(20_000));
        let (mut known, mut best) = (0, 0);
        for seed in 0..20 {
            for (state, _) in random_game(&game, seed, 200) {
                let unlimited = game.outcome(&state).is_none_or(|outcome| !outcome.truncated);
                if let Some(value) = truth.value(&game, &state).filter(|_| unlimited) {
                    assert_eq!(Some(value), all.value(&game, &state), "{}", game.position_text(&state));
                    known += 1;
                }
                if let Some(actions) = truth.best_actions(&game, &state).filter(|_| unlimited) {
                    assert_eq!(Some(actions), all.best_actions(&game, &state), "{}", game.position_text(&state));
                    best += 1;
                }
            }
        }
        assert!(known > 20 && best > 5, "only {known} positions and {best} sets of actions");
    }

    #[test]
    fn every_limit_ends_a_search() {
        let game = Mancala::default();
        let value = |limits| Searched::new(&game, limits).value(&game, &game.start());
        assert_eq!(value(SolveLimits::nodes(0)), None);
        assert_eq!(value(SolveLimits::nodes(10_000)), None);
        for threads in [1, 2] {
            let started = Instant::now();
            let limits = SolveLimits::NONE.with_time(Some(Duration::from_millis(300))).with_threads(threads);
            assert_eq!(value(limits), None);
            let mut stopped = Searched::new(&game, SolveLimits::NONE.with_threads(threads));
            let stop = Stop::default();
            stopped.stop_by(&stop);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(300));
                    stop.raise();
                });
                assert_eq!(stopped.value(&game, &game.start()), None);
            });
            assert!(started.elapsed() < Duration::from_secs(20), "{threads} threads");
        }
    }

    #[test]
    fn a_limit_of_nodes_makes_answers_independent_of_each_other() {
        let game = Konane::default().with_params(&Params::new().with("size", 6)).expect("a size");
        let limits = SolveLimits::nodes(2_000);
        let truth = Searched::new(&game, limits);
        let states = random_game(&game, 1, 40);
        let answers: Vec<_> = states.iter().map(|(state, _)| truth.value(&game, state)).collect();
        for ((state, _), answer) in states.iter().zip(&answers) {
            assert_eq!(Searched::new(&game, limits).value(&game, state), *answer);
        }
        assert!(answers.contains(&None) && answers.iter().flatten().count() > 5, "{answers:?}");
    }
}
