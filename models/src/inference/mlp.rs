//! Inference of the residual MLP.

use super::kernel::Finish;
use super::layer::Layer;
use super::layers::Layers;

/// The network with its buffers.
#[derive(Debug, Clone)]
pub(super) struct Mlp {
    stem: Layer,
    blocks: Vec<[Layer; 2]>,
    policy: Layer,
    value_hidden: Layer,
    value: Layer,
    /// The residual stream, `[max_batch, width]`.
    stream: Vec<f32>,
    /// Hidden units of a block or of the value head, `[max_batch, width or more]`.
    inner: Vec<f32>,
}

impl Mlp {
    /// Takes its layers in the order of the layout.
    pub(super) fn new(mut layers: Layers<'_>, blocks: usize, max_batch: usize) -> Mlp {
        let stem = layers.dense();
        let blocks = (0..blocks).map(|_| [layers.dense(), layers.dense()]).collect();
        let (policy, value_hidden, value) = (layers.dense(), layers.dense(), layers.dense());
        let width = stem.outputs();
        let stream = vec![0.0; max_batch * width];
        let inner = vec![0.0; max_batch * width.max(value_hidden.outputs())];
        Mlp { stem, blocks, policy, value_hidden, value, stream, inner }
    }

    pub(super) fn evaluate(&mut self, batch: usize, inputs: &[f32], policy: &mut [f32], value: &mut [f32]) {
        let width = self.stem.outputs();
        let stream = &mut self.stream[..batch * width];
        self.stem.apply(batch, inputs, stream, Finish::Relu);
        for [first, second] in &self.blocks {
            let inner = &mut self.inner[..batch * width];
            first.apply(batch, stream, inner, Finish::Relu);
            second.apply(batch, inner, stream, Finish::AddRelu);
        }
        self.policy.apply(batch, stream, policy, Finish::Plain);
        let hidden = &mut self.inner[..batch * self.value_hidden.outputs()];
        self.value_hidden.apply(batch, stream, hidden, Finish::Relu);
        self.value.apply(batch, hidden, value, Finish::Plain);
    }
}
