//! The kernel in plain Rust, for all processors, and what the others are tested against.

use super::super::super::areas::{Area, LANES, of_shape};
use super::tile::{
    Columns, Destination, Dot, Floats, Kernel, Numbers, Product, Quad, Sums, Weights, add_up_tile, finish_area,
    quantise_rows, to_byte,
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
        finish_area::<Floats>(product, area, sums, to);
    }

    fn quantise(columns: Columns<'_>, numbers: &[f32], bytes: &mut [u8]) {
        quantise_rows::<Floats>(columns, numbers, bytes);
    }
}

fn add_up<const ROWS: usize, const STRIPS: usize>(product: &Product<'_>, area: &Area<'_>, sums: &mut [Sums]) {
    add_up_tile::<Halves, ROWS, STRIPS>(product, area, sums);
}

/// Two sums for each output, of the first and the last two inputs of all quads, so that the loop over them is the same for
/// all lanes.
#[derive(Clone, Copy)]
struct Halves([i32; 2 * LANES]);

/// The weights of the first and of the second input of each half.
#[derive(Clone, Copy)]
struct Words {
    first: [i16; 2 * LANES],
    second: [i16; 2 * LANES],
}

impl Dot for Halves {
    type Weights = Words;

    #[inline(always)]
    fn weights(weights: &Weights) -> Words {
        let mut words = Words { first: [0; 2 * LANES], second: [0; 2 * LANES] };
        let pairs = weights.0.as_flattened().as_chunks::<2>().0;
        for i in 0..2 * LANES {
            words.first[i] = i16::from(pairs[i][0]);
            words.second[i] = i16::from(pairs[i][1]);
        }
        words
    }

    #[inline(always)]
    fn load(sums: &Sums) -> Self {
        let mut halves = [0; 2 * LANES];
        for i in 0..LANES {
            halves[2 * i] = sums.0[i];
        }
        Halves(halves)
    }

    #[inline(always)]
    fn store(self, sums: &mut Sums) {
        for i in 0..LANES {
            sums.0[i] = self.0[2 * i].wrapping_add(self.0[2 * i + 1]);
        }
    }

    #[inline(always)]
    fn add_products(mut self, x: Quad, weights: Words) -> Self {
        let x = x.map(i16::from);
        let [first, second] = [[x[0], x[2]], [x[1], x[3]]];
        for i in 0..2 * LANES {
            // Two products fit 16 bits, see `Weights`.
            let products =
                weights.first[i].wrapping_mul(first[i % 2]).wrapping_add(weights.second[i].wrapping_mul(second[i % 2]));
            self.0[i] = self.0[i].wrapping_add(i32::from(products));
        }
        self
    }
}

impl Numbers for Floats {
    #[inline(always)]
    fn load(numbers: &[f32; LANES]) -> Self {
        Floats(*numbers)
    }

    #[inline(always)]
    fn store(self, numbers: &mut [f32; LANES]) {
        *numbers = self.0;
    }

    #[inline(always)]
    fn of_sums(sums: &Sums) -> Self {
        Floats(sums.0.map(|sum| sum as f32))
    }

    #[inline(always)]
    fn multiply(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(x, other)| *x *= other);
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

    #[inline(always)]
    fn to_bytes(self) -> [u8; LANES] {
        self.0.map(to_byte)
    }
}
