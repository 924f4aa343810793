//! Tiles for WebAssembly's `simd128`: a strip is four registers, and eight of x86-64's 16 registers hold sums.
//!
//! Products and sums are rounded one by one, so that the bits are those of the portable tiles.
//!
//! The `unsafe` buys 1.09 to 1.16 times the simulations per second of the portable tiles (docs/lab/page.md).
#![allow(unsafe_code)]

use std::arch::wasm32::*;
use std::array::from_fn;

use super::super::areas::{Area, LANES, of_shape};
use super::tile::{self, Product, Vector, compute_tile};

pub(super) struct Tiles;

impl tile::Tiles for Tiles {
    const MOST_ROWS: usize = 2;

    fn most_strips(rows: usize) -> usize {
        if rows == 1 { 2 } else { 1 }
    }

    fn compute(product: &Product<'_>, area: &Area<'_>, y: &mut [f32]) {
        of_shape!(compute, product, area, y; 1 x 1, 2 x 1, 1 x 2);
    }
}

fn compute<const ROWS: usize, const STRIPS: usize>(product: &Product<'_>, area: &Area<'_>, y: &mut [f32]) {
    compute_tile::<Quarters, ROWS, STRIPS>(product, area, y);
}

#[derive(Clone, Copy)]
pub(crate) struct Quarters(pub(crate) [v128; 4]);

impl Vector for Quarters {
    #[inline(always)]
    fn load(lanes: &[f32; LANES]) -> Self {
        let (quarters, _) = lanes.as_chunks::<4>();
        // SAFETY: four floats are valid for a whole register, aligned or not.
        Quarters(from_fn(|i| unsafe { v128_load(quarters[i].as_ptr().cast()) }))
    }

    #[inline(always)]
    fn store(self, lanes: &mut [f32; LANES]) {
        for (quarter, x) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(self.0) {
            // SAFETY: as for `load`.
            unsafe { v128_store(quarter.as_mut_ptr().cast(), x) }
        }
    }

    #[inline(always)]
    fn multiply_add(self, x: f32, weight: Self) -> Self {
        Quarters(from_fn(|i| f32x4_add(self.0[i], f32x4_mul(f32x4_splat(x), weight.0[i]))))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Quarters(from_fn(|i| f32x4_add(self.0[i], other.0[i])))
    }

    /// `pmax` is its second operand if that is greater than the first, which a NaN is not.
    #[inline(always)]
    fn relu(self) -> Self {
        Quarters(self.0.map(|x| f32x4_pmax(f32x4_splat(0.0), x)))
    }
}
