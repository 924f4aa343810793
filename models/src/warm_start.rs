//! Warm starts: the weights of a trained network for the same network on another board.

use crate::error::NetworkError;
use crate::kinds::NetworkConfig;
use crate::network::{Network, Op};
use crate::shape::Shape;
use crate::weights::{Weights, WeightsError};

/// Why a network cannot start with trained weights.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WarmStartError {
    /// The weights depend on the board, and the boards differ.
    #[error("it is for another board, and only a network with shared heads can change the board")]
    OtherBoard,
    /// The network cannot be built for one of the shapes.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The weights are not those of the network.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// Weights for games of the shape `to`, from `weights` for games of the shape `from`. They are the same weights if the network
/// [fits](NetworkConfig::fits). On another board, a network whose weights are shared by all points keeps them; the policy
/// keeps those of the kinds of actions that both boards have. The other kinds begin as in [`Weights::random`] with this seed.
///
/// # Errors
/// The board differs, and the network depends on it; the network cannot be built; or the weights are not its own.
pub fn warm_start(
    network: &NetworkConfig,
    [from, to]: [&Shape; 2],
    weights: &Weights,
    seed: u64,
) -> Result<Weights, WarmStartError> {
    let (old, new) = (Network::new(network, from)?, Network::new(network, to)?);
    weights.check(&old.layout())?;
    if network.fits(from, to) {
        return Ok(weights.clone());
    }
    let reads_places = |op: &Op| matches!(op, Op::Inputs | Op::Flatten { .. });
    let by_kind = policy_layer(&new).ok_or(WarmStartError::OtherBoard)?;
    let sizes_differ = old.layers.iter().zip(&new.layers).enumerate().any(|(index, (old, new))| {
        old.name != new.name || old.inputs != new.inputs || (old.outputs != new.outputs && index != by_kind)
    });
    if old.layers.len() != new.layers.len() || sizes_differ || new.ops.iter().any(reads_places) {
        return Err(WarmStartError::OtherBoard);
    }
    let mut tensors = weights.tensors().to_vec();
    let random = Weights::random(&new.layout(), seed);
    let [old_kinds, _] = from.kinds_at();
    let [new_kinds, _] = to.kinds_at();
    let kinds: Vec<Option<usize>> = new_kinds.iter().map(|name| old_kinds.iter().position(|old| old == name)).collect();
    for index in [2 * by_kind, 2 * by_kind + 1] {
        let old_rows = tensors[index].data.chunks_exact(old_kinds.len());
        let mut tensor = random.tensors()[index].clone();
        for (row, old_row) in tensor.data.chunks_exact_mut(kinds.len()).zip(old_rows) {
            row.iter_mut()
                .zip(&kinds)
                .filter_map(|(x, kind)| Some((x, (*kind)?)))
                .for_each(|(x, kind)| *x = old_row[kind]);
        }
        tensors[index] = tensor;
    }
    Ok(Weights::new(&new.layout(), tensors)?)
}

/// The layer with an output for each kind of actions at points, if the policy is made from one.
fn policy_layer(network: &Network) -> Option<usize> {
    let Op::Actions { x } = network.ops[network.policy().0] else { return None };
    let Op::Linear { layer, .. } = network.ops[network.parts(x)[0].0] else { return None };
    Some(layer)
}
