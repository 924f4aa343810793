//! Tiles in plain Rust, for all processors.

use super::super::areas::{Area, LANES, of_shape};
use super::outer::{OuterProducts, OuterTile, OuterTiles, add_tile};
use super::tile::{self, Lanes, Product, Vector, compute_tile};

pub(super) struct Tiles;

impl tile::Tiles for Tiles {
    const MOST_ROWS: usize = 3;

    fn most_strips(rows: usize) -> usize {
        if rows == 1 { 2 } else { 1 }
    }

    fn compute(product: &Product<'_>, area: &Area<'_>, y: &mut [f32]) {
        of_shape!(compute, product, area, y; 1 x 1, 2 x 1, 3 x 1, 1 x 2);
    }
}

impl OuterTiles for Tiles {
    const SHAPES: &'static [(usize, &'static [usize])] = &[(1, &[3, 1])];

    fn add(products: &OuterProducts<'_>, tile: &OuterTile, dw: &mut [f32]) {
        of_shape!(add, products, tile, dw; 1 x 1, 3 x 1);
    }
}

fn add<const ROWS: usize, const STRIPS: usize>(products: &OuterProducts<'_>, tile: &OuterTile, dw: &mut [f32]) {
    add_tile::<Lanes, ROWS, STRIPS>(products, tile, dw);
}

fn compute<const ROWS: usize, const STRIPS: usize>(product: &Product<'_>, area: &Area<'_>, y: &mut [f32]) {
    compute_tile::<Lanes, ROWS, STRIPS>(product, area, y);
}

/// A fused multiply-add is a function call, and slow, where the target has no instruction for it.
pub(super) const FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

impl Vector for Lanes {
    #[inline(always)]
    fn load(lanes: &[f32; LANES]) -> Self {
        Lanes(*lanes)
    }

    #[inline(always)]
    fn store(self, lanes: &mut [f32; LANES]) {
        *lanes = self.0;
    }

    #[inline(always)]
    fn multiply_add(mut self, x: f32, weight: Self) -> Self {
        for (sum, weight) in self.0.iter_mut().zip(weight.0) {
            *sum = if FUSED { x.mul_add(weight, *sum) } else { *sum + x * weight };
        }
        self
    }

    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(x, other)| *x += other);
        self
    }

    #[inline(always)]
    fn relu(mut self) -> Self {
        self.0.iter_mut().for_each(|x| *x = if *x > 0.0 { *x } else { 0.0 });
        self
    }

    /// Moves the sums to memory: otherwise their later use keeps the compiler from vectorising the loop that adds them up
    /// (131 k evaluations/s instead of 94 k, see docs/lab/speed.md).
    #[inline(always)]
    fn settle<T>(sums: T) -> T {
        std::hint::black_box(sums)
    }
}
