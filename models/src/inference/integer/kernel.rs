//! Exact matrix products of unsigned activations and signed weights of eight bits, for four instruction sets.
//!
//! Every kernel returns the same bits: sums of integers do not depend on their order, and the few operations on floats
//! after them are written once, in [`tile`], without fused multiply-adds.

mod tile;
mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

pub(super) use tile::{Columns, Conversion, Product, Sums, Weights};
pub(crate) use tile::{Destination, QUAD};

use self::tile::{Kernel, MOST_SUMS};
use super::super::areas::{Extent, LANES, for_each_area};

/// The instruction sets with a kernel for integers, best first. All give bit-identical results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerInstructions {
    /// x86-64 with AVX-512 VNNI: 64 multiply-adds per instruction.
    Avx512Vnni,
    /// x86-64 with AVX-VNNI: 32 multiply-adds per instruction.
    AvxVnni,
    /// x86-64 with AVX2: 32 multiply-adds in three instructions.
    Avx2,
    /// Plain Rust, vectorised by the compiler for its target.
    Portable,
}

impl IntegerInstructions {
    /// The instruction sets that this processor has, best first.
    pub fn available() -> impl Iterator<Item = IntegerInstructions> {
        use IntegerInstructions::{Avx2, Avx512Vnni, AvxVnni, Portable};
        [Avx512Vnni, AvxVnni, Avx2, Portable].into_iter().filter(|instructions| instructions.is_available())
    }

    /// The best instruction set that this processor has.
    pub fn best() -> IntegerInstructions {
        Self::available().next().expect("the portable kernel is always available")
    }

    /// Whether this processor has the instructions.
    pub fn is_available(self) -> bool {
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
        _ => over_tiles::<portable::Portable>(product, boards, to),
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
        _ => portable::Portable::quantise(columns, numbers, bytes),
    }
}

/// Computes a product tile by tile.
fn over_tiles<K: Kernel>(product: &Product<'_>, boards: usize, to: &mut Destination<'_>) {
    let &Product { neighbours, stride, start, .. } = product;
    let near = NEAR / (neighbours.points() * stride * QUAD);
    let extent = Extent { neighbours, boards, strips: start.len(), near, most_rows: K::MOST_ROWS };
    let mut sums = [Sums([0; LANES]); MOST_SUMS];
    for_each_area(&extent, K::most_strips, |area| {
        let sums = &mut sums[..area.rows * area.strips];
        K::add_up(product, area, sums);
        K::finish(product, area, sums, to);
    });
}

#[cfg(test)]
mod tests;
