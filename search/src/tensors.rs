//! Evaluation of a batch as tensors: observations and masks in, policy logits and values out, for networks that live
//! outside of this workspace.

use turnstone_env::{Game, Spec};

use crate::evaluator::{EvalBatch, Evaluation};

/// Failure of a [`TensorEvaluator`]; whoever implements one can downcast it to an own error.
pub type TensorFault = Box<dyn std::error::Error + Send + Sync>;

/// Takes logits `[rows, actions]` and expected results `[rows]`, or refuses them.
pub type ReadTensors<'a> = dyn FnMut(&[f32], &[f32]) -> Result<(), TensorFault> + 'a;

/// A network as a function on tensors. Positions are seen by their mover: the actions of masks and logits are indices
/// of the policy vector ([`Spec::policy_index`]).
pub trait TensorEvaluator {
    /// Evaluates `rows` positions. `fill` writes the inputs: observations `[rows, planes, height, width]` and masks of
    /// the legal actions `[rows, actions]`. `read` takes the results: logits `[rows, actions]` and expected results
    /// `[rows]` for the mover, -1..=1.
    ///
    /// # Errors
    /// The evaluation failed, or `read` refused its results.
    fn evaluate(
        &mut self,
        rows: usize,
        fill: &mut dyn FnMut(&mut [f32], &mut [bool]),
        read: &mut ReadTensors<'_>,
    ) -> Result<(), TensorFault>;
}

/// Evaluates a batch by a function on tensors: the priors are the softmax of the legal actions' logits.
///
/// # Errors
/// That of the function, or a logit of a legal action or a value is not finite, or a value is beyond -1..=1.
pub fn evaluate_tensors<G: Game>(
    game: &G,
    spec: &Spec,
    batch: &mut EvalBatch<G::State>,
    evaluator: &mut dyn TensorEvaluator,
) -> Result<(), TensorFault> {
    /// Excess over 1 that rounding may leave in a value.
    const ROUNDING: f32 = 1e-3;
    let rows = batch.len();
    let states = batch.states().to_vec();
    // Indices of the legal actions in the policy vector, row after row, and the end of each row.
    let (mut legal, mut ends) = (Vec::with_capacity(16 * rows), Vec::with_capacity(rows));
    for (row, state) in states.iter().enumerate() {
        let mover = game.mover(state);
        legal.extend(batch.position(row).1.iter().map(|&action| spec.policy_index(mover, action)));
        ends.push(legal.len());
    }
    let legal_of = |row: usize| &legal[if row == 0 { 0 } else { ends[row - 1] }..ends[row]];
    let mut features = vec![0.0; rows * spec.features()];
    let mut fill = |observations: &mut [f32], masks: &mut [bool]| {
        masks.fill(false);
        game.observe_many(&states, &mut features);
        let tensors = observations.chunks_exact_mut(spec.tensor_len()).zip(masks.chunks_exact_mut(spec.actions));
        for (row, (features, (observation, mask))) in features.chunks_exact(spec.features()).zip(tensors).enumerate() {
            spec.expand(features, observation);
            legal_of(row).iter().for_each(|&index| mask[index] = true);
        }
    };
    let mut read = |logits: &[f32], values: &[f32]| {
        for (row, (logits, &value)) in logits.chunks_exact(spec.actions).zip(values).enumerate() {
            let legal = legal_of(row);
            if value.is_nan() || value.abs() > 1.0 + ROUNDING {
                return Err(format!("value {value} in row {row} is not between -1 and 1").into());
            }
            if let Some(&index) = legal.iter().find(|&&index| !logits[index].is_finite()) {
                let logit = logits[index];
                return Err(format!("policy logit {logit} of legal action {index} in row {row} is not finite").into());
            }
            let value = game.mover(&states[row]).sign() * value.clamp(-1.0, 1.0);
            batch.set_evaluation(row, Evaluation { value, draw: 0.0 });
            let priors = batch.priors_mut(row);
            priors.iter_mut().zip(legal).for_each(|(prior, &index)| *prior = logits[index]);
            softmax(priors);
        }
        Ok(())
    };
    evaluator.evaluate(rows, &mut fill, &mut read)
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

    /// Answers with fixed numbers and keeps the inputs.
    struct Fixed {
        logits: Vec<f32>,
        value: f32,
        observations: Vec<f32>,
        masks: Vec<bool>,
    }

    impl TensorEvaluator for Fixed {
        fn evaluate(
            &mut self,
            rows: usize,
            fill: &mut dyn FnMut(&mut [f32], &mut [bool]),
            read: &mut ReadTensors<'_>,
        ) -> Result<(), TensorFault> {
            self.observations = vec![f32::NAN; rows * self.observations.len()];
            self.masks = vec![true; rows * self.logits.len()];
            fill(&mut self.observations, &mut self.masks);
            read(&self.logits.repeat(rows), &vec![self.value; rows])
        }
    }

    /// The position after B5 in Mancala, player 2 to move with all of A2..A7, in a batch of its own.
    fn batch(game: &Mancala) -> EvalBatch<<Mancala as Game>::State> {
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
        let mut fixed = Fixed { logits, value: 0.5, observations: vec![0.0; spec.tensor_len()], masks: Vec::new() };
        evaluate_tensors(&game, &spec, &mut batch, &mut fixed).expect("finite");
        assert_eq!(fixed.observations, expected);
        assert!((0..spec.actions).all(|index| fixed.masks[index] == indices.contains(&index)));
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
            let mut fixed = Fixed { logits, value, observations: vec![0.0; spec.tensor_len()], masks: Vec::new() };
            let error = evaluate_tensors(&game, &spec, &mut batch(&game), &mut fixed).expect_err("a fault");
            assert!(error.to_string().starts_with(fault), "{error}");
        }
    }
}
