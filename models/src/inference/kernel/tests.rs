//! Every kernel that the processor has, against sums by the definition, and against each other bit by bit.

use super::super::layer::Layer;
use super::super::neighbours::Neighbours;
use super::*;
use crate::weights::{TensorSpec, Weights};

fn random(count: usize, name: &str) -> Vec<f32> {
    let spec = TensorSpec { name: name.into(), shape: vec![count], deviation: 1.0 };
    Weights::random(&[spec], name.len() as u64).tensors()[0].data.clone()
}

/// A layer and what it reads, and what stands in its destination before.
struct Case {
    layer: Layer,
    neighbours: Neighbours,
    boards: usize,
    x: Vec<f32>,
    before: Vec<f32>,
    /// The sums by the definition, in f64.
    sums: Vec<f64>,
}

impl Case {
    fn new(neighbours: Neighbours, table: &dyn Fn(usize, usize) -> Option<usize>, sizes: [usize; 3]) -> Case {
        let [boards, inputs, outputs] = sizes;
        let (taps, points) = (neighbours.taps(), neighbours.points());
        let weight = random(taps * inputs * outputs, "weight");
        let bias = random(outputs, "bias");
        let x = random(boards * points * inputs, "x");
        let sum = |row: usize, output: usize| {
            let (board, point) = (row / points, row % points);
            let mut sum = f64::from(bias[output]);
            for (tap, source) in (0..taps).filter_map(|tap| Some((tap, table(tap, point)?))) {
                for k in 0..inputs {
                    let w = weight[(tap * inputs + k) * outputs + output];
                    sum += f64::from(x[(board * points + source) * inputs + k]) * f64::from(w);
                }
            }
            sum
        };
        let sums = (0..boards * points).flat_map(|row| (0..outputs).map(move |output| (row, output)));
        let sums = sums.map(|(row, output)| sum(row, output)).collect();
        let before = random(boards * points * outputs, "before");
        Case { layer: Layer::new(&weight, &bias, taps), neighbours, boards, x, before, sums }
    }

    fn dense(sizes: [usize; 3]) -> Case {
        Case::new(Neighbours::none(), &|_, point| Some(point), sizes)
    }

    /// Eleven points in no order: some without any neighbour, some with several at the same taps.
    fn around(sizes: [usize; 3]) -> Case {
        let table = |tap: usize, point: usize| (tap * point % 4 != 2 && point != 5).then(|| (3 * point + tap) % 11);
        Case::new(Neighbours::new(5, 11, table), &table, sizes)
    }

    fn run(&self, instructions: Instructions, finish: Finish) -> Vec<f32> {
        let (mut layer, mut y) = (self.layer.clone(), self.before.clone());
        layer.set_instructions(instructions);
        layer.apply_around(self.boards, &self.neighbours, &self.x, &mut y, finish);
        y
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for rows in (1..=14).chain([25, 61]) {
        for [inputs, outputs] in [[1, 1], [7, 3], [5, 16], [33, 40], [16, 65], [3, 255]] {
            cases.push(Case::dense([rows, inputs, outputs]));
        }
    }
    // More rows than go at once.
    cases.push(Case::dense([200, 700, 5]));
    cases.extend([1, 2, 13].map(|boards| Case::around([boards, 9, 37])));
    cases.push(Case::around([40, 50, 8]));
    cases
}

#[test]
fn every_kernel_computes_the_sums() {
    for case in cases() {
        for instructions in Instructions::available() {
            for finish in [Finish::Plain, Finish::Relu, Finish::Add, Finish::AddRelu] {
                let y = case.run(instructions, finish);
                for ((&sum, &before), &y) in case.sums.iter().zip(&case.before).zip(&y) {
                    let expected = match finish {
                        Finish::Plain => sum,
                        Finish::Relu => sum.max(0.0),
                        Finish::Add => f64::from(before) + sum,
                        Finish::AddRelu => (f64::from(before) + sum).max(0.0),
                    };
                    let error = (f64::from(y) - expected).abs();
                    let size = (case.layer.inputs() * case.neighbours.taps()) as f64;
                    assert!(error < 1e-6 * (10.0 + size), "{instructions:?}: {y} for {expected}");
                }
            }
        }
    }
}

#[test]
fn a_row_is_the_same_in_any_number_of_rows() {
    for instructions in Instructions::available() {
        for [inputs, outputs] in [[128, 128], [31, 70], [64, 3]] {
            let all = Case::dense([33, inputs, outputs]);
            let together = all.run(instructions, Finish::AddRelu);
            for rows in [1, 2, 5, 7, 12, 13, 33] {
                for first in 0..=33 - rows {
                    let mut layer = all.layer.clone();
                    layer.set_instructions(instructions);
                    let mut y = all.before[first * outputs..][..rows * outputs].to_vec();
                    layer.apply(rows, &all.x[first * inputs..][..rows * inputs], &mut y, Finish::AddRelu);
                    assert_eq!(y, together[first * outputs..][..rows * outputs], "{instructions:?}");
                }
            }
        }
    }
}

/// The kernels that fuse multiplications and additions, and those that do not.
fn kernels_by_rounding() -> [Vec<Instructions>; 2] {
    let is_fused = |instructions: &Instructions| match instructions {
        Instructions::Portable => portable::FUSED,
        Instructions::Simd128 => false,
        _ => true,
    };
    Instructions::available().partition::<Vec<_>, _>(is_fused).into()
}

#[test]
fn kernels_that_round_alike_agree_in_every_bit() {
    for case in cases() {
        for kernels in kernels_by_rounding() {
            for pair in kernels.windows(2) {
                let [a, b] = [pair[0], pair[1]].map(|instructions| case.run(instructions, Finish::AddRelu));
                assert_eq!(a, b);
            }
        }
    }
}

#[test]
fn a_relu_makes_zero_of_what_is_no_number() {
    let layer = Layer::new(&[f32::NAN, 1.0], &[0.0; 2], 1);
    for instructions in Instructions::available() {
        let (mut layer, mut y) = (layer.clone(), [1.0; 2]);
        layer.set_instructions(instructions);
        layer.apply(1, &[-2.0], &mut y, Finish::Relu);
        assert_eq!(y.map(f32::to_bits), [0; 2], "{instructions:?}");
    }
}

/// Gradients of the weights, added to 1, and of the inputs.
fn gradients(case: &GradientCase, instructions: Instructions) -> [Vec<f32>; 2] {
    let GradientCase { neighbours, sizes: [boards, inputs, outputs], weight, x, dy, .. } = case;
    let (reversed, taps) = neighbours.reversed();
    let mut layer = Layer::new(weight, &vec![0.0; *outputs], neighbours.taps());
    let mut transposed = Layer::transposed(weight, *outputs, neighbours.taps(), &taps);
    layer.set_instructions(instructions);
    transposed.set_instructions(instructions);
    let (mut dw, mut dx) = (vec![1.0; weight.len()], vec![0.0; boards * neighbours.points() * inputs]);
    layer.add_weight_gradient(*boards, neighbours, x, dy, &mut dw);
    transposed.apply_around(*boards, &reversed, dy, &mut dx, Finish::Plain);
    [dw, dx]
}

struct GradientCase {
    neighbours: Neighbours,
    /// Boards, inputs and outputs.
    sizes: [usize; 3],
    weight: Vec<f32>,
    x: Vec<f32>,
    dy: Vec<f32>,
    /// By the definition, in f64.
    expected: [Vec<f64>; 2],
}

impl GradientCase {
    fn new(neighbours: Neighbours, table: &dyn Fn(usize, usize) -> Option<usize>, sizes: [usize; 3]) -> GradientCase {
        let [boards, inputs, outputs] = sizes;
        let (taps, points) = (neighbours.taps(), neighbours.points());
        let weight = random(taps * inputs * outputs, "weight");
        let [x, dy] = [(inputs, "x"), (outputs, "dy")].map(|(size, name)| random(boards * points * size, name));
        let (mut dw, mut dx) = (vec![1.0; weight.len()], vec![0.0; x.len()]);
        for (row, tap) in (0..boards * points).flat_map(|row| (0..taps).map(move |tap| (row, tap))) {
            let Some(source) = table(tap, row % points) else { continue };
            let source = row / points * points + source;
            for (input, output) in (0..inputs).flat_map(|i| (0..outputs).map(move |o| (i, o))) {
                let place = (tap * inputs + input) * outputs + output;
                let dy = f64::from(dy[row * outputs + output]);
                dw[place] += f64::from(x[source * inputs + input]) * dy;
                dx[source * inputs + input] += f64::from(weight[place]) * dy;
            }
        }
        GradientCase { neighbours, sizes, weight, x, dy, expected: [dw, dx] }
    }

    fn all() -> Vec<GradientCase> {
        // Three points read the first one at the last tap.
        let table = |tap: usize, point: usize| match tap {
            4 => (point % 4 == 2).then_some(0),
            _ => (tap * point % 4 != 2 && point != 5).then(|| (3 * point + tap) % 11),
        };
        let sizes = [[1, 1, 1], [2, 9, 37], [13, 32, 32], [3, 12, 48], [5, 23, 16], [40, 50, 8], [0, 4, 4]];
        let around = sizes.map(|sizes| GradientCase::new(Neighbours::new(5, 11, table), &table, sizes));
        let sizes = [[1, 1, 1], [70, 7, 3], [33, 40, 65], [200, 31, 130], [64, 128, 112]];
        let dense = sizes.map(|sizes| GradientCase::new(Neighbours::none(), &|_, point| Some(point), sizes));
        around.into_iter().chain(dense).collect()
    }
}

#[test]
fn every_kernel_computes_gradients() {
    for case in GradientCase::all() {
        for instructions in Instructions::available() {
            for (found, expected) in gradients(&case, instructions).iter().zip(&case.expected) {
                assert_eq!(found.len(), expected.len());
                for (&found, &expected) in found.iter().zip(expected) {
                    let error = (f64::from(found) - expected).abs();
                    assert!(error < 1e-4, "{instructions:?}, {:?}: {found} for {expected}", case.sizes);
                }
            }
        }
    }
}

#[test]
fn kernels_that_round_alike_agree_in_every_bit_of_gradients() {
    for case in GradientCase::all() {
        for kernels in kernels_by_rounding() {
            for pair in kernels.windows(2) {
                assert_eq!(gradients(&case, pair[0]), gradients(&case, pair[1]));
            }
        }
    }
}

#[test]
fn no_boards_are_no_work() {
    for instructions in Instructions::available() {
        assert!(Case::around([0, 4, 4]).run(instructions, Finish::Relu).is_empty());
    }
}

#[test]
#[should_panic(expected = "2 rows of 3 and 4 numbers")]
fn a_wrong_length_is_refused() {
    Layer::new(&[0.0; 12], &[0.0; 4], 1).apply(2, &[0.0; 7], &mut [0.0; 8], Finish::Plain);
}
