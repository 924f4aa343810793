//! Simultaneous search of many positions, whose leaves are evaluated in one batch.

use turnstone_base::streams::{Purpose, stream};
use turnstone_env::{Action, AnyState, Game, Side, Spec};
use turnstone_models::{DeviceError, NetworkError};
use turnstone_search::classic::Stop;
use turnstone_search::tensors::evaluate_tensors;
use turnstone_search::{EvalBatch, Evaluation, Mcts, Pool, Pooled, RootAction, TensorEvaluator, TensorFault};

use crate::evaluator::{NetworkEvaluator, TryEvaluator};
use crate::network::LoadedNetwork;
use crate::search_settings::SearchSettings;
use crate::tree_spec::TreeSpec;

/// Capacity of the evaluation cache, in positions.
const CACHED: usize = 1 << 16;

/// Searches many positions at once. The result for a position does not depend on the others.
pub trait Analyser: Send {
    /// Number of positions that are being searched.
    fn searching(&self) -> usize;

    /// Begins the search of a position in which the game is not over; `ticket` identifies its result, and raising
    /// `stop` ends it early.
    fn begin(&mut self, ticket: u64, state: &AnyState, simulations: u32, stop: Stop);

    /// Advances every search by one evaluation, and calls `done` with the ticket and the result of each finished one.
    ///
    /// # Errors
    /// The GPU failed. All searches have ended, those that have not been `done` without a result.
    fn advance(&mut self, done: &mut dyn FnMut(u64, Analysis)) -> Result<(), DeviceError>;
}

/// Result of a search, complete or as far as it got.
#[derive(Clone, PartialEq, Debug)]
pub struct Analysis {
    /// Side to move.
    pub mover: Side,
    /// Number of simulations, summed over the actions.
    pub visits: u64,
    /// Evaluation of the position for the first side.
    pub estimate: Evaluation,
    /// Exact value for the first side, if proven.
    pub proven: Option<i8>,
    /// Legal actions: the best one, then the others by decreasing visits and prior. Empty if the search never began.
    pub actions: Vec<AnalysedAction>,
    /// Whether the search was stopped early.
    pub stopped: bool,
}

/// A legal action of an analysed position.
#[derive(Clone, PartialEq, Debug)]
pub struct AnalysedAction {
    /// Visits, prior and value of the action.
    pub root: RootAction,
    /// The action's share of the policy that results from the search.
    pub policy: f32,
    /// Principal variation that begins with the action.
    pub line: Vec<Action>,
}

/// Searches many positions at once with an evaluator of the caller. The result for a position does not depend on the
/// others.
pub trait TensorSearch: Send {
    /// Number of positions that are being searched.
    fn searching(&self) -> usize;

    /// Begins the search of a position, as [`Analyser::begin`].
    fn begin(&mut self, ticket: u64, state: &AnyState, simulations: u32, stop: Stop);

    /// Advances every search to its next leaf, evaluates the leaves in one batch, and calls `done` with the ticket and
    /// the result of each finished search.
    ///
    /// # Errors
    /// That of the evaluation, which can be repeated.
    fn advance(
        &mut self,
        evaluator: &mut dyn TensorEvaluator,
        done: &mut dyn FnMut(u64, Analysis),
    ) -> Result<(), TensorFault>;

    /// Ends all searches without a result.
    fn clear(&mut self);

    /// Removes all cached evaluations, as when the network has changed.
    fn forget(&mut self);
}

/// Positions that are searched side by side.
pub(crate) struct SideBySide<G: Game> {
    game: G,
    spec: Spec,
    settings: SearchSettings,
    pool: Pool<G, Position<G>>,
}

/// A position that is being searched.
struct Position<G: Game> {
    ticket: u64,
    stop: Stop,
    search: Mcts<G>,
}

impl<G: Game> Pooled<G> for Position<G> {
    fn search(&mut self) -> &mut Mcts<G> {
        &mut self.search
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_raised()
    }
}

impl<G: Game> SideBySide<G> {
    /// Creates a search with a cache of `cached` evaluations.
    pub(crate) fn new(game: &G, settings: SearchSettings, cached: usize) -> Self {
        Self { game: game.clone(), spec: game.spec(), settings, pool: Pool::new(cached) }
    }

    fn begin(&mut self, ticket: u64, state: &AnyState, simulations: u32, stop: Stop) {
        let mut search = self.pool.spare().search(&self.game, *state.of());
        // Every search has a random stream of its own, so that its result does not depend on the others.
        let mut rng = stream(0, Purpose::Play, [0, 0]);
        search.begin(&self.game, &self.settings.strongest(simulations), simulations, &mut rng);
        self.pool.push(Position { ticket, stop, search });
    }

    /// Advances every search to its next leaf, unless a batch waits already, and evaluates the leaves.
    fn advance<E>(
        &mut self,
        evaluate: impl FnOnce(&G, &Spec, &mut EvalBatch<G::State>) -> Result<(), E>,
        done: &mut dyn FnMut(u64, Analysis),
    ) -> Result<(), E> {
        self.pool.gather(&self.game, |position, spare| {
            done(position.ticket, analysis(&position.search, position.stop.is_raised()));
            spare.keep(position.search);
            None
        });
        let (game, spec) = (&self.game, &self.spec);
        self.pool.evaluate(|batch| evaluate(game, spec, batch)).map(drop)
    }
}

impl<G: Game> TensorSearch for SideBySide<G> {
    fn searching(&self) -> usize {
        self.pool.len()
    }

    fn begin(&mut self, ticket: u64, state: &AnyState, simulations: u32, stop: Stop) {
        self.begin(ticket, state, simulations, stop);
    }

    fn advance(
        &mut self,
        evaluator: &mut dyn TensorEvaluator,
        done: &mut dyn FnMut(u64, Analysis),
    ) -> Result<(), TensorFault> {
        self.advance(|game, spec, batch| evaluate_tensors(game, spec, batch, evaluator), done)
    }

    fn clear(&mut self) {
        self.pool.clear();
    }

    fn forget(&mut self) {
        self.pool.forget();
    }
}

/// [`Analyser`] that evaluates positions with a network.
pub(crate) struct NetworkAnalyser<G: Game, E = NetworkEvaluator> {
    searches: SideBySide<G>,
    evaluator: E,
}

impl<G: Game> NetworkAnalyser<G> {
    /// Creates an analyser with evaluation batches of up to `batch` positions.
    ///
    /// # Errors
    /// The weights do not match the network.
    pub(crate) fn new(game: &G, network: &LoadedNetwork, tree: &TreeSpec, batch: usize) -> Result<Self, NetworkError> {
        let evaluator = network.evaluator(game, (tree.precision, tree.device), batch)?;
        let settings = tree.search.over(network.search_settings());
        Ok(Self { searches: SideBySide::new(game, settings, CACHED), evaluator })
    }
}

impl<G: Game, E: TryEvaluator<G> + Send> Analyser for NetworkAnalyser<G, E> {
    fn searching(&self) -> usize {
        self.searches.pool.len()
    }

    fn begin(&mut self, ticket: u64, state: &AnyState, simulations: u32, stop: Stop) {
        self.searches.begin(ticket, state, simulations, stop);
    }

    fn advance(&mut self, done: &mut dyn FnMut(u64, Analysis)) -> Result<(), DeviceError> {
        let evaluator = &mut self.evaluator;
        let advanced = self.searches.advance(|game, _, batch| evaluator.try_evaluate(game, batch), done);
        if advanced.is_err() {
            self.searches.clear();
        }
        advanced
    }
}

/// Reads the result of a search from its tree.
pub(crate) fn analysis<G: Game>(search: &Mcts<G>, stopped: bool) -> Analysis {
    let mut policy = Vec::new();
    let mut roots: Vec<(RootAction, f32)> = Vec::new();
    if search.actions().next().is_some() {
        search.policy(&mut policy);
        roots.extend(search.actions().zip(policy));
        let best = search.choose(0.0, &mut stream(0, Purpose::Play, [0, 0]));
        let rank = |root: &RootAction| (root.action == best, root.visits, root.prior.to_bits());
        roots.sort_by_key(|(root, _)| std::cmp::Reverse(rank(root)));
    }
    let analysed = |(root, policy): (RootAction, f32)| AnalysedAction { root, policy, line: search.line(root.action) };
    Analysis {
        mover: search.mover(),
        visits: roots.iter().map(|(root, _)| u64::from(root.visits)).sum(),
        estimate: search.estimate(),
        proven: search.proven(),
        actions: roots.into_iter().map(analysed).collect(),
        stopped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::FailsOnce;
    use crate::search_settings::SearchKind;
    use turnstone_env::games::Mancala;

    #[test]
    fn a_failed_evaluation_ends_all_searches_and_the_next_begin_afresh() {
        let game = Mancala::default();
        let analyser = |calls_before| NetworkAnalyser {
            searches: SideBySide::new(&game, SearchKind::Puct.into(), 0),
            evaluator: FailsOnce { calls_before },
        };
        let analysed = |analyser: &mut NetworkAnalyser<Mancala, FailsOnce>| {
            let mut found = Vec::new();
            for ticket in 0..3 {
                analyser.begin(ticket, &AnyState::new(game.start()), 10 + ticket as u32, Stop::default());
            }
            while analyser.searching() > 0 {
                analyser.advance(&mut |ticket, analysis| found.push((ticket, analysis)))?;
            }
            Ok(found)
        };
        let expected = analysed(&mut analyser(usize::MAX)).expect("nothing fails");
        assert_eq!(expected.len(), 3);
        for calls_before in [0, 5] {
            let mut analyser = analyser(calls_before);
            assert_eq!(analysed(&mut analyser), Err(FailsOnce::fault()));
            assert_eq!(analyser.searching(), 0);
            assert_eq!(analysed(&mut analyser).as_ref(), Ok(&expected));
        }
    }
}
