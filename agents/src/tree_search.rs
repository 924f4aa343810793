//! Tree searches of many positions, or in many games at once, whose leaves are evaluated in one batch.

use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::{Action, AnyState, Game, Spec};
use turnstone_models::{ComputeDevice, DeviceError, Instructions, NetworkError};
use turnstone_search::classic::Stop;
use turnstone_search::tensors::evaluate_tensors;
use turnstone_search::{Evaluation, Mcts, Pool, Pooled, RootAction, TensorEvaluator, TensorFault, Uniform};

use crate::analysis::{Analysis, analysis, best};
use crate::evaluator::{Playouts, TryEvaluator, evaluate_one};
use crate::network::LoadedNetwork;
use crate::search_settings::{SearchKind, SearchSettings};
use crate::together::run_together;
use crate::tree_player::KeptTree;
use crate::tree_spec::TreeSpec;

/// Tree searches in numbered seats. A seat keeps its tree from one search to the next. What it finds does not depend on the
/// other seats, and in a game its moves are those of a [`Player`](crate::Player) of the same agent.
///
/// # Panics
/// A seat that is searching must not be asked for anything but its results.
pub trait TreeSearch: Send {
    /// Starts a new game in a seat: its tree is empty, and playouts repeat their random numbers. Seats are made as needed.
    fn new_game(&mut self, seat: usize, state: &AnyState);

    /// Notifies a seat of an action of either side in its game, so that it keeps the subtree.
    fn played(&mut self, seat: usize, action: Action);

    /// Begins the search of a position of a seat's game, which is not over. `rng` is the random stream of the game and side;
    /// raising `stop` ends the search early.
    fn begin(&mut self, seat: usize, state: &AnyState, simulations: u32, rng: &mut Stream, stop: Stop);

    /// Begins the search of a position alone: its result depends on the position, the number of simulations and the
    /// evaluator.
    fn analyse(&mut self, seat: usize, state: &AnyState, simulations: u32, stop: Stop) {
        self.new_game(seat, state);
        self.begin(seat, state, simulations, &mut stream(0, Purpose::Play, [0, 0]), stop);
    }

    /// Number of seats that are searching.
    fn searching(&self) -> usize;

    /// Advances every search by one evaluation, all in one batch, and adds the seats whose search is over to `done`. It ends
    /// early when `go_on`, which is called after simulations that need no evaluation, returns false.
    ///
    /// # Errors
    /// The GPU failed. The next call evaluates the same batch again.
    fn advance_while(&mut self, go_on: &mut dyn FnMut() -> bool, done: &mut Vec<usize>) -> Result<(), DeviceError>;

    /// [`TreeSearch::advance_while`] without an early end.
    ///
    /// # Errors
    /// As [`TreeSearch::advance_while`].
    fn advance(&mut self, done: &mut Vec<usize>) -> Result<(), DeviceError> {
        self.advance_while(&mut || true, done)
    }

    /// [`TreeSearch::advance`] with an evaluator of the caller.
    ///
    /// # Errors
    /// That of the evaluation, which can be repeated.
    fn advance_with(&mut self, evaluator: &mut dyn TensorEvaluator, done: &mut Vec<usize>) -> Result<(), TensorFault>;

    /// The action that a seat's search has found best.
    fn chosen(&self, seat: usize) -> Action;

    /// What a seat's search has found, complete or so far.
    fn analysis(&self, seat: usize) -> Analysis;

    /// The results for the legal actions after a line from the root of a seat's tree; `None` where the tree does not reach.
    fn actions_after(&self, seat: usize, line: &[Action]) -> Option<Vec<RootAction>>;

    /// The evaluator's priors of the legal actions and its evaluation, without search, of a position in which the game is
    /// not over. Random for playouts.
    ///
    /// # Errors
    /// The GPU failed.
    fn predict(&mut self, state: &AnyState) -> Result<(Vec<(Action, f32)>, Evaluation), DeviceError>;

    /// Ends all searches without a result.
    fn clear(&mut self);

    /// Removes all cached evaluations, as when the network has changed.
    fn forget(&mut self);
}

/// The tree search of an agent that plays several games at once, one per seat.
pub struct Team {
    /// The search.
    pub search: Box<dyn TreeSearch>,
    /// Simulations per move.
    pub simulations: u32,
}

impl Team {
    /// Begins to choose an action in a seat, in a position in which the game is not over.
    pub fn begin(&mut self, seat: usize, state: &AnyState, rng: &mut Stream) {
        self.search.begin(seat, state, self.simulations, rng, Stop::default());
    }
}

/// What evaluates the leaves of a [`TreeSearch`].
#[derive(Clone, Copy, Debug)]
pub enum Leaves<'a> {
    /// A network, searched with as a spec says.
    Network {
        /// The network.
        network: &'a LoadedNetwork,
        /// Settings of the search, precision and device.
        tree: &'a TreeSpec,
        /// Positions of a batch; larger ones are split.
        batch: usize,
        /// Instructions of the processor that compute its floats.
        instructions: Instructions,
    },
    /// Random playouts, which depend on all seats.
    Playouts {
        /// Seed of their random numbers.
        seed: u64,
    },
    /// The caller, through [`TreeSearch::advance_with`]. Otherwise priors are equal and values 0.
    Caller(SearchSettings),
}

/// Creates a search with a cache of `cached` evaluations; 0 keeps none.
///
/// # Errors
/// The weights do not match the network, or the GPU cannot be used.
pub(crate) fn tree_search<G: Game>(
    game: &G,
    leaves: Leaves<'_>,
    cached: usize,
) -> Result<Box<dyn TreeSearch>, NetworkError> {
    Ok(match leaves {
        Leaves::Network { network, tree, batch, instructions } => {
            let evaluator = match tree.device {
                ComputeDevice::Gpu(_) => network.evaluator(game, (tree.precision, tree.device), batch)?,
                ComputeDevice::Cpu => network.evaluator_with(game, tree.precision, batch, instructions)?,
            };
            let settings = tree.search.over(network.search_settings());
            Box::new(Searches::new(game, evaluator, settings, cached).with_threads(tree.threads.number().unwrap_or(1)))
        }
        Leaves::Playouts { seed } => {
            Box::new(Searches::new(game, Playouts::new(seed), SearchKind::Puct.into(), cached))
        }
        Leaves::Caller(settings) => Box::new(Searches::new(game, Uniform, settings, cached)),
    })
}

/// Searches with an evaluator of their own.
struct Searches<G: Game, E> {
    game: G,
    spec: Spec,
    settings: SearchSettings,
    /// One per thread of a search that is the only one.
    evaluators: Vec<E>,
    /// `None` while the seat is searching.
    seats: Vec<Option<Seat<G>>>,
    searching: Pool<G, Searching<G>>,
}

struct Seat<G: Game> {
    tree: KeptTree<G>,
    stop: Stop,
}

struct Searching<G: Game> {
    number: usize,
    seat: Seat<G>,
}

impl<G: Game> Pooled<G> for Searching<G> {
    fn search(&mut self) -> &mut Mcts<G> {
        &mut self.seat.tree.search
    }

    fn is_stopped(&self) -> bool {
        self.seat.stop.is_raised()
    }
}

const NOT_SEARCHING: &str = "the seat is not searching";

impl<G: Game, E> Searches<G, E> {
    fn new(game: &G, evaluator: E, settings: SearchSettings, cached: usize) -> Self {
        let (game, spec) = (game.clone(), game.spec());
        Self { game, spec, settings, evaluators: vec![evaluator], seats: Vec::new(), searching: Pool::new(cached) }
    }

    fn with_threads(mut self, threads: usize) -> Self
    where
        E: TryEvaluator<G>,
    {
        let first = &self.evaluators[0];
        let others: Vec<E> = (1..threads).map_while(|number| first.for_thread(number)).collect();
        self.evaluators.extend(others);
        self
    }

    fn empty_seat(&self) -> Seat<G> {
        Seat { tree: KeptTree::new(&self.game), stop: Stop::default() }
    }

    /// A seat, whether it is searching or not.
    fn seat(&self, number: usize) -> &Seat<G> {
        let searching = || self.searching.iter().find(|searching| searching.number == number);
        self.seats[number].as_ref().unwrap_or_else(|| &searching().expect("it is searching").seat)
    }

    /// Runs the only search to its end by all threads, if there is one and its root is evaluated.
    fn run_together(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<(), DeviceError>
    where
        E: TryEvaluator<G> + Send,
    {
        if self.evaluators.len() == 1 {
            return Ok(());
        }
        let Some(Searching { seat: Seat { tree, stop }, .. }) = self.searching.single() else { return Ok(()) };
        if stop.is_raised() || tree.search.actions().next().is_none() {
            return Ok(());
        }
        let mut go_on = |_: &Mcts<G>| !stop.is_raised() && go_on();
        run_together(&self.game, &mut tree.search, &mut self.evaluators, &|_| None, stop, &mut go_on).map(drop)
    }

    /// Takes every search to its next leaf.
    fn gather(&mut self, go_on: &mut dyn FnMut() -> bool, done: &mut Vec<usize>) {
        let seats = &mut self.seats;
        self.searching.gather_while(&self.game, go_on, |Searching { number, seat }, _| {
            seats[number] = Some(seat);
            done.push(number);
            None
        });
    }
}

impl<G: Game, E: TryEvaluator<G> + Send> TreeSearch for Searches<G, E> {
    fn new_game(&mut self, seat: usize, state: &AnyState) {
        while self.seats.len() <= seat {
            self.seats.push(Some(self.empty_seat()));
        }
        self.evaluators[0].restart();
        self.seats[seat].as_mut().expect(NOT_SEARCHING).tree.new_game(&self.game, state.of());
    }

    fn played(&mut self, seat: usize, action: Action) {
        self.seats[seat].as_mut().expect(NOT_SEARCHING).tree.played(action);
    }

    fn begin(&mut self, seat: usize, state: &AnyState, simulations: u32, rng: &mut Stream, stop: Stop) {
        let Seat { mut tree, .. } = self.seats[seat].take().expect(NOT_SEARCHING);
        tree.root(&self.game, state.of(), &mut || true);
        tree.search.begin(&self.game, &self.settings.strongest(simulations), simulations, rng);
        self.searching.push(Searching { number: seat, seat: Seat { tree, stop } });
    }

    fn searching(&self) -> usize {
        self.searching.len()
    }

    fn advance_while(&mut self, go_on: &mut dyn FnMut() -> bool, done: &mut Vec<usize>) -> Result<(), DeviceError> {
        self.run_together(go_on)?;
        self.gather(go_on, done);
        let (game, evaluator) = (&self.game, &mut self.evaluators[0]);
        self.searching.evaluate(|batch| evaluator.try_evaluate(game, batch)).map(drop)
    }

    fn advance_with(&mut self, evaluator: &mut dyn TensorEvaluator, done: &mut Vec<usize>) -> Result<(), TensorFault> {
        self.gather(&mut || true, done);
        self.searching.evaluate(|batch| evaluate_tensors(&self.game, &self.spec, batch, evaluator)).map(drop)
    }

    fn chosen(&self, seat: usize) -> Action {
        best(&self.seat(seat).tree.search)
    }

    fn analysis(&self, seat: usize) -> Analysis {
        let Seat { tree, stop } = self.seat(seat);
        analysis(&tree.search, stop.is_raised())
    }

    fn actions_after(&self, seat: usize, line: &[Action]) -> Option<Vec<RootAction>> {
        self.seat(seat).tree.search.actions_after(line)
    }

    fn predict(&mut self, state: &AnyState) -> Result<(Vec<(Action, f32)>, Evaluation), DeviceError> {
        evaluate_one(&self.game, state.of(), &mut self.evaluators[0])
    }

    fn clear(&mut self) {
        self.searching.clear();
        // The trees of the searches are lost.
        for i in 0..self.seats.len() {
            if self.seats[i].is_none() {
                self.seats[i] = Some(self.empty_seat());
            }
        }
    }

    fn forget(&mut self) {
        self.searching.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::FailsOnce;
    use turnstone_env::Side;
    use turnstone_env::games::Mancala;

    fn searches(calls_before: usize) -> Searches<Mancala, FailsOnce> {
        Searches::new(&Mancala::default(), FailsOnce { calls_before }, SearchKind::Puct.into(), 0)
    }

    #[test]
    fn searches_that_were_cleared_after_a_failure_begin_afresh() {
        let start = AnyState::new(Mancala::default().start());
        let analysed = |searches: &mut Searches<Mancala, FailsOnce>| {
            let mut done = Vec::new();
            for seat in 0..3 {
                searches.analyse(seat, &start, 10 + seat as u32, Stop::default());
            }
            while searches.searching() > 0 {
                searches.advance(&mut done)?;
            }
            Ok(done.into_iter().map(|seat| (seat, searches.analysis(seat))).collect::<Vec<_>>())
        };
        let expected = analysed(&mut searches(usize::MAX)).expect("nothing fails");
        assert_eq!(expected.len(), 3);
        for calls_before in [0, 5] {
            let mut searches = searches(calls_before);
            assert_eq!(analysed(&mut searches), Err(FailsOnce::fault()));
            searches.clear();
            assert_eq!(searches.searching(), 0);
            assert_eq!(analysed(&mut searches).as_ref(), Ok(&expected));
        }
    }

    #[test]
    fn a_batch_that_failed_is_evaluated_again() {
        let start = AnyState::new(Mancala::default().start());
        let chosen = |calls_before: usize| {
            let mut searches = searches(calls_before);
            let (mut done, mut faults) = (Vec::new(), 0);
            for seat in 0..2 {
                let rng = &mut stream(1, Purpose::Play, [seat, 0]);
                searches.new_game(seat as usize, &start);
                searches.begin(seat as usize, &start, 20, rng, Stop::default());
            }
            while done.len() < 2 {
                if let Err(fault) = searches.advance(&mut done) {
                    assert_eq!(fault, FailsOnce::fault());
                    faults += 1;
                }
            }
            assert_eq!(faults, usize::from(calls_before < 20));
            [0, 1].map(|seat| searches.chosen(seat))
        };
        let whole = chosen(usize::MAX);
        assert_eq!(chosen(0), whole);
        assert_eq!(chosen(7), whole);
    }

    #[test]
    fn a_prediction_that_fails_is_an_error() {
        let start = AnyState::new(Mancala::default().start());
        let mut searches = searches(0);
        assert_eq!(searches.predict(&start), Err(FailsOnce::fault()));
        let (priors, even) = searches.predict(&start).expect("it fails once");
        assert_eq!((priors.len(), even.win_draw_loss(Side::First)), (6, [0.5, 0.0, 0.5]));
    }

    #[test]
    fn a_stopped_search_shows_what_it_has_found() {
        let start = AnyState::new(Mancala::default().start());
        let (mut searches, stop, mut done) = (searches(usize::MAX), Stop::default(), Vec::new());
        searches.analyse(1, &start, 100, stop.clone());
        for _ in 0..20 {
            searches.advance(&mut done).expect("nothing fails");
        }
        let before = searches.analysis(1);
        assert!(done.is_empty() && before.visits > 10 && !before.stopped);
        stop.raise();
        searches.advance(&mut done).expect("nothing fails");
        assert_eq!((done, searches.searching()), (vec![1], 0));
        assert_eq!(searches.analysis(1), Analysis { stopped: true, ..before });
    }
}
