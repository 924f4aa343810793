//! The players behind the agent specs.

use std::time::{Duration, Instant};

use rand::RngExt;
use thiserror::Error;
use turnstone_env::{Action, ActionList, Game, Side};
use turnstone_models::NetworkError;
use turnstone_search::{Batch, Estimate, Evaluator, Mcts, Rollout};

use super::LoadedNetwork;
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
    fn choose(&mut self, game: &G, state: &G::State, rng: &mut Stream) -> Result<Action, PlayerFault>;

    /// Either player has played an action in the current game.
    fn played(&mut self, _game: &G, _action: Action) {}

    /// The probabilities of win, draw and loss for the mover that the player's network gives a running position without
    /// search, if it has a network.
    fn predict(&mut self, _game: &G, _state: &G::State) -> Option<[f32; 3]> {
        None
    }

    /// What the player thinks a running position is worth for the first side, after its search, if it has values: -1 to 1,
    /// or a heuristic's units. `None` also where it does not know.
    fn assess(&mut self, _game: &G, _state: &G::State, _rng: &mut Stream) -> Option<f64> {
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
    fn choose(&mut self, game: &G, state: &G::State, rng: &mut Stream) -> Result<Action, PlayerFault> {
        game.legal(state, &mut self.legal);
        Ok(self.legal[rng.random_range(0..self.legal.len())])
    }
}

/// What bounds a tree search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Budget {
    /// Simulations per move.
    Simulations(u32),
    /// Time per move.
    Time(Duration),
}

/// Simulations of the first round of a search with a time budget.
const PROBE: u32 = 16;

/// Tree search that keeps its tree from move to move.
struct TreePlayer<G: Game> {
    search: Mcts<G>,
    kind: SearchKind,
    budget: Budget,
    /// What is left of the time for the game, if there is a clock.
    remaining: Option<Duration>,
    comment: String,
}

impl<G: Game> TreePlayer<G> {
    fn new(game: &G, budget: Budget, kind: SearchKind) -> Self {
        Self { search: Mcts::new(game, game.start()), kind, budget, remaining: None, comment: String::new() }
    }

    fn new_game(&mut self, game: &G, state: &G::State) {
        self.search.reset(game, *state);
        self.remaining = None;
    }

    /// Searches a position as the budget allows.
    fn search(&mut self, game: &G, state: &G::State, evaluator: &mut impl Evaluator<G>, rng: &mut Stream) -> Estimate {
        if self.search.state() != state {
            self.search.reset(game, *state);
        }
        match self.budget {
            Budget::Simulations(simulations) => self.round(game, simulations, evaluator, rng),
            Budget::Time(time) => {
                // A twentieth of what is left never runs out.
                let time = self.remaining.map_or(time, |remaining| time.min(remaining / 20));
                self.search_for(game, time, evaluator, rng);
            }
        }
        self.search.estimate()
    }

    fn round(&mut self, game: &G, simulations: u32, evaluator: &mut impl Evaluator<G>, rng: &mut Stream) {
        self.search.begin(&self.kind.strongest(simulations), simulations, rng);
        self.search.run(game, evaluator);
    }

    /// Rounds of simulations, each at most three times as long as all before, as long as another one fits.
    fn search_for(&mut self, game: &G, time: Duration, evaluator: &mut impl Evaluator<G>, rng: &mut Stream) {
        let start = Instant::now();
        let (mut simulations, mut done) = (PROBE, 0);
        while simulations > 0 {
            self.round(game, simulations, evaluator, rng);
            done += simulations;
            let (used, left) = (start.elapsed(), time.saturating_sub(start.elapsed()));
            // The time that is left is spent but for a tenth, since rounds are not equally long.
            let fitting = 0.9 * f64::from(done) * left.as_secs_f64() / used.as_secs_f64().max(1e-9);
            let worthwhile = fitting >= f64::from(PROBE) && self.search.proven().is_none();
            simulations = if worthwhile { fitting.min(3.0 * f64::from(done)) as u32 } else { 0 };
        }
    }

    fn choose(&mut self, game: &G, state: &G::State, evaluator: &mut impl Evaluator<G>, rng: &mut Stream) -> Action {
        let estimate = self.search(game, state, evaluator, rng);
        self.comment = in_words(estimate, game.mover(state));
        self.search.choose(0.0, rng)
    }
}

fn in_words(estimate: Estimate, mover: Side) -> String {
    let [win, draw, loss] = estimate.win_draw_loss(mover).map(|p| 100.0 * p);
    format!("win {win:.0} % draw {draw:.0} % loss {loss:.0} %")
}

/// Tree search with random playouts.
pub(super) struct Rollouts<G: Game> {
    tree: TreePlayer<G>,
    evaluator: Rollout,
}

impl<G: Game> Rollouts<G> {
    pub(super) fn new(game: &G, budget: Budget) -> Self {
        Self { tree: TreePlayer::new(game, budget, SearchKind::Puct), evaluator: Rollout::new(0) }
    }
}

impl<G: Game> Player<G> for Rollouts<G> {
    fn new_game(&mut self, game: &G, state: &G::State, rng: &mut Stream) {
        self.tree.new_game(game, state);
        self.evaluator = Rollout::new(rng.random());
    }

    fn clock(&mut self, remaining: Duration) {
        self.tree.remaining = Some(remaining);
    }

    fn choose(&mut self, game: &G, state: &G::State, rng: &mut Stream) -> Result<Action, PlayerFault> {
        Ok(self.tree.choose(game, state, &mut self.evaluator, rng))
    }

    fn assess(&mut self, game: &G, state: &G::State, rng: &mut Stream) -> Option<f64> {
        Some(f64::from(self.tree.search(game, state, &mut self.evaluator, rng).value))
    }

    fn played(&mut self, game: &G, action: Action) {
        self.tree.search.advance(game, action);
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
    pub(super) fn new(
        game: &G,
        network: &LoadedNetwork,
        budget: Budget,
        search: SearchKind,
    ) -> Result<Self, NetworkError> {
        let evaluator = NetworkEvaluator::new(game.spec(), &network.info.network, &network.weights, 1)?;
        Ok(Self { tree: TreePlayer::new(game, budget, search), evaluator })
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
        self.tree.remaining = Some(remaining);
    }

    fn choose(&mut self, game: &G, state: &G::State, rng: &mut Stream) -> Result<Action, PlayerFault> {
        if self.tree.budget == POLICY_ALONE {
            let (action, estimate) = self.without_search(game, state);
            self.tree.comment = in_words(estimate, game.mover(state));
            return Ok(action);
        }
        Ok(self.tree.choose(game, state, &mut self.evaluator, rng))
    }

    fn assess(&mut self, game: &G, state: &G::State, rng: &mut Stream) -> Option<f64> {
        let estimate = match self.tree.budget {
            POLICY_ALONE => self.without_search(game, state).1,
            _ => self.tree.search(game, state, &mut self.evaluator, rng),
        };
        Some(f64::from(estimate.value))
    }

    fn predict(&mut self, game: &G, state: &G::State) -> Option<[f32; 3]> {
        Some(self.without_search(game, state).1.win_draw_loss(game.mover(state)))
    }

    fn played(&mut self, game: &G, action: Action) {
        self.tree.search.advance(game, action);
    }

    fn comment(&self) -> Option<String> {
        Some(self.tree.comment.clone())
    }
}
