//! Tiles for NEON, which every aarch64 processor has: a strip is four registers, up to 24 of the 32 registers hold sums.
//!
//! The `unsafe` buys what docs/lab/quantisation.md counts in instructions; it is not measured on such a processor.
#![allow(unsafe_code)]

use std::arch::aarch64::*;
use std::array::from_fn;

use super::super::areas::{Area, LANES, of_shape};
use super::outer::{OuterProducts, OuterTile, OuterTiles, add_tile};
use super::tile::{self, Product, Vector, compute_tile};

pub(super) struct Tiles;

impl tile::Tiles for Tiles {
    const MOST_ROWS: usize = 6;

    fn most_strips(rows: usize) -> usize {
        match rows {
            0..=1 => 4,
            2..=3 => 2,
            _ => 1,
        }
    }

    fn compute(product: &Product<'_>, area: &Area<'_>, y: &mut [f32]) {
        of_shape!(compute, product, area, y;
            1 x 1, 2 x 1, 3 x 1, 4 x 1, 5 x 1, 6 x 1,
            1 x 2, 2 x 2, 3 x 2,
            1 x 4,
        );
    }
}

impl OuterTiles for Tiles {
    const SHAPES: &'static [(usize, &'static [usize])] = &[(1, &[6, 4, 2, 1])];

    fn add(products: &OuterProducts<'_>, tile: &OuterTile, dw: &mut [f32]) {
        of_shape!(add, products, tile, dw; 1 x 1, 2 x 1, 4 x 1, 6 x 1);
    }
}

fn add<const ROWS: usize, const STRIPS: usize>(products: &OuterProducts<'_>, tile: &OuterTile, dw: &mut [f32]) {
    add_tile::<Quarters, ROWS, STRIPS>(products, tile, dw);
}

fn compute<const ROWS: usize, const STRIPS: usize>(product: &Product<'_>, area: &Area<'_>, y: &mut [f32]) {
    compute_tile::<Quarters, ROWS, STRIPS>(product, area, y);
}

#[derive(Clone, Copy)]
pub(crate) struct Quarters(pub(crate) [float32x4_t; 4]);

impl Vector for Quarters {
    #[inline(always)]
    fn load(lanes: &[f32; LANES]) -> Self {
        let (quarters, _) = lanes.as_chunks::<4>();
        // SAFETY: NEON is part of aarch64; four floats are valid for a whole register, aligned or not.
        Quarters(from_fn(|i| unsafe { vld1q_f32(quarters[i].as_ptr()) }))
    }

    #[inline(always)]
    fn store(self, lanes: &mut [f32; LANES]) {
        for (quarter, x) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(self.0) {
            // SAFETY: as for `load`.
            unsafe { vst1q_f32(quarter.as_mut_ptr(), x) }
        }
    }

    #[inline(always)]
    fn multiply_add(self, x: f32, weight: Self) -> Self {
        // SAFETY: NEON is part of aarch64.
        Quarters(from_fn(|i| unsafe { vfmaq_n_f32(self.0[i], weight.0[i], x) }))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: NEON is part of aarch64.
        Quarters(from_fn(|i| unsafe { vaddq_f32(self.0[i], other.0[i]) }))
    }

    /// The maximum of a number and a NaN is the number, as on x86.
    #[inline(always)]
    fn relu(self) -> Self {
        // SAFETY: NEON is part of aarch64.
        Quarters(self.0.map(|x| unsafe { vmaxnmq_f32(x, vdupq_n_f32(0.0)) }))
    }
}
