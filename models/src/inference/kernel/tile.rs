//! Tiles of a matrix product: a few rows by a few strips of sixteen outputs, whose sums stay in registers.

use super::super::areas::{Area, LANES};
use super::super::neighbours::Neighbours;

/// The values of a strip, aligned to a cache line.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [f32; LANES]);

/// How a layer combines its sums with its output buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// `y = sum`
    Plain,
    /// `y = relu(sum)`
    Relu,
    /// `y = y + sum`
    Add,
    /// `y = relu(y + sum)`
    AddRelu,
}

impl Finish {
    /// What a layer does that is added to a residual in the output buffer, or followed by a ReLU.
    pub(crate) fn of(residual: bool, relu: bool) -> Finish {
        match (residual, relu) {
            (false, false) => Finish::Plain,
            (false, true) => Finish::Relu,
            (true, false) => Finish::Add,
            (true, true) => Finish::AddRelu,
        }
    }
}

/// A product that computes `y [boards, points, outputs]` from `x [boards, points, inputs]`: each row is the sum over its
/// neighbours times the weights of their taps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Product<'a> {
    pub(crate) x: &'a [f32],
    /// `[strips, taps, inputs]`; zeros beyond the last output.
    pub(crate) weight: &'a [Lanes],
    /// `[strips]`.
    pub(crate) bias: &'a [Lanes],
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) neighbours: &'a Neighbours,
    pub(crate) finish: Finish,
}

/// The tiles of an instruction set.
pub(super) trait Tiles {
    /// Rows of the tallest tile.
    const MOST_ROWS: usize;
    /// Strips of the widest tile with this number of rows, a power of two.
    fn most_strips(rows: usize) -> usize;
    /// Computes a tile. The caller has checked that the processor has the instructions.
    fn compute(product: &Product<'_>, area: &Area<'_>, y: &mut [f32]);
}

/// Sixteen lanes in registers. Its methods and all functions that are generic over it must be inlined into a function that
/// is compiled for the instruction set: hence `inline(always)`, which at batch 8 is 5 % faster than leaving it to the
/// compiler.
pub(crate) trait Vector: Copy {
    fn load(lanes: &[f32; LANES]) -> Self;
    fn store(self, lanes: &mut [f32; LANES]);
    /// `self + x * weight` in every lane.
    fn multiply_add(self, x: f32, weight: Self) -> Self;
    /// `self + other` in every lane.
    fn add(self, other: Self) -> Self;
    /// `max(self, 0)` in every lane.
    fn relu(self) -> Self;
    /// Returns the complete sums of a tile.
    #[inline(always)]
    fn settle<T>(sums: T) -> T {
        sums
    }
}

/// Computes a tile of `ROWS` rows and `STRIPS` strips.
///
/// The sums stay in registers from the bias to the output because all their indices are constants once the short loops
/// over `r` and `s` are unrolled.
#[inline(always)]
pub(super) fn compute_tile<V: Vector, const ROWS: usize, const STRIPS: usize>(
    product: &Product<'_>,
    area: &Area<'_>,
    y: &mut [f32],
) {
    let Area { class, first_strip, .. } = *area;
    let &Product { x, weight, bias, inputs, outputs, neighbours, finish } = product;
    let places = area.places::<ROWS>(neighbours.points());
    let bias = &bias[first_strip..][..STRIPS];
    let mut start = [V::load(&bias[0].0); STRIPS];
    for s in 1..STRIPS {
        start[s] = V::load(&bias[s].0);
    }
    let mut sums = [start; ROWS];
    for (tap, sources) in class.taps() {
        let rows: [&[f32]; ROWS] = std::array::from_fn(|r| {
            let (board, member) = places[r];
            &x[(board + sources[member] as usize) * inputs..][..inputs]
        });
        let strips: [&[Lanes]; STRIPS] =
            std::array::from_fn(|s| &weight[((first_strip + s) * neighbours.taps() + tap) * inputs..][..inputs]);
        for k in 0..inputs {
            let mut weights = [sums[0][0]; STRIPS];
            for s in 0..STRIPS {
                weights[s] = V::load(&strips[s][k].0);
            }
            for r in 0..ROWS {
                let x = rows[r][k];
                for s in 0..STRIPS {
                    sums[r][s] = sums[r][s].multiply_add(x, weights[s]);
                }
            }
        }
    }
    let sums = V::settle(sums);
    let columns = first_strip * LANES..outputs.min((first_strip + STRIPS) * LANES);
    for r in 0..ROWS {
        let (board, member) = places[r];
        let row = &mut y[(board + class.member(member)) * outputs..][columns.clone()];
        let (whole, rest) = row.as_chunks_mut::<LANES>();
        for (s, &sums) in sums[r].iter().enumerate() {
            match whole.get_mut(s) {
                Some(y) => finish_strip(finish, y, sums),
                None => {
                    let mut padded = [0.0; LANES];
                    padded[..rest.len()].copy_from_slice(rest);
                    finish_strip(finish, &mut padded, sums);
                    rest.copy_from_slice(&padded[..rest.len()]);
                }
            }
        }
    }
}

/// Writes sixteen sums to the output.
#[inline(always)]
fn finish_strip<V: Vector>(finish: Finish, y: &mut [f32; LANES], sums: V) {
    match finish {
        Finish::Plain => sums,
        Finish::Relu => sums.relu(),
        Finish::Add => V::load(y).add(sums),
        Finish::AddRelu => V::load(y).add(sums).relu(),
    }
    .store(y);
}
