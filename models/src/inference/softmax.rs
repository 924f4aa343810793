//! Logits to probabilities.

/// Turns logits into probabilities in place. The priors of a position are those of the logits of its legal actions.
pub fn softmax(logits: &mut [f32]) {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for x in logits.iter_mut() {
        *x = exp(*x - largest);
        sum += *x;
    }
    let scale = 1.0 / sum;
    logits.iter_mut().for_each(|x| *x *= scale);
}

/// e to the power of a number that is not positive.
fn exp(x: f32) -> f32 {
    #[cfg(target_family = "wasm")]
    return nearest_exp(x);
    #[cfg(not(target_family = "wasm"))]
    return x.exp();
}

/// e to the power of a number that is not positive, rounded to the nearest `f32` but for about one number in a million.
///
/// WebAssembly has no mathematical library of its own, and `f32::exp` is up to one unit in the last place off there. On
/// other platforms it is the nearest number but for about one in a thousand, so browser and program mostly agree.
#[cfg(any(target_family = "wasm", test))]
fn nearest_exp(x: f32) -> f32 {
    use std::f64::consts::{LN_2, LOG2_E};
    /// 1 / n! from n = 11 down to 0.
    const TAYLOR: [f64; 12] = {
        let (mut terms, mut n, mut factorial) = ([1.0; 12], 1, 1.0);
        while n < 12 {
            factorial *= n as f64;
            terms[11 - n] = 1.0 / factorial;
            n += 1;
        }
        terms
    };
    // Smaller powers are zero as an `f32`.
    let x = f64::from(x).clamp(-104.0, 0.0);
    let halvings = (x * LOG2_E).round();
    let rest = x - halvings * LN_2;
    let power = TAYLOR.iter().fold(0.0, |sum, term| sum * rest + term);
    let scale = f64::from_bits(((halvings as i64 + 1023) as u64) << 52);
    (power * scale) as f32
}

/// [`softmax`] with the same bits on every processor and platform, within two units in the last place of it.
pub fn portable_softmax(logits: &mut [f32]) {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    logits.iter_mut().for_each(|x| *x = portable_exp(*x - largest));
    let scale = 1.0 / logits.iter().sum::<f32>();
    logits.iter_mut().for_each(|x| *x *= scale);
}

/// e to the power of a number that is not positive, by multiplications and additions only; 0 below -87.
///
/// With `n` the nearest integer to `x / ln 2`, it is `2^n` times a Taylor polynomial of `x - n ln 2`, whose magnitude is
/// at most `ln 2 / 2`.
pub(super) fn portable_exp(x: f32) -> f32 {
    /// 1.5 * 2^23: a sum with it is rounded to an integer, which its lowest bits hold.
    const TO_INTEGERS: f32 = 12_582_912.0;
    /// ln 2 in two parts, the first of so few bits that its products with `n` are exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    const TAYLOR: [f32; 7] = [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0];
    let inside = if x > -87.0 { x } else { -87.0 };
    let rounded = inside * std::f32::consts::LOG2_E + TO_INTEGERS;
    let n = rounded - TO_INTEGERS;
    let rest = inside - n * LN_2[0] - n * LN_2[1];
    let power = TAYLOR.iter().fold(0.0, |sum, term| sum * rest + term) * rest + 1.0;
    let scale = f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    if x > -87.0 || x.is_nan() { power * scale + (x - inside) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softmax_is_stable() {
        let mut logits = [1000.0, 1000.0, -1000.0];
        softmax(&mut logits);
        assert_eq!(logits, [0.5, 0.5, 0.0]);
    }

    #[test]
    fn powers_of_e_are_rounded_to_the_nearest() {
        let mut others = 0;
        for i in 0..200_000 {
            let x = -(i as f32) * 5.1e-4;
            let (ours, exact) = (nearest_exp(x), f64::from(x).exp() as f32);
            assert!(ours.to_bits().abs_diff(exact.to_bits()) <= 1, "{x}: {ours} {exact}");
            others += u32::from(ours != exact);
        }
        assert!(others <= 2, "{others} of 200,000");
        assert_eq!([0.0, -1.0, -104.0, f32::NEG_INFINITY].map(nearest_exp), [1.0, 0.367_879_45, 0.0, 0.0]);
        assert_eq!(nearest_exp(-100.0).to_bits(), 27, "a subnormal number");
        assert!(nearest_exp(f32::NAN).is_nan());
    }

    #[test]
    fn portable_powers_of_e_are_within_two_units_in_the_last_place() {
        for i in 0..200_000 {
            let x = -(i as f32) * 4.3e-4;
            let (ours, exact) = (portable_exp(x), f64::from(x).exp() as f32);
            assert!(ours.to_bits().abs_diff(exact.to_bits()) <= 2, "{x}: {ours} {exact}");
        }
        let bits = [0.0, -1.0, -0.3, -20.5, -86.99, -87.0, f32::NEG_INFINITY].map(|x| portable_exp(x).to_bits());
        assert_eq!(bits, [0x3f80_0000, 0x3ebc_5ab2, 0x3f3d_a643, 0x30ab_d1d8, 0x00b5_03b6, 0, 0], "on every processor");
        assert!(portable_exp(f32::NAN).is_nan());
    }

    #[test]
    fn both_give_the_same_probabilities() {
        let logits = [3.1, -2.0, 0.5, 3.0, -90.0, 2.999];
        let (mut one, mut other) = (logits, logits);
        softmax(&mut one);
        portable_softmax(&mut other);
        assert!(one.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-7), "{one:?} {other:?}");
        assert!((other.iter().sum::<f32>() - 1.0).abs() < 1e-6 && other[4] == 0.0);
        let mut large = [1000.0, 1000.0, -1000.0];
        portable_softmax(&mut large);
        assert_eq!(large, [0.5, 0.5, 0.0]);
    }
}
