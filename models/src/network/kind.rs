//! What a kind of network is.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::builder::NetworkBuilder;
use super::operations::Var;
use crate::error::NetworkError;

/// A kind of network: its sizes, and its operations. Nothing else is needed to train it, to evaluate it with floats, with
/// integers and on GPUs, and to export it to ONNX.
///
/// The fields are the keys of the config's section `[net]` beside `kind`, and of the checkpoint.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use turnstone_models::{Init, NetworkBuilder, NetworkConfig, NetworkKind, Shape, Var, register_network};
///
/// /// One hidden layer.
/// #[derive(Debug, Clone, Serialize, Deserialize)]
/// #[serde(default, deny_unknown_fields)]
/// struct Shallow {
///     width: usize,
/// }
///
/// impl Default for Shallow {
///     fn default() -> Shallow {
///         Shallow { width: 64 }
///     }
/// }
///
/// impl NetworkKind for Shallow {
///     const NAME: &'static str = "shallow";
///
///     fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
///         net.within("the width", self.width, 1..=1024);
///         let x = net.inputs();
///         let hidden = net.rectified("hidden", x, self.width);
///         let actions = net.shape().actions;
///         [net.linear("policy", hidden, actions, Init::Head), net.value_head(hidden, 16)]
///     }
/// }
///
/// register_network::<Shallow>();
/// let config: NetworkConfig = serde_json::from_str(r#"{"kind": "shallow", "width": 8}"#)?;
/// assert_eq!(config.layout(&Shape::flat(4, 3))?.len(), 8); // four layers
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait NetworkKind: fmt::Debug + Clone + Default + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name in configs and checkpoints.
    const NAME: &'static str;

    /// Lists the operations for games of the builder's shape. Returns the logits of the policy, `[1, actions]`, and of win,
    /// draw and loss for the mover, `[1, 3]`.
    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2];

    /// Checks the sizes without regard to a game.
    ///
    /// # Errors
    /// The first size that is out of range.
    fn validate(&self) -> Result<(), NetworkError> {
        Ok(())
    }

    /// The kind and its sizes in a few words; empty for those of the config.
    fn describe(&self) -> String {
        String::new()
    }
}
