//! Many games stepped side by side into buffers of their caller.

use std::thread;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::action::Action;
use crate::any_state::AnyState;
use crate::error::Error;
use crate::game::{Game, try_play};
use crate::gym::buffers::VecBuffers;
use crate::gym::part::{AutoReset, Kind, Part};
use crate::outcome::Outcome;
use crate::side::Side;
use crate::spec::Spec;

/// A fixed number of games of one kind, stepped together, without buffers of their own: [`VecEnv`](crate::VecEnv) adds
/// them.
#[derive(Clone, Debug)]
pub struct Lanes<G: Game> {
    kind: Kind<G>,
    /// Number of envs of each part but the last, which may have fewer.
    share: usize,
    parts: Vec<Part<G>>,
    /// Number of threads that step the parts.
    threads: usize,
    /// Seed of the random streams.
    seed: u64,
    /// Number of actions that every stream has drawn since it was seeded.
    drawn: u64,
}

/// What decides how [`Lanes`] continue: [`Lanes::record`] takes it, [`Lanes::restore`] puts it into others of the same game.
#[derive(Clone, PartialEq, Debug)]
pub struct LanesRecord {
    /// Seed of the random streams.
    pub seed: u64,
    /// Number of actions that [`Lanes::sample`] has drawn for every env since then.
    pub drawn: u64,
    /// The envs.
    pub envs: Vec<EnvRecord>,
}

/// One env of a [`LanesRecord`].
#[derive(Clone, PartialEq, Debug)]
pub struct EnvRecord {
    /// The present state.
    pub state: AnyState,
    /// The last state of the game that ended last since the reset.
    pub last_final: Option<AnyState>,
    /// Whether that game ended in the last step.
    pub has_ended: bool,
}

impl<G: Game> Lanes<G> {
    /// Creates `envs` games at their start, stepped by one thread.
    ///
    /// # Panics
    /// If `envs` is 0.
    pub fn new(game: G, envs: usize) -> Self {
        assert!(envs > 0, "at least one env is needed");
        let kind = Kind::new(game);
        let parts = vec![Part::new(&kind, envs)];
        let mut lanes = Self { kind, share: envs, parts, threads: 1, seed: 0, drawn: 0 };
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
        self.threads = self.parts.len();
        self.seed(0);
        self
    }

    /// Steps with so many threads from now on, at most those of [`Lanes::with_threads`]. Games and random streams continue.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.clamp(1, self.parts.len());
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
        let Self { kind, share, parts, .. } = self;
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
        let Self { kind, share, parts, threads, .. } = self;
        let (kind, share) = (&*kind, *share);
        if *threads == 1 {
            step_parts(kind, share, parts, actions, out);
            return Ok(());
        }
        let each = parts.len().div_ceil(*threads);
        let rows = out.parts(each * share, &kind.spec);
        let jobs = parts.chunks_mut(each).zip(actions.chunks(each * share)).zip(rows);
        let mut jobs = jobs
            .map(|((parts, actions), mut rows)| move || step_parts(kind, share, parts, actions, &mut rows))
            .peekable();
        thread::scope(|scope| {
            while let Some(mut job) = jobs.next() {
                if jobs.peek().is_some() {
                    scope.spawn(job);
                } else {
                    job(); // the last parts are this thread's own
                }
            }
        });
        Ok(())
    }

    /// Writes the legal actions of all envs one after the other into `actions`, which must have room for all actions of all
    /// envs, the number of those of each env into `counts`, `[envs]`, and where they start into `starts`, `[envs + 1]`.
    /// Action 0 stands for a game that has ended. What is behind the last list is undefined.
    ///
    /// # Panics
    /// If a slice is too short.
    pub fn legal_lists(&self, actions: &mut [u16], counts: &mut [u16], starts: &mut [i64]) {
        let mut end = 0;
        starts[0] = 0;
        let ends = starts[1..=self.envs()].chunks_mut(self.share);
        for (part, (counts, ends)) in self.parts.iter().zip(counts.chunks_mut(self.share).zip(ends)) {
            end = part.legal.write_lists(end, actions, counts, ends);
        }
    }

    /// Fills `actions` with a uniformly random legal action for each env, from the env's own random stream; action 0
    /// where the game has ended.
    pub fn sample(&mut self, actions: &mut Vec<Action>) {
        actions.clear();
        self.parts.iter_mut().for_each(|part| part.sample(actions));
        self.drawn += 1;
    }

    /// What decides how these envs continue.
    #[must_use]
    pub fn record(&self) -> LanesRecord {
        let envs = self.parts.iter().flat_map(|part| {
            (0..part.states.len()).map(move |env| EnvRecord {
                state: AnyState::new(part.states[env]),
                last_final: part.last_finals[env].map(AnyState::new),
                has_ended: part.outcomes[env].is_some(),
            })
        });
        LanesRecord { seed: self.seed, drawn: self.drawn, envs: envs.collect() }
    }

    /// Takes over the envs and random streams of a record, and writes what the step before it left in the buffers. The
    /// streams are drawn from anew, as often as the record says.
    ///
    /// # Panics
    /// If the record is of another number of envs or of another game, or a buffer has the wrong length.
    pub fn restore(&mut self, record: &LanesRecord, out: &mut VecBuffers<'_>) {
        assert_eq!(record.envs.len(), self.envs(), "envs of the record");
        self.seed(record.seed);
        for (part, records) in self.parts.iter_mut().zip(record.envs.chunks(self.share)) {
            for (env, record) in records.iter().enumerate() {
                let last = record.last_final.as_ref().map(|state| *state.of());
                part.states[env] = *record.state.of();
                part.outcomes[env] = last.filter(|_| record.has_ended).and_then(|state| self.kind.game.outcome(&state));
                part.last_finals[env] = last;
            }
            part.skip(record.drawn);
        }
        self.drawn = record.drawn;
        self.reset(None, |_| false, out);
    }

    /// Restarts the random streams of all envs.
    fn seed(&mut self, seed: u64) {
        (self.seed, self.drawn) = (seed, 0);
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

/// Steps neighbouring parts of `share` envs each, one after the other.
fn step_parts<G: Game>(
    kind: &Kind<G>,
    share: usize,
    parts: &mut [Part<G>],
    actions: &[Action],
    rows: &mut VecBuffers<'_>,
) {
    let rows = rows.parts(share, &kind.spec);
    for ((part, actions), mut rows) in parts.iter_mut().zip(actions.chunks(share)).zip(rows) {
        part.step(kind, actions, &mut rows);
    }
}
