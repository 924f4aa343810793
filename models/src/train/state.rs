//! The state of a learner, and its file, from which it is restored bit for bit.

use std::path::Path;

use crate::kinds::NetworkConfig;
use crate::shape::Shape;
use crate::tensor_file::{self, CheckpointError, Contents, Fault, json, take, take_json};
use crate::weights::{NamedTensor, TensorSpec, Weights};

/// Maximum number of steps, which no training reaches: at 1,000 steps a second it takes 35 years.
pub(super) const MOST_STEPS: u64 = 1 << 40;

/// The state of a learner: everything that a step depends on besides batch, learning rate and
/// [`OptimiserConfig`](crate::OptimiserConfig).
#[derive(Debug, Clone, PartialEq)]
pub struct LearnerState {
    /// Shape of the game.
    pub shape: Shape,
    /// The network.
    pub network: NetworkConfig,
    /// Number of steps taken.
    pub steps: u64,
    /// The network's parameters.
    pub weights: Weights,
    /// Adam's first moments.
    pub moment1: Weights,
    /// Adam's second moments.
    pub moment2: Weights,
    /// Exponential moving average of the parameters.
    pub average: Weights,
}

impl LearnerState {
    /// The state before the first step, with these weights.
    #[must_use]
    pub fn new(shape: Shape, network: NetworkConfig, weights: Weights) -> LearnerState {
        let (moment1, moment2) = (weights.zeros_like(), weights.zeros_like());
        let shape = network.needed(shape);
        LearnerState { shape, network, steps: 0, moment1, moment2, average: weights.clone(), weights }
    }

    /// Checks what the steps and the moments of training can be. The tensors are checked against their layouts already.
    pub(super) fn check_progress(&self) -> Result<(), StateError> {
        if self.steps > MOST_STEPS {
            return Err(StateError::Steps(self.steps));
        }
        let negative = |tensor: &&NamedTensor| tensor.data.iter().any(|&number| number < 0.0);
        match self.moment2.tensors().iter().find(negative) {
            Some(tensor) => Err(StateError::NegativeMoment(tensor.name.clone())),
            None => Ok(()),
        }
    }
}

/// Why no training can have led to a learner's state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The number of steps is beyond any training.
    #[error("{0} steps of training are too many: at most {MOST_STEPS} are possible")]
    Steps(u64),
    /// A second moment, a mean of squares, is negative.
    #[error("tensor `moment2/{0}` holds a negative number, which no mean of squares is")]
    NegativeMoment(String),
}

const KIND: &str = "learner";
const NETWORK: &str = "turnstone.network";
const SHAPE: &str = "turnstone.shape";
const STEPS: &str = "turnstone.steps";
const EXTRA: &str = "turnstone.extra";
/// Prefixes of the groups of tensors, as in `moment1/policy.bias`.
const GROUPS: [&str; 4] = ["weights/", "moment1/", "moment2/", "average/"];

/// Writes the state atomically, with a text of the caller (counters of the run, for example) that [`load_state`] returns.
///
/// # Errors
/// Tensors are not those of the network or not finite, or the file cannot be written.
pub fn save_state(path: &Path, state: &LearnerState, extra: &str) -> Result<(), CheckpointError> {
    let checked = || -> Result<_, Fault> {
        let layout = state.network.layout(&state.shape)?;
        let groups = [&state.weights, &state.moment1, &state.moment2, &state.average];
        let mut tensors = Vec::with_capacity(4 * layout.len());
        for (prefix, group) in GROUPS.iter().zip(groups) {
            group.check(&layout)?;
            let prefixed =
                |tensor: &NamedTensor| NamedTensor { name: format!("{prefix}{}", tensor.name), ..tensor.clone() };
            tensors.extend(group.tensors().iter().map(prefixed));
        }
        Ok(tensors)
    };
    let tensors = checked().map_err(|fault| CheckpointError { path: path.into(), fault })?;
    let metadata = [
        (NETWORK, json(&state.network)),
        (SHAPE, json(&state.shape)),
        (STEPS, state.steps.to_string()),
        (EXTRA, extra.to_owned()),
    ];
    let metadata = metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    tensor_file::write(path, KIND, metadata, &tensors)
}

/// Reads a file of [`save_state`]: the state and the text of the caller.
///
/// # Errors
/// The file cannot be read or is not a valid state. The message is one line with the file and its first fault.
pub fn load_state(path: &Path) -> Result<(LearnerState, String), CheckpointError> {
    tensor_file::read(path, KIND, parse)
}

fn parse(contents: Contents) -> Result<(LearnerState, String), Fault> {
    let Contents { mut metadata, tensors } = contents;
    let network: NetworkConfig = take_json(&mut metadata, NETWORK)?;
    let shape: Shape = take_json(&mut metadata, SHAPE)?;
    let steps = take_json(&mut metadata, STEPS)?;
    let extra = take(&mut metadata, EXTRA)?;
    let layout = network.layout(&shape)?;
    let all = |prefix: &str, spec: &TensorSpec| TensorSpec { name: format!("{prefix}{}", spec.name), ..spec.clone() };
    let full_layout: Vec<TensorSpec> =
        GROUPS.into_iter().flat_map(|prefix| layout.iter().map(move |spec| all(prefix, spec))).collect();
    // Checked with prefixes, so that an error names the tensor as the file does.
    let mut tensors = Weights::new(&full_layout, tensors)?.into_tensors().into_iter();
    let [weights, moment1, moment2, average] = GROUPS.map(|_| {
        let renamed = |(spec, tensor): (&TensorSpec, NamedTensor)| NamedTensor { name: spec.name.clone(), ..tensor };
        Weights::from_ordered(layout.iter().zip(tensors.by_ref()).map(renamed).collect())
    });
    let state = LearnerState { shape, network, steps, weights, moment1, moment2, average };
    // A checksum shows damage, not forgery.
    state.check_progress().map_err(|error| Fault::Forged(error.to_string()))?;
    Ok((state, extra))
}
