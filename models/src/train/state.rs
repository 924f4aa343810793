//! The state of a learner, and its file, from which it is restored bit for bit.

use std::path::Path;

use crate::error::NetworkError;
use crate::kinds::NetworkConfig;
use crate::network::{HeadSpec, Network};
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
    /// Heads that it has in training only, for further targets.
    pub heads: Vec<HeadSpec>,
    /// Number of steps taken.
    pub steps: u64,
    /// The network's parameters, those of the further heads last.
    pub weights: Weights,
    /// Adam's first moments.
    pub moment1: Weights,
    /// Adam's second moments.
    pub moment2: Weights,
    /// Exponential moving average of the parameters, without those of the further heads.
    pub average: Weights,
}

impl LearnerState {
    /// The state before the first step, with these weights.
    #[must_use]
    pub fn new(shape: Shape, network: NetworkConfig, weights: Weights) -> LearnerState {
        let (moment1, moment2) = (weights.zeros_like(), weights.zeros_like());
        let average = weights.clone();
        LearnerState { shape, network, heads: Vec::new(), steps: 0, moment1, moment2, average, weights }
    }

    /// The state with random further heads; equal seeds give equal ones.
    ///
    /// # Errors
    /// The network or its board cannot have such a head.
    pub fn with_heads(mut self, heads: Vec<HeadSpec>, seed: u64) -> Result<LearnerState, NetworkError> {
        let layout = self.network.layout_with(&self.shape, &heads)?;
        let mut random = Weights::random(&layout, seed).into_tensors();
        self.weights.append(random.split_off(self.average.tensors().len()));
        (self.moment1, self.moment2, self.heads) = (self.weights.zeros_like(), self.weights.zeros_like(), heads);
        Ok(self)
    }

    /// The network with its further heads.
    pub(super) fn with_all_heads(&self) -> Result<Network, NetworkError> {
        Network::with_heads(&self.network, &self.shape, &self.heads)
    }

    /// The layouts of the four groups of tensors.
    fn layouts(&self) -> Result<[Vec<TensorSpec>; 4], NetworkError> {
        let all = self.with_all_heads()?.layout();
        Ok([all.clone(), all.clone(), all, self.network.layout(&self.shape)?])
    }

    /// Checks that the tensors are those of the network and its heads.
    pub(super) fn check_tensors(&self) -> Result<(), NetworkError> {
        let groups = [&self.weights, &self.moment1, &self.moment2, &self.average];
        groups.into_iter().zip(self.layouts()?).try_for_each(|(group, layout)| Ok(group.check(&layout)?))
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
const HEADS: &str = "turnstone.heads";
const STEPS: &str = "turnstone.steps";
const EXTRA: &str = "turnstone.extra";
/// Prefixes of the groups of tensors, as in `moment1/policy.bias`.
const GROUPS: [&str; 4] = ["weights/", "moment1/", "moment2/", "average/"];

/// Writes the state atomically, with a text of the caller (counters of the run, for example) that [`load_state`] returns.
///
/// # Errors
/// Tensors are not those of the network or not finite, or the file cannot be written.
pub fn save_state(path: &Path, state: &LearnerState, extra: &str) -> Result<(), CheckpointError> {
    state.check_tensors().map_err(|fault| CheckpointError { path: path.into(), fault: fault.into() })?;
    let mut tensors = Vec::with_capacity(4 * state.weights.tensors().len());
    for (prefix, group) in GROUPS.iter().zip([&state.weights, &state.moment1, &state.moment2, &state.average]) {
        let prefixed =
            |tensor: &NamedTensor| NamedTensor { name: format!("{prefix}{}", tensor.name), ..tensor.clone() };
        tensors.extend(group.tensors().iter().map(prefixed));
    }
    let metadata = [
        (NETWORK, json(&state.network)),
        (SHAPE, json(&state.shape)),
        (STEPS, state.steps.to_string()),
        (EXTRA, extra.to_owned()),
    ];
    let heads = (!state.heads.is_empty()).then(|| (HEADS, json(&state.heads)));
    let metadata = metadata.into_iter().chain(heads).map(|(key, value)| (key.to_owned(), value)).collect();
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
    let heads = if metadata.contains_key(HEADS) { take_json(&mut metadata, HEADS)? } else { Vec::new() };
    let steps = take_json(&mut metadata, STEPS)?;
    let extra = take(&mut metadata, EXTRA)?;
    let mut state = LearnerState { heads, steps, ..LearnerState::new(shape, network, Weights::default()) };
    let layouts = state.layouts()?;
    let all = |prefix: &str, spec: &TensorSpec| TensorSpec { name: format!("{prefix}{}", spec.name), ..spec.clone() };
    let prefixed = GROUPS.iter().zip(&layouts).flat_map(|(prefix, layout)| layout.iter().map(|spec| all(prefix, spec)));
    // Checked with prefixes, so that an error names the tensor as the file does.
    let mut tensors = Weights::new(&prefixed.collect::<Vec<_>>(), tensors)?.into_tensors().into_iter();
    let groups = [&mut state.weights, &mut state.moment1, &mut state.moment2, &mut state.average];
    for (group, layout) in groups.into_iter().zip(&layouts) {
        let renamed = |(spec, tensor): (&TensorSpec, NamedTensor)| NamedTensor { name: spec.name.clone(), ..tensor };
        *group = Weights::from_ordered(layout.iter().zip(tensors.by_ref()).map(renamed).collect());
    }
    // A checksum shows damage, not forgery.
    state.check_progress().map_err(|error| Fault::Forged(error.to_string()))?;
    Ok((state, extra))
}
