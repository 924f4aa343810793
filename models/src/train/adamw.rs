//! AdamW over host tensors.
//!
//! The AdamW of burn stores moments under parameter ids that differ from process to process, clips gradients per tensor, and
//! takes 13 to 60 times as long on the shipped networks (`docs/lab/speed.md`). Here the moments are saved by name and
//! restored bit for bit, and the norm is clipped over all tensors together.

use super::muon;
use crate::weights::Weights;

/// Decay of the first moment, as in Kingma and Ba 2015, section 2.
const BETA1: f64 = 0.9;
/// Decay of the second moment, from there too.
const BETA2: f64 = 0.999;
/// What is added to the square root of the second moment, from there too.
const EPSILON: f32 = 1e-8;

/// Constants of the update; see [`OptimiserConfig`](crate::OptimiserConfig) for their ranges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    pub(crate) learning_rate: f64,
    pub(crate) weight_decay: f64,
    /// Factor of all gradients: 1, or less if the global norm is clipped.
    pub(crate) gradient_scale: f64,
}

/// Applies update number `step`, counted from 1, in place. Only matrices decay, biases do not. Tensors that `by_muon` names by
/// their places have steps of [Muon](muon) instead, with its momentum in `moment1`.
pub(crate) fn update(
    weights: &mut Weights,
    moment1: &mut Weights,
    moment2: &mut Weights,
    gradients: &Weights,
    step: u64,
    rule: &Rule,
    by_muon: &[usize],
) {
    let exponent = i32::try_from(step).unwrap_or(i32::MAX); // the powers are 0 long before
    let rate = rule.learning_rate / (1.0 - BETA1.powi(exponent));
    let correction2 = 1.0 / (1.0 - BETA2.powi(exponent));
    let tensors = weights.tensors_mut().iter_mut().zip(gradients.tensors());
    let moments = moment1.tensors_mut().iter_mut().zip(moment2.tensors_mut());
    for (place, ((weight, gradient), (m, v))) in tensors.zip(moments).enumerate() {
        if by_muon.contains(&place) {
            muon::update(weight, m, gradient, rule.gradient_scale as f32, rule.learning_rate, rule.weight_decay);
            continue;
        }
        let decays = weight.shape.len() > 1;
        let keep = if decays { 1.0 - rule.learning_rate * rule.weight_decay } else { 1.0 };
        let numbers = weight.data.iter_mut().zip(&gradient.data);
        // All in f32, for SIMD.
        let (keep, rate, correction2) = (keep as f32, rate as f32, correction2 as f32);
        let (beta1, beta2) = (BETA1 as f32, BETA2 as f32);
        let (fresh1, fresh2) = ((1.0 - BETA1) as f32, (1.0 - BETA2) as f32);
        let scale = rule.gradient_scale as f32;
        for ((w, &g), (m, v)) in numbers.zip(m.data.iter_mut().zip(&mut v.data)) {
            let g = g * scale;
            *m = muon::normal(beta1 * *m + fresh1 * g);
            *v = muon::normal(beta2 * *v + fresh2 * g * g);
            *w = keep * *w - rate * *m / ((*v * correction2).sqrt() + EPSILON);
        }
    }
}

/// Square root of the sum of all squares, over all tensors together.
pub(crate) fn global_norm(gradients: &Weights) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0_f64; LANES];
    for tensor in gradients.tensors() {
        let (chunks, rest) = tensor.data.as_chunks::<LANES>();
        for chunk in chunks {
            for (sum, &g) in sums.iter_mut().zip(chunk) {
                *sum += f64::from(g) * f64::from(g);
            }
        }
        sums[0] += rest.iter().map(|&g| f64::from(g) * f64::from(g)).sum::<f64>();
    }
    sums.iter().sum::<f64>().sqrt()
}

/// Updates an exponential moving average: `average = decay average + (1 - decay) weights`. `weights` may have more tensors
/// than `average`; they are ignored.
pub(crate) fn average_in(average: &mut Weights, weights: &Weights, decay: f64) {
    let fresh = (1.0 - decay) as f32;
    for (average, weight) in average.tensors_mut().iter_mut().zip(weights.tensors()) {
        for (a, &w) in average.data.iter_mut().zip(&weight.data) {
            *a += fresh * (w - *a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::TensorSpec;

    fn one_matrix_one_bias(numbers: [f32; 2]) -> Weights {
        let spec = |name: &str, shape: &[usize]| TensorSpec { name: name.into(), shape: shape.into(), deviation: 0.0 };
        let mut weights = Weights::random(&[spec("w", &[1, 1]), spec("b", &[1])], 0);
        weights.tensors_mut().iter_mut().zip(numbers).for_each(|(tensor, x)| tensor.data[0] = x);
        weights
    }

    #[test]
    fn two_steps_follow_the_definition() {
        let rule = Rule { learning_rate: 0.1, weight_decay: 0.5, gradient_scale: 0.5 };
        let mut weights = one_matrix_one_bias([2.0, 2.0]);
        let (mut moment1, mut moment2) = (weights.zeros_like(), weights.zeros_like());
        let (mut w, mut m, mut v) = ([2.0_f64; 2], 0.0, 0.0);
        for (step, gradient) in [(1, 3.0_f32), (2, -1.0)] {
            let gradients = one_matrix_one_bias([gradient; 2]);
            update(&mut weights, &mut moment1, &mut moment2, &gradients, step, &rule, &[]);
            let g = 0.5 * f64::from(gradient);
            (m, v) = (0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g);
            let t = step as i32;
            let (m_hat, v_hat) = (m / (1.0 - 0.9_f64.powi(t)), v / (1.0 - 0.999_f64.powi(t)));
            for (w, decay) in w.iter_mut().zip([0.5, 0.0]) {
                *w -= 0.1 * (m_hat / (v_hat.sqrt() + 1e-8) + decay * *w);
            }
            for (tensor, expected) in weights.tensors().iter().zip(w) {
                assert!((f64::from(tensor.data[0]) - expected).abs() < 1e-6, "{} at step {step}", tensor.name);
            }
        }
    }

    #[test]
    fn moments_without_gradients_end_at_zero() {
        let rule = Rule { learning_rate: 0.1, weight_decay: 0.0, gradient_scale: 1.0 };
        let [once, nothing] = [1.0, 0.0].map(|gradient| one_matrix_one_bias([gradient; 2]));
        for by_muon in [&[][..], &[0]] {
            let mut weights = one_matrix_one_bias([2.0, 2.0]);
            let (mut moment1, mut moment2) = (weights.zeros_like(), weights.zeros_like());
            for step in 1..=100_000 {
                let gradients = if step == 1 { &once } else { &nothing };
                update(&mut weights, &mut moment1, &mut moment2, gradients, step, &rule, by_muon);
            }
            assert_eq!((moment1, moment2), (weights.zeros_like(), weights.zeros_like()));
        }
    }

    #[test]
    fn the_norm_is_over_all_tensors() {
        assert_eq!(global_norm(&one_matrix_one_bias([3.0, -4.0])), 5.0);
        assert!(global_norm(&one_matrix_one_bias([f32::NAN, 0.0])).is_nan());
    }

    #[test]
    fn averages_move_towards_the_weights() {
        let mut average = one_matrix_one_bias([1.0, 0.0]);
        average_in(&mut average, &one_matrix_one_bias([3.0, -4.0]), 0.75);
        assert_eq!(average, one_matrix_one_bias([1.5, -1.0]));
    }
}
