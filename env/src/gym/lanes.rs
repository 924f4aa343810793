//! Many games stepped side by side into buffers of their caller.

use std::thread;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::action::{Action, ActionList};
use crate::error::Error;
use crate::game::{Game, Spec, try_play};
use crate::gym::buffers::VecBuffers;
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

/// A fixed number of games of one kind, stepped together, without buffers of their own: [`VecEnv`](crate::VecEnv) adds
/// them.
#[derive(Clone, Debug)]
pub struct Lanes<G: Game> {
    kind: Kind<G>,
    /// Number of envs of each part but the last, which may have fewer.
    share: usize,
    parts: Vec<Part<G>>,
}

/// What all envs have in common.
#[derive(Clone, Debug)]
struct Kind<G> {
    game: G,
    spec: Spec,
    /// Whether the points are the cells of the lattice in order, so that planes need no spreading.
    dense: bool,
    auto_reset: AutoReset,
}

/// Neighbouring envs that one thread steps. What a step reads is kept apart from what few steps read.
#[derive(Clone, Debug)]
struct Part<G: Game> {
    states: Vec<G::State>,
    /// Outcomes of the games that ended in the last step.
    outcomes: Vec<Option<Outcome>>,
    /// The legal actions of all envs, one list after the other; a game that has ended has the one entry 0.
    legal: Vec<Action>,
    /// Where the list of each env ends in `legal`.
    ends: Vec<usize>,
    /// The last state of the game that ended last in each env.
    last_finals: Vec<Option<G::State>>,
    rngs: Vec<Xoshiro256PlusPlus>,
    list: ActionList,
    features: Vec<f32>,
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
        let kind = Kind { game, spec, dense, auto_reset: AutoReset::default() };
        let mut lanes = Self { parts: vec![Part::new(&kind, envs)], kind, share: envs };
        lanes.seed(0);
        lanes
    }

    /// The same, stepped by up to `threads` threads. All games start anew.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        let envs = self.envs();
        self.share = envs.div_ceil(threads.max(1));
        let starts = (0..envs).step_by(self.share);
        self.parts = starts.map(|start| Part::new(&self.kind, self.share.min(envs - start))).collect();
        self.seed(0);
        self
    }

    /// The same with this autoreset mode.
    #[must_use]
    pub fn with_auto_reset(mut self, auto_reset: AutoReset) -> Self {
        self.kind.auto_reset = auto_reset;
        self
    }

    /// The game.
    pub fn game(&self) -> &G {
        &self.kind.game
    }

    /// Shapes and names of planes and actions.
    pub fn spec(&self) -> &Spec {
        &self.kind.spec
    }

    /// Number of envs.
    pub fn envs(&self) -> usize {
        self.parts.iter().map(|part| part.states.len()).sum()
    }

    /// The present state of an env.
    pub fn state(&self, env: usize) -> &G::State {
        let (part, env) = self.place(env);
        &part.states[env]
    }

    /// The last state of the game that ended last in an env since the reset.
    pub fn final_state(&self, env: usize) -> Option<&G::State> {
        let (part, env) = self.place(env);
        part.last_finals[env].as_ref()
    }

    /// The outcome of a game that ended in an env in the last step.
    pub fn outcome(&self, env: usize) -> Option<Outcome> {
        let (part, env) = self.place(env);
        part.outcomes[env]
    }

    /// The side to move in an env.
    pub fn mover(&self, env: usize) -> Side {
        self.kind.game.mover(self.state(env))
    }

    /// Starts a new game in every env for which `which` is true. A seed restarts the random streams of all envs; without
    /// one they continue.
    ///
    /// # Panics
    /// If a buffer has the wrong length.
    pub fn reset(&mut self, seed: Option<u64>, which: impl Fn(usize) -> bool, out: &mut VecBuffers<'_>) {
        if let Some(seed) = seed {
            self.seed(seed);
        }
        out.check(self.envs(), &self.kind.spec);
        let Self { kind, share, parts } = self;
        for (i, (part, mut rows)) in parts.iter_mut().zip(out.parts(*share, &kind.spec)).enumerate() {
            part.reset(kind, |env| which(i * *share + env), &mut rows);
        }
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
        out.check(actions.len(), &self.kind.spec);
        let Self { kind, share, parts } = self;
        if let [part] = parts.as_mut_slice() {
            part.step(kind, actions, out);
            return Ok(());
        }
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

    /// Writes the legal actions of all envs one after the other into `actions`, which must have room for them, and where
    /// those of each env start into `starts`, `[envs + 1]`. Action 0 stands for a game that has ended.
    ///
    /// # Panics
    /// If a slice is too short.
    pub fn legal_lists(&self, actions: &mut [u16], starts: &mut [i64]) {
        let mut begin = 0;
        starts[0] = 0;
        for (part, starts) in self.parts.iter().zip(starts[1..=self.envs()].chunks_mut(self.share)) {
            let places = &mut actions[begin..begin + part.legal.len()];
            places.iter_mut().zip(&part.legal).for_each(|(place, action)| *place = action.0);
            starts.iter_mut().zip(&part.ends).for_each(|(start, end)| *start = (begin + end) as i64);
            begin += part.legal.len();
        }
    }

    /// Fills `actions` with a uniformly random legal action for each env, from the env's own random stream; action 0
    /// where the game has ended.
    pub fn sample(&mut self, actions: &mut Vec<Action>) {
        actions.clear();
        self.parts.iter_mut().for_each(|part| part.sample(actions));
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
        let fault = try_play(&self.kind.game, &mut self.state(env).clone(), actions[env]);
        let source = Box::new(fault.expect_err("the list of legal actions is that of the state"));
        Err(Error::InEnv { env, source })
    }
}

impl<G: Game> Part<G> {
    /// Envs at the start of their games.
    fn new(kind: &Kind<G>, envs: usize) -> Self {
        let state = kind.game.start();
        let mut list = ActionList::new();
        kind.game.legal(&state, &mut list);
        Self {
            states: vec![state; envs],
            outcomes: vec![None; envs],
            legal: list.repeat(envs),
            ends: (1..=envs).map(|env| env * list.len()).collect(),
            last_finals: vec![None; envs],
            rngs: vec![Xoshiro256PlusPlus::seed_from_u64(0); envs],
            list,
            features: vec![0.0; kind.spec.features()],
        }
    }

    fn reset(&mut self, kind: &Kind<G>, which: impl Fn(usize) -> bool, rows: &mut VecBuffers<'_>) {
        self.legal.clear();
        for env in 0..self.states.len() {
            if which(env) {
                self.states[env] = kind.game.start();
                self.outcomes[env] = None;
                self.last_finals[env] = None;
            }
            self.show(kind, env, rows);
        }
    }

    fn step(&mut self, kind: &Kind<G>, actions: &[Action], rows: &mut VecBuffers<'_>) {
        self.legal.clear();
        for (env, &action) in actions.iter().enumerate() {
            self.play(kind, env, action);
            self.show(kind, env, rows);
        }
    }

    /// The first env whose action is illegal.
    fn first_illegal(&self, kind: &Kind<G>, actions: &[Action]) -> Option<usize> {
        let mut begin = 0;
        let ends = self.ends.iter().zip(&self.outcomes).zip(actions);
        let mut allowed = ends.map(|((&end, outcome), action)| {
            let legal = &self.legal[std::mem::replace(&mut begin, end)..end];
            // Short lists are read to their end, since where in them the action is cannot be predicted.
            let is_legal = match legal.len() {
                0..=16 => legal.iter().fold(false, |found, one| found | (one == action)),
                _ => legal.binary_search(action).is_ok(),
            };
            match kind.auto_reset {
                AutoReset::SameStep => is_legal,
                AutoReset::NextStep => is_legal || outcome.is_some(),
                AutoReset::Disabled => is_legal && outcome.is_none(),
            }
        });
        allowed.position(|allowed| !allowed)
    }

    fn sample(&mut self, actions: &mut Vec<Action>) {
        let mut begin = 0;
        for (&end, rng) in self.ends.iter().zip(&mut self.rngs) {
            actions.push(choose(&self.legal[begin..end], rng));
            begin = end;
        }
    }

    fn play(&mut self, kind: &Kind<G>, env: usize, action: Action) {
        let (state, outcome) = (&mut self.states[env], &mut self.outcomes[env]);
        if kind.auto_reset == AutoReset::NextStep && outcome.is_some() {
            *state = kind.game.start();
            *outcome = None;
            return;
        }
        kind.game.play(state, action);
        *outcome = kind.game.outcome(state);
        if outcome.is_some() {
            self.last_finals[env] = Some(*state);
            if kind.auto_reset == AutoReset::SameStep {
                *state = kind.game.start();
            }
        }
    }

    /// Appends the legal actions of an env and writes its row of every buffer.
    fn show(&mut self, kind: &Kind<G>, env: usize, rows: &mut VecBuffers<'_>) {
        let (game, spec, state) = (&kind.game, &kind.spec, &self.states[env]);
        game.legal(state, &mut self.list);
        let mask = &mut rows.masks[env * spec.actions..(env + 1) * spec.actions];
        mask.fill(kind.auto_reset == AutoReset::NextStep && self.list.is_empty());
        for &action in &self.list {
            mask[action.index()] = true;
            self.legal.push(action); // most lists are too short for a call of memcpy
        }
        if self.list.is_empty() {
            self.legal.push(Action(0));
        }
        self.ends[env] = self.legal.len();

        let observation = &mut rows.observations[env * spec.tensor_len()..(env + 1) * spec.tensor_len()];
        if kind.dense {
            game.observe(state, &mut observation[..spec.features()]);
            spread_scalars(spec, observation);
        } else {
            game.observe(state, &mut self.features);
            spec.expand(&self.features, observation);
        }

        let outcome = self.outcomes[env];
        let reward = |side| outcome.map_or(0.0, |outcome| f32::from(outcome.value_for(side)));
        rows.rewards[2 * env..2 * env + 2].copy_from_slice(&Side::BOTH.map(reward));
        rows.terminated[env] = outcome.is_some_and(|outcome| !outcome.truncated);
        rows.truncated[env] = outcome.is_some_and(|outcome| outcome.truncated);
        rows.movers[env] = game.mover(state) as u8;
    }
}

/// Fills the planes of the scalars, which stand one by one where the first of these planes begins.
fn spread_scalars(spec: &Spec, observation: &mut [f32]) {
    let points = spec.points;
    let scalars = &mut observation[spec.point_planes.len() * points..];
    for scalar in (0..spec.scalars.len()).rev() {
        let value = scalars[scalar]; // the planes behind it are filled, none of them reaches back to it
        scalars[scalar * points..(scalar + 1) * points].fill(value);
    }
}
