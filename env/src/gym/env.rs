//! One game as a gym-style environment: `reset`, `step`, observation tensor, action mask, rewards.

use std::sync::Arc;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::action::{Action, ActionList};
use crate::any_state::AnyState;
use crate::dynamic::{DynGame, Erased};
use crate::error::Error;
use crate::notation::Notation;
use crate::outcome::Outcome;
use crate::playout::choose;
use crate::side::Side;
use crate::spec::Spec;

/// Result of [`Env::reset`] or [`Env::step`].
#[derive(Clone, PartialEq, Debug)]
pub struct TimeStep {
    /// `[planes, height, width]`, as seen by the mover (see [`Spec`]).
    pub observation: Vec<f32>,
    /// `[actions]`, true = legal. All false once the game is over.
    pub mask: Vec<bool>,
    /// Reward of this step for each player: +1, 0 or -1 at the end of the game, 0 before.
    pub rewards: [f32; 2],
    /// A rule of the game ended it.
    pub terminated: bool,
    /// A limit on the number of plies ended it.
    pub truncated: bool,
    /// Whose turn it is; it need not alternate.
    pub mover: Side,
}

/// One game being played.
///
/// ```
/// use turnstone_env::{Action, Env, games::Mancala};
///
/// let mut env = Env::new(Mancala::default());
/// let mut step = env.reset(Some(7));
/// while !step.terminated && !step.truncated {
///     let action = env.sample(); // a uniformly random legal action
///     step = env.step(action)?;
/// }
/// assert_eq!(step.rewards[0], -step.rewards[1]);
/// # Ok::<(), turnstone_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Env {
    game: Arc<dyn DynGame>,
    state: AnyState,
    legal: ActionList,
    features: Vec<f32>,
    last_action: Option<Action>,
    rng: Xoshiro256PlusPlus,
}

impl Env {
    /// An environment at the start of a game.
    pub fn new(game: impl Notation) -> Self {
        Self::of(Arc::new(Erased::new(game)))
    }

    /// An environment at the start of a game that was chosen at run time.
    #[must_use]
    pub fn of(game: Arc<dyn DynGame>) -> Self {
        let state = game.start();
        let (legal, features) = (game.legal_actions(&state), vec![0.0; game.spec().features()]);
        Self { game, state, legal, features, last_action: None, rng: Xoshiro256PlusPlus::seed_from_u64(0) }
    }

    /// The game.
    #[must_use]
    pub fn game(&self) -> &dyn DynGame {
        &*self.game
    }

    /// Shapes and names of planes and actions.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        self.game.spec()
    }

    /// The current state.
    #[must_use]
    pub fn state(&self) -> &AnyState {
        &self.state
    }

    /// The legal actions in increasing order; none once the game is over.
    #[must_use]
    pub fn legal(&self) -> &[Action] {
        &self.legal
    }

    /// The action played last since the reset.
    #[must_use]
    pub fn last_action(&self) -> Option<Action> {
        self.last_action
    }

    /// How the game ended, `None` while it runs.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.game.outcome(&self.state)
    }

    /// The position in the game's notation.
    #[must_use]
    pub fn position(&self) -> String {
        self.game.position_text(&self.state)
    }

    /// The action that a text names in the present position.
    ///
    /// # Errors
    /// The text names no action of this game.
    pub fn parse_action(&self, text: &str) -> Result<Action, Error> {
        self.game.parse_action(&self.state, text)
    }

    /// The board drawn as text.
    #[must_use]
    pub fn render(&self) -> String {
        self.game.board(&self.state, None).text()
    }

    /// Starts a new game. A seed restarts the random stream of [`Env::sample`]; without one it continues.
    pub fn reset(&mut self, seed: Option<u64>) -> TimeStep {
        if let Some(seed) = seed {
            self.rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        }
        self.state = self.game.start();
        self.last_action = None;
        self.time_step()
    }

    /// Plays an action for the mover.
    ///
    /// # Errors
    /// The action is illegal or the game is over; the state is then unchanged.
    pub fn step(&mut self, action: Action) -> Result<TimeStep, Error> {
        if self.legal.contains(action) {
            self.game.play(&mut self.state, action);
        } else {
            self.game.try_play(&mut self.state, action)?;
        }
        self.last_action = Some(action);
        Ok(self.time_step())
    }

    /// A uniformly random legal action.
    ///
    /// # Panics
    /// If the game is over.
    pub fn sample(&mut self) -> Action {
        assert!(!self.legal.is_empty(), "no action to sample: the game is over");
        choose(&self.legal, &mut self.rng)
    }

    fn time_step(&mut self) -> TimeStep {
        let Self { game, state, legal, features, .. } = self;
        let spec = game.spec();
        game.legal(state, legal);
        game.observe(state, features);
        let mut observation = vec![0.0; spec.tensor_len()];
        spec.expand(features, &mut observation);
        let mut mask = vec![false; spec.actions];
        legal.iter().for_each(|action| mask[action.index()] = true);
        let outcome = game.outcome(state);
        TimeStep {
            observation,
            mask,
            rewards: Side::BOTH.map(|side| outcome.map_or(0.0, |o| f32::from(o.value_for(side)))),
            terminated: outcome.is_some_and(|o| !o.truncated),
            truncated: outcome.is_some_and(|o| o.truncated),
            mover: game.mover(state),
        }
    }
}
