//! The kernel for AVX2, and for AVX-VNNI, which has one instruction for three of AVX2's: a strip is two registers.
//!
//! The `unsafe` is measured in docs/lab/quantisation.md.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::super::super::areas::{Area, LANES, of_shape};
use super::super::super::kernel::Registers;
use super::tile::{
    Columns, Destination, Dot, Kernel, Numbers, Product, Quad, Sums, Weights, add_up_tile, finish_area, quantise_rows,
};
use super::weights::Centre;

pub(super) struct Avx2<const VNNI: bool>;

impl<const VNNI: bool> Kernel for Avx2<VNNI> {
    const MOST_ROWS: usize = 4;

    fn most_strips(rows: usize) -> usize {
        match rows {
            0..=1 => 4,
            2 => 2,
            _ => 1,
        }
    }

    fn add_up(product: &Product<'_>, area: &Area<'_>, sums: &mut [Sums]) {
        // SAFETY: the functions need nothing but AVX2 and AVX-VNNI, which `multiply` has checked.
        unsafe {
            if VNNI {
                of_shape!(add_up_vnni, product, area, sums; 1 x 1, 2 x 1, 3 x 1, 4 x 1, 1 x 2, 2 x 2, 1 x 4);
            } else {
                of_shape!(add_up, product, area, sums; 1 x 1, 2 x 1, 3 x 1, 4 x 1, 1 x 2, 2 x 2, 1 x 4);
            }
        }
    }

    fn finish(product: &Product<'_>, area: &Area<'_>, sums: &[Sums], to: &mut Destination<'_>) {
        // SAFETY: as for `quantise`.
        unsafe { finish(product, area, sums, to) }
    }

    fn quantise(columns: Columns<'_>, numbers: &[f32], bytes: &mut [u8]) {
        // SAFETY: the function needs nothing but AVX2, which `quantise` has checked.
        unsafe { quantise(columns, numbers, bytes) }
    }
}

#[target_feature(enable = "avx2")]
fn finish(product: &Product<'_>, area: &Area<'_>, sums: &[Sums], to: &mut Destination<'_>) {
    finish_area::<Registers>(product, area, sums, to);
}

#[target_feature(enable = "avx2")]
fn quantise(columns: Columns<'_>, numbers: &[f32], bytes: &mut [u8]) {
    quantise_rows::<Registers>(columns, numbers, bytes);
}

#[target_feature(enable = "avx2")]
fn add_up<const ROWS: usize, const STRIPS: usize>(product: &Product<'_>, area: &Area<'_>, sums: &mut [Sums]) {
    add_up_centred::<ROWS, STRIPS>(product, area, sums);
}

/// The sums of a tile, two quads at a time: see [`weights`](super::weights).
#[inline(always)]
fn add_up_centred<const ROWS: usize, const STRIPS: usize>(product: &Product<'_>, area: &Area<'_>, to: &mut [Sums]) {
    let Area { class, first_strip, .. } = *area;
    let &Product { x, stride, quads, weight, start, centres, neighbours, .. } = product;
    let (taps, pairs) = (neighbours.taps(), quads / 2);
    let places = area.places::<ROWS>(neighbours.points());
    let mut first = [halves(&start[first_strip].0); STRIPS];
    for s in 0..STRIPS {
        first[s] = halves(&start[first_strip + s].0);
        for (tap, _) in class.taps() {
            let centre = halves(&centres.sums[(first_strip + s) * taps + tap].0);
            for h in 0..2 {
                first[s][h] = first[s][h].add(centre[h]);
            }
        }
    }
    let mut sums = [first; ROWS];
    for (tap, sources) in class.taps() {
        let rows: [&[Quad]; ROWS] = std::array::from_fn(|r| {
            let (board, member) = places[r];
            &x[(board + sources[member] as usize) * stride..][..quads]
        });
        let of_tap = |s: usize| (first_strip + s) * taps + tap;
        let strips: [&[Weights]; STRIPS] = std::array::from_fn(|s| &weight[of_tap(s) * quads..][..quads]);
        let centres: [&[Centre]; STRIPS] = std::array::from_fn(|s| &centres.steps[of_tap(s) * pairs..][..pairs]);
        let (row_pairs, strip_pairs) =
            (rows.map(|row| row.as_chunks::<2>().0), strips.map(|strip| strip.as_chunks().0));
        for k in 0..pairs {
            for s in 0..STRIPS {
                let [first, second] = &strip_pairs[s][k];
                let (first, second, centre) = (halves(&first.0), halves(&second.0), halves(&centres[s][k].0));
                for r in 0..ROWS {
                    let x = &row_pairs[r][k];
                    for h in 0..2 {
                        let four = pairs_of(&x[0], first[h]).add_wrapping(pairs_of(&x[1], second[h]), centre[h]);
                        sums[r][s][h] = sums[r][s][h].add(four.widened());
                    }
                }
            }
        }
        if quads % 2 == 1 {
            for s in 0..STRIPS {
                let weights = halves(&strips[s][quads - 1].0);
                for r in 0..ROWS {
                    for h in 0..2 {
                        sums[r][s][h] = sums[r][s][h].add(pairs_of(&rows[r][quads - 1], weights[h]).widened());
                    }
                }
            }
        }
    }
    for s in 0..STRIPS {
        for r in 0..ROWS {
            let [low, high] = sums[r][s];
            IntegerRegisters(low.0, high.0).store(&mut to[s * ROWS + r]);
        }
    }
}

/// Half of a strip: the sums of eight outputs in 32 bits, or two for each in 16 bits.
#[derive(Clone, Copy)]
struct Half(__m256i);

/// The two halves of a strip.
#[inline(always)]
fn halves<T>(strip: &[T; LANES]) -> [Half; 2] {
    const { assert!(size_of::<T>() == 4) }
    let (low, high) = strip.split_at(8);
    // SAFETY: AVX2 is available, see `add_up`; either half is valid for a whole register, aligned or not.
    unsafe { [Half(_mm256_loadu_si256(low.as_ptr().cast())), Half(_mm256_loadu_si256(high.as_ptr().cast()))] }
}

/// The sums of two products in 16 bits, which do not saturate: see [`Weights`].
#[inline(always)]
fn pairs_of(x: &Quad, weights: Half) -> Half {
    // SAFETY: AVX2 is available, see `add_up`.
    unsafe { Half(_mm256_maddubs_epi16(_mm256_set1_epi32(i32::from_le_bytes(*x)), weights.0)) }
}

impl Half {
    #[inline(always)]
    fn add(self, other: Half) -> Half {
        // SAFETY: AVX2 is available, see `add_up`.
        unsafe { Half(_mm256_add_epi32(self.0, other.0)) }
    }

    /// `self + other - centre` in 16 bits.
    #[inline(always)]
    fn add_wrapping(self, other: Half, centre: Half) -> Half {
        // SAFETY: AVX2 is available, see `add_up`.
        unsafe { Half(_mm256_sub_epi16(_mm256_add_epi16(self.0, other.0), centre.0)) }
    }

    /// The sums of two numbers of 16 bits in 32 bits.
    #[inline(always)]
    fn widened(self) -> Half {
        // SAFETY: AVX2 is available, see `add_up`.
        unsafe { Half(_mm256_madd_epi16(self.0, _mm256_set1_epi16(1))) }
    }
}

#[target_feature(enable = "avx2,avxvnni")]
fn add_up_vnni<const ROWS: usize, const STRIPS: usize>(product: &Product<'_>, area: &Area<'_>, sums: &mut [Sums]) {
    add_up_tile::<IntegerRegisters, ROWS, STRIPS>(product, area, sums);
}

#[derive(Clone, Copy)]
struct IntegerRegisters(__m256i, __m256i);

// Used inside the functions above only, which are compiled for AVX2; `add_products` where AVX-VNNI is enabled too.
impl Dot for IntegerRegisters {
    type Weights = (__m256i, __m256i);

    #[inline(always)]
    fn weights(weights: &Weights) -> Self::Weights {
        let (low, high) = weights.0.split_at(8);
        // SAFETY: AVX2 is available, see above; either half of the weights is valid for a whole register, aligned or not.
        unsafe { (_mm256_loadu_si256(low.as_ptr().cast()), _mm256_loadu_si256(high.as_ptr().cast())) }
    }

    #[inline(always)]
    fn load(sums: &Sums) -> Self {
        let (low, high) = sums.0.split_at(8);
        // SAFETY: as for `weights`.
        unsafe { IntegerRegisters(_mm256_loadu_si256(low.as_ptr().cast()), _mm256_loadu_si256(high.as_ptr().cast())) }
    }

    #[inline(always)]
    fn store(self, sums: &mut Sums) {
        let (low, high) = sums.0.split_at_mut(8);
        // SAFETY: as for `weights`.
        unsafe {
            _mm256_storeu_si256(low.as_mut_ptr().cast(), self.0);
            _mm256_storeu_si256(high.as_mut_ptr().cast(), self.1);
        }
    }

    #[inline(always)]
    fn add_products(self, x: Quad, weights: Self::Weights) -> Self {
        // SAFETY: AVX2 and AVX-VNNI are available, see above.
        unsafe {
            let x = _mm256_set1_epi32(i32::from_le_bytes(x));
            IntegerRegisters(
                _mm256_dpbusd_avx_epi32(self.0, x, weights.0),
                _mm256_dpbusd_avx_epi32(self.1, x, weights.1),
            )
        }
    }
}

// Used inside the functions above only, which are compiled for AVX2.
impl Numbers for Registers {
    #[inline(always)]
    fn of_sums(sums: &Sums) -> Self {
        let sums = IntegerRegisters::load(sums);
        // SAFETY: AVX2 is available, see above.
        unsafe { Registers(_mm256_cvtepi32_ps(sums.0), _mm256_cvtepi32_ps(sums.1)) }
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        // SAFETY: AVX2 is available, see above.
        unsafe { Registers(_mm256_mul_ps(self.0, other.0), _mm256_mul_ps(self.1, other.1)) }
    }

    #[inline(always)]
    fn to_bytes(self) -> [u8; LANES] {
        let mut bytes = [0; LANES];
        // SAFETY: AVX2 is available, see above; the bytes are valid for a whole register, aligned or not.
        unsafe {
            // Of a NaN the minimum is the second operand, so it stays one. The conversion makes the least integer of it and of
            // numbers that are too small, and packing makes 0 of all that are negative.
            let most = _mm256_set1_ps(255.0);
            let low = _mm256_cvtps_epi32(_mm256_min_ps(most, self.0));
            let high = _mm256_cvtps_epi32(_mm256_min_ps(most, self.1));
            // Packing works on each half of the registers, so that its result is out of order: by fours.
            let packed = _mm256_packs_epi32(low, high);
            let halves = (_mm256_castsi256_si128(packed), _mm256_extracti128_si256::<1>(packed));
            let ordered = _mm_shuffle_epi32::<0b11_01_10_00>(_mm_packus_epi16(halves.0, halves.1));
            _mm_storeu_si128(bytes.as_mut_ptr().cast(), ordered);
        }
        bytes
    }
}
