//! Environments of any game behind one type.

use std::fmt::Debug;

use crate::action::Action;
use crate::any_state::AnyState;
use crate::error::Error;
use crate::game::Game;
use crate::gym::buffers::VecBuffers;
use crate::gym::env::{Env, TimeStep};
use crate::gym::lanes::{Lanes, LanesRecord};
use crate::gym::vec_env::{VecEnv, VecStep};
use crate::outcome::Outcome;
use crate::spec::Spec;

/// An [`Env`] whose game was chosen at run time.
pub trait AnyEnv: Debug + Send {
    /// Shapes and names of planes and actions.
    fn spec(&self) -> &Spec;

    /// See [`Env::reset`].
    fn reset(&mut self, seed: Option<u64>) -> TimeStep;

    /// Starts from a position in the game's notation; see [`Env::reset_to`].
    ///
    /// # Errors
    /// The position is malformed or impossible.
    fn reset_to(&mut self, position: &str, seed: Option<u64>) -> Result<TimeStep, Error>;

    /// See [`Env::step`].
    ///
    /// # Errors
    /// The action is illegal or the game is over; the state is then unchanged.
    fn step(&mut self, action: Action) -> Result<TimeStep, Error>;

    /// See [`Env::sample`].
    ///
    /// # Panics
    /// If the game is over.
    fn sample(&mut self) -> Action;

    /// The legal actions in increasing order; none once the game is over.
    fn legal(&self) -> &[Action];

    /// How the game ended, `None` while it runs.
    fn outcome(&self) -> Option<Outcome>;

    /// The position in the game's notation.
    fn position(&self) -> String;

    /// The action's text in the present position.
    fn action_text(&self, action: Action) -> String;

    /// The action that a text names in the present position.
    ///
    /// # Errors
    /// The text names no action of this game.
    fn parse_action(&self, text: &str) -> Result<Action, Error>;

    /// The board drawn as text.
    fn render(&self) -> String;

    /// The board drawn as an SVG document, with the last action marked.
    fn render_svg(&self) -> String;
}

/// A [`VecEnv`] whose game was chosen at run time.
pub trait AnyVecEnv: Debug + Send {
    /// Shapes and names of planes and actions.
    fn spec(&self) -> &Spec;

    /// Number of envs.
    fn envs(&self) -> usize;

    /// See [`VecEnv::reset`].
    fn reset(&mut self, seed: Option<u64>) -> VecStep<'_>;

    /// See [`VecEnv::step`].
    ///
    /// # Errors
    /// The number of actions is wrong or one is illegal; nothing is played.
    fn step(&mut self, actions: &[Action]) -> Result<VecStep<'_>, Error>;

    /// See [`VecEnv::sample`].
    fn sample(&mut self, actions: &mut Vec<Action>);

    /// What the last reset or step left in the buffers.
    fn batch(&self) -> VecStep<'_>;

    /// The position of an env in the game's notation.
    fn position(&self, env: usize) -> String;

    /// The last position of the latest game that ended in an env since the reset.
    fn final_position(&self, env: usize) -> Option<String>;

    /// The board of an env drawn as text.
    fn render(&self, env: usize) -> String;
}

/// [`Lanes`] whose game was chosen at run time.
pub trait AnyLanes: Debug + Send {
    /// Shapes and names of planes and actions.
    fn spec(&self) -> &Spec;

    /// Number of envs.
    fn envs(&self) -> usize;

    /// See [`Lanes::reset`].
    fn reset(&mut self, seed: Option<u64>, which: &dyn Fn(usize) -> bool, out: &mut VecBuffers<'_>);

    /// See [`Lanes::step`].
    ///
    /// # Errors
    /// The number of actions is wrong or one is illegal; nothing is played.
    fn step(&mut self, actions: &[Action], out: &mut VecBuffers<'_>) -> Result<(), Error>;

    /// See [`Lanes::set_threads`].
    fn set_threads(&mut self, threads: usize);

    /// See [`Lanes::legal_lists`].
    fn legal_lists(&self, actions: &mut [u16], counts: &mut [u16], starts: &mut [i64]);

    /// See [`Lanes::sample`].
    fn sample(&mut self, actions: &mut Vec<Action>);

    /// The present state of an env.
    fn state(&self, env: usize) -> AnyState;

    /// The last state of the game that ended last in an env since the reset.
    fn final_state(&self, env: usize) -> Option<AnyState>;

    /// The outcome of a game that ended in an env in the last step.
    fn outcome(&self, env: usize) -> Option<Outcome>;

    /// See [`Lanes::record`].
    fn record(&self) -> LanesRecord;

    /// See [`Lanes::restore`].
    ///
    /// # Panics
    /// If the record is of another number of envs or of another game.
    fn restore(&mut self, record: &LanesRecord, out: &mut VecBuffers<'_>);
}

impl<G: Game> AnyEnv for Env<G> {
    fn spec(&self) -> &Spec {
        self.spec()
    }

    fn reset(&mut self, seed: Option<u64>) -> TimeStep {
        self.reset(seed)
    }

    fn reset_to(&mut self, position: &str, seed: Option<u64>) -> Result<TimeStep, Error> {
        let state = self.game().parse_position(position)?;
        Ok(self.reset_to(state, seed))
    }

    fn step(&mut self, action: Action) -> Result<TimeStep, Error> {
        self.step(action)
    }

    fn sample(&mut self) -> Action {
        self.sample()
    }

    fn legal(&self) -> &[Action] {
        self.legal()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.game().outcome(self.state())
    }

    fn position(&self) -> String {
        self.game().position_text(self.state())
    }

    fn action_text(&self, action: Action) -> String {
        self.game().action_text_in(self.state(), action)
    }

    fn parse_action(&self, text: &str) -> Result<Action, Error> {
        self.game().parse_action_in(self.state(), text)
    }

    fn render(&self) -> String {
        self.render()
    }

    fn render_svg(&self) -> String {
        self.render_svg()
    }
}

impl<G: Game> AnyVecEnv for VecEnv<G> {
    fn spec(&self) -> &Spec {
        self.spec()
    }

    fn envs(&self) -> usize {
        self.envs()
    }

    fn reset(&mut self, seed: Option<u64>) -> VecStep<'_> {
        self.reset(seed)
    }

    fn step(&mut self, actions: &[Action]) -> Result<VecStep<'_>, Error> {
        self.step(actions)
    }

    fn sample(&mut self, actions: &mut Vec<Action>) {
        self.sample(actions);
    }

    fn batch(&self) -> VecStep<'_> {
        self.batch()
    }

    fn position(&self, env: usize) -> String {
        self.game().position_text(self.state(env))
    }

    fn final_position(&self, env: usize) -> Option<String> {
        self.final_state(env).map(|state| self.game().position_text(state))
    }

    fn render(&self, env: usize) -> String {
        self.game().draw(self.state(env))
    }
}

impl<G: Game> AnyLanes for Lanes<G> {
    fn spec(&self) -> &Spec {
        self.spec()
    }

    fn envs(&self) -> usize {
        self.envs()
    }

    fn reset(&mut self, seed: Option<u64>, which: &dyn Fn(usize) -> bool, out: &mut VecBuffers<'_>) {
        self.reset(seed, which, out);
    }

    fn step(&mut self, actions: &[Action], out: &mut VecBuffers<'_>) -> Result<(), Error> {
        self.step(actions, out)
    }

    fn set_threads(&mut self, threads: usize) {
        self.set_threads(threads);
    }

    fn legal_lists(&self, actions: &mut [u16], counts: &mut [u16], starts: &mut [i64]) {
        self.legal_lists(actions, counts, starts);
    }

    fn sample(&mut self, actions: &mut Vec<Action>) {
        self.sample(actions);
    }

    fn state(&self, env: usize) -> AnyState {
        AnyState::new(*self.state(env))
    }

    fn final_state(&self, env: usize) -> Option<AnyState> {
        self.final_state(env).map(|state| AnyState::new(*state))
    }

    fn outcome(&self, env: usize) -> Option<Outcome> {
        self.outcome(env)
    }
    fn record(&self) -> LanesRecord {
        self.record()
    }

    fn restore(&mut self, record: &LanesRecord, out: &mut VecBuffers<'_>) {
        self.restore(record, out);
    }
}
