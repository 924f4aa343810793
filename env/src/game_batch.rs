//! Many games stepped side by side into buffers of their caller.

mod buffers;
mod legal;
mod part;

pub use buffers::VecBuffers;
pub use part::AutoReset;

use std::fmt::Debug;
use std::thread;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::action::Action;
use crate::any_state::AnyState;
use crate::error::Error;
use crate::notation::{Notation, try_play};
use crate::outcome::Outcome;
use crate::spec::Spec;

use self::part::{Kind, Part};

/// A fixed number of games of one kind, stepped together, without buffers of their own: [`VecEnv`](crate::VecEnv) adds
/// them. [`DynGame::game_batch`](crate::DynGame::game_batch) makes them.
///
/// # Panics
/// Methods that write panic if a buffer has the wrong length.
pub trait GameBatch: Debug + Send {
    /// Shapes and names of planes and actions.
    fn spec(&self) -> &Spec;

    /// Number of envs.
    fn envs(&self) -> usize;

    /// Starts a new game in every env for which `which` is true. A seed restarts the random streams of all envs; without
    /// one they continue.
    fn reset(&mut self, seed: Option<u64>, which: &dyn Fn(usize) -> bool, out: &mut VecBuffers<'_>);

    /// Starts a new game from a position, in which it is not over, in every env that has one.
    ///
    /// # Panics
    /// If there are not as many as envs, or one is of another game.
    fn set(&mut self, positions: &[Option<AnyState>], out: &mut VecBuffers<'_>);

    /// Plays one action in every env; games that have ended start anew as the autoreset mode says.
    ///
    /// # Errors
    /// There are not as many actions as envs, or one is illegal: then the first such env is named. Nothing is played.
    fn step(&mut self, actions: &[Action], out: &mut VecBuffers<'_>) -> Result<(), Error>;

    /// Fills `actions` with a uniformly random legal action for each env, from the env's own random stream; action 0
    /// where the game has ended.
    fn sample(&mut self, actions: &mut Vec<Action>);

    /// The present state of an env.
    fn state(&self, env: usize) -> AnyState;

    /// The last state of the game that ended last in an env since the reset.
    fn final_state(&self, env: usize) -> Option<AnyState>;

    /// The outcome of a game that ended in an env in the last step.
    fn outcome(&self, env: usize) -> Option<Outcome>;

    /// [`GameBatch::outcome`] of every env, `[envs]`.
    fn outcomes(&self, out: &mut [Option<Outcome>]);
}

/// Games of a known type, side by side.
#[derive(Clone, Debug)]
pub(crate) struct BatchOf<G: Notation> {
    kind: Kind<G>,
    /// Number of envs of each part but the last, which may have fewer.
    share: usize,
    /// One for each thread.
    parts: Vec<Part<G>>,
}

impl<G: Notation> BatchOf<G> {
    /// Creates `envs` games at their start, stepped by up to `threads` threads.
    ///
    /// # Panics
    /// If `envs` is 0.
    pub(crate) fn new(game: G, envs: usize, threads: usize, auto_reset: AutoReset) -> Self {
        assert!(envs > 0, "at least one env is needed");
        let (kind, share) = (Kind::new(game, auto_reset), envs.div_ceil(threads.max(1)));
        let starts = (0..envs).step_by(share);
        let parts: Vec<_> = starts.map(|start| Part::new(&kind, share.min(envs - start))).collect();
        let mut game_batch = Self { kind, share, parts };
        game_batch.seed(0);
        game_batch
    }

    /// Restarts the random streams of all envs.
    fn seed(&mut self, seed: u64) {
        let mut seeds = Xoshiro256PlusPlus::seed_from_u64(seed);
        for rng in self.parts.iter_mut().flat_map(|part| &mut part.rngs) {
            *rng = Xoshiro256PlusPlus::from_rng(&mut seeds);
        }
    }

    fn place(&self, env: usize) -> (&Part<G>, usize) {
        (&self.parts[env / self.share], env % self.share)
    }

    fn check(&self, actions: &[Action]) -> Result<(), Error> {
        let envs = self.envs();
        if actions.len() != envs {
            return Err(Error::BatchLength { given: actions.len(), envs });
        }
        let parts = self.parts.iter().zip(actions.chunks(self.share)).enumerate();
        let illegal = |(i, (part, actions)): (usize, (&Part<G>, &[Action]))| {
            part.first_illegal(&self.kind, actions).map(|env| i * self.share + env)
        };
        let Some(env) = parts.map(illegal).find_map(|env| env) else { return Ok(()) };
        let (part, place) = self.place(env);
        let fault = try_play(&self.kind.game, &mut part.states[place].clone(), actions[env]);
        let source = Box::new(fault.expect_err("the list of legal actions is that of the state"));
        Err(Error::InEnv { env, source })
    }
}

impl<G: Notation> GameBatch for BatchOf<G> {
    fn spec(&self) -> &Spec {
        &self.kind.spec
    }

    fn envs(&self) -> usize {
        self.parts.iter().map(|part| part.states.len()).sum()
    }

    fn reset(&mut self, seed: Option<u64>, which: &dyn Fn(usize) -> bool, out: &mut VecBuffers<'_>) {
        if let Some(seed) = seed {
            self.seed(seed);
        }
        out.check(self.envs(), &self.kind.spec);
        let Self { kind, share, parts, .. } = self;
        for (i, (part, mut rows)) in parts.iter_mut().zip(out.parts(*share, &kind.spec)).enumerate() {
            let start = kind.game.start();
            part.start(kind, |env| which(i * *share + env).then_some(start), &mut rows);
        }
    }

    fn set(&mut self, positions: &[Option<AnyState>], out: &mut VecBuffers<'_>) {
        assert_eq!(positions.len(), self.envs(), "a position or none for every env");
        out.check(self.envs(), &self.kind.spec);
        let Self { kind, share, parts, .. } = self;
        let rows = out.parts(*share, &kind.spec);
        for ((part, positions), mut rows) in parts.iter_mut().zip(positions.chunks(*share)).zip(rows) {
            part.start(kind, |env| positions[env].as_ref().map(|position| *position.of()), &mut rows);
        }
    }

    fn step(&mut self, actions: &[Action], out: &mut VecBuffers<'_>) -> Result<(), Error> {
        self.check(actions)?;
        out.check(actions.len(), &self.kind.spec);
        let Self { kind, share, parts, .. } = self;
        let kind = &*kind;
        let rows = out.parts(*share, &kind.spec);
        let jobs = parts.iter_mut().zip(actions.chunks(*share)).zip(rows);
        let mut jobs = jobs.map(|((part, actions), mut rows)| move || part.step(kind, actions, &mut rows)).peekable();
        thread::scope(|scope| {
            while let Some(mut job) = jobs.next() {
                if jobs.peek().is_some() {
                    scope.spawn(job);
                } else {
                    job(); // the last part is this thread's own
                }
            }
        });
        Ok(())
    }

    fn sample(&mut self, actions: &mut Vec<Action>) {
        actions.clear();
        self.parts.iter_mut().for_each(|part| part.sample(actions));
    }

    fn state(&self, env: usize) -> AnyState {
        let (part, env) = self.place(env);
        AnyState::new(part.states[env])
    }

    fn final_state(&self, env: usize) -> Option<AnyState> {
        let (part, env) = self.place(env);
        part.last_finals[env].map(AnyState::new)
    }

    fn outcome(&self, env: usize) -> Option<Outcome> {
        let (part, env) = self.place(env);
        part.outcomes[env]
    }

    fn outcomes(&self, out: &mut [Option<Outcome>]) {
        for (part, out) in self.parts.iter().zip(out.chunks_mut(self.share)) {
            out.copy_from_slice(&part.outcomes);
        }
    }
}
