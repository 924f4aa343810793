//! Neighbouring envs of [`GameBatch`](crate::GameBatch), stepped by one thread.

use std::ops::Range;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::action::{Action, ActionList};
use crate::game_batch::buffers::VecBuffers;
use crate::game_batch::legal::LegalActions;
use crate::outcome::Outcome;
use crate::rules::Rules;
use crate::side::Side;
use crate::spec::Spec;

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

/// Envs that take each part of a step together: few enough that their rows stay in the first cache.
const BLOCK: usize = 16;

/// Shared by all envs.
#[derive(Clone, Debug)]
pub(super) struct Kind<G> {
    pub(super) game: G,
    pub(super) spec: Spec,
    /// Whether the game gives its legal actions as sets.
    has_sets: bool,
    tensor_len: usize,
    features: usize,
    /// Whether the points are the cells of the lattice in order, so that planes need no spreading.
    dense: bool,
    pub(super) auto_reset: AutoReset,
}

/// Neighbouring envs that one thread steps. What a step reads is kept apart from what few steps read.
#[derive(Clone, Debug)]
pub(super) struct Part<G: Rules> {
    pub(super) states: Vec<G::State>,
    /// Outcomes of the games that ended in the last step.
    pub(super) outcomes: Vec<Option<Outcome>>,
    pub(super) legal: LegalActions,
    /// The last state of the game that ended last in each env.
    pub(super) last_finals: Vec<Option<G::State>>,
    pub(super) rngs: Vec<Xoshiro256PlusPlus>,
    list: ActionList,
    features: Vec<f32>,
}

impl<G: Rules> Kind<G> {
    pub(super) fn new(game: G, auto_reset: AutoReset) -> Self {
        let spec = game.spec();
        let dense = spec.cells.iter().enumerate().all(|(point, &cell)| point == usize::from(cell))
            && spec.points == spec.lattice[0] * spec.lattice[1];
        let has_sets = game.legal_set(&game.start()).is_some();
        let (tensor_len, features) = (spec.tensor_len(), spec.features());
        Self { game, spec, has_sets, tensor_len, features, dense, auto_reset }
    }
}

impl<G: Rules> Part<G> {
    /// Envs at the start of their games.
    pub(super) fn new(kind: &Kind<G>, envs: usize) -> Self {
        let mut part = Self {
            states: vec![kind.game.start(); envs],
            outcomes: vec![None; envs],
            legal: LegalActions::new(envs, kind.spec.actions, kind.has_sets),
            last_finals: vec![None; envs],
            rngs: vec![Xoshiro256PlusPlus::seed_from_u64(0); envs],
            list: ActionList::new(),
            features: vec![0.0; kind.features],
        };
        let mut mask = vec![false; kind.spec.actions]; // of no interest yet
        for env in 0..envs {
            let set = part.find_legal(kind, env);
            part.put_legal(set, env, &mut mask);
        }
        part
    }

    /// Starts a new game in every env for which there is a state.
    pub(super) fn start(&mut self, kind: &Kind<G>, of: impl Fn(usize) -> Option<G::State>, rows: &mut VecBuffers<'_>) {
        self.each(kind, rows, |part, env| {
            if let Some(state) = of(env) {
                part.states[env] = state;
                part.outcomes[env] = None;
                part.last_finals[env] = None;
            }
            part.find_legal(kind, env)
        });
    }

    pub(super) fn step(&mut self, kind: &Kind<G>, actions: &[Action], rows: &mut VecBuffers<'_>) {
        self.each(kind, rows, |part, env| part.play(kind, env, actions[env]));
    }

    /// Lets `act` change every env and find its legal actions, and writes what is to be seen then.
    ///
    /// Neighbouring envs take each step of this one after the other: so the processor, which looks ahead by some hundred
    /// instructions, works at several of them at once.
    #[inline]
    fn each(
        &mut self,
        kind: &Kind<G>,
        rows: &mut VecBuffers<'_>,
        mut act: impl FnMut(&mut Self, usize) -> Option<u64>,
    ) {
        let (envs, actions) = (self.states.len(), kind.spec.actions);
        self.legal.clear_lists();
        rows.rewards.fill(0.0);
        rows.terminated.fill(false);
        rows.truncated.fill(false);
        for first in (0..envs).step_by(BLOCK) {
            let block = first..envs.min(first + BLOCK);
            let masks = &mut rows.masks[block.start * actions..block.end * actions];
            if !kind.has_sets {
                masks.fill(false);
                self.legal.empty(&block);
            }
            for (env, mask) in block.clone().zip(masks.chunks_exact_mut(actions)) {
                let set = act(self, env);
                self.put_legal(set, env, mask);
            }
            if kind.has_sets {
                let masks = block.clone().zip(masks.chunks_exact_mut(actions));
                masks.for_each(|(env, mask)| self.legal.write_mask(env, mask));
            }
            self.observe(kind, &block, rows);
            for env in block {
                if let Some(outcome) = self.outcomes[env] {
                    self.show_outcome(kind, env, outcome, rows);
                }
            }
        }
    }

    /// The first env whose action is illegal.
    pub(super) fn first_illegal(&self, kind: &Kind<G>, actions: &[Action]) -> Option<usize> {
        let allowed = |(env, action): (usize, &Action)| match kind.auto_reset {
            AutoReset::NextStep => self.legal.contains(env, *action) || self.outcomes[env].is_some(),
            AutoReset::SameStep | AutoReset::Disabled => self.legal.contains(env, *action),
        };
        actions.iter().enumerate().position(|action| !allowed(action))
    }

    pub(super) fn sample(&mut self, actions: &mut Vec<Action>) {
        actions.extend(self.rngs.iter_mut().enumerate().map(|(env, rng)| self.legal.choose(env, rng)));
    }

    /// Plays an action, ends or starts the game where that is due, and finds the legal actions.
    #[inline]
    fn play(&mut self, kind: &Kind<G>, env: usize, action: Action) -> Option<u64> {
        if kind.auto_reset == AutoReset::NextStep && self.outcomes[env].is_some() {
            self.states[env] = kind.game.start();
        } else {
            kind.game.play(&mut self.states[env], action);
        }
        self.outcomes[env] = None;
        let set = self.find_legal(kind, env);
        // There is no legal action exactly when the game is over.
        if set.map_or(self.list.is_empty(), |set| set == 0) { self.end(kind, env) } else { set }
    }

    /// Ends a game, and returns the legal actions after that.
    #[cold]
    fn end(&mut self, kind: &Kind<G>, env: usize) -> Option<u64> {
        self.outcomes[env] = kind.game.outcome(&self.states[env]);
        self.last_finals[env] = Some(self.states[env]);
        if kind.auto_reset == AutoReset::SameStep {
            self.states[env] = kind.game.start();
        }
        self.find_legal(kind, env)
    }

    /// The legal actions of an env: as a set if the game gives it, else in `list`.
    #[inline]
    fn find_legal(&mut self, kind: &Kind<G>, env: usize) -> Option<u64> {
        let set = kind.game.legal_set(&self.states[env]);
        if set.is_none() {
            self.list_legal(kind, env);
        }
        set
    }

    /// Lists the legal actions of an env. A function of its own, so that the step stays small where `legal` is inlined.
    #[inline(never)]
    fn list_legal(&mut self, kind: &Kind<G>, env: usize) {
        kind.game.legal(&self.states[env], &mut self.list);
    }

    /// Keeps the legal actions that were found last. Lists are written to the env's mask, which is all false, too.
    #[inline]
    fn put_legal(&mut self, set: Option<u64>, env: usize, mask: &mut [bool]) {
        match set {
            Some(set) => self.legal.put_set(env, set),
            None => self.legal.put_list(env, &self.list, mask),
        }
    }

    /// Writes observations and movers of a block of envs.
    #[inline]
    fn observe(&mut self, kind: &Kind<G>, block: &Range<usize>, rows: &mut VecBuffers<'_>) {
        let Kind { game, spec, .. } = kind;
        let tensors = rows.observations[block.start * kind.tensor_len..block.end * kind.tensor_len]
            .chunks_exact_mut(kind.tensor_len);
        let states = &self.states[block.clone()];
        if kind.dense {
            let (scalars, points) = (spec.scalars.len(), spec.points);
            for (tensor, state) in tensors.zip(states) {
                game.observe(state, &mut tensor[..kind.features]);
                spread_scalars(scalars, points, &mut tensor[kind.features - scalars..]);
            }
        } else {
            for (tensor, state) in tensors.zip(states) {
                game.observe(state, &mut self.features);
                spec.expand(&self.features, tensor);
            }
        }
        let movers = &mut rows.movers[block.clone()];
        movers.iter_mut().zip(states).for_each(|(mover, state)| *mover = game.mover(state) as u8);
    }

    /// Writes the rewards and flags of a game that has ended, and its mask if it still stands there.
    fn show_outcome(&self, kind: &Kind<G>, env: usize, outcome: Outcome, rows: &mut VecBuffers<'_>) {
        let rewards = Side::BOTH.map(|side| outcome.value_for(side).into());
        rows.rewards[2 * env..2 * env + 2].copy_from_slice(&rewards);
        rows.terminated[env] = !outcome.truncated;
        rows.truncated[env] = outcome.truncated;
        if kind.auto_reset == AutoReset::NextStep {
            rows.masks[env * kind.spec.actions..(env + 1) * kind.spec.actions].fill(true);
        }
    }
}

/// Fills the planes of `count` scalars, which stand one by one where the first of these planes begins.
#[inline]
fn spread_scalars(count: usize, points: usize, planes: &mut [f32]) {
    for scalar in (0..count).rev() {
        let value = planes[scalar]; // the planes behind it are filled, none of them reaches back to it
        let plane = &mut planes[scalar * points..(scalar + 1) * points];
        // Eight at a time, the last eight again: few stores, as the planes are small, and none of single numbers.
        match plane.last_chunk_mut::<8>() {
            Some(last) => *last = [value; 8],
            None => plane.fill(value),
        }
        plane.as_chunks_mut::<8>().0.fill([value; 8]);
    }
}
