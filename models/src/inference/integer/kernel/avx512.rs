//! The kernel for AVX-512 VNNI: a strip is one register, up to 24 of the 32 registers hold sums.
//!
//! The `unsafe` is measured in docs/lab/quantisation.md.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::super::super::areas::{Area, LANES, of_shape};
use super::super::super::kernel::{Register, Vector};
use super::tile::{
    Columns, Destination, Dot, Kernel, Numbers, Product, Quad, Sums, Weights, add_up_tile, finish_area, quantise_rows,
};

pub(super) struct Avx512;

impl Kernel for Avx512 {
    const MOST_ROWS: usize = 6;

    fn most_strips(rows: usize) -> usize {
        match rows {
            0..=3 => 8,
            _ => 4,
        }
    }

    fn add_up(product: &Product<'_>, area: &Area<'_>, sums: &mut [Sums]) {
        // SAFETY: the function needs nothing but AVX-512 F, BW, VL and VNNI, which `multiply` has checked.
        unsafe {
            of_shape!(add_up, product, area, sums;
                1 x 1, 2 x 1, 3 x 1, 4 x 1, 5 x 1, 6 x 1,
                1 x 2, 2 x 2, 3 x 2, 4 x 2, 5 x 2, 6 x 2,
                1 x 4, 2 x 4, 3 x 4, 4 x 4, 5 x 4, 6 x 4,
                1 x 8, 2 x 8, 3 x 8,
            );
        }
    }

    fn finish(product: &Product<'_>, area: &Area<'_>, sums: &[Sums], to: &mut Destination<'_>) {
        // SAFETY: as for `quantise`.
        unsafe { finish(product, area, sums, to) }
    }

    fn quantise(columns: Columns<'_>, numbers: &[f32], bytes: &mut [u8]) {
        // SAFETY: the function needs nothing but AVX-512 F, BW and VL, which `quantise` has checked.
        unsafe { quantise(columns, numbers, bytes) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn finish(product: &Product<'_>, area: &Area<'_>, sums: &[Sums], to: &mut Destination<'_>) {
    finish_area::<Register>(product, area, sums, to);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn quantise(columns: Columns<'_>, numbers: &[f32], bytes: &mut [u8]) {
    quantise_rows::<Register>(columns, numbers, bytes);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn add_up<const ROWS: usize, const STRIPS: usize>(product: &Product<'_>, area: &Area<'_>, sums: &mut [Sums]) {
    add_up_tile::<IntegerRegister, ROWS, STRIPS>(product, area, sums);
}

#[derive(Clone, Copy)]
struct IntegerRegister(__m512i);

// Used inside the functions above only, which are compiled for AVX-512.
impl Dot for IntegerRegister {
    type Weights = __m512i;

    #[inline(always)]
    fn weights(weights: &Weights) -> __m512i {
        // SAFETY: AVX-512F is available, see above; a reference to weights is valid for a whole register.
        unsafe { _mm512_loadu_si512(weights.0.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load(sums: &Sums) -> Self {
        // SAFETY: as for `weights`.
        IntegerRegister(unsafe { _mm512_loadu_si512(sums.0.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, sums: &mut Sums) {
        // SAFETY: as for `weights`.
        unsafe { _mm512_storeu_si512(sums.0.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn add_products(self, x: Quad, weights: __m512i) -> Self {
        // SAFETY: AVX-512 VNNI is available, see above.
        IntegerRegister(unsafe { _mm512_dpbusd_epi32(self.0, _mm512_set1_epi32(i32::from_le_bytes(x)), weights) })
    }
}

// As for `IntegerRegister`.
impl Numbers for Register {
    #[inline(always)]
    fn of_sums(sums: &Sums) -> Self {
        // SAFETY: AVX-512F is available, see above; a reference to sums is valid for a whole register.
        Register(unsafe { _mm512_cvtepi32_ps(_mm512_loadu_si512(sums.0.as_ptr().cast())) })
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        // SAFETY: AVX-512F is available, see above.
        Register(unsafe { _mm512_mul_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn to_bytes(self) -> [u8; LANES] {
        let mut bytes = [0; LANES];
        // SAFETY: AVX-512F is available, see above; the bytes are valid for a whole register, aligned or not.
        unsafe {
            // Numbers beyond 32 bits become 2^31, which is limited to 255 as the others are.
            let integers = _mm512_cvtps_epi32(self.relu().0);
            _mm_storeu_si128(bytes.as_mut_ptr().cast(), _mm512_cvtusepi32_epi8(integers));
        }
        bytes
    }
}
