//! A linear layer in training on the kernels of inference: its product forwards, and the two products backwards.

use std::sync::{Arc, LazyLock};

use crate::inference::{Finish, Layer, Neighbours};
use crate::shape::Taps;
use crate::weights::Weights;

/// The points that a layer reads for each point, and the points that read each point.
#[derive(Debug)]
pub(crate) struct Around {
    forwards: Neighbours,
    backwards: Neighbours,
    /// For each tap of the second table, the tap of the first.
    backward_taps: Vec<usize>,
}

/// The table of a dense layer.
static ROWS: LazyLock<Arc<Around>> = LazyLock::new(|| Arc::new(Around::of(Neighbours::none())));

impl Around {
    pub(crate) fn new(taps: &Taps) -> Around {
        Around::of(Neighbours::of_taps(taps, taps.table.len() / taps.count))
    }

    /// The table of a dense layer: each row by itself.
    pub(crate) fn rows() -> Arc<Around> {
        ROWS.clone()
    }

    fn of(forwards: Neighbours) -> Around {
        let (backwards, backward_taps) = forwards.reversed();
        Around { forwards, backwards, backward_taps }
    }
}

/// A linear layer over rows or over neighbours, packed for a step. A *board* is the points of its table, one row for a dense
/// layer.
#[derive(Debug)]
pub(crate) struct KernelLayer {
    around: Arc<Around>,
    forwards: Layer,
    /// From the gradients of the outputs to those of the inputs; `None` where these have none.
    backwards: Option<Layer>,
    /// Index of the layer in the network.
    layer: usize,
}

impl KernelLayer {
    /// Packs the layer of this index. `first` says that it reads observations, which have no gradients.
    pub(crate) fn new(weights: &Weights, layer: usize, around: &Arc<Around>, first: bool) -> KernelLayer {
        let [weight, bias] = weights.of_layer(layer);
        let taps = around.forwards.taps();
        let forwards = Layer::new(weight, bias, taps);
        let backwards = (!first).then(|| Layer::transposed(weight, bias.len(), taps, &around.backward_taps));
        KernelLayer { around: around.clone(), forwards, backwards, layer }
    }

    fn boards(&self, x: &[f32]) -> usize {
        x.len() / (self.inputs() * self.around.forwards.points())
    }

    /// Computes the outputs `y` from `x`.
    pub(super) fn apply(&self, x: &[f32], y: &mut [f32], finish: Finish) {
        self.forwards.apply_around(self.boards(x), &self.around.forwards, x, y, finish);
    }

    /// Adds the gradients of matrix and bias, given the inputs `x` and the gradients `dy` of the outputs.
    pub(super) fn add_gradients(&self, x: &[f32], dy: &[f32], gradients: &mut Weights) {
        let [matrix, bias] = gradients.of_layer_mut(self.layer);
        self.forwards.add_weight_gradient(self.boards(x), &self.around.forwards, x, dy, matrix);
        add_columns(dy, bias);
    }

    /// Whether its inputs have gradients.
    pub(super) fn has_input_gradients(&self) -> bool {
        self.backwards.is_some()
    }

    /// Computes the gradients of the inputs, given those of the outputs.
    pub(super) fn apply_backwards(&self, dy: &[f32], dx: &mut [f32], finish: Finish) {
        if let Some(backwards) = &self.backwards {
            backwards.apply_around(self.boards(dx), &self.around.backwards, dy, dx, finish);
        }
    }

    pub(super) fn inputs(&self) -> usize {
        self.forwards.inputs()
    }

    pub(super) fn outputs(&self) -> usize {
        self.forwards.outputs()
    }
}

/// Adds each column of `x [rows, columns]` to the column's sum, a few columns at a time so that their sums stay in registers.
fn add_columns(x: &[f32], sums: &mut [f32]) {
    const LANES: usize = 16;
    let columns = sums.len();
    let (blocks, rest) = sums.as_chunks_mut::<LANES>();
    for (block, sums) in blocks.iter_mut().enumerate() {
        let mut near = *sums;
        for row in x.chunks_exact(columns) {
            let row = row[block * LANES..].first_chunk::<LANES>().expect("a whole block");
            for lane in 0..LANES {
                near[lane] += row[lane];
            }
        }
        *sums = near;
    }
    let first = columns - rest.len();
    for row in x.chunks_exact(columns) {
        rest.iter_mut().zip(&row[first..]).for_each(|(sum, x)| *sum += x);
    }
}
