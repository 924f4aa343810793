//! A linear layer with weights of eight bits.

use super::super::areas::LANES;
use super::super::neighbours::Neighbours;
use super::kernel::{Centres, Conversion, Destination, IntegerInstructions, Product, QUAD, Sums, Weights, multiply};
use super::steps::{Steps, in_strips};

/// A linear layer that reads bytes: dense with one tap, over the neighbours of each point with several.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IntegerLayer {
    taps: usize,
    quads: usize,
    outputs: usize,
    /// `[strips, taps, quads]`.
    weight: Vec<Weights>,
    centres: Centres,
    /// `[strips]`: the bias, less what bytes that stand for 0 add up to.
    start: Vec<Sums>,
    /// `[strips]`.
    conversion: Vec<Conversion>,
}

impl IntegerLayer {
    /// Quantises a `weight [taps, in, out]`, row-major, and its `bias [out]`, for inputs with these steps.
    ///
    /// With the steps folded into the weights, every output has a scale of its own; see [`scale`].
    pub(crate) fn new(weight: &[f32], bias: &[f32], taps: usize, inputs: &Steps) -> IntegerLayer {
        let (width, outputs) = (inputs.width(), bias.len());
        assert_eq!(weight.len(), taps * width * outputs, "{taps} taps, {width} inputs and {outputs} outputs");
        assert!(taps == 1 || inputs.zeros().iter().all(|&zero| zero == 0), "missing neighbours add nothing");
        let (quads, strips) = (width.div_ceil(QUAD), outputs.div_ceil(LANES));
        let mut layer = IntegerLayer {
            taps,
            quads,
            outputs,
            weight: vec![Weights([[0; QUAD]; LANES]); strips * taps * quads],
            centres: Centres::default(),
            start: vec![Sums([0; LANES]); strips],
            conversion: Vec::new(),
        };
        let mut scales = Vec::new();
        for output in 0..outputs {
            let folded =
                |tap: usize, input: usize| weight[(tap * width + input) * outputs + output] * inputs.steps()[input];
            let rows: Vec<Vec<f32>> =
                (0..taps).map(|tap| (0..width).map(|input| folded(tap, input)).collect()).collect();
            let scale = scale(&rows, bias[output]);
            let (strip, lane) = (output / LANES, output % LANES);
            layer.start[strip].0[lane] = (bias[output] / scale).round_ties_even() as i32;
            for (tap, row) in rows.iter().enumerate() {
                for (input, &weight) in row.iter().enumerate() {
                    let byte = (weight / scale).round_ties_even() as i8;
                    let place = (strip * taps + tap) * quads + input / QUAD;
                    layer.weight[place].0[lane][input % QUAD] = byte;
                    layer.start[strip].0[lane] -= i32::from(byte) * i32::from(inputs.zeros()[input]);
                }
            }
            scales.push(scale);
        }
        layer.centres = Centres::new(&layer.weight, quads);
        layer.conversion = in_strips(scales.into_iter()).into_iter().map(Conversion::to_numbers).collect();
        layer
    }

    /// Prepares the layer for [`Destination::Bytes`] with these steps.
    pub(crate) fn write_bytes(&mut self, steps: &Steps) {
        for (conversion, inverse) in self.conversion.iter_mut().zip(steps.inverse()) {
            for i in 0..LANES {
                conversion.scale.0[i] *= inverse.0[i];
            }
        }
    }

    /// Prepares the layer for [`Destination::Start`] and [`Destination::Residual`], with these steps of the stream.
    pub(crate) fn write_stream(&mut self, steps: &Steps) {
        for (conversion, &inverse) in self.conversion.iter_mut().zip(steps.inverse()) {
            conversion.inverse = inverse;
        }
    }

    /// Computes the outputs of the points of `boards` boards, each from its neighbours' bytes.
    ///
    /// # Panics
    /// If `neighbours` has another number of taps, or the length of a buffer is wrong.
    pub(crate) fn apply(
        &self,
        instructions: IntegerInstructions,
        boards: usize,
        neighbours: &Neighbours,
        x: &[u8],
        mut to: Destination<'_>,
    ) {
        assert_eq!(neighbours.taps(), self.taps, "taps of the table and of the layer");
        let (x, rest) = x.as_chunks::<QUAD>();
        assert!(rest.is_empty(), "rows of whole quads");
        let product = Product {
            x,
            stride: x.len() / (boards * neighbours.points()).max(1),
            quads: self.quads,
            weight: &self.weight,
            centres: &self.centres,
            start: &self.start,
            conversion: &self.conversion,
            outputs: self.outputs,
            neighbours,
        };
        if boards > 0 {
            multiply(instructions, &product, boards, &mut to);
        }
    }

    /// Number of outputs per row.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of outputs per row, rounded up to whole strips.
    pub(crate) fn stride(&self) -> usize {
        self.start.len() * LANES
    }
}

/// The scale of an output with these weights, `[taps, in]`, and this bias: the smallest at which no sum overflows.
///
/// Two neighbouring weights share 127 units between them. Rounding adds one at most, and `255 * 128` fits the 16 bits in
/// which AVX2 adds two products; other instructions have more room, but must return the same. All weights together
/// share half of what fits 32 bits with their sign, and the bias a quarter.
fn scale(taps: &[Vec<f32>], bias: f32) -> f32 {
    const PAIR: f32 = 127.0;
    const ALL: f32 = (1 << 30) as f32 / 255.0;
    const BIAS: f32 = (1 << 29) as f32;
    let pairs = taps.iter().flat_map(|row| row.chunks(2)).map(|pair| pair.iter().map(|w| w.abs()).sum::<f32>());
    let (largest, sum) = pairs.fold((0.0_f32, 0.0), |(largest, sum), pair| (largest.max(pair), sum + pair));
    (largest / PAIR).max(sum / ALL).max(bias.abs() / BIAS).max(f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(layer: &IntegerLayer, x: &[u8]) -> Vec<f32> {
        let rows = x.len() / LANES;
        let mut y = vec![0.0; rows * layer.outputs()];
        layer.apply(IntegerInstructions::Portable, rows, Neighbours::rows(), x, Destination::Numbers(&mut y));
        y
    }

    /// A row of bytes with zeros behind the inputs.
    fn row(bytes: &[u8]) -> Vec<u8> {
        let mut row = bytes.to_vec();
        row.resize(LANES, 0);
        row
    }

    #[test]
    fn two_neighbouring_weights_share_127_units() {
        // Pairs 3 + 1, 0.5 + 0.5, and 2 alone.
        assert_eq!(scale(&[vec![3.0, -1.0, 0.5, 0.5, -2.0]], 7.0), 4.0 / 127.0);
        assert_eq!(scale(&[vec![3.0, -1.0], vec![-2.0, -2.5]], -7.0), 4.5 / 127.0, "the widest pair of all taps");
        assert_eq!(scale(&[vec![0.0; 3]], 0.0), f32::MIN_POSITIVE);
        assert_eq!(scale(&[vec![1e-9; 3]], -8.0), 8.0 / (1 << 29) as f32);
        // 65536 taps of 2 x 65.5 units would overflow 32 bits.
        let many = vec![vec![1.0; 256]; 512];
        assert!((scale(&many, 0.0) / (131_072.0 * 255.0 / (1 << 30) as f32) - 1.0).abs() < 1e-6);
        assert!(scale(&many[..128], 0.0) == 2.0 / 127.0);
    }

    #[test]
    fn weights_of_every_output_have_a_scale() {
        // Two inputs, two outputs; the steps are folded into the weights first.
        let steps = Steps::of_ranges([[0.0, 2.0], [0.0, 4.0]]);
        let layer = IntegerLayer::new(&[1.0, 0.3, -0.25, 0.0], &[0.25, -1.0], 1, &steps);
        // Output 0: 1 * 2 and -0.25 * 4 in units of 1/255: 84.67 and -42.33. Output 1: 0.6 and 0.
        assert_eq!(layer.weight[0].0[..3], [[85, -42, 0, 0], [127, 0, 0, 0], [0; 4]]);
        // 0.25 in units of 3 / 127 / 255, -1 in units of 0.6 / 127 / 255.
        assert_eq!(layer.start[0].0[..3], [2699, -53975, 0]);
        let y = numbers(&layer, &[row(&[255, 0]), row(&[0, 255]), row(&[0, 0])].concat());
        let scales = [3.0 / 127.0 / 255.0, 0.6 / 127.0 / 255.0];
        let expected = [
            255.0 * 85.0 * scales[0] + 0.25,
            255.0 * 127.0 * scales[1] - 1.0,
            255.0 * -42.0 * scales[0] + 0.25,
            -1.0,
            0.25,
            -1.0,
        ];
        assert!(y.iter().zip(expected).all(|(y, expected)| (y - expected).abs() < 1e-4), "{y:?} {expected:?}");
    }

    #[test]
    fn bytes_that_stand_for_zero_add_nothing() {
        let steps = Steps::of_ranges([[-1.0, 3.0], [-3.0, 1.0]]);
        assert_eq!(steps.zeros(), [64, 191]);
        let layer = IntegerLayer::new(&[1.0, -0.5, 0.5, 0.25], &[0.125, 7.0], 1, &steps);
        let y = numbers(&layer, &row(&[64, 191]));
        assert!((y[0] - 0.125).abs() < 1e-4 && (y[1] - 7.0).abs() < 1e-4, "{y:?}");
        let y = numbers(&layer, &row(&[255, 0]));
        assert!((y[0] - (3.0 - 1.5 + 0.125)).abs() < 0.03 && (y[1] - (-1.5 - 0.75 + 7.0)).abs() < 0.03, "{y:?}");
    }

    #[test]
    fn outputs_become_bytes_by_their_steps() {
        let inputs = Steps::of_ranges([[0.0, 1.0]; 2]);
        let mut layer = IntegerLayer::new(&[1.0, 2.0, 1.0, -2.0], &[0.0, 0.5], 1, &inputs);
        let x = row(&[255, 51]);
        let y = numbers(&layer, &x);
        let steps = Steps::of_ranges([[0.0, 2.4], [0.0, 10.0]]);
        layer.write_bytes(&steps);
        let mut bytes = [7_u8; LANES];
        layer.apply(IntegerInstructions::Portable, 1, Neighbours::rows(), &x, Destination::Bytes(&mut bytes));
        let expected = [y[0] / 2.4 * 255.0, y[1] / 10.0 * 255.0].map(|byte| byte.round() as u8);
        assert_eq!(bytes[..2], expected);
        assert!(bytes[2..].iter().all(|&byte| byte == 0), "outputs that fill up a strip");
    }

    #[test]
    #[should_panic(expected = "missing neighbours add nothing")]
    fn missing_neighbours_need_a_zero_that_is_zero() {
        IntegerLayer::new(&[1.0; 4], &[0.0], 2, &Steps::of_ranges([[-1.0, 1.0]; 2]));
    }
}
