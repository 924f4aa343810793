//! The kinds of networks: those that are built in, and those that a program adds.

mod residual_mlp;
mod residual_graph;
mod residual_conv;

pub use residual_conv::ResidualConv;
pub use residual_graph::ResidualGraph;
pub use residual_mlp::ResidualMlp;

use std::any::Any;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::error::{NetworkError, within};
use crate::network::{HeadSpec, Network, NetworkBuilder, NetworkKind, Var};
use crate::shape::Shape;
use crate::weights::TensorSpec;

/// A [`NetworkKind`] of any type.
trait AnyKind: fmt::Debug + Send + Sync {
    fn name(&self) -> &'static str;
    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2];
    fn validate(&self) -> Result<(), NetworkError>;
    fn describe(&self) -> String;
    /// The sizes by name.
    fn sizes(&self) -> Map<String, Value>;
    fn as_any(&self) -> &dyn Any;
}

impl<K: NetworkKind> AnyKind for K {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        NetworkKind::build(self, net)
    }

    fn validate(&self) -> Result<(), NetworkError> {
        NetworkKind::validate(self)
    }

    fn describe(&self) -> String {
        NetworkKind::describe(self)
    }

    fn sizes(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(sizes)) => sizes,
            _ => Map::new(),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// How the config of a kind is read.
type Reader = fn(Map<String, Value>) -> serde_json::Result<NetworkConfig>;

fn read<K: NetworkKind>(sizes: Map<String, Value>) -> serde_json::Result<NetworkConfig> {
    Ok(NetworkConfig::from(serde_json::from_value::<K>(Value::Object(sizes))?))
}

/// The kinds that are built in, by name.
const BUILT_IN: [(&str, Reader); 3] = [
    (ResidualMlp::NAME, read::<ResidualMlp>),
    (ResidualGraph::NAME, read::<ResidualGraph>),
    (ResidualConv::NAME, read::<ResidualConv>),
];

/// The kinds that this program has added.
static ADDED: RwLock<Vec<(&str, Reader)>> = RwLock::new(Vec::new());

/// Adds a kind of network to those that configs and checkpoints can name in this program.
///
/// # Panics
/// If a kind of this name is built in.
pub fn register_network<K: NetworkKind>() {
    assert!(BUILT_IN.iter().all(|(name, _)| *name != K::NAME), "a network `{}` is built in", K::NAME);
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    added.retain(|(name, _)| *name != K::NAME);
    added.push((K::NAME, read::<K>));
}

/// The names of all kinds, those that are built in first.
pub fn network_kinds() -> Vec<&'static str> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    BUILT_IN.iter().chain(added.iter()).map(|(name, _)| *name).collect()
}

fn reader(kind: &str) -> Option<Reader> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    BUILT_IN.iter().chain(added.iter()).find(|(name, _)| *name == kind).map(|&(_, reader)| reader)
}

/// Kind and size of a network.
#[derive(Clone)]
pub struct NetworkConfig(Arc<dyn AnyKind>);

impl NetworkConfig {
    /// Checks the sizes of the network without regard to a game.
    ///
    /// # Errors
    /// [`NetworkError::OutOfRange`] names the first size that is out of range.
    pub fn validate(&self) -> Result<(), NetworkError> {
        self.0.validate()
    }

    /// The name of the kind.
    pub fn kind(&self) -> &'static str {
        self.0.name()
    }

    /// The network as its own type, if it has that kind.
    pub fn as_kind<K: NetworkKind>(&self) -> Option<&K> {
        self.0.as_any().downcast_ref()
    }

    /// Name, shape and initial distribution of every parameter for a game of this shape, in their fixed order.
    ///
    /// # Errors
    /// [`NetworkError::OutOfRange`] as for [`validate`](Self::validate), for the sizes of the shape, and for more than
    /// 67 million parameters; other errors for a board that the network cannot work on.
    pub fn layout(&self, shape: &Shape) -> Result<Vec<TensorSpec>, NetworkError> {
        self.layout_with(shape, &[])
    }

    /// [`layout`](Self::layout) of the network in training, with further heads, whose parameters are the last.
    ///
    /// # Errors
    /// Those of [`layout`](Self::layout), and for a head that this network or this board cannot have.
    pub fn layout_with(&self, shape: &Shape, further: &[HeadSpec]) -> Result<Vec<TensorSpec>, NetworkError> {
        Ok(Network::with_heads(self, shape, further)?.layout())
    }

    /// Whether a network built for one shape can be used in a game of another: inputs and actions are equal, and so are
    /// the boards and the kinds of actions if this kind of network uses them.
    pub fn fits(&self, made_for: &Shape, game: &Shape) -> bool {
        let network = Network::new(self, made_for);
        let reads = |what: fn(&Network) -> bool| network.as_ref().map_or(true, what);
        made_for.sizes() == game.sizes()
            && (made_for.board == game.board || !reads(Network::reads_points))
            && (made_for.action_kinds == game.action_kinds || !reads(Network::reads_kinds))
    }

    /// What files say of a shape: without the kinds of actions if the network does not use them.
    pub(crate) fn needed(&self, mut shape: Shape) -> Shape {
        if !Network::new(self, &shape).is_ok_and(|network| network.reads_kinds()) {
            shape.action_kinds = Vec::new();
        }
        shape
    }

    /// Number of residual blocks, of a kind that has a size of this name; 0 otherwise.
    pub fn blocks(&self) -> usize {
        let blocks = self.0.sizes().get("blocks").and_then(Value::as_u64);
        blocks.and_then(|blocks| blocks.try_into().ok()).unwrap_or(0)
    }

    /// The network with this number of blocks, if its kind has a size of this name.
    #[must_use]
    pub fn with_blocks(&self, blocks: usize) -> NetworkConfig {
        let mut sizes = self.0.sizes();
        match sizes.get_mut("blocks") {
            Some(size) => *size = blocks.into(),
            None => return self.clone(),
        }
        let changed = reader(self.kind()).and_then(|read| read(sizes).ok());
        changed.unwrap_or_else(|| self.clone())
    }

    pub(crate) fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        self.0.build(net)
    }
}

impl Network {
    /// Lists the operations of a kind and size of network.
    ///
    /// # Errors
    /// A size is out of range, the board is not one that it works on, or it has more than 67 million parameters.
    pub(crate) fn new(config: &NetworkConfig, shape: &Shape) -> Result<Network, NetworkError> {
        Network::with_heads(config, shape, &[])
    }

    /// [`Network::new`] with further heads.
    pub(crate) fn with_heads(
        config: &NetworkConfig,
        shape: &Shape,
        further: &[HeadSpec],
    ) -> Result<Network, NetworkError> {
        config.validate()?;
        within("the number of inputs", shape.inputs, 1..=65536)?;
        within("the number of actions", shape.actions, 1..=65536)?;
        let mut builder = NetworkBuilder::new(shape);
        let heads = config.build(&mut builder);
        let network = builder.finish(heads, further)?;
        let count = network.layers.iter().map(|layer| (layer.inputs + 1).saturating_mul(layer.outputs));
        within("the number of parameters", count.fold(0, usize::saturating_add), 1..=1 << 26)?;
        Ok(network)
    }
}

impl<K: NetworkKind> From<K> for NetworkConfig {
    fn from(kind: K) -> NetworkConfig {
        NetworkConfig(Arc::new(kind))
    }
}

impl Default for NetworkConfig {
    fn default() -> Self {
        ResidualMlp::default().into()
    }
}

impl PartialEq for NetworkConfig {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.0.sizes() == other.0.sizes()
    }
}

impl Eq for NetworkConfig {}

impl fmt::Debug for NetworkConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for NetworkConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let described = self.0.describe();
        if !described.is_empty() {
            return f.write_str(&described);
        }
        f.write_str(self.kind())?;
        self.0.sizes().iter().try_for_each(|(name, size)| write!(f, ", {name} {size}"))
    }
}

impl Serialize for NetworkConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sizes = self.0.sizes();
        let mut map = serializer.serialize_map(Some(1 + sizes.len()))?;
        map.serialize_entry("kind", self.kind())?;
        sizes.iter().try_for_each(|(name, size)| map.serialize_entry(name, size))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for NetworkConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NetworkConfig, D::Error> {
        let mut sizes = Map::deserialize(deserializer)?;
        let kind = match sizes.remove("kind") {
            None => NetworkConfig::default().kind().to_owned(),
            Some(Value::String(kind)) => kind,
            Some(other) => return Err(D::Error::custom(format!("the kind of a network is a name, not {other}"))),
        };
        let read = reader(&kind).ok_or_else(|| {
            let kinds = network_kinds().join(", ");
            D::Error::custom(format!("there is no kind of network `{kind}`; the kinds are {kinds}"))
        })?;
        read(sizes).map_err(D::Error::custom)
    }
}

#[cfg(test)]
pub(crate) mod tests;
