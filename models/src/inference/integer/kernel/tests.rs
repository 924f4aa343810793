//! Every kernel that the processor has, bit by bit against sums by the definition.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::super::kernel::Lanes;
use super::tile::{Quad, to_byte};
use super::*;
use crate::inference::neighbours::Neighbours;

/// What the bytes and weights of a case are drawn from.
#[derive(Debug, Clone, Copy)]
enum Draw {
    /// Any byte; any pair of weights whose magnitudes add up to 128 at most.
    Random,
    /// 255 everywhere, and pairs of weights at the limit, of one sign in each output.
    Extreme,
    /// 0 or 255, and pairs of weights at the limit, of any signs.
    Limits,
}

/// A product with its parts in plain order.
struct Case {
    neighbours: Neighbours,
    boards: usize,
    inputs: usize,
    outputs: usize,
    /// `[boards, points, stride]`, the bytes beyond the inputs being of no effect.
    x: Vec<Quad>,
    weight: Vec<Weights>,
    centres: Centres,
    start: Vec<Sums>,
    conversion: Vec<Conversion>,
    /// The sums by the definition, `[boards, points, outputs]`.
    sums: Vec<i32>,
    /// What stands in the destination before, whole strips.
    before: Vec<f32>,
}

impl Case {
    fn new(table: &dyn Fn(usize, usize) -> Option<usize>, size: [usize; 5], draw: Draw) -> Case {
        let [taps, points, boards, inputs, outputs] = size;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(size.iter().fold(0, |seed, &n| seed * 1000 + n as u64));
        let (strips, quads) = (outputs.div_ceil(LANES), inputs.div_ceil(QUAD));
        let stride = quads + size[3] % 3;
        let mut byte = || match draw {
            Draw::Random => rng.random(),
            Draw::Extreme => 255,
            Draw::Limits => 255 * u8::from(rng.random::<bool>()),
        };
        let x: Vec<Quad> = (0..boards * points * stride).map(|_| [(); QUAD].map(|()| byte())).collect();
        let mut weight = vec![Weights([[0; QUAD]; LANES]); strips * taps * quads];
        let mut plain = vec![0_i32; taps * inputs * outputs];
        for output in 0..outputs {
            for tap in 0..taps {
                let mut pair = [0; 2];
                for input in 0..inputs {
                    if input % 2 == 0 {
                        pair = match draw {
                            Draw::Random => {
                                let first: i32 = rng.random_range(-127..=127);
                                let most = (128 - first.abs()).min(127);
                                [first, rng.random_range(-most..=most)]
                            }
                            Draw::Extreme => {
                                let sign = [1, -1][output % 2];
                                [[127, 1], [64, 64], [1, 127]][output % 3].map(|w| w * sign)
                            }
                            Draw::Limits => {
                                let first = rng.random_range(1..=127);
                                [first, 128 - first].map(|w| if rng.random() { w } else { -w })
                            }
                        };
                    }
                    let w = pair[input % 2];
                    plain[(tap * inputs + input) * outputs + output] = w;
                    let place = ((output / LANES) * taps + tap) * quads + input / QUAD;
                    weight[place].0[output % LANES][input % QUAD] = w as i8;
                }
            }
        }
        let start: Vec<Sums> =
            (0..strips).map(|_| Sums([(); LANES].map(|()| rng.random_range(-100_000..100_000)))).collect();
        let sum = |row: usize, output: usize| {
            let (board, point) = (row / points, row % points);
            let mut sum = i64::from(start[output / LANES].0[output % LANES]);
            for (tap, source) in (0..taps).filter_map(|tap| Some((tap, table(tap, point)?))) {
                for k in 0..inputs {
                    let x = x[(board * points + source) * stride + k / QUAD][k % QUAD];
                    sum += i64::from(x) * i64::from(plain[(tap * inputs + k) * outputs + output]);
                }
            }
            i32::try_from(sum).unwrap()
        };
        let sums = (0..boards * points).flat_map(|row| (0..outputs).map(move |output| (row, output)));
        let sums = sums.map(|(row, output)| sum(row, output)).collect();
        let mut floats = |low: f32, high: f32| Lanes([(); LANES].map(|()| rng.random_range(low..high)));
        let conversion = (0..strips).map(|_| Conversion { scale: floats(1e-5, 1e-3), inverse: floats(0.5, 50.0) });
        let conversion = conversion.collect();
        let before = (0..boards * points * strips * LANES).map(|_| rng.random_range(0.0..9.0)).collect();
        let neighbours = Neighbours::new(taps, points, table);
        let centres = Centres::new(&weight, quads);
        Case { neighbours, boards, inputs, outputs, x, weight, centres, start, conversion, sums, before }
    }

    fn dense(rows: usize, inputs: usize, outputs: usize, draw: Draw) -> Case {
        Case::new(&|_, point| Some(point), [1, 1, rows, inputs, outputs], draw)
    }

    /// Eleven points in no order: some without any neighbour, some with several at the same taps.
    fn around(boards: usize, inputs: usize, outputs: usize, draw: Draw) -> Case {
        let table = |tap: usize, point: usize| (tap * point % 4 != 2 && point != 5).then(|| (3 * point + tap) % 11);
        Case::new(&table, [5, 11, boards, inputs, outputs], draw)
    }

    fn rows(&self) -> usize {
        self.boards * self.neighbours.points()
    }

    fn run(&self, instructions: IntegerInstructions, to: &mut Destination<'_>) {
        let product = Product {
            x: &self.x,
            stride: self.x.len() / self.rows(),
            quads: self.inputs.div_ceil(QUAD),
            weight: &self.weight,
            centres: &self.centres,
            start: &self.start,
            conversion: &self.conversion,
            outputs: self.outputs,
            neighbours: &self.neighbours,
        };
        multiply(instructions, &product, self.boards, to);
    }

    /// `sum * scale` for each sum, its inverse, and its place in rows of whole strips.
    fn numbers(&self) -> impl Iterator<Item = (f32, f32, usize)> {
        self.sums.iter().enumerate().map(|(i, &sum)| {
            let (row, output) = (i / self.outputs, i % self.outputs);
            let (conversion, lane) = (&self.conversion[output / LANES], output % LANES);
            let place = row * self.start.len() * LANES + output;
            (sum as f32 * conversion.scale.0[lane], conversion.inverse.0[lane], place)
        })
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for draw in [Draw::Random, Draw::Extreme, Draw::Limits] {
        for rows in (1..=14).chain([25, 61]) {
            for [inputs, outputs] in [[1, 1], [7, 3], [5, 16], [33, 40], [16, 65], [3, 255]] {
                cases.push(Case::dense(rows, inputs, outputs, draw));
            }
        }
        // More rows than go at once.
        cases.push(Case::dense(200, 700, 5, draw));
        cases.extend([1, 2, 13].map(|boards| Case::around(boards, 9, 37, draw)));
        cases.push(Case::around(40, 50, 8, draw));
    }
    cases
}

/// A float's byte by the definition.
fn rounded(x: f32) -> u8 {
    x.round_ties_even().clamp(0.0, 255.0) as u8
}

#[test]
fn every_kernel_returns_the_bits_of_the_definition() {
    for case in cases() {
        for instructions in IntegerInstructions::available() {
            let mut numbers = vec![0.5; case.sums.len()];
            case.run(instructions, &mut Destination::Numbers(&mut numbers));
            let mut bytes = vec![7; case.before.len()];
            case.run(instructions, &mut Destination::Bytes(&mut bytes));
            let (mut stream, mut first) = (case.before.clone(), bytes.clone());
            case.run(instructions, &mut Destination::Start { stream: &mut stream, bytes: &mut first });
            let (mut next, mut second) = (case.before.clone(), bytes.clone());
            case.run(instructions, &mut Destination::Residual { stream: &mut next, bytes: &mut second });
            for (i, (y, inverse, place)) in case.numbers().enumerate() {
                let residual = (case.before[place] + y).max(0.0);
                assert_eq!(numbers[i].to_bits(), y.to_bits(), "{instructions:?}");
                assert_eq!(bytes[place], rounded(y), "{instructions:?}: {y}");
                assert_eq!(stream[place], y.max(0.0), "{instructions:?}");
                assert_eq!(first[place], rounded(y.max(0.0) * inverse), "{instructions:?}: {y}");
                assert_eq!(next[place].to_bits(), residual.to_bits(), "{instructions:?}");
                assert_eq!(second[place], rounded(residual * inverse), "{instructions:?}: {y}");
            }
        }
    }
}

#[test]
fn extremes_reach_every_limit() {
    let case = Case::dense(3, 700, 5, Draw::Extreme);
    assert_eq!(case.sums.iter().map(|sum| sum.abs() / 100_000).max(), Some(115), "350 pairs of 255 * 128");
    let cases = cases();
    let numbers: Vec<f32> = cases.iter().flat_map(Case::numbers).map(|(y, ..)| y).collect();
    assert!(numbers.iter().any(|&y| y > 300.0) && numbers.iter().any(|&y| y < -300.0), "bytes are limited");
}

#[test]
fn columns_of_numbers_are_quantised_alike() {
    for width in [1, 5, 16, 19, 171] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(width as u64);
        let mut numbers: Vec<f32> = (0..7 * width).map(|_| rng.random_range(-1.5..1.5)).collect();
        numbers[0] = f32::NAN;
        numbers[width - 1] = f32::INFINITY;
        let mut columns = |low: f32, high: f32| -> Vec<Lanes> {
            (0..width.div_ceil(LANES)).map(|_| Lanes([(); LANES].map(|()| rng.random_range(low..high)))).collect()
        };
        let (inverse, zero) = (columns(50.0, 300.0), columns(0.0, 255.0));
        for instructions in IntegerInstructions::available() {
            let stride = inverse.len() * LANES;
            let mut bytes = vec![7; 7 * stride];
            quantise(instructions, Columns { inverse: &inverse, zero: &zero, width }, &numbers, &mut bytes);
            for (i, &number) in numbers.iter().enumerate() {
                let column = i % width;
                let scaled = number * inverse[column / LANES].0[column % LANES];
                let expected = rounded(scaled + zero[column / LANES].0[column % LANES]);
                assert_eq!(bytes[i / width * stride + column], expected, "{instructions:?}: {number}");
            }
        }
    }
}

#[test]
fn floats_are_rounded_to_the_nearest_byte_and_ties_to_even() {
    let cases = [
        (-1.0, 0),
        (-0.5, 0),
        (0.0, 0),
        (0.499_999_97, 0),
        (0.5, 0),
        (0.500_000_06, 1),
        (1.5, 2),
        (2.5, 2),
        (126.5, 126),
        (127.5, 128),
        (254.499_98, 254),
        (254.5, 254),
        (254.500_02, 255),
        (255.5, 255),
        (1e30, 255),
        (f32::INFINITY, 255),
        (f32::NEG_INFINITY, 0),
        (f32::NAN, 0),
    ];
    for (x, byte) in cases {
        assert_eq!(to_byte(x), byte, "{x}");
    }
    for i in -1000..70_000 {
        let x = i as f32 / 256.0;
        assert_eq!(to_byte(x), rounded(x), "{x}");
    }
}

#[test]
fn no_boards_are_no_work() {
    for instructions in IntegerInstructions::available() {
        let case = Case::around(1, 4, 4, Draw::Random);
        let product = Product {
            x: &[],
            stride: 1,
            quads: 1,
            weight: &case.weight,
            centres: &case.centres,
            start: &case.start,
            conversion: &case.conversion,
            outputs: 4,
            neighbours: &case.neighbours,
        };
        multiply(instructions, &product, 0, &mut Destination::Numbers(&mut []));
    }
}

#[test]
#[should_panic(expected = "2 rows of 4 numbers")]
fn a_wrong_length_is_refused() {
    Case::dense(2, 3, 4, Draw::Random).run(IntegerInstructions::Portable, &mut Destination::Numbers(&mut [0.0; 7]));
}
