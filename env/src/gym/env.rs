//! One game as a gym-style environment: `reset`, `step`, observation tensor, action mask, rewards.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::action::{Action, ActionList};
use crate::error::Error;
use crate::game::{Game, try_play};
use crate::playout::choose;
use crate::side::Side;
use crate::spec::Spec;

/// What an agent sees after [`Env::reset`] or [`Env::step`].
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
pub struct Env<G: Game> {
    game: G,
    spec: Spec,
    state: G::State,
    legal: ActionList,
    features: Vec<f32>,
    last_action: Option<Action>,
    rng: Xoshiro256PlusPlus,
}

impl<G: Game> Env<G> {
    /// An environment at the start of a game.
    pub fn new(game: G) -> Self {
        let (spec, state) = (game.spec(), game.start());
        let mut legal = ActionList::new();
        game.legal(&state, &mut legal);
        let features = vec![0.0; spec.features()];
        let rng = Xoshiro256PlusPlus::seed_from_u64(0);
        Self { game, spec, state, legal, features, last_action: None, rng }
    }

    /// The game.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// Shapes and names of planes and actions.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The current state.
    pub fn state(&self) -> &G::State {
        &self.state
    }

    /// The legal actions in increasing order; none once the game is over.
    pub fn legal(&self) -> &ActionList {
        &self.legal
    }

    /// The action played last since the reset.
    pub fn last_action(&self) -> Option<Action> {
        self.last_action
    }

    /// The board drawn as text.
    pub fn render(&self) -> String {
        self.game.draw(&self.state)
    }

    /// The board drawn as an SVG document, with the last action marked.
    pub fn render_svg(&self) -> String {
        self.game.draw_svg(&self.state, self.last_action)
    }

    /// Starts a new game. A seed restarts the random stream of [`Env::sample`]; without one it goes on.
    pub fn reset(&mut self, seed: Option<u64>) -> TimeStep {
        let start = self.game.start();
        self.reset_to(start, seed)
    }

    /// Starts from a given state.
    pub fn reset_to(&mut self, state: G::State, seed: Option<u64>) -> TimeStep {
        if let Some(seed) = seed {
            self.rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        }
        self.state = state;
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
            try_play(&self.game, &mut self.state, action)?;
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
        self.game.legal(&self.state, &mut self.legal);
        self.game.observe(&self.state, &mut self.features);
        let mut observation = vec![0.0; self.spec.tensor_len()];
        self.spec.expand(&self.features, &mut observation);
        let mut mask = vec![false; self.spec.actions];
        self.legal.iter().for_each(|action| mask[action.index()] = true);
        let outcome = self.game.outcome(&self.state);
        TimeStep {
            observation,
            mask,
            rewards: Side::BOTH.map(|side| outcome.map_or(0.0, |o| f32::from(o.value_for(side)))),
            terminated: outcome.is_some_and(|o| !o.truncated),
            truncated: outcome.is_some_and(|o| o.truncated),
            mover: self.game.mover(&self.state),
        }
    }
}
