//! The kernel in plain Rust, for all processors, and what the others are tested against.

use super::super::super::areas::{Area, LANES, of_shape};
use super::tile::{
    Columns, Destination, Dot, Kernel, Product, Quad, Sums, Weights, add_up_tile, finish_area, quantise_rows,
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
        finish_area(product, area, sums, to);
    }

    fn quantise(columns: Columns<'_>, numbers: &[f32], bytes: &mut [u8]) {
        quantise_rows(columns, numbers, bytes);
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

    #[inline(always)]
    fn add_products(mut self, x: Quad, weights: Weights) -> Self {
        let x = x.map(i16::from);
        for i in 0..LANES {
            let w = weights.0[i].map(i16::from);
            // Two products fit 16 bits, see `Weights`.
            let pairs = [x[0] * w[0] + x[1] * w[1], x[2] * w[2] + x[3] * w[3]].map(i32::from);
            self.0[i] = self.0[i].wrapping_add(pairs[0] + pairs[1]);
        }
        self
    }
}
