//! The trait of a kind of network.

use std::fmt;

use turnstone_base::settings::Settings;

use super::builder::NetworkBuilder;
use super::operations::Var;

/// A kind of network: its sizes, and its operations. Nothing else is needed to train it, to evaluate it with floats, with
/// integers and on GPUs, and to export it to ONNX.
///
/// Its settings are the keys of the config's section `[net]` beside `kind`, and of the checkpoint.
///
/// ```
/// use turnstone_models::{Init, NetworkBuilder, NetworkConfig, NetworkKind, Shape, Var, register_network, settings};
///
/// settings! {
///     /// One hidden layer.
///     #[derive(Debug, Clone)]
///     struct Shallow {
///         /// Units of the layer.
///         width: usize = 64, 1..=1024;
///     }
/// }
///
/// impl NetworkKind for Shallow {
///     const NAME: &'static str = "shallow";
///
///     fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
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
pub trait NetworkKind: Settings + fmt::Debug + Send + Sync + 'static {
    /// The name in configs and checkpoints.
    const NAME: &'static str;

    /// Lists the operations for games of the builder's shape. Returns the logits of the policy, `[1, actions]`, and of win,
    /// draw and loss for the mover, `[1, 3]`.
    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2];

    /// The kind and its sizes in a few words; empty for those of the config.
    fn describe(&self) -> String {
        String::new()
    }
}
