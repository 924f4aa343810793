//! The last layer of a policy head where few actions are legal: logits and gradients of the legal ones only.
//!
//! Illegal actions have neither probability nor gradient. Of Konane's 448 actions a dozen are legal, and a sixth of the
//! work of all layers is in those that are not.

use crate::train::batch::ILLEGAL;
use crate::train::loss::ILLEGAL_LOGIT;
use crate::weights::Weights;

/// The legal actions of some positions.
#[derive(Debug, Default)]
pub(crate) struct LegalActions {
    /// In ascending order, position by position.
    actions: Vec<usize>,
    /// The end of each position in `actions`.
    ends: Vec<usize>,
}

impl LegalActions {
    /// The actions that are not [`ILLEGAL`] in the policy's targets `[positions, actions]`.
    pub(crate) fn of(policy: &[f32], actions: usize) -> LegalActions {
        let mut all = LegalActions::default();
        for row in policy.chunks_exact(actions) {
            all.actions.extend((0..actions).filter(|&action| row[action] != ILLEGAL));
            all.ends.push(all.actions.len());
        }
        all
    }

    /// The legal actions of each position.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[usize]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.actions[start..end])
    }
}

/// The policy head's last layer, transposed: one row of weights per action.
#[derive(Debug)]
pub(crate) struct LegalLayer {
    /// `[out, in]`.
    weight: Vec<f32>,
    bias: Vec<f32>,
    /// Index of the layer in the network.
    layer: usize,
}

impl LegalLayer {
    /// Transposes the layer of this index.
    pub(crate) fn new(weights: &Weights, layer: usize) -> LegalLayer {
        let [weight, bias] = weights.of_layer(layer);
        let mut transposed = vec![0.0; weight.len()];
        transpose(weight, bias.len(), &mut transposed);
        LegalLayer { weight: transposed, bias: bias.to_vec(), layer }
    }

    /// Computes the logits of legal actions, `y [positions, out]`, from `x [positions, in]`; those of others become
    /// [`ILLEGAL_LOGIT`].
    pub(super) fn apply(&self, legal: &LegalActions, x: &[f32], y: &mut [f32]) {
        let inputs = self.inputs();
        y.fill(ILLEGAL_LOGIT);
        let rows = x.chunks_exact(inputs).zip(y.chunks_exact_mut(self.outputs()));
        for ((x, y), actions) in rows.zip(legal.rows()) {
            for &action in actions {
                y[action] = self.bias[action] + dot(x, &self.weight[action * inputs..][..inputs]);
            }
        }
    }

    /// Adds the gradients of the bias and of the transposed matrix, `[out, in]`, given the gradients `dy` of the logits of
    /// positions from number `first` on.
    pub(super) fn add_gradients(
        &self,
        (legal, first): (&LegalActions, usize),
        x: &[f32],
        dy: &[f32],
        gradients: &mut Weights,
    ) {
        let inputs = self.inputs();
        let [matrix, bias] = gradients.of_layer_mut(self.layer);
        let rows = x.chunks_exact(inputs).zip(dy.chunks_exact(self.outputs()));
        for ((x, dy), actions) in rows.zip(legal.rows().skip(first)) {
            for &action in actions {
                bias[action] += dy[action];
                add_multiple(&mut matrix[action * inputs..][..inputs], dy[action], x);
            }
        }
    }

    /// Computes `dx [positions, in]` from `dy [positions, out]`; only legal actions contribute.
    pub(super) fn apply_backwards(&self, legal: &LegalActions, dy: &[f32], dx: &mut [f32]) {
        let inputs = self.inputs();
        let rows = dx.chunks_exact_mut(inputs).zip(dy.chunks_exact(self.outputs()));
        for ((dx, dy), actions) in rows.zip(legal.rows()) {
            dx.fill(0.0);
            for &action in actions {
                add_multiple(dx, dy[action], &self.weight[action * inputs..][..inputs]);
            }
        }
    }

    /// Transposes the gradient of the matrix to the order of the network's tensors.
    pub(crate) fn finish(&self, gradients: &mut Weights) {
        let [matrix, _] = gradients.of_layer_mut(self.layer);
        let by_output = matrix.to_vec();
        transpose(&by_output, self.inputs(), matrix);
    }

    pub(super) fn inputs(&self) -> usize {
        self.weight.len() / self.bias.len()
    }

    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }
}

/// A sum in a fixed order, by lanes.
fn dot(x: &[f32], y: &[f32]) -> f32 {
    const LANES: usize = 16;
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (x, y) in x.iter().zip(y) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

/// `y = y + factor x`.
fn add_multiple(y: &mut [f32], factor: f32, x: &[f32]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += factor * x);
}

/// Transposes `x [rows, columns]` into `y [columns, rows]`.
fn transpose(x: &[f32], columns: usize, y: &mut [f32]) {
    let rows = x.len() / columns;
    for (column, y) in y.chunks_exact_mut(rows).enumerate() {
        y.iter_mut().zip(x.chunks_exact(columns)).for_each(|(y, row)| *y = row[column]);
    }
}
