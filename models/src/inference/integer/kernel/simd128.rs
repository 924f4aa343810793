//! The kernel for WebAssembly's `simd128`, which multiplies 16 bits and adds the products by pairs.
//!
//! A register holds the sums of two outputs in two parts each, four inputs being multiplied at once: half of a strip is four
//! registers, and four rows of it take 16. Weights are widened to 16 bits as they are read.
//!
//! The `unsafe` buys 1.04 to 1.51 times the simulations per second of the tiles for floats (docs/lab/page.md).
#![allow(unsafe_code)]

use std::arch::wasm32::*;
use std::array::from_fn;

use super::super::super::areas::{Area, LANES};
use super::super::super::kernel::Quarters;
use super::tile::{Columns, Destination, Kernel, Numbers, Product, Quad, Sums, finish_area, quantise_rows};

pub(super) struct Simd128;

impl Kernel for Simd128 {
    const MOST_ROWS: usize = 4;

    fn most_strips(_: usize) -> usize {
        1
    }

    fn add_up(product: &Product<'_>, area: &Area<'_>, sums: &mut [Sums]) {
        match area.rows {
            1 => add_up::<1, 8>(product, area, sums),
            2 => add_up::<2, 4>(product, area, sums),
            3 => add_up::<3, 4>(product, area, sums),
            4 => add_up::<4, 4>(product, area, sums),
            rows => unreachable!("no tile of {rows} rows"),
        }
    }

    fn finish(product: &Product<'_>, area: &Area<'_>, sums: &[Sums], to: &mut Destination<'_>) {
        finish_area::<Quarters>(product, area, sums, to);
    }

    fn quantise(columns: Columns<'_>, numbers: &[f32], bytes: &mut [u8]) {
        quantise_rows::<Quarters>(columns, numbers, bytes);
    }
}

/// The sums of a tile of one strip, `PAIRS` of its eight pairs of outputs at a time.
fn add_up<const ROWS: usize, const PAIRS: usize>(product: &Product<'_>, area: &Area<'_>, to: &mut [Sums]) {
    let Area { class, first_strip, .. } = *area;
    let &Product { x, stride, quads, weight, start, neighbours, .. } = product;
    let places = area.places::<ROWS>(neighbours.points());
    let start = quarters(&start[first_strip].0);
    for first in (0..LANES / 2).step_by(PAIRS) {
        let mut sums = [[i32x4_splat(0); ROWS]; PAIRS];
        for (tap, sources) in class.taps() {
            let rows: [&[Quad]; ROWS] = from_fn(|r| {
                let (board, member) = places[r];
                &x[(board + sources[member] as usize) * stride..][..quads]
            });
            let weights = &weight[(first_strip * neighbours.taps() + tap) * quads..][..quads];
            for (k, weights) in weights.iter().enumerate() {
                let x: [v128; ROWS] = from_fn(|r| u16x8_extend_low_u8x16(u32x4_splat(u32::from_le_bytes(rows[r][k]))));
                for (p, sums) in sums.iter_mut().enumerate() {
                    let pair = &weights.0.as_chunks::<2>().0[first + p];
                    // SAFETY: eight bytes are valid for a register of 16 bits each, aligned or not.
                    let pair = unsafe { i16x8_load_extend_i8x8(pair.as_flattened().as_ptr()) };
                    for (sum, x) in sums.iter_mut().zip(x) {
                        *sum = i32x4_add(*sum, i32x4_dot_i16x8(x, pair));
                    }
                }
            }
        }
        for r in 0..ROWS {
            for i in 0..PAIRS / 2 {
                let [a, b] = [sums[2 * i][r], sums[2 * i + 1][r]];
                let sum = i32x4_add(i32x4_shuffle::<0, 2, 4, 6>(a, b), i32x4_shuffle::<1, 3, 5, 7>(a, b));
                let (to, sum) = (&mut to[r].0[4 * (first / 2 + i)..][..4], i32x4_add(start[first / 2 + i], sum));
                // SAFETY: four sums are valid for a whole register, aligned or not.
                unsafe { v128_store(to.as_mut_ptr().cast(), sum) }
            }
        }
    }
}

/// The four registers of a strip.
#[inline(always)]
fn quarters<T>(strip: &[T; LANES]) -> [v128; 4] {
    const { assert!(size_of::<T>() == 4) }
    let (quarters, _) = strip.as_chunks::<4>();
    // SAFETY: sixteen bytes are valid for a whole register, aligned or not.
    from_fn(|i| unsafe { v128_load(quarters[i].as_ptr().cast()) })
}

impl Numbers for Quarters {
    #[inline(always)]
    fn of_sums(sums: &Sums) -> Self {
        Quarters(quarters(&sums.0).map(|sum| f32x4_convert_i32x4(sum)))
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        Quarters(from_fn(|i| f32x4_mul(self.0[i], other.0[i])))
    }

    /// As [`to_byte`](super::tile::to_byte): the second operand of a minimum or maximum only if it is less or greater, which
    /// a NaN is not.
    #[inline(always)]
    fn to_bytes(self) -> [u8; LANES] {
        const TO_INTEGERS: f32 = 8_388_608.0;
        let [a, b, c, d] = self.0.map(|x| {
            let x = f32x4_pmin(f32x4_splat(255.0), f32x4_pmax(f32x4_splat(0.0), x));
            v128_and(f32x4_add(x, f32x4_splat(TO_INTEGERS)), u32x4_splat(0xff))
        });
        let all = u8x16_narrow_i16x8(i16x8_narrow_i32x4(a, b), i16x8_narrow_i32x4(c, d));
        let mut bytes = [0; LANES];
        // SAFETY: the bytes are valid for a whole register, aligned or not.
        unsafe { v128_store(bytes.as_mut_ptr().cast(), all) }
        bytes
    }
}
