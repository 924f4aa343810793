//! Monte Carlo tree search with a [`Backend`], in steps that a caller can interleave over many games: [`Mcts::gather`]
//! descends to a position to be evaluated, [`Mcts::apply`] takes the evaluation.
//!
//! ```
//! use rand::SeedableRng;
//! use turnstone_env::{Rules, games::MuTorere};
//! use turnstone_search::{Fault, Mcts, SearchOptions, Uniform};
//!
//! let game = MuTorere::default();
//! let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
//! let mut search = Mcts::new(&game, game.start());
//! search.begin(&game, &SearchOptions::default(), 200, &mut rng);
//! search.run(&game, &mut Uniform)?;
//! let action = search.choose(0.0, &mut rng); // the winner of the sequential halving, proven results first
//! search.advance(&game, action); // keeps what was searched below it
//! # Ok::<(), Fault>(())
//! ```

mod method;
mod atomics;
mod arena;
mod tree;
mod copying;
mod edge_stats;
mod puct;
mod gumbel;
mod backup;
mod proof;
mod simulator;
mod choice;
mod shared;
#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod selection_tests;
#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::{Action, Rules, Side};

pub use self::choice::{RootAction, draw_weighted};
pub use self::method::{Gumbel, Method, Puct, RootNoise, SearchOptions};
pub use self::shared::{SharedSearch, SharedSimulator};
pub use self::simulator::SearchStep;
use crate::backend::{Backend, EvalBatch, Evaluation, Fault};
use atomics::SingleThread;
use simulator::{SearchState, Simulator};
use tree::{NodeId, Tree};

/// Size of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeSize {
    /// Positions in it.
    pub nodes: u64,
    /// Bytes of its nodes and edges.
    pub bytes: u64,
}

/// The search of one game.
#[derive(Clone, Debug)]
pub struct Mcts<G: Rules> {
    plan: SearchState,
    tree: Tree<G>,
    /// The other arena for [`Mcts::advance`].
    spare: Tree<G>,
    simulator: Simulator<G>,
    /// Seed of the root's noise, until the root is expanded.
    unprepared: Option<u64>,
    /// Size in bytes at which the tree is made smaller.
    limit: u64,
}

/// Default limit of the size of a tree in bytes, as [`TreeSize::bytes`] counts them.
pub const TREE_LIMIT: u64 = 256 << 20;

impl<G: Rules> Mcts<G> {
    /// A search rooted at `state`, with nothing to do until [`Mcts::begin`].
    pub fn new(game: &G, state: G::State) -> Self {
        let mut tree = Tree::default();
        tree.set_root(game, state);
        let (plan, simulator) = (SearchState::default(), Simulator::default());
        Self { plan, tree, spare: Tree::default(), simulator, unprepared: None, limit: TREE_LIMIT }
    }

    /// Clears the tree and roots the search at `state`. The memory is kept.
    pub fn reset(&mut self, game: &G, state: G::State) {
        self.tree.set_root(game, state);
        self.plan.end(self.tree.root());
        self.simulator.forget();
    }

    /// Reserves memory for the largest tree, if it is available. A tree that outgrows its memory is copied, which takes long
    /// for a large one, and the search cannot be stopped meanwhile. Reserved pages that are never written cost nothing.
    pub fn reserve(&mut self) {
        self.tree.reserve(self.limit as usize);
        self.spare.reserve(self.limit as usize);
    }

    /// Starts a search of `simulations` simulations (at least one) from the root. The expansion of a new root is not
    /// counted.
    pub fn begin(&mut self, game: &G, options: &SearchOptions, simulations: u32, rng: &mut impl Rng) {
        self.plan.options = *options;
        let draw = self.mover().sign() * options.draw;
        if self.tree.draw_value != draw {
            (self.tree.draw_value, self.spare.draw_value) = (draw, draw);
            self.reset(game, *self.state());
        }
        self.plan.begin(simulations.max(1), self.tree.root());
        self.unprepared = Some(rng.random());
        if self.tree.root().is_expanded() {
            self.prepare_root();
        }
    }

    /// Descends to the next position to be evaluated and returns it with its legal actions. `None` if the simulations are
    /// done or the root is proven. Simulations that end in proven positions are completed without evaluation.
    pub fn gather(&mut self, game: &G) -> Option<(&G::State, &[Action])> {
        loop {
            match self.step(game) {
                SearchStep::Finished => {}
                SearchStep::Leaf => return Some(self.leaf()),
                SearchStep::Done => return None,
            }
        }
    }

    /// Begins one simulation, for callers that check limits after each: [`Mcts::gather`] may run many of them before it
    /// returns.
    pub fn step(&mut self, game: &G) -> SearchStep {
        self.keep_to_limit();
        self.tree.make_room(1, 0);
        self.simulator.step::<SingleThread>(game, &self.tree, &self.plan).expect("there is room")
    }

    /// The position to be evaluated after [`SearchStep::Leaf`], with its legal actions.
    ///
    /// # Panics
    /// If there is none.
    pub fn leaf(&self) -> (&G::State, &[Action]) {
        self.simulator.leaf(&self.tree)
    }

    /// Takes the evaluation of the position that [`Mcts::gather`] returned: priors of its legal actions, and its value.
    ///
    /// # Panics
    /// If no position is to be evaluated, or it has more legal actions than there are priors.
    pub fn apply(&mut self, priors: &[f32], estimate: Evaluation) {
        self.tree.make_room(0, priors.len());
        let leaf = self.simulator.apply::<SingleThread>(&self.tree, priors, estimate).expect("there is room");
        if leaf == 0 {
            self.prepare_root();
        }
    }

    /// Takes the exact value for the first side of the position that [`Mcts::gather`] returned, which is then proven as if
    /// the game were over there.
    ///
    /// # Panics
    /// If the position is the root, whose actions need priors.
    pub fn set_proven(&mut self, value: i8) {
        self.simulator.set_proven::<SingleThread>(&self.tree, value);
    }

    /// Runs the simulations to their end, one position at a time.
    ///
    /// # Errors
    /// An evaluation failed. The search can only be reset then.
    pub fn run<B: Backend<G> + ?Sized>(&mut self, game: &G, backend: &mut B) -> Result<(), Fault> {
        let mut batch = EvalBatch::default();
        while let Some((state, legal)) = self.gather(game) {
            batch.clear();
            batch.push(*state, legal);
            backend.evaluate(game, &mut batch)?;
            let (priors, estimate) = batch.answer(0);
            self.apply(priors, estimate);
        }
        Ok(())
    }

    /// Moves the root along an action and keeps the subtree below it.
    pub fn advance(&mut self, game: &G, action: Action) {
        self.advance_along(game, &[action], &mut || true);
    }

    /// Moves the root along actions and keeps the subtree below the last of them. The subtree is copied, which takes long
    /// for a large one: `go_on` is called regularly, and if it returns false the subtree is discarded.
    pub fn advance_along(&mut self, game: &G, actions: &[Action], go_on: &mut dyn FnMut() -> bool) {
        let step = |node: NodeId, action: &Action| {
            let edge = self.tree.edges_of(node).iter().find(|edge| edge.action == *action)?;
            edge.is_followed().then(|| edge.child())
        };
        let kept = actions.iter().try_fold(0, step);
        if kept.is_some_and(|node| self.tree.copy_subtree(node, 0, &mut self.spare, go_on)) {
            std::mem::swap(&mut self.tree, &mut self.spare);
            self.tree.open_root(game);
            self.plan.end(self.tree.root());
        } else {
            let mut state = *self.state();
            actions.iter().for_each(|&action| game.play(&mut state, action));
            self.reset(game, state);
        }
    }

    /// Whether the root has been evaluated, as it has once the first simulation has ended.
    pub fn is_root_evaluated(&self) -> bool {
        self.tree.root().is_expanded()
    }

    /// Number of simulations that remain to be begun; not 0 if the root was proven before the end. While threads share the
    /// search, simulations under way are neither left nor done, and one that is taken back is left again.
    pub fn simulations_left(&self) -> u32 {
        self.plan.left()
    }

    /// Number of simulations that have been completed since [`Mcts::begin`]: the visits that the root has gained.
    pub fn simulations_done(&self) -> u32 {
        self.plan.done(self.tree.root())
    }

    /// Size of the tree.
    pub fn size(&self) -> TreeSize {
        TreeSize { nodes: self.tree.size()[0] as u64, bytes: self.tree.bytes() }
    }

    /// The position at the root.
    pub fn state(&self) -> &G::State {
        &self.tree.root().state
    }

    /// The side to move at the root.
    pub fn mover(&self) -> Side {
        self.tree.root().mover
    }

    /// The exact value of the root for the first side, if it is proven.
    pub fn proven(&self) -> Option<i8> {
        self.tree.root().proven.get()
    }

    /// Mixes noise into the root, which is expanded, or samples the actions to be considered.
    fn prepare_root(&mut self) {
        let Some(seed) = self.unprepared.take() else { return };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        match &self.plan.options.method {
            Method::Puct(Puct { noise: Some(noise), .. }) => {
                puct::add_noise(self.tree.edges_of_mut(0), *noise, &mut rng);
            }
            Method::Puct(_) => {}
            Method::Gumbel(config) => {
                let left = self.plan.left();
                self.plan.gumbel.begin(&self.tree, config, left, &mut rng);
            }
        }
    }
}
