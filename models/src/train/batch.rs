//! A batch of training examples on the host. Every example is checked when it is added.

use crate::network::OUTCOMES;
use crate::shape::Shape;

/// Tolerance of the sum of a row's target probabilities.
const SUM_TOLERANCE: f64 = 1e-3;

/// A position with its targets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Example<'a> {
    /// Observation as seen by the mover, `[inputs]`, finite.
    pub inputs: &'a [f32],
    /// Whether each action is legal, `[actions]`; at least one is.
    pub legal: &'a [bool],
    /// Target probabilities of the actions, `[actions]`, with sum 1; illegal actions have 0.
    pub policy: &'a [f32],
    /// Target probabilities of win, draw and loss for the mover, with sum 1.
    pub value: [f32; OUTCOMES],
}

/// Examples of one shape in contiguous buffers. `clear` keeps the memory.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingBatch {
    shape: Shape,
    inputs: Vec<f32>,
    legal: Vec<bool>,
    policy: Vec<f32>,
    value: Vec<f32>,
}

/// The fault of a rejected example.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BatchError {
    /// The length of a slice does not fit the shape of the batch.
    #[error("an example has {found} {what}, not {expected}")]
    Length {
        /// The slice.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length by the shape.
        expected: usize,
    },
    /// An observation contains an infinity or a NaN.
    #[error("input {0} of an example is not finite")]
    NotFinite(usize),
    /// No action is legal.
    #[error("an example has no legal action")]
    NoLegalAction,
    /// A target is negative, infinite or NaN, or positive for an illegal action.
    #[error("the {what} target of an example is {value} at {index}")]
    Probability {
        /// `policy` or `value`.
        what: &'static str,
        /// The action or outcome.
        index: usize,
        /// Its value.
        value: f32,
    },
    /// The sum of the targets is not 1.
    #[error("the {what} targets of an example add up to {sum}, not 1")]
    Sum {
        /// `policy` or `value`.
        what: &'static str,
        /// Their sum.
        sum: f64,
    },
}

impl TrainingBatch {
    /// Creates an empty batch for games of this shape.
    pub fn new(shape: Shape) -> TrainingBatch {
        let (inputs, policy, value) = (Vec::new(), Vec::new(), Vec::new());
        TrainingBatch { shape, inputs, legal: Vec::new(), policy, value }
    }

    /// Appends an example. The batch is unchanged after an error.
    ///
    /// # Errors
    /// The first fault of the example.
    pub fn push(&mut self, example: Example<'_>) -> Result<(), BatchError> {
        let Example { inputs, legal, policy, value } = example;
        length("inputs", inputs.len(), self.shape.inputs)?;
        length("legality flags", legal.len(), self.shape.actions)?;
        length("policy targets", policy.len(), self.shape.actions)?;
        if let Some(index) = inputs.iter().position(|x| !x.is_finite()) {
            return Err(BatchError::NotFinite(index));
        }
        if !legal.contains(&true) {
            return Err(BatchError::NoLegalAction);
        }
        probabilities("policy", policy, |action| legal[action])?;
        probabilities("value", &value, |_| true)?;
        self.inputs.extend_from_slice(inputs);
        self.legal.extend_from_slice(legal);
        self.policy.extend_from_slice(policy);
        self.value.extend_from_slice(&value);
        Ok(())
    }

    /// Removes all examples.
    pub fn clear(&mut self) {
        self.inputs.clear();
        self.legal.clear();
        self.policy.clear();
        self.value.clear();
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.value.len() / OUTCOMES
    }

    /// Whether the batch has no examples.
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    /// The shape of every example.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Observations, `[len, inputs]`.
    pub fn inputs(&self) -> &[f32] {
        &self.inputs
    }

    /// Legality, `[len, actions]`.
    pub fn legal(&self) -> &[bool] {
        &self.legal
    }

    /// Policy targets, `[len, actions]`.
    pub fn policy(&self) -> &[f32] {
        &self.policy
    }

    /// Win, draw and loss targets, `[len, 3]`.
    pub fn value(&self) -> &[f32] {
        &self.value
    }

    /// Mean entropy of the policy targets in nats, the lower bound of the policy loss on this batch. Zero for an empty
    /// batch.
    pub fn policy_entropy(&self) -> f64 {
        mean_entropy(&self.policy, self.len())
    }

    /// Mean entropy of the value targets in nats, the lower bound of the value loss on this batch. Zero for an empty batch.
    pub fn value_entropy(&self) -> f64 {
        mean_entropy(&self.value, self.len())
    }
}

fn mean_entropy(probabilities: &[f32], rows: usize) -> f64 {
    let surprise = |&p: &f32| if p > 0.0 { f64::from(-p * p.ln()) } else { 0.0 };
    probabilities.iter().map(surprise).sum::<f64>() / rows.max(1) as f64
}

fn length(what: &'static str, found: usize, expected: usize) -> Result<(), BatchError> {
    if found == expected { Ok(()) } else { Err(BatchError::Length { what, found, expected }) }
}

fn probabilities(what: &'static str, targets: &[f32], allowed: impl Fn(usize) -> bool) -> Result<(), BatchError> {
    let mut sum = 0.0;
    for (index, &value) in targets.iter().enumerate() {
        let valid = value == 0.0 || (value > 0.0 && value.is_finite() && allowed(index));
        if !valid {
            return Err(BatchError::Probability { what, index, value });
        }
        sum += f64::from(value);
    }
    if (sum - 1.0).abs() <= SUM_TOLERANCE { Ok(()) } else { Err(BatchError::Sum { what, sum }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Example<'_> = Example {
        inputs: &[1.0, -2.0],
        legal: &[true, false, true],
        policy: &[0.25, 0.0, 0.75],
        value: [0.5, 0.5, 0.0],
    };

    /// Differs from the first in every column.
    const OTHER: Example<'_> = Example {
        inputs: &[3.0, 4.0],
        legal: &[false, true, true],
        policy: &[0.0, 0.125, 0.875],
        value: [0.25, 0.25, 0.5],
    };

    fn batch_of(examples: &[Example<'_>]) -> TrainingBatch {
        let mut batch = TrainingBatch::new(Shape::flat(2, 3));
        examples.iter().for_each(|&example| batch.push(example).unwrap());
        batch
    }

    #[test]
    fn rows_lie_side_by_side() {
        let mut batch = batch_of(&[GOOD, OTHER]);
        assert_eq!(batch.len(), 2);
        assert_eq!(batch.inputs(), [1.0, -2.0, 3.0, 4.0]);
        assert_eq!(batch.legal(), [true, false, true, false, true, true]);
        assert_eq!(batch.policy(), [0.25, 0.0, 0.75, 0.0, 0.125, 0.875]);
        assert_eq!(batch.value(), [0.5, 0.5, 0.0, 0.25, 0.25, 0.5]);
        let entropy = |p: &[f64]| -p.iter().map(|p| p * p.ln()).sum::<f64>();
        let policy = (entropy(&[0.25, 0.75]) + entropy(&[0.125, 0.875])) / 2.0;
        assert!((batch.policy_entropy() - policy).abs() < 1e-6);
        let value = (entropy(&[0.5, 0.5]) + entropy(&[0.25, 0.25, 0.5])) / 2.0;
        assert!((batch.value_entropy() - value).abs() < 1e-6);
        batch.clear();
        assert!(batch.is_empty() && batch.policy_entropy() == 0.0 && batch.value_entropy() == 0.0);
        batch.push(OTHER).unwrap();
        assert_eq!(batch, batch_of(&[OTHER]), "nothing is left of what was there before");
    }

    #[test]
    fn faults_are_named_and_leave_the_batch_alone() {
        let mut batch = TrainingBatch::new(Shape::flat(2, 3));
        let mut error = |example: Example<'_>| batch.push(example).unwrap_err().to_string();
        assert_eq!(error(Example { inputs: &[1.0], ..GOOD }), "an example has 1 inputs, not 2");
        assert_eq!(error(Example { inputs: &[1.0, f32::NAN], ..GOOD }), "input 1 of an example is not finite");
        assert_eq!(error(Example { legal: &[false; 3], ..GOOD }), "an example has no legal action");
        let illegal = Example { policy: &[0.5, 0.5, 0.0], ..GOOD };
        assert_eq!(error(illegal), "the policy target of an example is 0.5 at 1");
        assert_eq!(error(Example { value: [1.5, -0.5, 0.0], ..GOOD }), "the value target of an example is -0.5 at 1");
        assert_eq!(
            error(Example { value: [0.5, 0.0, 0.0], ..GOOD }),
            "the value targets of an example add up to 0.5, not 1"
        );
        assert!(
            error(Example { value: [f32::NAN, 0.0, 0.0], ..GOOD }).contains("value target of an example is NaN at 0")
        );
        assert!(error(Example { value: [0.0, f32::INFINITY, 0.0], ..GOOD }).contains("is inf at 1"));
        assert_eq!(error(Example { legal: &[true; 2], ..GOOD }), "an example has 2 legality flags, not 3");
        assert_eq!(error(Example { policy: &[1.0; 4], ..GOOD }), "an example has 4 policy targets, not 3");
        assert!(
            error(Example { policy: &[1.5, 0.0, -0.5], ..GOOD }).contains("policy target of an example is -0.5 at 2")
        );
        let low = Example { policy: &[0.25, 0.0, 0.74609375], ..GOOD };
        assert!(error(low).starts_with("the policy targets of an example add up to 0.99609375, not 1"));
        assert!(error(Example { policy: &[0.25, 0.0, 0.75390625], ..GOOD }).contains("up to 1.00390625"));
        assert!(batch.is_empty());
        // What rounding leaves of a sum of 1 is no fault.
        for policy in [&[0.25, 0.0, 0.7493], &[0.25, 0.0, 0.7507]] {
            batch.push(Example { policy, ..GOOD }).unwrap();
        }
        assert_eq!(batch.len(), 2);
    }
}
