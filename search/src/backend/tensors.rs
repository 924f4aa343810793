//! A network outside of this workspace, as a function on tensors: observations and masks in, policy logits and values out.

use std::sync::Arc;

use turnstone_env::{Rules, Spec};

use super::{Backend, EvalBatch, Evaluation, Fault};

/// Positions to be evaluated, as tensors. Positions are seen by their mover: the actions of masks and logits are indices of
/// the policy vector ([`Spec::policy_index`]).
pub trait TensorRows {
    /// Number of positions.
    fn rows(&self) -> usize;

    /// Writes the inputs: observations `[rows, planes, height, width]` and masks of the legal actions `[rows, actions]`.
    fn fill(&self, observations: &mut [f32], masks: &mut [bool]);

    /// Takes the outputs: logits `[rows, actions]` and expected results `[rows]` for the mover, -1..=1. The priors are the
    /// softmax of the legal actions' logits.
    ///
    /// # Errors
    /// A logit of a legal action or a value is not finite, or a value is beyond -1..=1.
    fn answer(&mut self, logits: &[f32], values: &[f32]) -> Result<(), Fault>;
}

/// A function that evaluates positions, by [`TensorRows::fill`] and [`TensorRows::answer`].
pub type TensorFunction = Arc<dyn Fn(&mut dyn TensorRows) -> Result<(), Fault> + Send + Sync>;

/// A function on tensors as a backend.
#[derive(Clone)]
pub struct Tensors {
    spec: Spec,
    function: TensorFunction,
}

impl Tensors {
    /// A backend for a game with this spec.
    #[must_use]
    pub fn new(spec: Spec, function: TensorFunction) -> Self {
        Self { spec, function }
    }
}

impl<G: Rules> Backend<G> for Tensors {
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), Fault> {
        let mut rows = Rows { game, spec: &self.spec, legal: Vec::new(), ends: Vec::new(), batch };
        for row in 0..rows.batch.len() {
            let (state, legal) = rows.batch.position(row);
            let mover = game.mover(state);
            rows.legal.extend(legal.iter().map(|&action| self.spec.policy_index(mover, action)));
            rows.ends.push(rows.legal.len());
        }
        (self.function)(&mut rows)
    }

    fn for_thread(&self, _: usize) -> Option<Box<dyn Backend<G> + Send>> {
        Some(Box::new(self.clone()))
    }
}

struct Rows<'a, G: Rules> {
    game: &'a G,
    spec: &'a Spec,
    /// Indices of the legal actions in the policy vector, row after row.
    legal: Vec<usize>,
    /// End of each row in `legal`.
    ends: Vec<usize>,
    batch: &'a mut EvalBatch<G::State>,
}

/// The part of `legal` that belongs to a row.
fn of_row<'a>(legal: &'a [usize], ends: &[usize], row: usize) -> &'a [usize] {
    &legal[if row == 0 { 0 } else { ends[row - 1] }..ends[row]]
}

impl<G: Rules> TensorRows for Rows<'_, G> {
    fn rows(&self) -> usize {
        self.batch.len()
    }

    fn fill(&self, observations: &mut [f32], masks: &mut [bool]) {
        let spec = self.spec;
        let mut features = vec![0.0; spec.features()];
        masks.fill(false);
        let tensors = observations.chunks_exact_mut(spec.tensor_len()).zip(masks.chunks_exact_mut(spec.actions));
        for (row, (state, (observation, mask))) in self.batch.states().iter().zip(tensors).enumerate() {
            self.game.observe(state, &mut features);
            spec.expand(&features, observation);
            of_row(&self.legal, &self.ends, row).iter().for_each(|&index| mask[index] = true);
        }
    }

    fn answer(&mut self, logits: &[f32], values: &[f32]) -> Result<(), Fault> {
        /// Excess over 1 that rounding may leave in a value.
        const ROUNDING: f32 = 1e-3;
        for (row, (logits, &value)) in logits.chunks_exact(self.spec.actions).zip(values).enumerate() {
            let legal = of_row(&self.legal, &self.ends, row);
            if value.is_nan() || value.abs() > 1.0 + ROUNDING {
                return Err(Fault::new(format!("value {value} in row {row} is not between -1 and 1")));
            }
            if let Some(&index) = legal.iter().find(|&&index| !logits[index].is_finite()) {
                let logit = logits[index];
                let fault = format!("policy logit {logit} of legal action {index} in row {row} is not finite");
                return Err(Fault::new(fault));
            }
            let value = self.game.mover(&self.batch.states()[row]).sign() * value.clamp(-1.0, 1.0);
            self.batch.set_evaluation(row, Evaluation { value, draw: 0.0 });
            let priors = self.batch.priors_mut(row);
            priors.iter_mut().zip(legal).for_each(|(prior, &index)| *prior = logits[index]);
            softmax(priors);
        }
        Ok(())
    }
}

/// Turns logits, of which there is at least one, into probabilities in place.
fn softmax(logits: &mut [f32]) {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    logits.iter_mut().for_each(|logit| *logit = (*logit - largest).exp());
    let sum: f32 = logits.iter().sum();
    logits.iter_mut().for_each(|logit| *logit /= sum);
}

#[cfg(test)]
mod tests {
    use turnstone_env::{ActionList, games::Mancala, play_text};

    use super::*;

    /// A function that answers every row with these numbers, and checks the inputs of a single one.
    fn fixed(logits: Vec<f32>, value: f32, check: impl Fn(&[f32], &[bool]) + Send + Sync + 'static) -> TensorFunction {
        Arc::new(move |rows| {
            let spec = Mancala::default().spec();
            let mut observations = vec![f32::NAN; rows.rows() * spec.tensor_len()];
            let mut masks = vec![true; rows.rows() * spec.actions];
            rows.fill(&mut observations, &mut masks);
            check(&observations, &masks);
            rows.answer(&logits.repeat(rows.rows()), &vec![value; rows.rows()])
        })
    }

    /// The position after B5 in Mancala, player 2 to move with all of A2..A7, in a batch of its own.
    fn batch(game: &Mancala) -> EvalBatch<<Mancala as Rules>::State> {
        let (mut state, mut legal, mut batch) = (game.start(), ActionList::new(), EvalBatch::default());
        play_text(game, &mut state, "B5").expect("legal");
        game.legal(&state, &mut legal);
        batch.push(state, &legal);
        batch
    }

    #[test]
    fn the_mover_sees_its_own_side() {
        let (game, spec) = (Mancala::default(), Mancala::default().spec());
        let mut batch = batch(&game);
        let (state, legal) = batch.position(0);
        let indices: Vec<usize> = legal.iter().map(|&action| spec.policy_index(game.mover(state), action)).collect();
        let mut expected = vec![0.0; spec.tensor_len()];
        let mut features = vec![0.0; spec.features()];
        game.observe(state, &mut features);
        spec.expand(&features, &mut expected);
        let mut logits = vec![f32::NAN; spec.actions]; // those of illegal actions do not matter
        indices.iter().enumerate().for_each(|(i, &index)| logits[index] = if i == 1 { 3f32.ln() } else { 0.0 });
        let actions = spec.actions;
        let function = fixed(logits, 0.5, move |observations, masks| {
            assert_eq!(observations, expected);
            assert!((0..actions).all(|index| masks[index] == indices.contains(&index)));
        });
        Tensors::new(spec, function).evaluate(&game, &mut batch).expect("finite");
        let (priors, evaluation) = batch.answer(0);
        assert_eq!(evaluation, Evaluation { value: -0.5, draw: 0.0 }, "good for player 2");
        let shares = [1.0, 3.0, 1.0, 1.0, 1.0, 1.0].map(|weight| weight / 8.0);
        assert!(priors.iter().zip(shares).all(|(prior, share)| (prior - share).abs() < 1e-6), "{priors:?}");
    }

    #[test]
    fn results_out_of_range_are_refused() {
        let (game, spec) = (Mancala::default(), Mancala::default().spec());
        for (logit, value, fault) in [
            (0.0, f32::NAN, "value NaN in row 0"),
            (0.0, 1.5, "value 1.5 in row 0"),
            (f32::INFINITY, 0.0, "policy logit inf of legal action"),
        ] {
            let logits = vec![logit; spec.actions];
            let mut backend = Tensors::new(spec.clone(), fixed(logits, value, |_, _| ()));
            let error = backend.evaluate(&game, &mut batch(&game)).expect_err("a fault");
            assert!(error.to_string().starts_with(fault), "{error}");
        }
    }
}
