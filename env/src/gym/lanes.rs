//! Many games stepped side by side into buffers of their caller.

use std::thread;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::action::{Action, ActionList};
use crate::error::Error;
use crate::game::{Game, Spec, try_play};
use crate::outcome::Outcome;
use crate::playout::choose;
use crate::side::Side;

/// When an env whose game has ended starts a new one: Gymnasium's autoreset modes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum AutoReset {
    /// In the step that ends the game. Its rewards and flags are those of the game that ended; observation, mask and
    /// mover are those of the new game.
    #[default]
    SameStep,
    /// In the next step, which ignores the env's action. The step that ends the game returns its last observation, with
    /// a mask that allows every action, since any is accepted and ignored.
    NextStep,
    /// Never: the caller resets. The mask of an ended game allows no action.
    Disabled,
}

/// Buffers that [`Lanes`] writes to, one row per env.
#[derive(Debug)]
pub struct VecBuffers<'a> {
    /// `[envs, planes, height, width]`, each as seen by its mover (see [`Spec`]).
    pub observations: &'a mut [f32],
    /// `[envs, actions]`, true = legal.
    pub masks: &'a mut [bool],
    /// `[envs, 2]`: reward of this step for each player, +1, 0 or -1 at the end of a game, 0 before.
    pub rewards: &'a mut [f32],
    /// `[envs]`: a rule of the game ended it in this step.
    pub terminated: &'a mut [bool],
    /// `[envs]`: a limit on the number of plies ended it in this step.
    pub truncated: &'a mut [bool],
    /// `[envs]`: index of the side to move, 0 or 1.
    pub movers: &'a mut [u8],
}

/// A fixed number of games of one kind, stepped together, without buffers of their own: [`VecEnv`](crate::VecEnv) adds
/// them.
#[derive(Clone, Debug)]
pub struct Lanes<G: Game> {
    game: G,
    shape: Shape,
    threads: usize,
    auto_reset: AutoReset,
    lanes: Vec<Lane<G>>,
}

/// One of the games.
#[derive(Clone, Debug)]
struct Lane<G: Game> {
    state: G::State,
    legal: ActionList,
    /// The outcome of the game that ended in the last step.
    outcome: Option<Outcome>,
    /// The last state of the game that ended last.
    last_final: Option<G::State>,
    features: Vec<f32>,
    rng: Xoshiro256PlusPlus,
}

#[derive(Clone, Debug)]
struct Shape {
    spec: Spec,
    /// Whether the points are the cells of the lattice in order, so that planes need no spreading.
    dense: bool,
}

impl<G: Game> Lanes<G> {
    /// Creates `envs` games at their start, stepped by one thread.
    ///
    /// # Panics
    /// If `envs` is 0.
    pub fn new(game: G, envs: usize) -> Self {
        assert!(envs > 0, "at least one env is needed");
        let spec = game.spec();
        let dense = spec.cells.iter().enumerate().all(|(point, &cell)| point == usize::from(cell))
            && spec.points == spec.lattice[0] * spec.lattice[1];
        let lane = Lane {
            state: game.start(),
            legal: ActionList::new(),
            outcome: None,
            last_final: None,
            features: vec![0.0; spec.features()],
            rng: Xoshiro256PlusPlus::seed_from_u64(0),
        };
        let lanes = vec![lane; envs];
        let mut all = Self { game, shape: Shape { spec, dense }, threads: 1, auto_reset: AutoReset::default(), lanes };
        all.restart(Some(0), |_| true);
        all
    }

    /// The same, stepped by up to `threads` threads.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// The same with this autoreset mode.
    #[must_use]
    pub fn with_auto_reset(mut self, auto_reset: AutoReset) -> Self {
        self.auto_reset = auto_reset;
        self
    }

    /// The game.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// Shapes and names of planes and actions.
    pub fn spec(&self) -> &Spec {
        &self.shape.spec
    }

    /// Number of envs.
    pub fn envs(&self) -> usize {
        self.lanes.len()
    }

    /// The present state of an env.
    pub fn state(&self, env: usize) -> &G::State {
        &self.lanes[env].state
    }

    /// The last state of the game that ended last in an env since the reset.
    pub fn final_state(&self, env: usize) -> Option<&G::State> {
        self.lanes[env].last_final.as_ref()
    }

    /// The outcome of a game that ended in an env in the last step.
    pub fn outcome(&self, env: usize) -> Option<Outcome> {
        self.lanes[env].outcome
    }

    /// The side to move in an env.
    pub fn mover(&self, env: usize) -> Side {
        self.game.mover(&self.lanes[env].state)
    }

    /// Starts a new game in every env for which `which` is true. A seed restarts the random streams of all envs; without
    /// one they continue.
    pub fn reset(&mut self, seed: Option<u64>, which: impl Fn(usize) -> bool, out: &mut VecBuffers<'_>) {
        self.restart(seed, which);
        let shape = &self.shape;
        let observations = out.observations.chunks_exact_mut(shape.spec.tensor_len());
        let masks = out.masks.chunks_exact_mut(shape.spec.actions);
        for (lane, (observation, mask)) in self.lanes.iter_mut().zip(observations.zip(masks)) {
            lane.show(&self.game, shape, self.auto_reset, observation, mask);
        }
        self.collect(out);
    }

    /// Plays one action in every env; games that have ended start anew as the autoreset mode says.
    ///
    /// # Errors
    /// There are not as many actions as envs, or one is illegal: then the first such env is named. Nothing is played.
    ///
    /// # Panics
    /// If a buffer has the wrong length.
    pub fn step(&mut self, actions: &[Action], out: &mut VecBuffers<'_>) -> Result<(), Error> {
        self.check(actions)?;
        let (game, shape, auto_reset) = (&self.game, &self.shape, self.auto_reset);
        let part = self.lanes.len().div_ceil(self.threads);
        let lanes = self.lanes.chunks_mut(part).zip(actions.chunks(part));
        let observations = out.observations.chunks_mut(part * shape.spec.tensor_len());
        let masks = out.masks.chunks_mut(part * shape.spec.actions);
        let jobs = lanes.zip(observations.zip(masks)).map(|((lanes, actions), (observations, masks))| {
            move || step_part(game, shape, auto_reset, lanes, actions, observations, masks)
        });
        if self.threads == 1 {
            jobs.for_each(|mut job| job());
        } else {
            let mut jobs = jobs.peekable();
            thread::scope(|scope| {
                while let Some(mut job) = jobs.next() {
                    if jobs.peek().is_some() {
                        scope.spawn(job);
                    } else {
                        job(); // the last part is this thread's own
                    }
                }
            });
        }
        self.collect(out);
        Ok(())
    }

    /// Writes the legal actions of all envs one after the other into `actions`, which must have room for them, and where
    /// those of each env start into `starts`, `[envs + 1]`. Action 0 stands for a game that has ended.
    ///
    /// # Panics
    /// If a slice is too short.
    pub fn legal_lists(&self, actions: &mut [u16], starts: &mut [i64]) {
        let mut end = 0;
        for (lane, start) in self.lanes.iter().zip(&mut *starts) {
            *start = end as i64;
            if lane.legal.is_empty() {
                actions[end] = 0;
                end += 1;
            }
            for (place, action) in actions[end..].iter_mut().zip(lane.legal.iter()) {
                *place = action.0;
            }
            end += lane.legal.len();
        }
        starts[self.lanes.len()] = end as i64;
    }

    /// Fills `actions` with a uniformly random legal action for each env, from the env's own random stream; action 0
    /// where the game has ended.
    pub fn sample(&mut self, actions: &mut Vec<Action>) {
        actions.clear();
        let sampled = |lane: &mut Lane<G>| match lane.legal.is_empty() {
            true => Action(0),
            false => choose(&lane.legal, &mut lane.rng),
        };
        actions.extend(self.lanes.iter_mut().map(sampled));
    }

    fn restart(&mut self, seed: Option<u64>, which: impl Fn(usize) -> bool) {
        let mut seeds = seed.map(Xoshiro256PlusPlus::seed_from_u64);
        for (env, lane) in self.lanes.iter_mut().enumerate() {
            if let Some(seeds) = &mut seeds {
                lane.rng = Xoshiro256PlusPlus::from_rng(seeds);
            }
            if which(env) {
                lane.restart(&self.game);
                lane.last_final = None;
                self.game.legal(&lane.state, &mut lane.legal);
            }
        }
    }

    /// Writes the rows that hold one or two numbers per env.
    fn collect(&self, out: &mut VecBuffers<'_>) {
        let rewards = out.rewards.chunks_exact_mut(2);
        let flags = out.terminated.iter_mut().zip(out.truncated.iter_mut());
        for (lane, (rewards, ((terminated, truncated), mover))) in
            self.lanes.iter().zip(rewards.zip(flags.zip(out.movers.iter_mut())))
        {
            let outcome = lane.outcome;
            let reward = |side| outcome.map_or(0.0, |o: Outcome| f32::from(o.value_for(side)));
            rewards.copy_from_slice(&Side::BOTH.map(reward));
            *terminated = outcome.is_some_and(|o| !o.truncated);
            *truncated = outcome.is_some_and(|o| o.truncated);
            *mover = self.game.mover(&lane.state) as u8;
        }
    }

    fn check(&self, actions: &[Action]) -> Result<(), Error> {
        if actions.len() != self.envs() {
            return Err(Error::BatchLength { given: actions.len(), envs: self.envs() });
        }
        let ignored = |lane: &Lane<G>| self.auto_reset == AutoReset::NextStep && lane.legal.is_empty();
        let allowed = |(lane, &action): (&Lane<G>, &Action)| lane.legal.contains(action) || ignored(lane);
        let Some(env) = self.lanes.iter().zip(actions).position(|pair| !allowed(pair)) else { return Ok(()) };
        let fault = try_play(&self.game, &mut self.lanes[env].state.clone(), actions[env]);
        let source = Box::new(fault.expect_err("the list of legal actions is that of the state"));
        Err(Error::InEnv { env, source })
    }
}

/// Steps some neighbouring envs, given with their actions and their rows of observations and masks.
fn step_part<G: Game>(
    game: &G,
    shape: &Shape,
    auto_reset: AutoReset,
    lanes: &mut [Lane<G>],
    actions: &[Action],
    observations: &mut [f32],
    masks: &mut [bool],
) {
    let observations = observations.chunks_exact_mut(shape.spec.tensor_len());
    let rows = observations.zip(masks.chunks_exact_mut(shape.spec.actions));
    for ((lane, &action), (observation, mask)) in lanes.iter_mut().zip(actions).zip(rows) {
        lane.play(game, auto_reset, action);
        lane.show(game, shape, auto_reset, observation, mask);
    }
}

impl<G: Game> Lane<G> {
    fn restart(&mut self, game: &G) {
        self.state = game.start();
        self.outcome = None;
    }

    fn play(&mut self, game: &G, auto_reset: AutoReset, action: Action) {
        if auto_reset == AutoReset::NextStep && self.outcome.is_some() {
            self.restart(game);
            return;
        }
        game.play(&mut self.state, action);
        self.outcome = game.outcome(&self.state);
        if self.outcome.is_some() {
            self.last_final = Some(self.state);
            if auto_reset == AutoReset::SameStep {
                self.state = game.start();
            }
        }
    }

    /// Finds the legal actions and writes observation and mask.
    fn show(&mut self, game: &G, shape: &Shape, auto_reset: AutoReset, observation: &mut [f32], mask: &mut [bool]) {
        game.legal(&self.state, &mut self.legal);
        mask.fill(auto_reset == AutoReset::NextStep && self.legal.is_empty());
        self.legal.iter().for_each(|action| mask[action.index()] = true);
        if shape.dense {
            game.observe(&self.state, &mut observation[..shape.spec.features()]);
            shape.spread_scalars(observation);
        } else {
            game.observe(&self.state, &mut self.features);
            shape.spec.expand(&self.features, observation);
        }
    }
}

impl Shape {
    /// Fills the planes of the scalars, which stand one by one where the first of these planes begins.
    fn spread_scalars(&self, observation: &mut [f32]) {
        let points = self.spec.points;
        let scalars = &mut observation[self.spec.point_planes.len() * points..];
        for scalar in (0..self.spec.scalars.len()).rev() {
            let value = scalars[scalar]; // the planes behind it are filled, none of them reaches back to it
            scalars[scalar * points..(scalar + 1) * points].fill(value);
        }
    }
}
