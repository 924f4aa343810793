//! Matrix products over rows that a table names: one tile of registers, for three instruction sets.
//!
//! A tile is a few rows by a few strips of sixteen outputs, all of it in registers. Every output is the same chain of
//! multiply-adds, starting from the bias and going over taps and inputs in order, whatever tile its row falls into:
//! so a row's result depends neither on the other rows nor on their number.

mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use std::time::{Duration, Instant};

use super::neighbours::{Class, Neighbours};

/// Outputs of a strip.
pub(super) const LANES: usize = 16;

/// Numbers that are worked on together, aligned to a cache line.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(super) struct Lanes(pub(super) [f32; LANES]);

/// What a layer does with its sums.
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

/// The instruction sets that the kernel is written for, the best first.
///
/// The first two compute the same bits. The portable one rounds between multiplication and addition, except where
/// the compiler's target has a fused one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// x86-64 with AVX-512F: tiles of up to 6 x 64.
    Avx512,
    /// x86-64 with AVX2 and FMA: tiles of up to 6 x 16.
    Avx2,
    /// Plain Rust that the compiler makes vectors of, for whatever it was told to compile for.
    Portable,
}

impl Instructions {
    /// Those that this processor has, the best first.
    pub fn available() -> impl Iterator<Item = Instructions> {
        [Instructions::Avx512, Instructions::Avx2, Instructions::Portable]
            .into_iter()
            .filter(|instructions| instructions.is_available())
    }

    /// The best that this processor has.
    pub fn best() -> Instructions {
        Self::available().next().expect("the portable kernel is always there")
    }

    /// Whether this processor has them.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(not(target_arch = "x86_64"))]
            Instructions::Avx512 | Instructions::Avx2 => false,
            Instructions::Portable => true,
        }
    }

    /// Floating-point operations per second of this thread when it only multiplies and adds in registers: the ceiling
    /// of all layers. Takes about a twentieth of a second.
    ///
    /// # Panics
    /// If the processor does not have the instructions.
    pub fn peak(self) -> f64 {
        assert!(self.is_available(), "this processor has no {self:?}");
        let (start, mut best) = (Instant::now(), 0.0_f64);
        while start.elapsed() < Duration::from_millis(50) {
            let round = Instant::now();
            let operations = match self {
                #[cfg(target_arch = "x86_64")]
                Instructions::Avx512 => avx512::spin(),
                #[cfg(target_arch = "x86_64")]
                Instructions::Avx2 => avx2::spin(),
                _ => portable::spin(),
            };
            best = best.max(operations as f64 / round.elapsed().as_secs_f64());
        }
        best
    }
}

/// A product `y [boards, points, outputs]` of `x [boards, points, inputs]`, each row with its neighbours' weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product<'a> {
    pub(super) x: &'a [f32],
    /// `[strips, taps, inputs]`; what goes beyond the last output is zero.
    pub(super) weight: &'a [Lanes],
    /// `[strips]`.
    pub(super) bias: &'a [Lanes],
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) neighbours: &'a Neighbours,
    pub(super) finish: Finish,
}

/// Computes a product.
///
/// # Panics
/// If the processor does not have the instructions, or a length is wrong.
pub(super) fn multiply(instructions: Instructions, product: &Product<'_>, boards: usize, y: &mut [f32]) {
    let &Product { x, weight, bias, inputs, outputs, neighbours, .. } = product;
    let rows = boards * neighbours.points();
    assert!(instructions.is_available(), "this processor has no {instructions:?}");
    assert!(x.len() == rows * inputs && y.len() == rows * outputs, "{rows} rows of {inputs} and {outputs} numbers");
    assert_eq!(bias.len(), outputs.div_ceil(LANES));
    assert_eq!(weight.len(), bias.len() * neighbours.taps() * inputs);
    match instructions {
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => over_tiles::<avx512::Tiles>(product, boards, y),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => over_tiles::<avx2::Tiles>(product, boards, y),
        _ => over_tiles::<portable::Tiles>(product, boards, y),
    }
}

/// One instruction set's tiles.
trait Tiles {
    /// Rows of the tallest.
    const MOST_ROWS: usize;
    /// Strips of the widest with so many rows, a power of two.
    fn most_strips(rows: usize) -> usize;
    /// Computes a tile. Whoever calls it has made sure that the processor has the instructions.
    fn compute(tile: &Tile<'_>, y: &mut [f32]);
}

/// Some rows and some strips of a product.
#[derive(Debug, Clone, Copy)]
struct Tile<'a> {
    product: &'a Product<'a>,
    class: &'a Class,
    /// Among the class's rows, board by board.
    first_row: usize,
    rows: usize,
    first_strip: usize,
    strips: usize,
}

/// Inputs that should stay near while the strips pass by.
const NEAR: usize = 12 * 1024;

/// Takes the boards by the dozen, so that every class of points fills its tiles, and in each dozen class by class and
/// strip by strip.
fn over_tiles<T: Tiles>(product: &Product<'_>, boards: usize, y: &mut [f32]) {
    let board = product.neighbours.points() * product.inputs;
    let most_boards = 12 * (NEAR / (12 * board)).max(1);
    for first_board in (0..boards).step_by(most_boards) {
        let boards = most_boards.min(boards - first_board);
        for class in product.neighbours.classes() {
            let (start, rows) = (first_board * class.points(), boards * class.points());
            let tiles = rows.div_ceil(T::MOST_ROWS);
            let most_strips = T::most_strips(rows.div_ceil(tiles));
            let mut first_strip = 0;
            while first_strip < product.bias.len() {
                let strips = most_strips.min(1 << (product.bias.len() - first_strip).ilog2());
                for i in 0..tiles {
                    let (from, to) = (i * rows / tiles, (i + 1) * rows / tiles);
                    let tile = Tile { product, class, first_row: start + from, rows: to - from, first_strip, strips };
                    T::compute(&tile, y);
                }
                first_strip += strips;
            }
        }
    }
}

/// Sixteen lanes in registers. All of it, and what is generic over it, must end up inside a function that is compiled for
/// its instructions: hence `inline(always)`, which at batch 8 is 5 % faster than leaving it to the compiler.
trait Vector: Copy {
    fn load(lanes: &[f32; LANES]) -> Self;
    fn store(self, lanes: &mut [f32; LANES]);
    /// `self + x * weight` in every lane.
    fn multiply_add(self, x: f32, weight: Self) -> Self;
    /// `self + other` in every lane.
    fn add(self, other: Self) -> Self;
    /// Zero in the lanes that are not above it.
    fn relu(self) -> Self;
    /// Passes on a tile's sums when they are complete.
    #[inline(always)]
    fn settle<T>(sums: T) -> T {
        sums
    }
}

/// A tile of `ROWS` rows and `STRIPS` strips.
///
/// The sums stay in registers from the bias to their destination because all their indices are known to the compiler
/// once the short loops over `r` and `s` are unrolled.
#[inline(always)]
fn compute_tile<V: Vector, const ROWS: usize, const STRIPS: usize>(tile: &Tile<'_>, y: &mut [f32]) {
    let Tile { product, class, first_row, first_strip, .. } = *tile;
    let &Product { x, weight, bias, inputs, outputs, neighbours, finish } = product;
    let places = places::<ROWS>(class.points(), neighbours.points(), first_row);
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

/// Where so many rows of a class stand from `first_row` on: the board's first point, and the row's place in the class.
#[inline(always)]
fn places<const ROWS: usize>(members: usize, points: usize, first_row: usize) -> [(usize, usize); ROWS] {
    let (mut board, mut member) = (first_row / members * points, first_row % members);
    let mut places = [(0, 0); ROWS];
    for place in &mut places {
        *place = (board, member);
        member += 1;
        if member == members {
            (board, member) = (board + points, 0);
        }
    }
    places
}

/// Brings sixteen sums to their destination.
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

/// Multiplies and adds in `N` independent chains; returns the number of operations.
#[inline(always)]
fn spin_vectors<V: Vector, const N: usize>() -> u64 {
    const STEPS: u64 = 50_000;
    let (x, weight) = (std::hint::black_box(0.5), V::load(&std::hint::black_box([0.5; LANES])));
    let mut sums = [weight; N];
    for _ in 0..STEPS {
        for sum in &mut sums {
            *sum = sum.multiply_add(x, weight);
        }
    }
    let mut stored = [[0.0; LANES]; N];
    for i in 0..N {
        sums[i].store(&mut stored[i]);
    }
    std::hint::black_box(stored);
    STEPS * (N * LANES) as u64 * 2
}

/// Calls a tile function by the shape of the tile: `of_shape!(function, tile, y; rows x strips, ...)`.
macro_rules! of_shape {
    ($function:ident, $tile:ident, $y:ident; $($rows:literal x $strips:literal),* $(,)?) => {
        match ($tile.rows, $tile.strips) {
            $(($rows, $strips) => $function::<$rows, $strips>($tile, $y),)*
            (rows, strips) => unreachable!("no tile of {rows} x {strips}"),
        }
    };
}
use of_shape;

#[cfg(test)]
mod tests;
