//! A backend for batches of any size.

use turnstone_env::Game;

use super::{Backend, EvalBatch, Evaluation, Fault};

/// Hands on batches to a backend that has room for a certain number of positions: larger ones in parts.
#[derive(Clone, Debug)]
pub struct Split<S, B> {
    backend: B,
    most: usize,
    part: EvalBatch<S>,
}

impl<S, B> Split<S, B> {
    /// Parts of at most `most` positions.
    ///
    /// # Panics
    /// If `most` is zero.
    pub fn new(backend: B, most: usize) -> Self {
        assert!(most > 0, "a backend needs room for at least one position");
        Self { backend, most, part: EvalBatch::default() }
    }
}

impl<G: Game, B: Backend<G>> Backend<G> for Split<G::State, B> {
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), Fault> {
        if batch.len() <= self.most {
            return self.backend.evaluate(game, batch);
        }
        for first in (0..batch.len()).step_by(self.most) {
            let rows = first..batch.len().min(first + self.most);
            self.part.clear();
            self.part.extend_from(batch, rows.clone());
            self.backend.evaluate(game, &mut self.part)?;
            batch.copy_answers(first, &self.part, 0..rows.len());
        }
        Ok(())
    }

    fn known(&mut self, state: &G::State) -> Option<(&[f32], Evaluation)> {
        self.backend.known(state)
    }

    fn exact(&mut self, game: &G, state: &G::State) -> Option<i8> {
        self.backend.exact(game, state)
    }

    fn restart(&mut self, seed: u64) {
        self.backend.restart(seed);
    }

    fn for_thread(&self, number: usize) -> Option<Box<dyn Backend<G> + Send>> {
        Some(Box::new(Split::new(self.backend.for_thread(number)?, self.most)))
    }
}
