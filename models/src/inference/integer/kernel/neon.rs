//! The kernel for NEON, and for its extensions by products of bytes: `sdot` (dotprod) and `usdot` (i8mm). A strip is four
//! registers.
//!
//! `sdot` takes signed bytes: the inputs less 128, and 128 times the sum of the weights is added once per tile. `smmla` (i8mm)
//! wants two rows in one register, which the order of rows and weights does not give.
//!
//! The `unsafe` buys what docs/lab/quantisation.md counts in instructions; it is not measured on such a processor.
#![allow(unsafe_code)]

use std::arch::aarch64::*;
use std::arch::asm;
use std::array::from_fn;

use super::super::super::areas::{Area, LANES};
use super::super::super::kernel::Quarters;
use super::tile::{
    Columns, Destination, Dot, Kernel, Numbers, Product, Quad, Sums, Weights, add_up_tile, finish_area, quantise_rows,
};

/// Instruction that multiplies bytes.
pub(super) trait Products {
    /// Adds the products of four inputs, in every lane of `x`, with the weights of four outputs.
    ///
    /// # Safety
    /// The processor has the instruction.
    unsafe fn add(sums: int32x4_t, x: u32, weights: int8x16_t) -> int32x4_t;

    /// Adds what the products of a tile lack.
    fn complete(_product: &Product<'_>, _area: &Area<'_>, _rows: usize, _sums: &mut [Sums]) {}
}

/// NEON alone: products in 16 bits, whose sums of two fit (see [`Weights`]).
pub(super) struct Plain;
/// `sdot`.
pub(super) struct Signed;
/// `usdot`.
pub(super) struct Mixed;

impl Products for Plain {
    #[inline(always)]
    unsafe fn add(sums: int32x4_t, x: u32, weights: int8x16_t) -> int32x4_t {
        // SAFETY: NEON is part of aarch64.
        unsafe {
            let x = vreinterpretq_s16_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(x))));
            let low = vmulq_s16(vmovl_s8(vget_low_s8(weights)), x);
            let high = vmulq_s16(vmovl_high_s8(weights), x);
            vpadalq_s16(sums, vpaddq_s16(low, high))
        }
    }
}

impl Products for Signed {
    #[inline(always)]
    unsafe fn add(mut sums: int32x4_t, x: u32, weights: int8x16_t) -> int32x4_t {
        const TOP_BITS: u32 = 0x8080_8080;
        // SAFETY: the caller has checked that the processor has `sdot`, which reads and writes these registers alone.
        unsafe {
            let x = vreinterpretq_s8_u32(vdupq_n_u32(x ^ TOP_BITS));
            asm!(".arch_extension dotprod", "sdot {sums:v}.4s, {x:v}.16b, {w:v}.16b", sums = inout(vreg) sums, x = in(vreg) x,
                w = in(vreg) weights, options(pure, nomem, nostack, preserves_flags));
        }
        sums
    }

    fn complete(product: &Product<'_>, area: &Area<'_>, rows: usize, sums: &mut [Sums]) {
        let &Product { quads, weight, neighbours, .. } = product;
        for (strip, sums) in (area.first_strip..).zip(sums.chunks_exact_mut(rows)) {
            let of_strip = &weight[strip * neighbours.taps() * quads..];
            let zero = Sum::<Plain>::load(&Sums([0; LANES]));
            let of_tap = |(tap, _)| &of_strip[tap * quads..][..quads];
            let weights = area.class.taps().flat_map(of_tap);
            // Twice 64 is 128, and the sums of two products fit 16 bits.
            let half = weights.fold(zero, |sum, w| sum.add_products([64; 4], Sum::<Plain>::weights(w)));
            let mut lacking = Sums([0; LANES]);
            half.store(&mut lacking);
            for sums in sums {
                sums.0.iter_mut().zip(lacking.0).for_each(|(sum, half)| *sum += 2 * half);
            }
        }
    }
}

impl Products for Mixed {
    #[inline(always)]
    unsafe fn add(mut sums: int32x4_t, x: u32, weights: int8x16_t) -> int32x4_t {
        // SAFETY: the caller has checked that the processor has `usdot`, which reads and writes these registers alone.
        unsafe {
            let x = vreinterpretq_u8_u32(vdupq_n_u32(x));
            asm!(".arch_extension i8mm", "usdot {sums:v}.4s, {x:v}.16b, {w:v}.16b", sums = inout(vreg) sums, x = in(vreg) x,
                w = in(vreg) weights, options(pure, nomem, nostack, preserves_flags));
        }
        sums
    }
}

pub(super) struct Neon<P>(P);

impl<P: Products> Kernel for Neon<P> {
    const MOST_ROWS: usize = 4;

    fn most_strips(rows: usize) -> usize {
        match rows {
            0..=1 => 4,
            2 => 2,
            _ => 1,
        }
    }

    fn add_up(product: &Product<'_>, area: &Area<'_>, sums: &mut [Sums]) {
        let add_up = match (area.rows, area.strips) {
            (1, 1) => add_up::<P, 1, 1>,
            (2, 1) => add_up::<P, 2, 1>,
            (3, 1) => add_up::<P, 3, 1>,
            (4, 1) => add_up::<P, 4, 1>,
            (1, 2) => add_up::<P, 1, 2>,
            (2, 2) => add_up::<P, 2, 2>,
            (1, 4) => add_up::<P, 1, 4>,
            (rows, strips) => unreachable!("no tile of {rows} x {strips}"),
        };
        add_up(product, area, sums);
    }

    fn finish(product: &Product<'_>, area: &Area<'_>, sums: &[Sums], to: &mut Destination<'_>) {
        finish_area::<Quarters>(product, area, sums, to);
    }

    fn quantise(columns: Columns<'_>, numbers: &[f32], bytes: &mut [u8]) {
        quantise_rows::<Quarters>(columns, numbers, bytes);
    }
}

fn add_up<P: Products, const ROWS: usize, const STRIPS: usize>(
    product: &Product<'_>,
    area: &Area<'_>,
    sums: &mut [Sums],
) {
    add_up_tile::<Sum<P>, ROWS, STRIPS>(product, area, sums);
    P::complete(product, area, ROWS, sums);
}

/// Sixteen sums, those of four outputs per register.
struct Sum<P>([int32x4_t; 4], std::marker::PhantomData<P>);

impl<P> Clone for Sum<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Sum<P> {}

impl<P: Products> Dot for Sum<P> {
    type Weights = [int8x16_t; 4];

    #[inline(always)]
    fn weights(weights: &Weights) -> Self::Weights {
        // SAFETY: NEON is part of aarch64; the weights of four outputs are sixteen bytes, aligned or not.
        from_fn(|i| unsafe { vld1q_s8(weights.0[4 * i..][..4].as_ptr().cast()) })
    }

    #[inline(always)]
    fn load(sums: &Sums) -> Self {
        // SAFETY: NEON is part of aarch64; four sums are valid for a whole register, aligned or not.
        Sum(from_fn(|i| unsafe { vld1q_s32(sums.0[4 * i..][..4].as_ptr()) }), std::marker::PhantomData)
    }

    #[inline(always)]
    fn store(self, sums: &mut Sums) {
        for (to, sum) in sums.0.as_chunks_mut::<4>().0.iter_mut().zip(self.0) {
            // SAFETY: as for `load`.
            unsafe { vst1q_s32(to.as_mut_ptr(), sum) }
        }
    }

    #[inline(always)]
    fn add_products(self, x: Quad, weights: Self::Weights) -> Self {
        let x = u32::from_le_bytes(x);
        // SAFETY: `multiply` has checked that the processor has the instructions.
        Sum(from_fn(|i| unsafe { P::add(self.0[i], x, weights[i]) }), std::marker::PhantomData)
    }
}

impl Numbers for Quarters {
    #[inline(always)]
    fn of_sums(sums: &Sums) -> Self {
        let sums = Sum::<Plain>::load(sums).0;
        // SAFETY: NEON is part of aarch64.
        Quarters(sums.map(|sum| unsafe { vcvtq_f32_s32(sum) }))
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        // SAFETY: NEON is part of aarch64.
        Quarters(from_fn(|i| unsafe { vmulq_f32(self.0[i], other.0[i]) }))
    }

    /// The conversion rounds ties to even, makes 0 of a NaN and the nearest integer of what is out of range; narrowing makes 0
    /// of what is negative and 255 of what is greater.
    #[inline(always)]
    fn to_bytes(self) -> [u8; LANES] {
        let mut bytes = [0; LANES];
        // SAFETY: NEON is part of aarch64; the bytes are valid for a whole register, aligned or not.
        unsafe {
            let [a, b, c, d] = self.0.map(|x| vqmovun_s32(vcvtnq_s32_f32(x)));
            let (low, high) = (vqmovn_u16(vcombine_u16(a, b)), vqmovn_u16(vcombine_u16(c, d)));
            vst1q_u8(bytes.as_mut_ptr(), vcombine_u8(low, high));
        }
        bytes
    }
}
