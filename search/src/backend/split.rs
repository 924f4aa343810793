//! A backend for batches of any size.

use turnstone_env::Rules;

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

impl<G: Rules, B: Backend<G>> Backend<G> for Split<G::State, B> {
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

#[cfg(test)]
mod tests {
    use turnstone_env::Notation;
    use turnstone_env::toy::Toy;

    use super::*;

    /// Values the positions of a batch, of at most three, by their depth in the tree.
    struct Depths;

    fn value(game: &Toy, state: &<Toy as Rules>::State) -> f32 {
        game.position_text(state).len() as f32 / 100.0
    }

    impl Backend<Toy> for Depths {
        fn evaluate(&mut self, game: &Toy, batch: &mut EvalBatch<<Toy as Rules>::State>) -> Result<(), Fault> {
            assert!((1..=3).contains(&batch.len()), "{} positions", batch.len());
            for row in 0..batch.len() {
                let value = value(game, &batch.states()[row]);
                batch.set_evaluation(row, Evaluation { value, draw: 0.0 });
                batch.priors_mut(row).fill(value);
            }
            Ok(())
        }
    }

    #[test]
    fn parts_are_written_where_they_belong() {
        let game: Toy = "1(1(1(1(1(1(1(+1 -1)))))))".parse().expect("a tree");
        let (mut state, mut batch, mut legal) = (game.start(), EvalBatch::default(), turnstone_env::ActionList::new());
        while game.outcome(&state).is_none() {
            game.legal(&state, &mut legal);
            batch.push(state, &legal);
            game.play(&mut state, legal[0]);
        }
        assert!(batch.len() > 6 && !batch.len().is_multiple_of(3));
        Split::new(Depths, 3).evaluate(&game, &mut batch).expect("it never fails");
        for (row, state) in batch.states().iter().enumerate() {
            let (priors, estimate) = batch.answer(row);
            assert_eq!((priors[0], estimate.value), (value(&game, state), value(&game, state)), "row {row}");
        }
    }
}
