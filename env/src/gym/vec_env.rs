//! Many games played side by side into contiguous buffers.

use crate::action::Action;
use crate::any_state::AnyState;
use crate::dynamic::{DynGame, Erased};
use crate::error::Error;
use crate::game_batch::{AutoReset, GameBatch, VecBuffers};
use crate::notation::Notation;
use crate::outcome::Outcome;
use crate::side::Side;
use crate::spec::Spec;

/// Result of [`VecEnv::reset`] or [`VecEnv::step`] for all envs.
///
/// An env whose game ended in the step has started a new one in the same step (Gymnasium's same-step autoreset): its
/// rewards, flags and outcome are those of the game that ended, its observation, mask and mover those of the new game.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VecStep<'a> {
    /// `[envs, planes, height, width]`, each as seen by its mover (see [`Spec`]).
    pub observations: &'a [f32],
    /// `[envs, actions]`, true = legal. No row is all false.
    pub masks: &'a [bool],
    /// `[envs, 2]`: reward of this step for each player, +1, 0 or -1 at the end of a game, 0 before.
    pub rewards: &'a [[f32; 2]],
    /// `[envs]`: a rule of the game ended it in this step.
    pub terminated: &'a [bool],
    /// `[envs]`: a limit on the number of plies ended it in this step.
    pub truncated: &'a [bool],
    /// `[envs]`: whose turn it is; it need not alternate.
    pub movers: &'a [Side],
    /// `[envs]`: the outcome, with its margin, of a game that ended in this step.
    pub outcomes: &'a [Option<Outcome>],
}

/// A fixed number of games of one kind, stepped together.
///
/// Nothing is allocated per step on one thread. Any number of threads gives the same results, because every env has a
/// random stream of its own; threads are started anew in each step, which pays off for thousands of envs only.
///
/// ```
/// use turnstone_env::{VecEnv, games::Konane};
///
/// let mut envs = VecEnv::new(Konane::default(), 64);
/// envs.reset(Some(7));
/// let (mut actions, mut wins) = (Vec::new(), [0, 0]);
/// for _ in 0..200 {
///     envs.sample(&mut actions); // uniformly random legal actions
///     let batch = envs.step(&actions)?;
///     for outcome in batch.outcomes.iter().flatten() {
///         wins[outcome.winner.expect("Konane has no draws").index()] += 1;
///     }
/// }
/// assert!(wins[0] > 0 && wins[1] > 0);
/// # Ok::<(), turnstone_env::Error>(())
/// ```
#[derive(Debug)]
pub struct VecEnv {
    game_batch: Box<dyn GameBatch>,
    buffers: Buffers,
}

#[derive(Clone, Debug)]
struct Buffers {
    observations: Vec<f32>,
    masks: Vec<bool>,
    rewards: Vec<[f32; 2]>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
    mover_indices: Vec<u8>,
    movers: Vec<Side>,
    outcomes: Vec<Option<Outcome>>,
}

impl VecEnv {
    /// `envs` games at their start, stepped by one thread.
    ///
    /// # Panics
    /// If `envs` is 0.
    pub fn new(game: impl Notation, envs: usize) -> Self {
        Self::of(&Erased::new(game), envs, 1)
    }

    /// `envs` games of a kind that was chosen at run time, stepped by up to `threads` threads.
    ///
    /// # Panics
    /// If `envs` is 0.
    pub fn of(game: &dyn DynGame, envs: usize, threads: usize) -> Self {
        let (game_batch, spec) = (game.game_batch(envs, threads, AutoReset::SameStep), game.spec());
        let buffers = Buffers {
            observations: vec![0.0; envs * spec.tensor_len()],
            masks: vec![false; envs * spec.actions],
            rewards: vec![[0.0; 2]; envs],
            terminated: vec![false; envs],
            truncated: vec![false; envs],
            mover_indices: vec![0; envs],
            movers: vec![Side::First; envs],
            outcomes: vec![None; envs],
        };
        let mut all = Self { game_batch, buffers };
        all.reset(Some(0));
        all
    }

    /// Shapes and names of planes and actions.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        self.game_batch.spec()
    }

    /// Number of envs.
    #[must_use]
    pub fn envs(&self) -> usize {
        self.game_batch.envs()
    }

    /// The present state of an env.
    #[must_use]
    pub fn state(&self, env: usize) -> AnyState {
        self.game_batch.state(env)
    }

    /// The last state of the latest game that ended in an env since the reset.
    #[must_use]
    pub fn final_state(&self, env: usize) -> Option<AnyState> {
        self.game_batch.final_state(env)
    }

    /// Starts a new game in every env. A seed restarts all random streams; without one they continue.
    pub fn reset(&mut self, seed: Option<u64>) -> VecStep<'_> {
        self.game_batch.reset(seed, &|_| true, &mut self.buffers.rows());
        self.collect();
        self.batch()
    }

    /// Plays one action in every env, and starts a new game where one ended.
    ///
    /// # Errors
    /// There are not as many actions as envs, or one is illegal: then the first such env is named. Nothing is played.
    pub fn step(&mut self, actions: &[Action]) -> Result<VecStep<'_>, Error> {
        self.game_batch.step(actions, &mut self.buffers.rows())?;
        self.collect();
        Ok(self.batch())
    }

    /// Fills `actions` with a uniformly random legal action for each env, from the env's own random stream.
    pub fn sample(&mut self, actions: &mut Vec<Action>) {
        self.game_batch.sample(actions);
    }

    /// The buffers after the last reset or step.
    pub fn batch(&self) -> VecStep<'_> {
        let Buffers { observations, masks, rewards, terminated, truncated, movers, outcomes, .. } = &self.buffers;
        VecStep { observations, masks, rewards, terminated, truncated, movers, outcomes }
    }

    /// Gathers movers and outcomes of the last step.
    fn collect(&mut self) {
        let Buffers { mover_indices, movers, outcomes, .. } = &mut self.buffers;
        for (mover, &index) in movers.iter_mut().zip(&*mover_indices) {
            *mover = Side::BOTH[usize::from(index)];
        }
        self.game_batch.outcomes(outcomes);
    }
}

impl Buffers {
    fn rows(&mut self) -> VecBuffers<'_> {
        VecBuffers {
            observations: &mut self.observations,
            masks: &mut self.masks,
            rewards: self.rewards.as_flattened_mut(),
            terminated: &mut self.terminated,
            truncated: &mut self.truncated,
            movers: &mut self.mover_indices,
        }
    }
}
