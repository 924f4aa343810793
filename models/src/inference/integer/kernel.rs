//! Exact matrix products of unsigned activations and signed weights of eight bits, for several instruction sets.
//!
//! Every kernel returns the same bits: sums of integers do not depend on their order, and the few operations on floats
//! after them are written once, in [`tile`], without fused multiply-adds.

#![cfg_attr(
    all(not(test), target_feature = "simd128"),
    allow(dead_code, reason = "a module for WebAssembly is smaller without the portable kernel")
)]

mod weights;
mod tile;
mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_feature = "simd128")]
mod simd128;

#[cfg(any(test, not(target_feature = "simd128")))]
use portable::Portable;
#[cfg(all(not(test), target_feature = "simd128"))]
use simd128::Simd128 as Portable;
pub(crate) use tile::Destination;
pub(super) use tile::{Columns, Conversion, Product};
pub(crate) use weights::QUAD;
pub(super) use weights::{Centres, Sums, Weights};

use self::tile::{Kernel, MOST_SUMS};
use super::super::areas::{Area, Extent, LANES, for_each_area, of_next_tile};
use super::super::kernel::Instructions;

/// The instruction sets with a kernel for integers, best first. All give bit-identical results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerInstructions {
    /// x86-64 with AVX-512 VNNI: 64 multiply-adds per instruction.
    Avx512Vnni,
    /// x86-64 with AVX-VNNI: 32 multiply-adds per instruction.
    AvxVnni,
    /// x86-64 with AVX2: 64 multiply-adds in six instructions, three of them multiplications.
    Avx2,
    /// aarch64 with the extension i8mm: `usdot`, 16 multiply-adds per instruction.
    NeonI8mm,
    /// aarch64 with the extension dotprod: `sdot`, 16 multiply-adds per instruction.
    NeonDot,
    /// aarch64, of which NEON is part: 16 multiply-adds in four instructions.
    Neon,
    /// WebAssembly with `simd128`, which is chosen at compile time: 8 multiply-adds per instruction, which adds pairs.
    Simd128,
    /// Plain Rust, vectorised by the compiler for its target.
    Portable,
}

impl IntegerInstructions {
    /// The instruction sets that this processor has, best first.
    pub fn available() -> impl Iterator<Item = IntegerInstructions> {
        use IntegerInstructions::{Avx2, Avx512Vnni, AvxVnni, Neon, NeonDot, NeonI8mm, Portable, Simd128};
        [Avx512Vnni, AvxVnni, Avx2, NeonI8mm, NeonDot, Neon, Simd128, Portable]
            .into_iter()
            .filter(|instructions| instructions.is_available())
    }

    /// The best instruction set that this processor has.
    pub fn best() -> IntegerInstructions {
        Self::available().next().expect("the portable kernel is always available")
    }

    /// Whether this processor has the instructions, and no [limit](Instructions::limit) excludes them.
    pub fn is_available(self) -> bool {
        let least = match self {
            IntegerInstructions::Avx2 => Instructions::Avx2,
            IntegerInstructions::Neon => Instructions::Neon,
            IntegerInstructions::Simd128 => Instructions::Simd128,
            IntegerInstructions::Portable => Instructions::Portable,
            _ => Instructions::Avx512,
        };
        least.is_within_limit() && self.is_detected()
    }

    fn is_detected(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            IntegerInstructions::Avx512Vnni => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vnni")
            }
            #[cfg(target_arch = "x86_64")]
            IntegerInstructions::AvxVnni => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("avxvnni"),
            #[cfg(target_arch = "x86_64")]
            IntegerInstructions::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(not(target_arch = "x86_64"))]
            IntegerInstructions::Avx512Vnni | IntegerInstructions::AvxVnni | IntegerInstructions::Avx2 => false,
            #[cfg(target_arch = "aarch64")]
            IntegerInstructions::NeonI8mm => std::arch::is_aarch64_feature_detected!("i8mm"),
            #[cfg(target_arch = "aarch64")]
            IntegerInstructions::NeonDot => std::arch::is_aarch64_feature_detected!("dotprod"),
            #[cfg(not(target_arch = "aarch64"))]
            IntegerInstructions::NeonI8mm | IntegerInstructions::NeonDot => false,
            IntegerInstructions::Neon => cfg!(target_arch = "aarch64"),
            IntegerInstructions::Simd128 => cfg!(target_feature = "simd128"),
            IntegerInstructions::Portable => true,
        }
    }
}

/// Number of input bytes that stay in the cache while all strips are computed.
const NEAR: usize = 12 * 1024;

/// Computes a product.
///
/// # Panics
/// If the processor does not have the instructions, or the length of a buffer is wrong.
pub(super) fn multiply(
    instructions: IntegerInstructions,
    product: &Product<'_>,
    boards: usize,
    to: &mut Destination<'_>,
) {
    let rows = boards * product.neighbours.points();
    let strips = product.start.len();
    assert!(instructions.is_available(), "this processor has no {instructions:?}");
    assert_eq!(product.x.len(), rows * product.stride, "{rows} rows of {} quads", product.stride);
    assert_eq!(product.weight.len(), strips * product.neighbours.taps() * product.quads);
    assert!(product.quads <= product.stride && product.conversion.len() == strips);
    to.check(rows, product.outputs, strips);
    match instructions {
        #[cfg(target_arch = "x86_64")]
        IntegerInstructions::Avx512Vnni => over_tiles::<avx512::Avx512>(product, boards, to),
        #[cfg(target_arch = "x86_64")]
        IntegerInstructions::AvxVnni => over_tiles::<avx2::Avx2<true>>(product, boards, to),
        #[cfg(target_arch = "x86_64")]
        IntegerInstructions::Avx2 => over_tiles::<avx2::Avx2<false>>(product, boards, to),
        #[cfg(target_arch = "aarch64")]
        IntegerInstructions::NeonI8mm => over_tiles::<neon::Neon<neon::Mixed>>(product, boards, to),
        #[cfg(target_arch = "aarch64")]
        IntegerInstructions::NeonDot => over_tiles::<neon::Neon<neon::Signed>>(product, boards, to),
        #[cfg(target_arch = "aarch64")]
        IntegerInstructions::Neon => over_tiles::<neon::Neon<neon::Plain>>(product, boards, to),
        #[cfg(target_feature = "simd128")]
        IntegerInstructions::Simd128 => over_tiles::<simd128::Simd128>(product, boards, to),
        _ => over_tiles::<Portable>(product, boards, to),
    }
}

/// Quantises rows of numbers into rows of whole strips of bytes; those beyond the last column are 0.
///
/// # Panics
/// If the processor does not have the instructions, or the length of a buffer is wrong.
pub(super) fn quantise(instructions: IntegerInstructions, columns: Columns<'_>, numbers: &[f32], bytes: &mut [u8]) {
    let rows = numbers.len() / columns.width;
    assert!(instructions.is_available(), "this processor has no {instructions:?}");
    assert_eq!(numbers.len(), rows * columns.width, "rows of {} numbers", columns.width);
    assert_eq!(bytes.len(), rows * columns.inverse.len() * LANES, "{rows} rows of bytes");
    assert!(columns.zero.len() == columns.inverse.len() && columns.inverse.len() == columns.width.div_ceil(LANES));
    match instructions {
        #[cfg(target_arch = "x86_64")]
        IntegerInstructions::Avx512Vnni => avx512::Avx512::quantise(columns, numbers, bytes),
        #[cfg(target_arch = "x86_64")]
        IntegerInstructions::AvxVnni | IntegerInstructions::Avx2 => {
            avx2::Avx2::<false>::quantise(columns, numbers, bytes);
        }
        #[cfg(target_arch = "aarch64")]
        IntegerInstructions::NeonI8mm | IntegerInstructions::NeonDot | IntegerInstructions::Neon => {
            neon::Neon::<neon::Plain>::quantise(columns, numbers, bytes);
        }
        #[cfg(target_feature = "simd128")]
        IntegerInstructions::Simd128 => simd128::Simd128::quantise(columns, numbers, bytes),
        _ => Portable::quantise(columns, numbers, bytes),
    }
}

/// Number of bytes of weights that stay in the cache while all rows are computed.
const NEAR_WEIGHTS: usize = 16 * 1024;

/// Computes a product tile by tile.
fn over_tiles<K: Kernel>(product: &Product<'_>, boards: usize, to: &mut Destination<'_>) {
    let &Product { neighbours, stride, start, .. } = product;
    let near = NEAR / (neighbours.points() * stride * QUAD);
    let extent = Extent { neighbours, boards, strips: start.len(), near, most_rows: K::MOST_ROWS };
    let mut sums = [Sums([0; LANES]); MOST_SUMS];
    // Strips whose weights stay in the cache are converted together: what is done for each row is done less often.
    let near_strips = NEAR_WEIGHTS / (size_of::<Weights>() * neighbours.taps() * product.quads);
    let strips = |rows: usize, left: usize| left.min(K::most_strips(rows).max(near_strips.min(MOST_SUMS / rows)));
    for_each_area(&extent, strips, |area| {
        let (mut first, all) = (0, area.strips);
        while first < all {
            let strips = of_next_tile(K::most_strips(area.rows), all - first);
            let tile = Area { first_strip: area.first_strip + first, strips, ..*area };
            K::add_up(product, &tile, &mut sums[first * area.rows..][..strips * area.rows]);
            first += strips;
        }
        K::finish(product, area, &sums[..all * area.rows], to);
    });
}

#[cfg(test)]
mod tests;
