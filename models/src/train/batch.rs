//! A batch of training examples on the host. Every example is checked when it is added.

use crate::network::{HeadSpec, POLICY, VALUE};
use crate::shape::Shape;

/// Tolerance of the sum of a row's target probabilities.
const SUM_TOLERANCE: f64 = 1e-3;

/// Marks an illegal action in the target of the policy.
pub const ILLEGAL: f32 = -1.0;

/// A position with its targets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Example<'a> {
    /// Observation as seen by the mover, `[inputs]`, finite.
    pub inputs: &'a [f32],
    /// What each head should give, in the order of the heads: first the probabilities of the actions, `[actions]`, with sum 1,
    /// and [`ILLEGAL`] for those that are illegal; then the probabilities of win, draw and loss for the mover, with sum 1; then
    /// finite numbers for further heads, or `None` where they are not known, so that the position does not teach this head.
    pub targets: &'a [Option<&'a [f32]>],
}

/// Examples of one shape in contiguous buffers. `clear` keeps the memory.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingBatch {
    shape: Shape,
    inputs: Vec<f32>,
    /// In the order of the heads.
    targets: Vec<Target>,
}

/// Targets of a head for the examples of a batch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    pub(crate) head: HeadSpec,
    /// Numbers per example.
    pub(crate) width: usize,
    /// `[len, width]`, zeros where they are not known.
    pub(crate) numbers: Vec<f32>,
    /// 1 for each example for which they are known, otherwise 0.
    pub(crate) known: Vec<f32>,
}

impl Target {
    /// Number of examples for which it is known, at least 1.
    pub(crate) fn examples(&self) -> f64 {
        self.known.iter().map(|&known| f64::from(known)).sum::<f64>().max(1.0)
    }
}

/// The fault of a rejected example.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BatchError {
    /// The length of a slice does not fit the shape of the batch.
    #[error("an example has {found} {what}, not {expected}")]
    Length {
        /// The slice.
        what: String,
        /// Its length.
        found: usize,
        /// The length by the shape.
        expected: usize,
    },
    /// An observation contains an infinity or a NaN.
    #[error("input {0} of an example is not finite")]
    NotFinite(usize),
    /// The target of policy or value is missing.
    #[error("an example has no {0} target")]
    Missing(String),
    /// A target is no number that it can be: a probability that is negative, or an infinity or NaN.
    #[error("the {what} target of an example is {value} at {index}")]
    Number {
        /// Name of the target.
        what: String,
        /// The place in its row.
        index: usize,
        /// Its value.
        value: f32,
    },
    /// The sum of target probabilities is not 1.
    #[error("the {what} targets of an example add up to {sum}, not 1")]
    Sum {
        /// Name of the target.
        what: String,
        /// Their sum.
        sum: f64,
    },
}

impl TrainingBatch {
    /// Creates an empty batch for games of this shape.
    pub fn new(shape: Shape) -> TrainingBatch {
        TrainingBatch::with_heads(shape, &[])
    }

    /// Creates an empty batch for games of this shape, with targets of further heads.
    pub fn with_heads(shape: Shape, further: &[HeadSpec]) -> TrainingBatch {
        let heads = HeadSpec::of_every_network().into_iter().chain(further.iter().cloned());
        let target = |head: HeadSpec| {
            let (numbers, known) = (Vec::new(), Vec::new());
            Target { width: head.shape.numbers(&shape), head, numbers, known }
        };
        let targets = heads.map(target).collect();
        TrainingBatch { shape, inputs: Vec::new(), targets }
    }

    /// Appends an example. The batch is unchanged after an error.
    ///
    /// # Errors
    /// The first fault of the example.
    pub fn push(&mut self, example: Example<'_>) -> Result<(), BatchError> {
        let Example { inputs, targets } = example;
        length(|| "inputs".to_owned(), inputs.len(), self.shape.inputs)?;
        length(|| "targets".to_owned(), targets.len(), self.targets.len())?;
        if let Some(index) = inputs.iter().position(|x| !x.is_finite()) {
            return Err(BatchError::NotFinite(index));
        }
        for (place, (target, numbers)) in self.targets.iter().zip(targets).enumerate() {
            let name = &target.head.name;
            let Some(numbers) = numbers else {
                if place <= VALUE {
                    return Err(BatchError::Missing(name.clone()));
                }
                continue;
            };
            length(|| format!("{name} targets"), numbers.len(), target.width)?;
            match place {
                POLICY => probabilities(name, numbers, |x| x == ILLEGAL)?,
                VALUE => probabilities(name, numbers, |_| false)?,
                _ => all_numbers(name, numbers, f32::is_finite)?,
            }
        }
        self.inputs.extend_from_slice(inputs);
        for (target, numbers) in self.targets.iter_mut().zip(targets) {
            match numbers {
                Some(numbers) => target.numbers.extend_from_slice(numbers),
                None => target.numbers.resize(target.numbers.len() + target.width, 0.0),
            }
            target.known.push(f32::from(u8::from(numbers.is_some())));
        }
        Ok(())
    }

    /// Removes all examples.
    pub fn clear(&mut self) {
        self.inputs.clear();
        for target in &mut self.targets {
            target.numbers.clear();
            target.known.clear();
        }
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.targets[VALUE].known.len()
    }

    /// Whether the batch has no examples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shape of every example.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Observations, `[len, inputs]`.
    pub fn inputs(&self) -> &[f32] {
        &self.inputs
    }

    /// Policy targets, `[len, actions]`; [`ILLEGAL`] for illegal actions.
    pub fn policy(&self) -> &[f32] {
        self.target(POLICY)
    }

    /// Win, draw and loss targets, `[len, 3]`.
    pub fn value(&self) -> &[f32] {
        self.target(VALUE)
    }

    /// The targets of the head of this number, from 0, in one row per example; zeros where they are not known.
    pub fn target(&self, head: usize) -> &[f32] {
        &self.targets[head].numbers
    }

    /// The targets in the order of the heads.
    pub(crate) fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Mean entropy of the policy targets in nats, the lower bound of the policy loss on this batch. Zero for an empty
    /// batch.
    pub fn policy_entropy(&self) -> f64 {
        mean_entropy(self.policy(), self.len())
    }

    /// Mean entropy of the value targets in nats, the lower bound of the value loss on this batch. Zero for an empty batch.
    pub fn value_entropy(&self) -> f64 {
        mean_entropy(self.value(), self.len())
    }
}

fn mean_entropy(probabilities: &[f32], rows: usize) -> f64 {
    let surprise = |&p: &f32| if p > 0.0 { f64::from(-p * p.ln()) } else { 0.0 };
    probabilities.iter().map(surprise).sum::<f64>() / rows.max(1) as f64
}

fn length(what: impl FnOnce() -> String, found: usize, expected: usize) -> Result<(), BatchError> {
    if found == expected { Ok(()) } else { Err(BatchError::Length { what: what(), found, expected }) }
}

fn all_numbers(what: &str, numbers: &[f32], is_sound: impl Fn(f32) -> bool) -> Result<(), BatchError> {
    match numbers.iter().position(|&x| !is_sound(x)) {
        Some(index) => Err(BatchError::Number { what: what.to_owned(), index, value: numbers[index] }),
        None => Ok(()),
    }
}

/// Checks a distribution; entries that are `left_out` have no part in it.
fn probabilities(what: &str, numbers: &[f32], left_out: impl Fn(f32) -> bool) -> Result<(), BatchError> {
    all_numbers(what, numbers, |x| left_out(x) || (0.0..=f32::MAX).contains(&x))?;
    let sum = numbers.iter().filter(|x| !left_out(**x)).fold(0.0, |sum, &x| sum + f64::from(x));
    if (sum - 1.0).abs() <= SUM_TOLERANCE { Ok(()) } else { Err(BatchError::Sum { what: what.to_owned(), sum }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::TargetShape;

    type Row<'a> = (&'a [f32], &'a [f32], &'a [f32], Option<&'a [f32]>);

    const GOOD: Row<'_> = (&[1.0, -2.0], &[0.25, ILLEGAL, 0.75], &[0.5, 0.5, 0.0], Some(&[7.0]));

    /// Differs from the first in every column.
    const OTHER: Row<'_> = (&[3.0, 4.0], &[ILLEGAL, 0.125, 0.875], &[0.25, 0.25, 0.5], None);

    fn empty() -> TrainingBatch {
        let own = HeadSpec { name: "own".to_owned(), shape: TargetShape::Scalar };
        TrainingBatch::with_heads(Shape::flat(2, 3), &[own])
    }

    fn push(batch: &mut TrainingBatch, (inputs, policy, value, own): Row<'_>) -> Result<(), BatchError> {
        batch.push(Example { inputs, targets: &[Some(policy), Some(value), own] })
    }

    #[test]
    fn rows_lie_side_by_side() {
        let mut batch = empty();
        [GOOD, OTHER].into_iter().for_each(|row| push(&mut batch, row).unwrap());
        assert_eq!(batch.len(), 2);
        assert_eq!(batch.inputs(), [1.0, -2.0, 3.0, 4.0]);
        assert_eq!(batch.policy(), [0.25, ILLEGAL, 0.75, ILLEGAL, 0.125, 0.875]);
        assert_eq!(batch.value(), [0.5, 0.5, 0.0, 0.25, 0.25, 0.5]);
        assert_eq!((batch.target(2), &batch.targets()[2].known[..]), (&[7.0, 0.0][..], &[1.0, 0.0][..]));
        assert_eq!([0, 1, 2].map(|head| batch.targets()[head].examples()), [2.0, 2.0, 1.0]);
        let entropy = |p: &[f64]| -p.iter().map(|p| p * p.ln()).sum::<f64>();
        let policy = (entropy(&[0.25, 0.75]) + entropy(&[0.125, 0.875])) / 2.0;
        assert!((batch.policy_entropy() - policy).abs() < 1e-6);
        let value = (entropy(&[0.5, 0.5]) + entropy(&[0.25, 0.25, 0.5])) / 2.0;
        assert!((batch.value_entropy() - value).abs() < 1e-6);
        batch.clear();
        assert!(batch.is_empty() && batch.policy_entropy() == 0.0 && batch.value_entropy() == 0.0);
        push(&mut batch, OTHER).unwrap();
        let mut other = empty();
        push(&mut other, OTHER).unwrap();
        assert_eq!(batch, other, "nothing is left of what was there before");
    }

    #[test]
    fn faults_are_named_and_leave_the_batch_alone() {
        let mut batch = empty();
        let (inputs, policy, value, own) = GOOD;
        let mut error = |row: Row<'_>| push(&mut batch, row).unwrap_err().to_string();
        assert_eq!(error((&[1.0], policy, value, own)), "an example has 1 inputs, not 2");
        assert_eq!(error((&[1.0, f32::NAN], policy, value, own)), "input 1 of an example is not finite");
        let mut of_policy = |policy: &[f32]| error((inputs, policy, value, own));
        assert_eq!(of_policy(&[ILLEGAL; 3]), "the policy targets of an example add up to 0, not 1");
        assert_eq!(of_policy(&[1.5, 0.0, -0.5]), "the policy target of an example is -0.5 at 2");
        assert_eq!(of_policy(&[1.0; 4]), "an example has 4 policy targets, not 3");
        let low = of_policy(&[0.25, 0.0, 0.74609375]);
        assert!(low.starts_with("the policy targets of an example add up to 0.99609375, not 1"), "{low}");
        assert!(of_policy(&[0.25, 0.0, 0.75390625]).contains("up to 1.00390625"));
        let mut of_value = |value: &[f32]| error((inputs, policy, value, own));
        assert_eq!(of_value(&[1.5, -0.5, 0.0]), "the value target of an example is -0.5 at 1");
        assert_eq!(of_value(&[1.0, ILLEGAL, 0.0]), "the value target of an example is -1 at 1");
        assert_eq!(of_value(&[0.5, 0.0, 0.0]), "the value targets of an example add up to 0.5, not 1");
        assert!(of_value(&[f32::NAN, 0.0, 0.0]).contains("value target of an example is NaN at 0"));
        assert!(of_value(&[0.0, f32::INFINITY, 0.0]).contains("is inf at 1"));
        assert_eq!(error((inputs, policy, value, Some(&[f32::NAN]))), "the own target of an example is NaN at 0");
        assert_eq!(error((inputs, policy, value, Some(&[1.0; 2]))), "an example has 2 own targets, not 1");
        let mut error = |targets: &[Option<&[f32]>]| batch.push(Example { inputs, targets }).unwrap_err().to_string();
        assert_eq!(error(&[Some(policy), None, None]), "an example has no value target");
        assert_eq!(error(&[Some(policy), Some(value)]), "an example has 2 targets, not 3");
        assert!(batch.is_empty());
        // A sum of 1 up to rounding is no fault.
        for policy in [&[0.25, 0.0, 0.7493], &[0.25, 0.0, 0.7507]] {
            push(&mut batch, (inputs, policy, value, own)).unwrap();
        }
        assert_eq!(batch.len(), 2);
    }
}
