//! Tree search of one position in slices, for hosts that cannot interrupt a search, such as a browser's worker.

use turnstone_base::streams::{Purpose, stream};
use turnstone_env::{Action, ActionList, AnyState, Game};
use turnstone_models::{ComputeDevice, Instructions, NetworkError};
use turnstone_search::{EvalBatch, Evaluation, Evaluator, Mcts, Rollout, RootAction, SearchStep};

use crate::agent::Agent;
use crate::analyser::{Analysis, analysis};
use crate::error::AgentError;
use crate::evaluator::NetworkEvaluator;
use crate::network::LoadedNetwork;
use crate::search_settings::{SearchKind, SearchSettings};
use crate::spec::AgentSpec;
use crate::tree_spec::TreeSpec;

/// Searches one position at a time, in slices, and shows the tree between them. Every search begins with an empty tree,
/// so its result depends on the position, the number of simulations and the seed alone.
pub trait Explorer: Send {
    /// Begins the search of a position in which the game is not over. `seed` determines the playouts of a search without
    /// a network.
    fn begin(&mut self, state: &AnyState, simulations: u32, seed: u64);

    /// Searches until `go_on`, which is called after every simulation, returns false, or all simulations are done or the
    /// position is proven. Returns whether the search is over.
    fn advance(&mut self, go_on: &mut dyn FnMut() -> bool) -> bool;

    /// The result so far.
    fn analysis(&self) -> Analysis;

    /// The results for the legal actions after a line from the root; `None` where the tree does not reach.
    fn actions_after(&self, line: &[Action]) -> Option<Vec<RootAction>>;

    /// The evaluator's priors of the legal actions and its evaluation, without search, of a position in which the game is
    /// not over. Random for playouts.
    fn predict(&mut self, state: &AnyState) -> (Vec<(Action, f32)>, Evaluation);
}

/// Creates an explorer for an agent with a tree search; `None` for other agents.
///
/// # Errors
/// The network does not match the game.
pub(crate) fn explorer<G: Game>(
    game: &G,
    agent: &Agent,
    instructions: Instructions,
) -> Result<Option<Box<dyn Explorer>>, AgentError> {
    Ok(match &agent.spec {
        AgentSpec::Mcts { .. } => {
            let settings = SearchSettings::from(SearchKind::Puct);
            Some(Box::new(Tree::new(game, Playouts(Rollout::new(0)), settings)))
        }
        AgentSpec::Az { tables: Some(_), .. } => {
            let fault = "tables are for players, not for looking inside a search".to_owned();
            return Err(AgentError::Spec { spec: agent.spec.to_string(), fault });
        }
        AgentSpec::Az { tree: TreeSpec { device: ComputeDevice::Gpu(_), .. }, .. } => {
            let fault = "a search in slices runs on the processor".to_owned();
            return Err(AgentError::Spec { spec: agent.spec.to_string(), fault });
        }
        AgentSpec::Az { tree, .. } => {
            let network = agent.network().expect("the checkpoint was read on loading");
            Some(Box::new(with_network(game, network, tree, instructions)?))
        }
        _ => None,
    })
}

fn with_network<G: Game>(
    game: &G,
    network: &LoadedNetwork,
    tree: &TreeSpec,
    instructions: Instructions,
) -> Result<Tree<G, NetworkEvaluator>, NetworkError> {
    let evaluator = network.evaluator_with(game, tree.precision, 1, instructions)?;
    Ok(Tree::new(game, evaluator, tree.search.over(network.search_settings())))
}

/// An evaluator that a new search can start afresh.
trait Restart {
    fn restart(&mut self, seed: u64);
}

impl Restart for NetworkEvaluator {
    fn restart(&mut self, _: u64) {}
}

/// Random playouts.
struct Playouts(Rollout);

impl Restart for Playouts {
    fn restart(&mut self, seed: u64) {
        self.0 = Rollout::new(seed);
    }
}

impl<G: Game> Evaluator<G> for Playouts {
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) {
        self.0.evaluate(game, batch);
    }
}

struct Tree<G: Game, E> {
    game: G,
    search: Mcts<G>,
    evaluator: E,
    settings: SearchSettings,
    batch: EvalBatch<G::State>,
}

impl<G: Game, E: Evaluator<G> + Restart> Tree<G, E> {
    fn new(game: &G, evaluator: E, settings: SearchSettings) -> Self {
        let search = Mcts::new(game, game.start());
        Self { game: game.clone(), search, evaluator, settings, batch: EvalBatch::default() }
    }
}

impl<G: Game, E: Evaluator<G> + Restart + Send> Explorer for Tree<G, E> {
    fn begin(&mut self, state: &AnyState, simulations: u32, seed: u64) {
        let state: G::State = *state.of();
        self.search.reset(&self.game, state);
        self.evaluator.restart(seed);
        let mut rng = stream(0, Purpose::Play, [0, 0]);
        self.search.begin(&self.game, &self.settings.strongest(simulations), simulations, &mut rng);
    }

    fn advance(&mut self, go_on: &mut dyn FnMut() -> bool) -> bool {
        loop {
            match self.search.step(&self.game) {
                SearchStep::Done => return true,
                SearchStep::Finished => {}
                SearchStep::Leaf => {
                    let (state, legal) = self.search.leaf();
                    self.batch.clear();
                    self.batch.push(*state, legal);
                    self.evaluator.evaluate(&self.game, &mut self.batch);
                    let (priors, estimate) = self.batch.answer(0);
                    self.search.apply(priors, estimate);
                }
            }
            if !go_on() {
                return false;
            }
        }
    }

    fn analysis(&self) -> Analysis {
        analysis(&self.search, false)
    }

    fn actions_after(&self, line: &[Action]) -> Option<Vec<RootAction>> {
        self.search.actions_after(line)
    }

    fn predict(&mut self, state: &AnyState) -> (Vec<(Action, f32)>, Evaluation) {
        let state: G::State = *state.of();
        let mut legal = ActionList::new();
        self.game.legal(&state, &mut legal);
        self.batch.clear();
        self.batch.push(state, &legal);
        self.evaluator.evaluate(&self.game, &mut self.batch);
        let (priors, estimate) = self.batch.answer(0);
        (legal.iter().copied().zip(priors.iter().copied()).collect(), estimate)
    }
}
