//! How numbers become bytes, column by column, chosen from samples of the numbers.

use super::super::areas::LANES;
use super::super::kernel::Lanes;
use super::kernel::{Columns, IntegerInstructions, quantise};

/// `number = step * (byte - zero)` by column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Steps {
    step: Vec<f32>,
    zero: Vec<u8>,
    /// `1 / step` in strips; 0 beyond the last column.
    inverse: Vec<Lanes>,
    /// `zero` in strips; 0 beyond the last column.
    zeros: Vec<Lanes>,
}

/// Range of a column relative to that of its samples, which do not show the extremes.
///
/// Mancala's network, 4,096 positions: the divergence of the policies is 0.0012 with the geometric mean of a column's range
/// and the widest column's, 0.0016 with the widest range for all, and 0.0034 with its own for each, where a number beyond
/// the samples does most harm.
const MARGIN: f32 = 1.25;

/// The range of a column whose samples have a range of `own`, the widest column having one of `widest`: between the two.
fn range(own: f32, widest: f32) -> f32 {
    /// Columns that hardly move in the samples may do so elsewhere.
    const LEAST_SHARE: f32 = 1.0 / 16.0;
    MARGIN * (own.max(widest * LEAST_SHARE) * widest).sqrt()
}

impl Steps {
    /// Steps for observations, `[rows, width]`. Bytes cover 0 to 1 at least, and -1 to 1 where there are negative numbers;
    /// beyond that a quarter more than the samples.
    pub(crate) fn of_inputs(samples: &[f32], width: usize) -> Steps {
        let bound = |extreme: f32| if extreme > 1.0 { 1.25 * extreme } else { 1.0 };
        let ranges = columns(samples, width).map(|[low, high]| {
            let low = if low < 0.0 { -bound(-low) } else { 0.0 };
            [low, bound(high)]
        });
        Steps::of_ranges(ranges)
    }

    /// Steps for numbers that are not negative, `[rows, width]`.
    pub(crate) fn of_activations(samples: &[f32], width: usize) -> Steps {
        let highs: Vec<f32> = columns(samples, width).map(|[_, high]| high).collect();
        let widest = highs.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        Steps::of_ranges(highs.iter().map(|&high| [0.0, range(high, widest)]))
    }

    /// Steps for numbers of both signs, `[rows, width]`.
    pub(crate) fn of_signed(samples: &[f32], width: usize) -> Steps {
        let ranges: Vec<[f32; 2]> = columns(samples, width).collect();
        let widest = ranges.iter().map(|[low, high]| high - low).fold(f32::MIN_POSITIVE, f32::max);
        Steps::of_ranges(ranges.iter().map(|&[low, high]| {
            let missing = (range(high - low, widest) - (high - low)) / 2.0;
            [low - missing, high + missing]
        }))
    }

    /// Steps for ranges that contain 0, `[low, high]`.
    pub(crate) fn of_ranges(ranges: impl IntoIterator<Item = [f32; 2]>) -> Steps {
        let column = |[low, high]: [f32; 2]| {
            let step = ((high - low) / 255.0).max(f32::MIN_POSITIVE);
            (step, (-low / step).round_ties_even() as u8)
        };
        let (step, zero) = ranges.into_iter().map(column).unzip();
        Steps::new(step, zero)
    }

    fn new(step: Vec<f32>, zero: Vec<u8>) -> Steps {
        let inverse = in_strips(step.iter().map(|step| 1.0 / step));
        let zeros = in_strips(zero.iter().copied().map(f32::from));
        Steps { step, zero, inverse, zeros }
    }

    /// Number of columns.
    pub(crate) fn width(&self) -> usize {
        self.step.len()
    }

    /// Length of a row of bytes.
    pub(crate) fn stride(&self) -> usize {
        self.inverse.len() * LANES
    }

    /// The step of each column.
    pub(crate) fn steps(&self) -> &[f32] {
        &self.step
    }

    /// The byte that stands for 0, of each column.
    pub(crate) fn zeros(&self) -> &[u8] {
        &self.zero
    }

    /// `1 / step` in strips; 0 beyond the last column.
    pub(crate) fn inverse(&self) -> &[Lanes] {
        &self.inverse
    }

    /// The steps of a range of columns.
    pub(crate) fn part(&self, columns: std::ops::Range<usize>) -> Steps {
        Steps::new(self.step[columns.clone()].to_vec(), self.zero[columns].to_vec())
    }

    /// These steps `times` over, for rows that have become one.
    pub(crate) fn repeated(&self, times: usize) -> Steps {
        Steps::new(self.step.repeat(times), self.zero.repeat(times))
    }

    /// Quantises rows of numbers into rows of `stride` bytes.
    pub(crate) fn quantise(&self, instructions: IntegerInstructions, numbers: &[f32], bytes: &mut [u8]) {
        let columns = Columns { inverse: &self.inverse, zero: &self.zeros, width: self.width() };
        quantise(instructions, columns, numbers, bytes);
    }
}

/// The least and the greatest number of each column, and 0.
fn columns(samples: &[f32], width: usize) -> impl Iterator<Item = [f32; 2]> {
    (0..width).map(move |column| {
        let numbers = samples.chunks_exact(width).map(move |row| row[column]);
        numbers.fold([0.0; 2], |[low, high]: [f32; 2], x| [low.min(x), high.max(x)])
    })
}

/// Numbers in strips, with zeros behind the last.
pub(crate) fn in_strips(numbers: impl Iterator<Item = f32>) -> Vec<Lanes> {
    let mut strips = Vec::new();
    for (i, number) in numbers.enumerate() {
        if i % LANES == 0 {
            strips.push(Lanes([0.0; LANES]));
        }
        strips[i / LANES].0[i % LANES] = number;
    }
    strips
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(steps: &Steps, numbers: &[f32]) -> Vec<u8> {
        let mut bytes = vec![7; numbers.len() / steps.width() * steps.stride()];
        steps.quantise(IntegerInstructions::Portable, numbers, &mut bytes);
        let rows = bytes.chunks_exact(steps.stride());
        rows.flat_map(|row| row[..steps.width()].to_vec()).collect()
    }

    #[test]
    fn observations_cover_zero_to_one_at_least() {
        // A flag, a share, a difference of both signs, a count above 1, a column that is 0 in all samples.
        let samples = [1.0, 0.25, -0.5, 4.0, 0.0, 0.0, 0.75, 0.25, 2.0, 0.0];
        let steps = Steps::of_inputs(&samples, 5);
        assert_eq!(steps.steps(), [1.0 / 255.0, 1.0 / 255.0, 2.0 / 255.0, 5.0 / 255.0, 1.0 / 255.0]);
        assert_eq!(steps.zeros(), [0, 0, 127, 0, 0]);
        assert_eq!(bytes(&steps, &samples), [255, 64, 63, 204, 0, 0, 191, 159, 102, 0]);
        // Beyond the samples.
        assert_eq!(bytes(&steps, &[2.0, 1.0, -1.1, 5.0, 0.6]), [255, 255, 0, 255, 153]);
    }

    #[test]
    fn activations_have_a_range_between_their_own_and_the_widest() {
        let steps = Steps::of_activations(&[0.0, 2.0, 0.01, 0.8, 3.2, 0.0], 3);
        // sqrt(0.8 * 3.2), 3.2, and sqrt(0.2 * 3.2), 0.01 being less than a sixteenth of 3.2; a quarter more of each.
        assert_eq!(steps.steps(), [2.0, 4.0, 1.0].map(|high| high / 255.0));
        assert_eq!(steps.zeros(), [0; 3]);
        assert_eq!(bytes(&steps, &[2.0, 1.9, 0.01, 2.1, -1.0, 0.2]), [255, 121, 3, 255, 0, 51]);
        // Nothing is ever active: any steps will do.
        let none = Steps::of_activations(&[0.0; 4], 2);
        assert_eq!(bytes(&none, &[0.0, 1.0]), [0, 255]);
    }

    #[test]
    fn numbers_of_both_signs_have_a_byte_for_zero() {
        let steps = Steps::of_signed(&[-1.0, 0.0, 2.2, 0.0], 2);
        // -1.4 to 2.6, and -0.5 to 0.5: sqrt(3.2 / 16 * 3.2) and a quarter more.
        let expected = [4.0 / 255.0, 1.0 / 255.0];
        assert!(steps.steps().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-8), "{:?}", steps.steps());
        assert_eq!(steps.zeros()[0], 89);
        assert_eq!(bytes(&steps, &[-1.0, 0.7, 2.2, 0.7, 0.0, -0.7]), [25, 255, 229, 255, 89, 0]);
    }

    #[test]
    fn numbers_return_within_half_a_step() {
        let samples: Vec<f32> = (0..300).map(|i| ((i * 7919 % 1013) as f32 / 500.0) - 1.0).collect();
        let steps = Steps::of_signed(&samples, 3);
        for (i, (&x, byte)) in samples.iter().zip(bytes(&steps, &samples)).enumerate() {
            let step = steps.steps()[i % 3];
            let back = step * (f32::from(byte) - f32::from(steps.zeros()[i % 3]));
            assert!((back - x).abs() <= 0.501 * step || byte == 0 || byte == 255, "{x} became {back}");
            assert!((back - x).abs() <= 1.001 * step, "{x} became {back}: zero is rounded too");
        }
    }

    #[test]
    fn steps_follow_their_columns() {
        let steps = Steps::of_signed(&[-1.0, 0.5, 3.0, 3.0, 1.0, 2.0], 3);
        let both = steps.part(1..3).repeated(2);
        assert_eq!(both.steps(), [1, 2, 1, 2].map(|column: usize| steps.steps()[column]));
        assert_eq!(both.zeros(), [1, 2, 1, 2].map(|column: usize| steps.zeros()[column]));
        assert_eq!(
            bytes(&both, &[0.5, 3.0, 1.0, 2.0]),
            bytes(&steps, &[0.0, 0.5, 3.0, 0.0, 1.0, 2.0])[1..]
                .iter()
                .copied()
                .enumerate()
                .filter(|(i, _)| *i != 2)
                .map(|(_, byte)| byte)
                .collect::<Vec<_>>()
        );
    }
}
