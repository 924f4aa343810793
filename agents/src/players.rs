//! The players behind the agent specs.

use std::time::Duration;

use rand::RngExt;
use thiserror::Error;
use turnstone_env::{Action, ActionList, Game};
use turnstone_models::NetworkError;
use turnstone_search::{Batch, Estimate, Evaluator, Rollout};

use super::LoadedNetwork;
use super::thinking::{Thinking, Thought, Verdict};
use super::tree_player::{TreePlayer, in_words};
use super::tree_spec::{Budget, DrawValue, TreeSpec};
use crate::config::SearchKind;
use crate::network::NetworkEvaluator;
use crate::streams::Stream;

/// Why a player gave no action that counts.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PlayerFault {
    /// It is gone, or its answer makes no sense.
    #[error("crashed: {0}")]
    Crashed(String),
    /// It gave no answer, within the time that anyone waits for one.
    #[error("no answer: {0}")]
    Silent(String),
    /// What it wants to play is not legal.
    #[error("illegal move `{0}`")]
    IllegalMove(String),
    /// It says itself that its time is up.
    #[error("out of time")]
    OutOfTime,
}

/// Chooses actions in one game at a time.
pub trait Player<G: Game>: Send {
    /// A new game begins. Nothing of earlier games may influence it.
    fn new_game(&mut self, _game: &G, _state: &G::State, _rng: &mut Stream) {}

    /// What is left of the player's time for the whole game, told before each choice of a game with clocks.
    fn clock(&mut self, _remaining: Duration) {}

    /// A legal action in a running position. `rng` belongs to the game and the seat.
    ///
    /// # Errors
    /// The player has none to give; it may be asked again, and a new game may be begun with it.
    fn choose(&mut self, game: &G, state: &G::State, rng: &mut Stream) -> Result<Action, PlayerFault> {
        self.think(game, state, &mut Thinking::default(), rng)
    }

    /// The same within a move's own budget, while somebody looks on.
    ///
    /// # Errors
    /// As [`Player::choose`].
    fn think(
        &mut self,
        game: &G,
        state: &G::State,
        thinking: &mut Thinking<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault>;

    /// Either player has played an action in the current game.
    fn played(&mut self, _game: &G, _action: Action) {}

    /// The probabilities of win, draw and loss for the mover that the player's network gives a running position without
    /// search, if it has a network.
    fn predict(&mut self, _game: &G, _state: &G::State) -> Option<[f32; 3]> {
        None
    }

    /// What the player thought of the position of its last choice, in a few words, if it has something to say.
    fn comment(&self) -> Option<String> {
        None
    }
}

/// Uniformly random legal actions.
#[derive(Default, Debug)]
pub(super) struct Random {
    legal: ActionList,
}

impl<G: Game> Player<G> for Random {
    fn think(
        &mut self,
        game: &G,
        state: &G::State,
        thinking: &mut Thinking<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault> {
        game.legal(state, &mut self.legal);
        let action = self.legal[rng.random_range(0..self.legal.len())];
        thinking.tell(|| Thought { depth: 0, nodes: 0, verdict: None, line: vec![action] });
        Ok(action)
    }
}

/// Tree search with random playouts.
pub(super) struct Rollouts<G: Game> {
    tree: TreePlayer<G>,
    evaluator: Rollout,
}

impl<G: Game> Rollouts<G> {
    pub(super) fn new(game: &G, budget: Budget) -> Self {
        let spec = TreeSpec { budget, search: SearchKind::Puct, draw: DrawValue::default() };
        Self { tree: TreePlayer::new(game, spec), evaluator: Rollout::new(0) }
    }
}

impl<G: Game> Player<G> for Rollouts<G> {
    fn new_game(&mut self, game: &G, state: &G::State, rng: &mut Stream) {
        self.tree.new_game(game, state);
        self.evaluator = Rollout::new(rng.random());
    }

    fn clock(&mut self, remaining: Duration) {
        self.tree.clock(remaining);
    }

    fn think(
        &mut self,
        game: &G,
        state: &G::State,
        thinking: &mut Thinking<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault> {
        Ok(self.tree.think(game, state, &mut self.evaluator, thinking, rng))
    }

    fn played(&mut self, _: &G, action: Action) {
        self.tree.played(action);
    }

    fn comment(&self) -> Option<String> {
        Some(self.tree.comment.clone())
    }
}

/// The budget of a network that plays by its policy, without search.
const POLICY_ALONE: Budget = Budget::Simulations(0);

/// Tree search with a network, or the network's policy alone.
pub(super) struct Network<G: Game> {
    tree: TreePlayer<G>,
    evaluator: NetworkEvaluator,
}

impl<G: Game> Network<G> {
    pub(super) fn new(game: &G, network: &LoadedNetwork, spec: TreeSpec) -> Result<Self, NetworkError> {
        let evaluator = NetworkEvaluator::new(game.spec(), &network.info.network, &network.weights, 1)?;
        Ok(Self { tree: TreePlayer::new(game, spec), evaluator })
    }

    /// The action with the greatest prior, and what the network thinks of the position.
    fn without_search(&mut self, game: &G, state: &G::State) -> (Action, Estimate) {
        let mut legal = ActionList::new();
        game.legal(state, &mut legal);
        let mut batch = Batch::default();
        batch.push(*state, &legal);
        self.evaluator.evaluate(game, &mut batch);
        let (priors, estimate) = batch.answer(0);
        let best = (0..legal.len()).rev().max_by(|&a, &b| priors[a].total_cmp(&priors[b]));
        (legal[best.expect("a running game has legal actions")], estimate)
    }
}

impl<G: Game> Player<G> for Network<G> {
    fn new_game(&mut self, game: &G, state: &G::State, _: &mut Stream) {
        self.tree.new_game(game, state);
    }

    fn clock(&mut self, remaining: Duration) {
        self.tree.clock(remaining);
    }

    fn think(
        &mut self,
        game: &G,
        state: &G::State,
        thinking: &mut Thinking<'_>,
        rng: &mut Stream,
    ) -> Result<Action, PlayerFault> {
        if self.tree.spec.budget == POLICY_ALONE {
            let (action, estimate) = self.without_search(game, state);
            self.tree.comment = in_words(estimate, game.mover(state));
            let verdict = Some(Verdict::of_estimate(estimate, game.mover(state)));
            thinking.tell(|| Thought { depth: 1, nodes: 1, verdict, line: vec![action] });
            return Ok(action);
        }
        Ok(self.tree.think(game, state, &mut self.evaluator, thinking, rng))
    }

    fn predict(&mut self, game: &G, state: &G::State) -> Option<[f32; 3]> {
        Some(self.without_search(game, state).1.win_draw_loss(game.mover(state)))
    }

    fn played(&mut self, _: &G, action: Action) {
        self.tree.played(action);
    }

    fn comment(&self) -> Option<String> {
        Some(self.tree.comment.clone())
    }
}
