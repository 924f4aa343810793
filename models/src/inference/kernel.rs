//! Matrix products over rows of a table of neighbours, for five instruction sets.
//!
//! A product is computed in tiles. Every output is the same chain of multiply-adds, from the bias over taps and inputs in
//! order, in every tile: the result for a row depends neither on the other rows nor on their number.

mod tile;
mod outer;
mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_feature = "simd128")]
mod simd128;

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Registers;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Register;
#[cfg(target_arch = "aarch64")]
pub(super) use neon::Quarters;
pub(super) use outer::OuterProducts;
#[cfg(any(test, not(target_feature = "simd128")))]
use portable::Tiles as OtherTiles;
#[cfg(target_feature = "simd128")]
pub(super) use simd128::Quarters;
// With the same bits: a module for WebAssembly is smaller with one kernel.
#[cfg(all(not(test), target_feature = "simd128"))]
use simd128::Tiles as OtherTiles;
pub use tile::Finish;
pub(super) use tile::{Lanes, Product, Vector};

use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering};

use self::tile::Tiles;
use super::areas::{Extent, LANES, for_each_area, of_next_tile};

/// The instruction sets with a kernel, best first.
///
/// The first three give bit-identical results. The others round between multiplication and addition, the portable kernel
/// unless the target of the compiler has fused multiply-adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// x86-64 with AVX-512F: tiles of up to 6 x 64.
    Avx512,
    /// x86-64 with AVX2 and FMA: tiles of up to 6 x 16.
    Avx2,
    /// aarch64, of which NEON is part: tiles of up to 6 x 16.
    Neon,
    /// WebAssembly with `simd128`, which is chosen at compile time: tiles of up to 3 x 16.
    Simd128,
    /// Plain Rust, vectorised by the compiler for its target.
    Portable,
}

/// The best instructions that [`Instructions::limit`] has left.
static MOST: AtomicU8 = AtomicU8::new(Instructions::Avx512 as u8);

impl Instructions {
    /// The instruction sets that this processor has, best first.
    pub fn available() -> impl Iterator<Item = Instructions> {
        use Instructions::{Avx2, Avx512, Neon, Portable, Simd128};
        [Avx512, Avx2, Neon, Simd128, Portable].into_iter().filter(|instructions| instructions.is_available())
    }

    /// The best instruction set that this processor has.
    pub fn best() -> Instructions {
        Self::available().next().expect("the portable kernel is always available")
    }

    /// Lets this process use no better instructions than these from here on, and for integers no extension of them: AVX2
    /// without VNNI, NEON without dotprod. To measure what another processor would do; call it before any network is made.
    pub fn limit(self) {
        MOST.store(self as u8, Ordering::Relaxed);
    }

    /// Whether no [limit](Self::limit) excludes these instructions.
    pub(crate) fn is_within_limit(self) -> bool {
        self as u8 >= MOST.load(Ordering::Relaxed)
    }

    /// Whether this processor has the instructions, and no [limit](Self::limit) excludes them.
    pub fn is_available(self) -> bool {
        self.is_within_limit() && self.is_detected()
    }

    fn is_detected(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(not(target_arch = "x86_64"))]
            Instructions::Avx512 | Instructions::Avx2 => false,
            Instructions::Neon => cfg!(target_arch = "aarch64"),
            Instructions::Simd128 => cfg!(target_feature = "simd128"),
            Instructions::Portable => true,
        }
    }
}

impl FromStr for Instructions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        use Instructions::{Avx2, Avx512, Neon, Portable, Simd128};
        let all = [Avx512, Avx2, Neon, Simd128, Portable];
        let found = all.into_iter().find(|instructions| format!("{instructions:?}").eq_ignore_ascii_case(text));
        found.ok_or_else(|| format!("instructions must be avx512, avx2, neon, simd128 or portable, not `{text}`"))
    }
}

/// Computes a product.
///
/// # Panics
/// If the processor does not have the instructions, or the length of a buffer is wrong.
pub(super) fn multiply(instructions: Instructions, product: &Product<'_>, boards: usize, y: &mut [f32]) {
    let &Product { x, weight, bias, inputs, outputs, neighbours, .. } = product;
    let rows = boards * neighbours.points();
    assert!(instructions.is_available(), "this processor has no {instructions:?}");
    assert!(x.len() == rows * inputs && y.len() == rows * outputs, "{rows} rows of {inputs} and {outputs} numbers");
    assert_eq!(bias.len(), outputs.div_ceil(LANES));
    assert_eq!(weight.len(), bias.len() * neighbours.taps() * inputs);
    match instructions {
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => over_tiles::<avx512::Tiles>(product, boards, y),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => over_tiles::<avx2::Tiles>(product, boards, y),
        #[cfg(target_arch = "aarch64")]
        Instructions::Neon => over_tiles::<neon::Tiles>(product, boards, y),
        #[cfg(target_feature = "simd128")]
        Instructions::Simd128 => over_tiles::<simd128::Tiles>(product, boards, y),
        _ => over_tiles::<OtherTiles>(product, boards, y),
    }
}

/// Adds the sums of outer products to the gradient `dw [inputs, outputs]` of a tap's weights.
///
/// # Panics
/// If the processor does not have the instructions, or the length of a buffer is wrong.
pub(super) fn add_outer_products(
    instructions: Instructions,
    products: &OuterProducts<'_>,
    boards: usize,
    dw: &mut [f32],
) {
    let &OuterProducts { x, dy, inputs, outputs, points, .. } = products;
    let rows = boards * points;
    assert!(instructions.is_available(), "this processor has no {instructions:?}");
    assert!(x.len() == rows * inputs && dy.len() == rows * outputs, "{rows} rows of {inputs} and {outputs} numbers");
    assert_eq!(dw.len(), inputs * outputs);
    match instructions {
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => outer::over_tiles::<avx512::Tiles>(products, boards, dw),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => outer::over_tiles::<avx2::Tiles>(products, boards, dw),
        #[cfg(target_arch = "aarch64")]
        Instructions::Neon => outer::over_tiles::<neon::Tiles>(products, boards, dw),
        _ => outer::over_tiles::<portable::Tiles>(products, boards, dw),
    }
}

/// Number of inputs that stay in the cache while all strips are computed.
const NEAR: usize = 12 * 1024;

/// Computes a product tile by tile.
fn over_tiles<T: Tiles>(product: &Product<'_>, boards: usize, y: &mut [f32]) {
    let &Product { neighbours, inputs, bias, .. } = product;
    let near = NEAR / (neighbours.points() * inputs);
    let extent = Extent { neighbours, boards, strips: bias.len(), near, most_rows: T::MOST_ROWS };
    let strips = |rows: usize, left: usize| of_next_tile(T::most_strips(rows), left);
    for_each_area(&extent, strips, |area| T::compute(product, area, y));
}

#[cfg(test)]
mod tests;
