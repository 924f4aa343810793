//! Tiles for AVX-512F: a strip is one register, up to 24 of the 32 registers hold sums.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Lanes, Tile, Vector, compute_tile, of_shape, spin_vectors};

pub(super) struct Tiles;

impl super::Tiles for Tiles {
    const MOST_ROWS: usize = 12;

    fn most_strips(rows: usize) -> usize {
        match rows {
            ..=3 => 8,
            ..=6 => 4,
            _ => 2,
        }
    }

    fn compute(tile: &Tile<'_>, y: &mut [f32]) {
        // SAFETY: the function needs nothing but AVX-512F, for which `multiply` has looked.
        unsafe {
            of_shape!(compute, tile, y;
                1 x 1, 2 x 1, 3 x 1, 4 x 1, 5 x 1, 6 x 1, 7 x 1, 8 x 1, 9 x 1, 10 x 1, 11 x 1, 12 x 1,
                1 x 2, 2 x 2, 3 x 2, 4 x 2, 5 x 2, 6 x 2, 7 x 2, 8 x 2, 9 x 2, 10 x 2, 11 x 2, 12 x 2,
                1 x 4, 2 x 4, 3 x 4, 4 x 4, 5 x 4, 6 x 4,
                1 x 8, 2 x 8, 3 x 8,
            );
        }
    }
}

#[target_feature(enable = "avx512f")]
fn compute<const ROWS: usize, const STRIPS: usize>(tile: &Tile<'_>, y: &mut [f32]) {
    compute_tile::<Register, ROWS, STRIPS>(tile, y);
}

/// See [`Instructions::peak`](super::Instructions::peak).
pub(super) fn spin() -> u64 {
    #[target_feature(enable = "avx512f")]
    fn spin() -> u64 {
        spin_vectors::<Register, 24>()
    }
    // SAFETY: the function needs nothing but AVX-512F, for which `peak` has looked.
    unsafe { spin() }
}

#[derive(Clone, Copy)]
struct Register(__m512);

// SAFETY of all blocks below: the type is only used inside the two functions above, which are compiled for AVX-512F;
// loads and stores touch the sixteen lanes of a reference, which is aligned to them.
impl Vector for Register {
    #[inline(always)]
    fn load(lanes: &Lanes) -> Self {
        Register(unsafe { _mm512_load_ps(lanes.0.as_ptr()) })
    }

    #[inline(always)]
    fn store(self, lanes: &mut Lanes) {
        unsafe { _mm512_store_ps(lanes.0.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn multiply_add(self, x: f32, weight: Self) -> Self {
        Register(unsafe { _mm512_fmadd_ps(_mm512_set1_ps(x), weight.0, self.0) })
    }
}
