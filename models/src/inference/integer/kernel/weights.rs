//! Weights of eight bits in the order in which kernels read them, and the centres of the sums of their products.
//!
//! AVX2 multiplies bytes to sums of two products in 16 bits and widens those by a second multiplication. Two weights share
//! 128 units, so the sum of four products lies between 255 times the sum of the negative weights and 255 times the sum of
//! the positive ones, which differ by 256 at most. Those are fewer than 2^16 values: modulo 2^16, the difference to the
//! middle between both limits is exact, and one widening does for eight inputs. What the middles add up to is known
//! beforehand.

use super::super::super::areas::LANES;

/// Number of inputs that one step of a kernel reads from each row.
pub(crate) const QUAD: usize = 4;

/// Four inputs of a row.
pub(crate) type Quad = [u8; QUAD];

/// Weights of the sixteen outputs of a strip for four inputs.
///
/// The magnitudes of two weights for neighbouring inputs (the first two, and the last two) add up to 128 at most, so that
/// the sum of their products with two bytes fits 16 bits.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(crate) struct Weights(pub(crate) [[i8; QUAD]; LANES]);

/// The sums of a strip.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(crate) struct Sums(pub(crate) [i32; LANES]);

/// The middle between the limits of the sums of four products: of the first halves and of the second halves of two quads.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(crate) struct Centre(pub(super) [[i16; 2]; LANES]);

impl Centre {
    fn new([first, second]: &[Weights; 2]) -> Centre {
        let middle = |lane: usize, half: usize| {
            let inputs = half * QUAD / 2..(half + 1) * QUAD / 2;
            let weights = first.0[lane][inputs.clone()].iter().chain(&second.0[lane][inputs]);
            let sum: i16 = weights.map(|&weight| i16::from(weight)).sum();
            // (255 * positive + 255 * negative) / 2, at most 255 * 128.
            (255 * i32::from(sum) / 2) as i16
        };
        Centre(std::array::from_fn(|lane| [0, 1].map(|half| middle(lane, half))))
    }
}

/// The centres of a layer's weights.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Centres {
    /// `[strips, taps, quads / 2]`, of two quads that follow each other.
    pub(super) steps: Vec<Centre>,
    /// `[strips, taps]`, the sum of the centres of a tap.
    pub(super) sums: Vec<Sums>,
}

impl Centres {
    /// Of `weight [strips, taps, quads]`.
    pub(crate) fn new(weight: &[Weights], quads: usize) -> Centres {
        let of_tap = |weight: &[Weights]| weight.as_chunks().0.iter().map(Centre::new).collect::<Vec<_>>();
        let taps: Vec<Vec<Centre>> = weight.chunks_exact(quads).map(of_tap).collect();
        let sum = |lane: usize, steps: &[Centre]| steps.iter().flat_map(|centre| centre.0[lane]).map(i32::from).sum();
        let sums = taps.iter().map(|steps| Sums(std::array::from_fn(|lane| sum(lane, steps)))).collect();
        Centres { steps: taps.concat(), sums }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two quads of a strip with the same weights in all lanes.
    fn quads(first: [i8; QUAD], second: [i8; QUAD]) -> [Weights; 2] {
        [first, second].map(|weights| Weights([weights; LANES]))
    }

    #[test]
    fn a_centre_is_the_middle_of_the_sums_that_can_occur() {
        let centre = Centre::new(&quads([127, 1, -64, 64], [127, 1, -64, -64]));
        // 0 to 255 * 256, and 255 * -192 to 255 * 64.
        assert_eq!(centre.0, [[32640, -16320]; LANES]);
    }

    #[test]
    fn no_sum_is_further_from_its_centre_than_fits_16_bits() {
        let pairs = [[127, 1], [1, 127], [64, 64], [127, 0], [90, 37]]
            .map(|[a, b]: [i32; 2]| [[a, b], [-a, b], [a, -b], [-a, -b]]);
        for [first, second] in
            pairs.as_flattened().iter().flat_map(|a| pairs.as_flattened().iter().map(move |b| [a, b]))
        {
            let [a, b] = [first, second].map(|pair| pair.map(|w| w as i8));
            let middle = i32::from(Centre::new(&quads([a[0], a[1], 0, 0], [b[0], b[1], 0, 0])).0[0][0]);
            let of_sign = |sign: i32| [first, second].into_iter().flatten().filter(|w| **w * sign > 0).sum::<i32>();
            assert!(255 * of_sign(1) - middle <= i32::from(i16::MAX), "{first:?} {second:?}");
            assert!(255 * of_sign(-1) - middle >= i32::from(i16::MIN), "{first:?} {second:?}");
        }
    }

    #[test]
    fn the_centres_of_a_tap_are_added_up() {
        let [first, second] = quads([127, 1, 2, 0], [127, 1, 0, 2]);
        // Two taps of three quads; the third of each has no partner.
        let weight = [first, second, first, second, second, first];
        let centres = Centres::new(&weight, 3);
        assert_eq!(centres.steps.len(), 2);
        assert_eq!(centres.sums, [Sums([32640 + 510; LANES]); 2]);
    }
}
