//! Players with random moves, and with a tree search by playouts or by a network.

use std::time::Duration;

use rand::RngExt;
use turnstone_base::streams::Stream;
use turnstone_env::{Action, ActionList, AnyState, Game};
use turnstone_exact::ExactValues;
use turnstone_models::{DeviceError, NetworkError};
use turnstone_search::{Rollout, draw_weighted};

use crate::evaluator::{NetworkEvaluator, evaluate_one, most_likely};
use crate::network::LoadedNetwork;
use crate::player::{Player, PlayerFault};
use crate::request::{Score, SearchInfo, SearchRequest};
use crate::search_settings::{SearchKind, SearchSettings};
use crate::tree_player::{TreePlayer, in_words};
use crate::tree_spec::{Budget, TreeSpec};

/// Uniformly random legal actions.
pub(crate) struct Random<G> {
    game: G,
    legal: ActionList,
}

impl<G> Random<G> {
    pub(crate) fn new(game: G) -> Self {
        Self { game, legal: ActionList::new() }
    }
}

impl<G: Game> Player for Random<G> {
    fn search(
        &mut self,
        state: &AnyState,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault> {
        self.game.legal(state.of(), &mut self.legal);
        let action = self.legal[rng.random_range(0..self.legal.len())];
        request.notify(|| SearchInfo { depth: 0, nodes: 0, score: None, line: vec![action] });
        Ok(action)
    }
}

/// Tree search with random playouts.
pub(crate) struct Rollouts<G: Game> {
    tree: TreePlayer<G, Rollout>,
}

impl<G: Game> Rollouts<G> {
    pub(crate) fn new(game: &G, budget: Budget) -> Self {
        let settings = SearchSettings::from(SearchKind::Puct);
        Self { tree: TreePlayer::new(game, Rollout::new(0), budget, settings) }
    }
}

impl<G: Game> Player for Rollouts<G> {
    fn new_game(&mut self, state: &AnyState, rng: &mut Stream) {
        self.tree.new_game(state.of());
        self.tree.evaluators.iter_mut().for_each(|evaluator| *evaluator = Rollout::new(rng.random()));
    }

    fn clock(&mut self, remaining: Duration) {
        self.tree.clock(remaining);
    }

    fn search(
        &mut self,
        state: &AnyState,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault> {
        Ok(self.tree.search(state.of(), request, rng)?)
    }

    fn set_threads(&mut self, threads: usize) {
        self.tree.set_threads(threads);
    }

    fn played(&mut self, action: Action) {
        self.tree.tree.played(action);
    }

    fn comment(&self) -> Option<String> {
        Some(self.tree.comment.clone())
    }
}

/// Budget with which a network plays its policy without search.
const POLICY_ALONE: Budget = Budget::Simulations(0);

/// Tree search with a network, or the network's policy without search.
pub(crate) struct Network<G: Game> {
    tree: TreePlayer<G, NetworkEvaluator>,
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
        let tree = TreePlayer::new(game, evaluator, spec.budget, settings).with_tables(tables);
        Ok(Self { tree: tree.with_temperature(spec.temperature()) })
    }
}

impl<G: Game> Player for Network<G> {
    fn new_game(&mut self, state: &AnyState, _: &mut Stream) {
        self.tree.new_game(state.of());
    }

    fn clock(&mut self, remaining: Duration) {
        self.tree.clock(remaining);
    }

    fn search(
        &mut self,
        state: &AnyState,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault> {
        let state = state.of();
        if let Some(action) = self.tree.table_move(state, rng) {
            request.notify(|| SearchInfo { depth: 1, nodes: 0, score: None, line: vec![action] });
            return Ok(action);
        }
        if self.tree.budget == POLICY_ALONE {
            let (priors, estimate) = evaluate_one(&self.tree.game, state, &mut self.tree.evaluators[0])?;
            let action = match self.tree.temperature {
                0.0 => most_likely(&priors),
                temperature => {
                    let mut weights: Vec<f32> = priors.iter().map(|&(_, prior)| prior).collect();
                    priors[draw_weighted(&mut weights, temperature, rng)].0
                }
            };
            let mover = self.tree.game.mover(state);
            self.tree.comment = in_words(estimate, mover);
            let score = Some(Score::of_estimate(estimate, mover));
            request.notify(|| SearchInfo { depth: 1, nodes: 1, score, line: vec![action] });
            return Ok(action);
        }
        Ok(self.tree.search(state, request, rng)?)
    }

    fn predict(&mut self, state: &AnyState) -> Result<Option<[f32; 3]>, DeviceError> {
        let (game, state) = (&self.tree.game, state.of());
        let (_, estimate) = evaluate_one(game, state, &mut self.tree.evaluators[0])?;
        Ok(Some(estimate.win_draw_loss(game.mover(state))))
    }

    fn set_threads(&mut self, threads: usize) {
        self.tree.set_threads(threads);
    }

    fn played(&mut self, action: Action) {
        self.tree.tree.played(action);
    }

    fn comment(&self) -> Option<String> {
        Some(self.tree.comment.clone())
    }
}
