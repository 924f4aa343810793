//! Many games played side by side into contiguous buffers.

use std::thread;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::action::{Action, ActionList};
use crate::error::Error;
use crate::game::{Game, Spec, try_play};
use crate::outcome::Outcome;
use crate::playout::choose;
use crate::side::Side;

/// What the agents of all envs see after [`VecEnv::reset`] or [`VecEnv::step`].
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
#[derive(Clone, Debug)]
pub struct VecEnv<G: Game> {
    game: G,
    shape: Shape,
    threads: usize,
    lanes: Vec<Lane<G>>,
    buffers: Buffers,
}

/// One of the games, without its rows in the buffers.
#[derive(Clone, Debug)]
struct Lane<G: Game> {
    state: G::State,
    legal: ActionList,
    /// The outcome of the game that ended in the last step.
    outcome: Option<Outcome>,
    /// The last state of the game before the present one.
    last_final: Option<G::State>,
    features: Vec<f32>,
    rng: Xoshiro256PlusPlus,
}

#[derive(Clone, Debug)]
struct Buffers {
    observations: Vec<f32>,
    masks: Vec<bool>,
    rewards: Vec<[f32; 2]>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
    movers: Vec<Side>,
    outcomes: Vec<Option<Outcome>>,
}

#[derive(Clone, Debug)]
struct Shape {
    spec: Spec,
    /// Whether the points are the cells of the lattice in order, so that planes need no spreading.
    dense: bool,
}

impl<G: Game> VecEnv<G> {
    /// `envs` games at their start, stepped by one thread.
    ///
    /// # Panics
    /// If `envs` is 0.
    pub fn new(game: G, envs: usize) -> Self {
        assert!(envs > 0, "a VecEnv needs at least one env");
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
        let buffers = Buffers {
            observations: vec![0.0; envs * spec.tensor_len()],
            masks: vec![false; envs * spec.actions],
            rewards: vec![[0.0; 2]; envs],
            terminated: vec![false; envs],
            truncated: vec![false; envs],
            movers: vec![Side::First; envs],
            outcomes: vec![None; envs],
        };
        let mut all = Self { game, shape: Shape { spec, dense }, threads: 1, lanes: vec![lane; envs], buffers };
        all.reset(Some(0));
        all
    }

    /// The same, stepped by up to `threads` threads.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
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

    /// The last state of the latest game that ended in an env since the reset.
    pub fn final_state(&self, env: usize) -> Option<&G::State> {
        self.lanes[env].last_final.as_ref()
    }

    /// Starts a new game in every env. A seed restarts all random streams; without one they go on.
    pub fn reset(&mut self, seed: Option<u64>) -> VecStep<'_> {
        let mut seeds = seed.map(Xoshiro256PlusPlus::seed_from_u64);
        for lane in &mut self.lanes {
            if let Some(seeds) = &mut seeds {
                lane.rng = Xoshiro256PlusPlus::from_rng(seeds);
            }
            lane.state = self.game.start();
            lane.outcome = None;
            lane.last_final = None;
        }
        let shape = &self.shape;
        let observations = self.buffers.observations.chunks_exact_mut(shape.spec.tensor_len());
        let masks = self.buffers.masks.chunks_exact_mut(shape.spec.actions);
        for (lane, (observation, mask)) in self.lanes.iter_mut().zip(observations.zip(masks)) {
            lane.show(&self.game, shape, observation, mask);
        }
        self.collect();
        self.batch()
    }

    /// Plays one action in every env, and starts a new game where one ended.
    ///
    /// # Errors
    /// There are not as many actions as envs, or one is illegal: then the first such env is named. Nothing is played.
    pub fn step(&mut self, actions: &[Action]) -> Result<VecStep<'_>, Error> {
        self.check(actions)?;
        let (game, shape) = (&self.game, &self.shape);
        let part = self.lanes.len().div_ceil(self.threads);
        let lanes = self.lanes.chunks_mut(part).zip(actions.chunks(part));
        let observations = self.buffers.observations.chunks_mut(part * shape.spec.tensor_len());
        let masks = self.buffers.masks.chunks_mut(part * shape.spec.actions);
        let jobs = lanes.zip(observations.zip(masks)).map(|((lanes, actions), (observations, masks))| {
            move || step_part(game, shape, lanes, actions, observations, masks)
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
        self.collect();
        Ok(self.batch())
    }

    /// Fills `actions` with a uniformly random legal action for each env, from the env's own random stream.
    pub fn sample(&mut self, actions: &mut Vec<Action>) {
        actions.clear();
        actions.extend(self.lanes.iter_mut().map(|lane| choose(&lane.legal, &mut lane.rng)));
    }

    /// What the last reset or step left in the buffers.
    pub fn batch(&self) -> VecStep<'_> {
        let Buffers { observations, masks, rewards, terminated, truncated, movers, outcomes } = &self.buffers;
        VecStep { observations, masks, rewards, terminated, truncated, movers, outcomes }
    }

    /// Gathers what the lanes hold of the last step into the buffers.
    fn collect(&mut self) {
        for (env, lane) in self.lanes.iter().enumerate() {
            let outcome = lane.outcome;
            self.buffers.rewards[env] = Side::BOTH.map(|side| outcome.map_or(0.0, |o| f32::from(o.value_for(side))));
            self.buffers.terminated[env] = outcome.is_some_and(|o| !o.truncated);
            self.buffers.truncated[env] = outcome.is_some_and(|o| o.truncated);
            self.buffers.movers[env] = self.game.mover(&lane.state);
            self.buffers.outcomes[env] = outcome;
        }
    }

    fn check(&self, actions: &[Action]) -> Result<(), Error> {
        if actions.len() != self.envs() {
            return Err(Error::BatchLength { given: actions.len(), envs: self.envs() });
        }
        let masks = self.buffers.masks.chunks_exact(self.shape.spec.actions);
        let legal = |(mask, action): (&[bool], &Action)| mask.get(action.index()).copied().unwrap_or(false);
        let Some(env) = masks.zip(actions).position(|pair| !legal(pair)) else { return Ok(()) };
        let fault = try_play(&self.game, &mut self.lanes[env].state.clone(), actions[env]);
        let source = Box::new(fault.expect_err("the mask allows what the game allows"));
        Err(Error::InEnv { env, source })
    }
}

/// Steps some neighbouring envs, given with their actions and their rows of observations and masks.
fn step_part<G: Game>(
    game: &G,
    shape: &Shape,
    lanes: &mut [Lane<G>],
    actions: &[Action],
    observations: &mut [f32],
    masks: &mut [bool],
) {
    let observations = observations.chunks_exact_mut(shape.spec.tensor_len());
    let rows = observations.zip(masks.chunks_exact_mut(shape.spec.actions));
    for ((lane, &action), (observation, mask)) in lanes.iter_mut().zip(actions).zip(rows) {
        lane.play(game, action);
        lane.show(game, shape, observation, mask);
    }
}

impl<G: Game> Lane<G> {
    fn play(&mut self, game: &G, action: Action) {
        game.play(&mut self.state, action);
        self.outcome = game.outcome(&self.state);
        if self.outcome.is_some() {
            self.last_final = Some(self.state);
            self.state = game.start();
        }
    }

    /// Finds the legal actions and writes observation and mask.
    fn show(&mut self, game: &G, shape: &Shape, observation: &mut [f32], mask: &mut [bool]) {
        game.legal(&self.state, &mut self.legal);
        mask.fill(false);
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
