//! Backends: a batch of positions in, priors over the legal actions and values out.
//!
//! A backend is what a search asks about positions: [`Uniform`], [`Rollout`], a network, or a function of the caller on
//! [`Tensors`]. [`Cached`], [`Split`] and [`Queued`] wrap a backend and are backends. `docs/adding-a-backend.md` shows one of your own.

mod fault;
mod batch;
mod rollout;
mod tensors;
mod cached;
mod split;
mod queued;

use turnstone_env::Rules;

pub use self::batch::{EvalBatch, Evaluation};
pub use self::cached::{CacheStats, Cached};
pub use self::fault::Fault;
pub use self::queued::Queued;
pub use self::rollout::Rollout;
pub use self::split::Split;
pub use self::tensors::{TensorFunction, TensorRows, Tensors};

/// Gives a prior for every legal action of a position and a value of the position.
pub trait Backend<G: Rules> {
    /// Writes the priors of the legal actions and the evaluation **for the first side** of every position of the batch. None
    /// of the positions is over. What it writes about a position must not depend on the others, unless it is random.
    ///
    /// # Errors
    /// The evaluation failed. What was written until then is of no meaning, and the batch can be evaluated again.
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), Fault>;

    /// The priors and the evaluation of a position that is known without a batch. A search asks before it adds the position
    /// to one.
    fn known(&mut self, _state: &G::State) -> Option<(&[f32], Evaluation)> {
        None
    }

    /// The exact value for the first side of a position below the root, as by an endgame table: the search counts it as proven.
    /// It does not ask in a search whose root has an exact value itself.
    fn exact(&mut self, _game: &G, _state: &G::State) -> Option<i8> {
        None
    }

    /// Forgets earlier games: random numbers begin again, from `seed`.
    fn restart(&mut self, _seed: u64) {}

    /// A backend for the thread of this number, from 1, of the same search; `None` if there can be only one.
    fn for_thread(&self, _number: usize) -> Option<Box<dyn Backend<G> + Send>> {
        None
    }
}

impl<G: Rules, B: Backend<G> + ?Sized> Backend<G> for Box<B> {
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), Fault> {
        (**self).evaluate(game, batch)
    }

    fn known(&mut self, state: &G::State) -> Option<(&[f32], Evaluation)> {
        (**self).known(state)
    }

    fn exact(&mut self, game: &G, state: &G::State) -> Option<i8> {
        (**self).exact(game, state)
    }

    fn restart(&mut self, seed: u64) {
        (**self).restart(seed);
    }

    fn for_thread(&self, number: usize) -> Option<Box<dyn Backend<G> + Send>> {
        (**self).for_thread(number)
    }
}

/// Equal priors and value 0: search without knowledge.
#[derive(Clone, Copy, Default, Debug)]
pub struct Uniform;

impl<G: Rules> Backend<G> for Uniform {
    fn evaluate(&mut self, _: &G, batch: &mut EvalBatch<G::State>) -> Result<(), Fault> {
        for i in 0..batch.len() {
            equal_priors(batch.priors_mut(i));
            batch.set_evaluation(i, Evaluation::default());
        }
        Ok(())
    }

    fn for_thread(&self, _: usize) -> Option<Box<dyn Backend<G> + Send>> {
        Some(Box::new(Uniform))
    }
}

fn equal_priors(priors: &mut [f32]) {
    let prior = 1.0 / priors.len() as f32;
    priors.fill(prior);
}
