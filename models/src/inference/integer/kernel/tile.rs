//! Tiles of a product of integers, and what becomes of their sums.

use std::iter::StepBy;
use std::slice::Iter;

use super::super::super::areas::{Area, LANES};
use super::super::super::kernel::{Lanes, Vector};
use super::super::super::neighbours::Neighbours;
use super::weights::Centres;
pub(crate) use super::weights::{Quad, Sums, Weights};

/// A product of rows of bytes, `[boards, points, stride]` quads of which the first `quads` are read, and weights; each row
/// is the sum over its neighbours times the weights of their taps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Product<'a> {
    pub(crate) x: &'a [Quad],
    pub(crate) stride: usize,
    pub(crate) quads: usize,
    /// `[strips, taps, quads]`; zeros beyond the last input and output.
    pub(crate) weight: &'a [Weights],
    /// Those of the weights.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "the kernel of AVX2 reads them"))]
    pub(crate) centres: &'a Centres,
    /// Initial sums, `[strips]`.
    pub(crate) start: &'a [Sums],
    /// `[strips]`.
    pub(crate) conversion: &'a [Conversion],
    pub(crate) outputs: usize,
    pub(crate) neighbours: &'a Neighbours,
}

/// How the sums of a strip become numbers, `y = sum * scale`, and numbers of the stream become bytes, `y * inverse`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Conversion {
    pub(crate) scale: Lanes,
    pub(crate) inverse: Lanes,
}

impl Conversion {
    /// To numbers only.
    pub(crate) fn to_numbers(scale: Lanes) -> Conversion {
        Conversion { scale, inverse: Lanes([0.0; LANES]) }
    }
}

/// Where the outputs of a layer go. Rows of bytes and of the stream have room for whole strips.
#[derive(Debug)]
pub(crate) enum Destination<'a> {
    /// Numbers, `[rows, outputs]`.
    Numbers(&'a mut [f32]),
    /// Bytes, `[rows, strips]` times sixteen: the numbers, rounded and limited to 0 and 255, which is a ReLU too.
    Bytes(&'a mut [u8]),
    /// `stream = relu(y)`, and the stream's bytes; both `[rows, strips]` times sixteen.
    Start { stream: &'a mut [f32], bytes: &'a mut [u8] },
    /// `stream = relu(stream + y)`, and the stream's bytes; both `[rows, strips]` times sixteen.
    Residual { stream: &'a mut [f32], bytes: &'a mut [u8] },
}

impl Destination<'_> {
    /// # Panics
    /// If a buffer has another size than its rows.
    pub(super) fn check(&self, rows: usize, outputs: usize, strips: usize) {
        match self {
            Destination::Numbers(y) => {
                assert_eq!(y.len(), rows * outputs, "{rows} rows of {outputs} numbers");
            }
            Destination::Bytes(bytes) => {
                assert_eq!(bytes.len(), rows * strips * LANES, "{rows} rows of {strips} strips");
            }
            Destination::Start { stream, bytes } | Destination::Residual { stream, bytes } => {
                assert_eq!(stream.len(), rows * strips * LANES, "{rows} rows of {strips} strips");
                assert_eq!(bytes.len(), stream.len(), "the bytes of the stream");
            }
        }
    }
}

/// The kernel of an instruction set. The caller of its functions has checked that the processor has the instructions.
pub(super) trait Kernel {
    /// Rows of the tallest tile.
    const MOST_ROWS: usize;
    /// Strips of the widest tile with this number of rows, a power of two.
    fn most_strips(rows: usize) -> usize;
    /// Computes the sums of an area, `[strips, rows]`.
    fn add_up(product: &Product<'_>, area: &Area<'_>, sums: &mut [Sums]);
    /// Converts the sums of an area and writes them to their destination.
    fn finish(product: &Product<'_>, area: &Area<'_>, sums: &[Sums], to: &mut Destination<'_>);
    /// Quantises rows of numbers.
    fn quantise(columns: Columns<'_>, numbers: &[f32], bytes: &mut [u8]);
}

/// Number of strips in the largest tile.
pub(super) const MOST_SUMS: usize = 24;

/// Sixteen sums in registers. Its methods and all functions that are generic over it must be inlined into a function that
/// is compiled for the instruction set, as for floats.
pub(super) trait Dot: Copy {
    /// Weights in registers.
    type Weights: Copy;
    fn weights(weights: &Weights) -> Self::Weights;
    fn load(sums: &Sums) -> Self;
    fn store(self, sums: &mut Sums);
    /// Adds the products of four inputs with the weights of each output.
    fn add_products(self, x: Quad, weights: Self::Weights) -> Self;
}

/// Computes the sums of a tile of `ROWS` rows and `STRIPS` strips, which stay in registers.
#[inline(always)]
pub(super) fn add_up_tile<D: Dot, const ROWS: usize, const STRIPS: usize>(
    product: &Product<'_>,
    area: &Area<'_>,
    to: &mut [Sums],
) {
    let Area { class, first_strip, .. } = *area;
    let &Product { x, stride, quads, weight, start, neighbours, .. } = product;
    let places = area.places::<ROWS>(neighbours.points());
    let start = &start[first_strip..][..STRIPS];
    let mut first = [D::load(&start[0]); STRIPS];
    for s in 1..STRIPS {
        first[s] = D::load(&start[s]);
    }
    let mut sums = [first; ROWS];
    for (tap, sources) in class.taps() {
        let rows: [&[Quad]; ROWS] = std::array::from_fn(|r| {
            let (board, member) = places[r];
            &x[(board + sources[member] as usize) * stride..][..quads]
        });
        let strips: [&[Weights]; STRIPS] =
            std::array::from_fn(|s| &weight[((first_strip + s) * neighbours.taps() + tap) * quads..][..quads]);
        for k in 0..quads {
            let mut weights = [D::weights(&strips[0][k]); STRIPS];
            for s in 1..STRIPS {
                weights[s] = D::weights(&strips[s][k]);
            }
            for r in 0..ROWS {
                let x = rows[r][k];
                for s in 0..STRIPS {
                    sums[r][s] = sums[r][s].add_products(x, weights[s]);
                }
            }
        }
    }
    for s in 0..STRIPS {
        for r in 0..ROWS {
            sums[r][s].store(&mut to[s * ROWS + r]);
        }
    }
}

/// Sixteen numbers in registers that come from sums and become bytes, as for [`Dot`]. Products and sums are rounded one by
/// one, and [`Vector::relu`] makes 0 of a NaN.
pub(super) trait Numbers: Vector {
    fn of_sums(sums: &Sums) -> Self;
    /// `self * other` in every lane.
    fn multiply(self, other: Self) -> Self;
    /// The numbers as [`to_byte`] rounds them.
    fn to_bytes(self) -> [u8; LANES];
}

/// Converts the sums of an area and writes them to their destination.
#[inline(always)]
pub(super) fn finish_area<N: Numbers>(product: &Product<'_>, area: &Area<'_>, sums: &[Sums], to: &mut Destination<'_>) {
    let conversions = &product.conversion[area.first_strip..][..area.strips];
    let place = |row: usize| (row * product.conversion.len() + area.first_strip) * LANES;
    let length = area.strips * LANES;
    let rows = rows(product.neighbours.points(), area, sums);
    match to {
        Destination::Bytes(bytes) => {
            for (row, sums) in rows {
                let bytes = strips_mut(&mut bytes[place(row)..][..length]);
                for ((sums, conversion), bytes) in sums.zip(conversions).zip(bytes) {
                    *bytes = convert::<N>(sums, conversion).to_bytes();
                }
            }
        }
        Destination::Start { stream, bytes } => {
            for (row, sums) in rows {
                let stream = strips_mut(&mut stream[place(row)..][..length]);
                let to = stream.iter_mut().zip(strips_mut(&mut bytes[place(row)..][..length]));
                for ((sums, conversion), (stream, bytes)) in sums.zip(conversions).zip(to) {
                    let y = convert::<N>(sums, conversion).relu();
                    y.store(stream);
                    *bytes = y.multiply(N::load(&conversion.inverse.0)).to_bytes();
                }
            }
        }
        Destination::Residual { stream, bytes } => {
            for (row, sums) in rows {
                let stream = strips_mut(&mut stream[place(row)..][..length]);
                let to = stream.iter_mut().zip(strips_mut(&mut bytes[place(row)..][..length]));
                for ((sums, conversion), (stream, bytes)) in sums.zip(conversions).zip(to) {
                    let y = N::load(stream).add(convert::<N>(sums, conversion)).relu();
                    y.store(stream);
                    *bytes = y.multiply(N::load(&conversion.inverse.0)).to_bytes();
                }
            }
        }
        Destination::Numbers(numbers) => {
            for (row, sums) in rows {
                for (strip, (sums, conversion)) in (area.first_strip..).zip(sums.zip(conversions)) {
                    let y = convert::<N>(sums, conversion);
                    let numbers = outputs_of(product, row, strip, numbers);
                    match numbers.as_mut_array() {
                        Some(numbers) => y.store(numbers),
                        None => {
                            let mut all = [0.0; LANES];
                            y.store(&mut all);
                            numbers.copy_from_slice(&all[..numbers.len()]);
                        }
                    }
                }
            }
        }
    }
}

/// The rows of an area, each with its sums.
#[inline(always)]
fn rows<'a>(
    points: usize,
    area: &'a Area<'_>,
    sums: &'a [Sums],
) -> impl Iterator<Item = (usize, StepBy<Iter<'a, Sums>>)> + use<'a> {
    let (mut board, mut member) = area.first;
    (0..area.rows).map(move |i| {
        let row = board + area.class.member(member);
        member += 1;
        if member == area.class.points() {
            (board, member) = (board + points, 0);
        }
        (row, sums[i..].iter().step_by(area.rows))
    })
}

fn strips_mut<T>(numbers: &mut [T]) -> &mut [[T; LANES]] {
    numbers.as_chunks_mut().0
}

/// `sum * scale`.
#[inline(always)]
fn convert<N: Numbers>(sums: &Sums, conversion: &Conversion) -> N {
    N::of_sums(sums).multiply(N::load(&conversion.scale.0))
}

/// The numbers of a strip that are outputs.
fn outputs_of<'a>(product: &Product<'_>, row: usize, strip: usize, numbers: &'a mut [f32]) -> &'a mut [f32] {
    let columns = strip * LANES..product.outputs.min((strip + 1) * LANES);
    &mut numbers[row * product.outputs..][columns]
}

/// Numbers to quantise: `byte = number * inverse + zero`, by column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    /// Strips of columns.
    pub(crate) inverse: &'a [Lanes],
    /// Strips of columns.
    pub(crate) zero: &'a [Lanes],
    /// Number of columns.
    pub(crate) width: usize,
}

/// Quantises rows of `width` numbers into rows of whole strips of bytes; those beyond `width` are 0.
#[inline(always)]
pub(super) fn quantise_rows<N: Numbers>(columns: Columns<'_>, numbers: &[f32], bytes: &mut [u8]) {
    let Columns { inverse, zero, width } = columns;
    let rows = bytes.chunks_exact_mut(LANES * inverse.len());
    for (numbers, bytes) in numbers.chunks_exact(width).zip(rows) {
        let (whole, rest) = numbers.as_chunks::<LANES>();
        let mut last = [0.0; LANES];
        last[..rest.len()].copy_from_slice(rest);
        let strips = whole.iter().chain((!rest.is_empty()).then_some(&last));
        for (((numbers, bytes), inverse), zero) in strips.zip(bytes.as_chunks_mut::<LANES>().0).zip(inverse).zip(zero) {
            *bytes = N::load(numbers).multiply(N::load(&inverse.0)).add(N::load(&zero.0)).to_bytes();
        }
    }
}

/// Rounds to the nearest byte, ties to even: between 2^23 and 2^24 floats are the integers, so that adding 2^23 rounds. A
/// NaN becomes 0.
#[inline(always)]
pub(super) fn to_byte(x: f32) -> u8 {
    const TO_INTEGERS: f32 = 8_388_608.0;
    let x = if x > 0.0 { x } else { 0.0 };
    let x = if x < 255.0 { x } else { 255.0 };
    (x + TO_INTEGERS).to_bits() as u8
}
