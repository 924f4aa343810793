//! The kernel in plain Rust, for all processors, and the reference in tests of the others.

use super::super::super::areas::{Area, LANES, of_shape};
use super::super::super::kernel::Lanes;
use super::tile::{
    Columns, Destination, Dot, Kernel, Numbers, Product, Quad, Sums, Weights, add_up_tile, finish_area, quantise_rows,
    to_byte,
};

pub(super) struct Portable;

impl Kernel for Portable {
    const MOST_ROWS: usize = 3;

    fn most_strips(_: usize) -> usize {
        1
    }

    fn add_up(product: &Product<'_>, area: &Area<'_>, sums: &mut [Sums]) {
        of_shape!(add_up, product, area, sums; 1 x 1, 2 x 1, 3 x 1);
    }

    fn finish(product: &Product<'_>, area: &Area<'_>, sums: &[Sums], to: &mut Destination<'_>) {
        finish_area::<Lanes>(product, area, sums, to);
    }

    fn quantise(columns: Columns<'_>, numbers: &[f32], bytes: &mut [u8]) {
        quantise_rows::<Lanes>(columns, numbers, bytes);
    }
}

fn add_up<const ROWS: usize, const STRIPS: usize>(product: &Product<'_>, area: &Area<'_>, sums: &mut [Sums]) {
    add_up_tile::<Sums, ROWS, STRIPS>(product, area, sums);
}

impl Dot for Sums {
    type Weights = Weights;

    #[inline(always)]
    fn weights(weights: &Weights) -> Weights {
        *weights
    }

    #[inline(always)]
    fn load(sums: &Sums) -> Self {
        *sums
    }

    #[inline(always)]
    fn store(self, sums: &mut Sums) {
        *sums = self;
    }

    /// In this form the compiler finds the instructions that multiply and add pairs.
    #[inline(always)]
    fn add_products(mut self, x: Quad, weights: Weights) -> Self {
        let x = x.map(i32::from);
        for (sum, weights) in self.0.iter_mut().zip(weights.0) {
            let w = weights.map(i32::from);
            *sum = sum.wrapping_add(x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3]);
        }
        self
    }
}

impl Numbers for Lanes {
    #[inline(always)]
    fn of_sums(sums: &Sums) -> Self {
        Lanes(sums.0.map(|sum| sum as f32))
    }

    #[inline(always)]
    fn multiply(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(x, other)| *x *= other);
        self
    }

    #[inline(always)]
    fn to_bytes(self) -> [u8; LANES] {
        self.0.map(to_byte)
    }
}
