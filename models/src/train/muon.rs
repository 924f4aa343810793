//! Muon for the matrices of hidden layers: a step is the momentum of the gradients, made orthogonal (Jordan et al., 2024,
//! kellerjordan.github.io/posts/muon), with numbers as large as those of AdamW's steps (Liu et al., 2025, arXiv 2502.16982,
//! section 2.2).

use crate::inference::{Finish, Layer, Neighbours};
use crate::weights::NamedTensor;

/// Decay of the momentum, which is Nesterov's.
const MOMENTUM: f32 = 0.95;
/// Root mean square of a step's numbers, times the learning rate.
const SIZE: f32 = 0.2;
/// Steps of the iteration of Newton and Schulz.
const ITERATIONS: usize = 5;
/// Its polynomial, `x -> a x + b x^3 + c x^5`, which takes singular values from 0.01 to 1 to about 0.7 to 1.2.
const COEFFICIENTS: [f32; 3] = [3.4445, -4.775, 2.0315];
/// What is less than this share of the norm counts as 0: it hardly changes a step, and its powers would be subnormal.
const LEAST: f32 = 1e-9;

/// Updates a matrix and its momentum in place, by `scale` times the gradient. The matrix decays by `decay` times the rate.
pub(super) fn update(
    weight: &mut NamedTensor,
    momentum: &mut NamedTensor,
    gradient: &NamedTensor,
    scale: f32,
    learning_rate: f64,
    decay: f64,
) {
    let ahead = |(m, &g): (&mut f32, &f32)| {
        let g = scale * g;
        *m = normal(MOMENTUM * *m + g);
        MOMENTUM * *m + g
    };
    let step: Vec<f32> = momentum.data.iter_mut().zip(&gradient.data).map(ahead).collect();
    let (rows, columns) = (weight.shape[0], weight.shape[1]);
    let step = if rows < columns {
        transposed(&orthogonal(&transposed(&step, columns), rows), rows)
    } else {
        orthogonal(&step, columns)
    };
    let rate = learning_rate as f32 * SIZE * (rows.max(columns) as f32).sqrt();
    let keep = (1.0 - learning_rate * decay) as f32;
    weight.data.iter_mut().zip(step).for_each(|(w, step)| *w = keep * *w - rate * step);
}

/// The number, or 0 if it is subnormal. The moments of units that no position activates any more would end as subnormal
/// numbers, which processors calculate with many times slower.
pub(super) fn normal(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0 } else { x }
}

/// The orthogonal matrix next to `x`, which has no fewer rows than columns, nearly: its singular values are about 1.
fn orthogonal(x: &[f32], columns: usize) -> Vec<f32> {
    let [a, b, c] = COEFFICIENTS;
    let norm = x.iter().map(|x| x * x).sum::<f32>().sqrt();
    let share = |x: f32| if x.abs() < LEAST { 0.0 } else { x };
    let mut x: Vec<f32> = x.iter().map(|x| share(x / (norm + 1e-7))).collect();
    let (mut next, mut square) = (vec![0.0; x.len()], vec![0.0; columns * columns]);
    for _ in 0..ITERATIONS {
        let mut gram = vec![0.0; columns * columns];
        let rows = x.len() / columns;
        layer(&square, columns).add_weight_gradient(rows, &Neighbours::none(), &x, &x, &mut gram);
        layer(&gram, columns).apply(columns, &gram, &mut square, Finish::Plain);
        let mut factor: Vec<f32> = gram.iter().zip(&square).map(|(gram, square)| b * gram + c * square).collect();
        factor.iter_mut().step_by(columns + 1).for_each(|diagonal| *diagonal += a);
        layer(&factor, columns).apply(rows, &x, &mut next, Finish::Plain);
        std::mem::swap(&mut x, &mut next);
    }
    x
}

/// A square matrix for the kernels.
fn layer(matrix: &[f32], columns: usize) -> Layer {
    Layer::new(matrix, &vec![0.0; columns], 1)
}

/// The transpose of a matrix with so many columns.
fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|column| matrix[column..].iter().step_by(columns).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: [usize; 2], data: Vec<f32>) -> NamedTensor {
        NamedTensor { name: "w".into(), shape: shape.into(), data }
    }

    #[test]
    fn the_columns_of_a_step_are_orthogonal() {
        let x: Vec<f32> = (0..40 * 17).map(|i| ((i * 7919 % 1013) as f32 / 500.0 - 1.0) * 1e-3).collect();
        let y = orthogonal(&x, 17);
        for i in 0..17 {
            for j in 0..17 {
                let dot: f32 = y.chunks(17).map(|row| row[i] * row[j]).sum();
                let range = if i == j { 0.4..1.6 } else { -0.45..0.45 };
                assert!(range.contains(&dot), "{dot} of {i} and {j}");
            }
        }
    }

    #[test]
    fn a_step_has_no_subnormal_numbers() {
        let x: Vec<f32> = (0..40).map(|i| [1.0, 1e-6, 1e-11, 1e-30][i % 4] * (i as f32 - 20.5)).collect();
        let y = orthogonal(&x, 4);
        assert!(y.iter().all(|y| *y == 0.0 || y.is_normal()), "{y:?}");
        assert!(y.chunks(4).all(|row| row[1] != 0.0 && row[2] == 0.0 && row[3] == 0.0), "{y:?}");
    }

    #[test]
    fn steps_follow_the_definition() {
        // The singular values of a diagonal matrix go through the polynomial one by one.
        let polynomial = |x: f64| {
            let [a, b, c] = COEFFICIENTS.map(f64::from);
            a * x + b * x.powi(3) + c * x.powi(5)
        };
        for shape in [[3, 2], [2, 3]] {
            let place = |i: usize| i * shape[1] + i;
            let gradient = |d: [f32; 2]| {
                let mut data = vec![0.0; 6];
                (0..2).for_each(|i| data[place(i)] = d[i]);
                tensor(shape, data)
            };
            let (mut weight, mut momentum) = (tensor(shape, vec![2.0; 6]), tensor(shape, vec![0.0; 6]));
            let (mut w, mut m) = ([2.0_f64; 2], [0.0_f64; 2]);
            for d in [[3.0_f32, 4.0], [-8.0, 1.0]] {
                update(&mut weight, &mut momentum, &gradient(d), 0.5, 0.1, 0.5);
                let g = d.map(|d| 0.5 * f64::from(d));
                m = [0, 1].map(|i| 0.95 * m[i] + g[i]);
                let ahead = [0, 1].map(|i| 0.95 * m[i] + g[i]);
                let norm = ahead[0].hypot(ahead[1]);
                for i in 0..2 {
                    let step = (0..5).fold(ahead[i] / norm, |x, _| polynomial(x));
                    w[i] = (1.0 - 0.1 * 0.5) * w[i] - 0.1 * 0.2 * 3.0_f64.sqrt() * step;
                    assert!((f64::from(weight.data[place(i)]) - w[i]).abs() < 1e-5, "{weight:?} {w:?}");
                    assert!((f64::from(momentum.data[place(i)]) - m[i]).abs() < 1e-5);
                }
            }
            let off = weight.data[1];
            assert!((off - 2.0 * 0.95 * 0.95).abs() < 1e-5, "{off}");
        }
    }
}
