//! Random playouts.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::{ActionList, Rules};

use super::{Backend, EvalBatch, Evaluation, Fault, equal_priors};

/// Equal priors and the result of one uniformly random playout: classical Monte Carlo tree search.
#[derive(Clone, Debug)]
pub struct Rollout {
    rng: Xoshiro256PlusPlus,
    legal: ActionList,
}

impl Rollout {
    /// A backend with its own random stream.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { rng: Xoshiro256PlusPlus::seed_from_u64(seed), legal: ActionList::new() }
    }
}

impl<G: Rules> Backend<G> for Rollout {
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), Fault> {
        for i in 0..batch.len() {
            let mut state = *batch.position(i).0;
            let outcome = loop {
                if let Some(outcome) = game.outcome(&state) {
                    break outcome;
                }
                game.legal(&state, &mut self.legal);
                game.play(&mut state, self.legal[self.rng.random_range(0..self.legal.len())]);
            };
            equal_priors(batch.priors_mut(i));
            batch.set_evaluation(i, Evaluation::exact(outcome.value()));
        }
        Ok(())
    }

    fn restart(&mut self, seed: u64) {
        *self = Self::new(seed);
    }

    fn for_thread(&self, number: usize) -> Option<Box<dyn Backend<G> + Send>> {
        Some(Box::new(Rollout::new(number as u64)))
    }
}
