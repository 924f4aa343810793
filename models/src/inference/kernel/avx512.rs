//! Tiles for AVX-512F: a strip is one register, up to 24 of the 32 registers hold sums.
//!
//! The `unsafe` buys 1.6 to 1.7 times the evaluations per second of the AVX2 tiles and 4.2 to 4.9 times those of the
//! portable ones at batches of 8 and more (docs/lab/speed.md).
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::super::areas::{Area, LANES, of_shape};
use super::outer::{OuterProducts, OuterTile, OuterTiles, add_tile};
use super::tile::{self, Product, Vector, compute_tile};

pub(super) struct Tiles;

impl tile::Tiles for Tiles {
    const MOST_ROWS: usize = 6;

    fn most_strips(rows: usize) -> usize {
        match rows {
            0..=3 => 8,
            _ => 4,
        }
    }

    fn compute(product: &Product<'_>, area: &Area<'_>, y: &mut [f32]) {
        // SAFETY: the function needs nothing but AVX-512F, which `multiply` has checked.
        unsafe {
            of_shape!(compute, product, area, y;
                1 x 1, 2 x 1, 3 x 1, 4 x 1, 5 x 1, 6 x 1,
                1 x 2, 2 x 2, 3 x 2, 4 x 2, 5 x 2, 6 x 2,
                1 x 4, 2 x 4, 3 x 4, 4 x 4, 5 x 4, 6 x 4,
                1 x 8, 2 x 8, 3 x 8,
            );
        }
    }
}

impl OuterTiles for Tiles {
    const SHAPES: &'static [(usize, &'static [usize])] =
        &[(4, &[6, 4, 2, 1]), (3, &[8, 4, 2, 1]), (2, &[12, 8, 4, 2, 1]), (1, &[16, 8, 4, 2, 1])];

    fn add(products: &OuterProducts<'_>, tile: &OuterTile, dw: &mut [f32]) {
        // SAFETY: the function needs nothing but AVX-512F, which `add_outer_products` has checked.
        unsafe {
            of_shape!(add, products, tile, dw;
                1 x 4, 2 x 4, 4 x 4, 6 x 4,
                1 x 3, 2 x 3, 4 x 3, 8 x 3,
                1 x 2, 2 x 2, 4 x 2, 8 x 2, 12 x 2,
                1 x 1, 2 x 1, 4 x 1, 8 x 1, 16 x 1,
            );
        }
    }
}

#[target_feature(enable = "avx512f")]
fn add<const ROWS: usize, const STRIPS: usize>(products: &OuterProducts<'_>, tile: &OuterTile, dw: &mut [f32]) {
    add_tile::<Register, ROWS, STRIPS>(products, tile, dw);
}

#[target_feature(enable = "avx512f")]
fn compute<const ROWS: usize, const STRIPS: usize>(product: &Product<'_>, area: &Area<'_>, y: &mut [f32]) {
    compute_tile::<Register, ROWS, STRIPS>(product, area, y);
}

#[derive(Clone, Copy)]
pub(crate) struct Register(pub(crate) __m512);

// Used inside the functions above only, which are compiled for AVX-512F.
impl Vector for Register {
    #[inline(always)]
    fn load(lanes: &[f32; LANES]) -> Self {
        // SAFETY: AVX-512F is available, see above; a reference to lanes is valid for a whole register, aligned or not.
        Register(unsafe { _mm512_loadu_ps(lanes.as_ptr()) })
    }

    #[inline(always)]
    fn store(self, lanes: &mut [f32; LANES]) {
        // SAFETY: as for `load`.
        unsafe { _mm512_storeu_ps(lanes.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn multiply_add(self, x: f32, weight: Self) -> Self {
        // SAFETY: AVX-512F is available, see above.
        Register(unsafe { _mm512_fmadd_ps(_mm512_set1_ps(x), weight.0, self.0) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: AVX-512F is available, see above.
        Register(unsafe { _mm512_add_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn relu(self) -> Self {
        // SAFETY: AVX-512F is available, see above.
        Register(unsafe { _mm512_max_ps(self.0, _mm512_setzero_ps()) })
    }
}
