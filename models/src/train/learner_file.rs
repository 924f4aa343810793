//! Files of a learner's state, which is restored bit for bit.

use std::path::Path;

use super::state::LearnerState;
use crate::kinds::NetworkConfig;
use crate::shape::Shape;
use crate::tensor_file::{self, CheckpointError, Contents, Fault, Integrity, json, take, take_json};
use crate::weights::{NamedTensor, TensorSpec, Weights};

const KIND: &str = "learner";
const NETWORK: &str = "turnstone.network";
const SHAPE: &str = "turnstone.shape";
/// What version 0.1.0 wrote if weights and moments had a layer of auxiliary targets, which do not exist any more.
const AUXILIARY: &str = "turnstone.auxiliary";
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

/// Reads a file of [`save_state`]: the state, the text of the caller, and whether a checksum confirmed them.
///
/// # Errors
/// The file cannot be read or is not a valid state. The message is one line with the file and its first fault.
pub fn load_state(path: &Path) -> Result<(LearnerState, String, Integrity), CheckpointError> {
    tensor_file::read(path, KIND, parse)
}

fn parse(contents: Contents) -> Result<(LearnerState, String, Integrity), Fault> {
    let Contents { mut metadata, tensors, integrity } = contents;
    if metadata.contains_key(AUXILIARY) {
        return Err(Fault::AuxiliaryTargets);
    }
    let network: NetworkConfig = take_json(&mut metadata, NETWORK)?;
    let shape: Shape = take_json(&mut metadata, SHAPE)?;
    let steps = take_json(&mut metadata, STEPS)?;
    let extra = take(&mut metadata, EXTRA)?;
    let layout = network.layout(&shape)?;
    let all = |prefix: &str, spec: &TensorSpec| TensorSpec { name: format!("{prefix}{}", spec.name), ..spec.clone() };
    let full_layout: Vec<TensorSpec> =
        GROUPS.into_iter().flat_map(|prefix| layout.iter().map(move |spec| all(prefix, spec))).collect();
    // Checked with prefixes, so that an error names the tensor as the file does.
    let full = Weights::new(&full_layout, tensors)?;
    let mut rest = full.tensors();
    let [weights, moment1, moment2, average] = GROUPS.map(|_| {
        let (group, others) = rest.split_at(layout.len());
        rest = others;
        let renamed =
            |(tensor, spec): (&NamedTensor, &TensorSpec)| NamedTensor { name: spec.name.clone(), ..tensor.clone() };
        Weights::from_ordered(group.iter().zip(&layout).map(renamed).collect())
    });
    let state = LearnerState { shape, network, steps, weights, moment1, moment2, average };
    // A checksum shows damage, not forgery.
    state.check_progress().map_err(|error| Fault::Forged(error.to_string()))?;
    Ok((state, extra, integrity))
}
