//! The heads of all kinds of network: policy and value.

use super::linear::{Linear, Linears, through_relu};
use super::loss::Outputs;
use super::sparse::SparseLinear;
use crate::inference::Finish;
use crate::weights::Weights;

/// The layers behind a tower.
#[derive(Debug)]
pub(super) struct Heads {
    policy: Head<PolicyLayer>,
    value_hidden: Head<Linear>,
    value: Linear,
}

/// The first layer over all points of a position, behind a layer that reduces the channels of each point if the network is
/// one over points.
#[derive(Debug)]
struct Head<L> {
    reduction: Option<Linear>,
    layer: L,
}

/// The last layer of the policy head.
#[derive(Debug)]
enum PolicyLayer {
    AllActions(Linear),
    LegalActions(SparseLinear),
}

/// What the way back needs of the way forwards.
#[derive(Debug, Default)]
pub(super) struct Activations {
    /// Reduced channels of all points, `[positions, features]`; empty without a reduction.
    policy_features: Vec<f32>,
    value_features: Vec<f32>,
    /// `[positions, hidden]`.
    hidden: Vec<f32>,
    /// Gradients of reduced channels and of hidden units.
    d_features: Vec<f32>,
    d_hidden: Vec<f32>,
}

impl Heads {
    /// Takes all layers that are left. With `legal_only` the policy head computes the logits of legal actions only.
    pub(super) fn new(mut linears: Linears<'_>, over_points: bool, legal_only: bool) -> Heads {
        let reduction = over_points.then(|| linears.dense());
        let layer = if legal_only {
            PolicyLayer::LegalActions(linears.sparse())
        } else {
            PolicyLayer::AllActions(linears.dense())
        };
        let policy = Head { reduction, layer };
        let value_hidden = Head { reduction: over_points.then(|| linears.dense()), layer: linears.dense() };
        Heads { policy, value_hidden, value: linears.dense() }
    }

    /// Computes the outputs from those of the tower, `[positions, points, channels]`, where an MLP has one point.
    pub(super) fn apply(
        &self,
        [positions, points]: [usize; 2],
        x: &[f32],
        kept: &mut Activations,
        outputs: &mut Outputs,
    ) {
        let Activations { policy_features, value_features, hidden, .. } = kept;
        let features = self.policy.reduce(positions * points, x, policy_features);
        match &self.policy.layer {
            PolicyLayer::AllActions(layer) => layer.apply(positions, features, &mut outputs.policy, Finish::Plain),
            PolicyLayer::LegalActions(layer) => layer.apply(&outputs.legal, features, &mut outputs.policy),
        }
        let features = self.value_hidden.reduce(positions * points, x, value_features);
        hidden.resize(positions * self.value_hidden.layer.outputs(), 0.0);
        self.value_hidden.layer.apply(positions, features, hidden, Finish::Relu);
        self.value.apply(positions, hidden, &mut outputs.value, Finish::Plain);
    }

    /// Adds the gradients of all layers and computes those of the tower's output, `dx`, given those of the outputs.
    pub(super) fn apply_backwards(
        &self,
        positions: usize,
        x: &[f32],
        kept: &mut Activations,
        outputs: &Outputs,
        dx: &mut [f32],
        gradients: &mut Weights,
    ) {
        let Activations { policy_features, value_features, hidden, d_features, d_hidden } = kept;
        let features = self.policy.features(x, policy_features);
        d_features.resize(features.len(), 0.0);
        match &self.policy.layer {
            PolicyLayer::AllActions(layer) => {
                layer.add_gradients(positions, features, &outputs.policy, gradients);
                layer.apply_backwards(positions, &outputs.policy, d_features, Finish::Plain);
            }
            PolicyLayer::LegalActions(layer) => {
                layer.apply_backwards(&outputs.legal, features, &outputs.policy, d_features, gradients);
            }
        }
        self.policy.expand(x, policy_features, d_features, dx, Finish::Plain, gradients);

        let features = self.value_hidden.features(x, value_features);
        d_hidden.resize(hidden.len(), 0.0);
        self.value.add_gradients(positions, hidden, &outputs.value, gradients);
        self.value.apply_backwards(positions, &outputs.value, d_hidden, Finish::Plain);
        through_relu(hidden, d_hidden);
        self.value_hidden.layer.add_gradients(positions, features, d_hidden, gradients);
        self.value_hidden.layer.apply_backwards(positions, d_hidden, d_features, Finish::Plain);
        self.value_hidden.expand(x, value_features, d_features, dx, Finish::Add, gradients);
    }
}

impl Heads {
    /// Brings the sums of gradients into the order of the network's tensors.
    pub(super) fn finish(&self, gradients: &mut Weights) {
        if let PolicyLayer::LegalActions(layer) = &self.policy.layer {
            layer.finish(gradients);
        }
    }
}

impl<L> Head<L> {
    /// Computes what the layer reads, into `reduced` if there is a reduction.
    fn reduce<'a>(&self, rows: usize, x: &'a [f32], reduced: &'a mut Vec<f32>) -> &'a [f32] {
        if let Some(reduction) = &self.reduction {
            reduced.resize(rows * reduction.outputs(), 0.0);
            reduction.apply(rows, x, reduced, Finish::Relu);
        }
        self.features(x, reduced)
    }

    /// What the layer reads.
    fn features<'a>(&self, x: &'a [f32], reduced: &'a [f32]) -> &'a [f32] {
        if self.reduction.is_some() { reduced } else { x }
    }

    /// Computes the gradients `dx` of the tower's output, or adds to them, given those of what the layer reads.
    fn expand(
        &self,
        x: &[f32],
        reduced: &[f32],
        d_features: &mut [f32],
        dx: &mut [f32],
        finish: Finish,
        gradients: &mut Weights,
    ) {
        match &self.reduction {
            Some(reduction) => {
                let rows = d_features.len() / reduction.outputs();
                through_relu(reduced, d_features);
                reduction.add_gradients(rows, x, d_features, gradients);
                reduction.apply_backwards(rows, d_features, dx, finish);
            }
            None if finish == Finish::Plain => dx.copy_from_slice(d_features),
            None => dx.iter_mut().zip(d_features.iter()).for_each(|(dx, d)| *dx += d),
        }
    }
}
