//! Simple players: random moves, and tree search with playouts or with a network.

use std::time::Duration;

use rand::RngExt;
use turnstone_base::streams::Stream;
use turnstone_env::{Action, ActionList, Game};
use turnstone_exact::ExactValues;
use turnstone_models::{DeviceError, NetworkError};
use turnstone_search::{EvalBatch, Evaluation, Rollout};

use crate::evaluator::{NetworkEvaluator, TryEvaluator};
use crate::network::LoadedNetwork;
use crate::player::{PlayerFault, TypedPlayer};
use crate::request::{Score, SearchInfo, SearchRequest};
use crate::search_settings::{SearchKind, SearchSettings};
use crate::tree_player::{TreePlayer, in_words};
use crate::tree_spec::{Budget, TreeSpec};

/// Uniformly random legal actions.
#[derive(Default, Debug)]
pub(crate) struct Random {
    legal: ActionList,
}

impl<G: Game> TypedPlayer<G> for Random {
    fn search(
        &mut self,
        game: &G,
        state: &G::State,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault> {
        game.legal(state, &mut self.legal);
        let action = self.legal[rng.random_range(0..self.legal.len())];
        request.notify(|| SearchInfo { depth: 0, nodes: 0, score: None, line: vec![action] });
        Ok(action)
    }
}

/// Tree search with random playouts.
pub(crate) struct Rollouts<G: Game> {
    tree: TreePlayer<G>,
    evaluator: Rollout,
}

impl<G: Game> Rollouts<G> {
    pub(crate) fn new(game: &G, budget: Budget) -> Self {
        let settings = SearchSettings::from(SearchKind::Puct);
        Self { tree: TreePlayer::new(game, budget, settings), evaluator: Rollout::new(0) }
    }
}

impl<G: Game> TypedPlayer<G> for Rollouts<G> {
    fn new_game(&mut self, game: &G, state: &G::State, rng: &mut Stream) {
        self.tree.new_game(game, state);
        self.evaluator = Rollout::new(rng.random());
    }

    fn clock(&mut self, remaining: Duration) {
        self.tree.clock(remaining);
    }

    fn search(
        &mut self,
        game: &G,
        state: &G::State,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault> {
        Ok(self.tree.search(game, state, &mut self.evaluator, request, rng)?)
    }

    fn played(&mut self, _: &G, action: Action) {
        self.tree.played(action);
    }

    fn comment(&self) -> Option<String> {
        Some(self.tree.comment.clone())
    }
}

/// Budget with which a network plays its policy without search.
const POLICY_ALONE: Budget = Budget::Simulations(0);

/// Tree search with a network, or the network's policy without search.
pub(crate) struct Network<G: Game> {
    tree: TreePlayer<G>,
    evaluator: NetworkEvaluator,
}

impl<G: Game> Network<G> {
    pub(crate) fn new(
        game: &G,
        network: &LoadedNetwork,
        spec: TreeSpec,
        tables: Option<Box<dyn ExactValues<G>>>,
    ) -> Result<Self, NetworkError> {
        let evaluator = network.evaluator(game, (spec.precision, spec.device), 1)?;
        let settings = spec.search.over(network.search_settings());
        let tree = TreePlayer::new(game, spec.budget, settings).with_tables(tables);
        Ok(Self { tree, evaluator })
    }

    /// The action with the greatest prior, and the network's evaluation of the position.
    fn without_search(&mut self, game: &G, state: &G::State) -> Result<(Action, Evaluation), DeviceError> {
        evaluate_one(game, state, &mut self.evaluator)
    }
}

/// The action with the greatest prior, and the network's evaluation of a position in which the game is not over.
///
/// # Errors
/// The GPU failed.
pub(crate) fn evaluate_one<G: Game>(
    game: &G,
    state: &G::State,
    evaluator: &mut impl TryEvaluator<G>,
) -> Result<(Action, Evaluation), DeviceError> {
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    let mut batch = EvalBatch::default();
    batch.push(*state, &legal);
    evaluator.try_evaluate(game, &mut batch)?;
    let (priors, estimate) = batch.answer(0);
    let best = (0..legal.len()).rev().max_by(|&a, &b| priors[a].total_cmp(&priors[b]));
    Ok((legal[best.expect("a running game has legal actions")], estimate))
}

impl<G: Game> TypedPlayer<G> for Network<G> {
    fn new_game(&mut self, game: &G, state: &G::State, _: &mut Stream) {
        self.tree.new_game(game, state);
    }

    fn clock(&mut self, remaining: Duration) {
        self.tree.clock(remaining);
    }

    fn search(
        &mut self,
        game: &G,
        state: &G::State,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault> {
        if let Some(action) = self.tree.table_move(game, state, rng) {
            request.notify(|| SearchInfo { depth: 1, nodes: 0, score: None, line: vec![action] });
            return Ok(action);
        }
        if self.tree.budget == POLICY_ALONE {
            let (action, estimate) = self.without_search(game, state)?;
            self.tree.comment = in_words(estimate, game.mover(state));
            let score = Some(Score::of_estimate(estimate, game.mover(state)));
            request.notify(|| SearchInfo { depth: 1, nodes: 1, score, line: vec![action] });
            return Ok(action);
        }
        Ok(self.tree.search(game, state, &mut self.evaluator, request, rng)?)
    }

    fn predict(&mut self, game: &G, state: &G::State) -> Result<Option<[f32; 3]>, DeviceError> {
        let (_, estimate) = self.without_search(game, state)?;
        Ok(Some(estimate.win_draw_loss(game.mover(state))))
    }

    fn played(&mut self, _: &G, action: Action) {
        self.tree.played(action);
    }

    fn comment(&self) -> Option<String> {
        Some(self.tree.comment.clone())
    }
}
