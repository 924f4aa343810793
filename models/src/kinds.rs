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
use turnstone_base::settings::{self, Fault, Given, Setting};

use crate::error::{NetworkError, within};
use crate::network::{HeadSpec, Network, NetworkBuilder, NetworkKind, Var};
use crate::shape::Shape;
use crate::weights::TensorSpec;

/// A [`NetworkKind`] of any type.
trait AnyKind: fmt::Debug + Send + Sync {
    fn name(&self) -> &'static str;
    fn about(&self) -> &'static str;
    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2];
    fn describe(&self) -> String;
    fn settings(&mut self) -> Vec<Setting<'_>>;
    fn check(&self) -> Result<(), Fault>;
    fn values(&self) -> Vec<(&'static str, Given)>;
    fn copy(&self) -> Arc<dyn AnyKind>;
    fn as_any(&self) -> &dyn Any;
}

impl<K: NetworkKind> AnyKind for K {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn about(&self) -> &'static str {
        K::ABOUT
    }

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        NetworkKind::build(self, net)
    }

    fn describe(&self) -> String {
        NetworkKind::describe(self)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        K::settings(self)
    }

    fn check(&self) -> Result<(), Fault> {
        K::check(self)
    }

    fn values(&self) -> Vec<(&'static str, Given)> {
        K::values(self)
    }

    fn copy(&self) -> Arc<dyn AnyKind> {
        Arc::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A kind's name, and a network of it with the default sizes.
type Entry = (&'static str, fn() -> NetworkConfig);

fn entry<K: NetworkKind>() -> Entry {
    (K::NAME, || K::default().into())
}

/// The kinds that this program has added.
static ADDED: RwLock<Vec<Entry>> = RwLock::new(Vec::new());

/// All kinds, those that are built in first.
fn entries() -> Vec<Entry> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    let mut all = vec![entry::<ResidualMlp>(), entry::<ResidualGraph>(), entry::<ResidualConv>()];
    all.extend(added.iter());
    all
}

/// Adds a kind of network to those that configs and checkpoints can name in this program.
///
/// # Panics
/// If a kind of this name is built in.
pub fn register_network<K: NetworkKind>() {
    let known = entries().iter().any(|(name, _)| *name == K::NAME);
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    assert!(!known || added.iter().any(|(name, _)| *name == K::NAME), "a network `{}` is built in", K::NAME);
    added.retain(|(name, _)| *name != K::NAME);
    added.push(entry::<K>());
}

/// The names of all kinds, those that are built in first.
pub fn network_kinds() -> Vec<&'static str> {
    entries().into_iter().map(|(name, _)| name).collect()
}

/// Kind and size of a network.
#[derive(Clone)]
pub struct NetworkConfig(Arc<dyn AnyKind>);

impl NetworkConfig {
    /// A network of this kind with the default sizes.
    ///
    /// # Errors
    /// There is no such kind.
    pub fn of_kind(kind: &str) -> Result<Self, String> {
        let missing = || {
            let kinds = network_kinds().join(", ");
            format!("there is no kind of network `{kind}`; the kinds are {kinds}")
        };
        entries().iter().find(|(name, _)| *name == kind).map(|(_, network)| network()).ok_or_else(missing)
    }

    /// The sizes, to be read and set.
    pub fn settings(&mut self) -> Vec<Setting<'_>> {
        self.0 = self.0.copy();
        Arc::get_mut(&mut self.0).expect("the copy is not shared").settings()
    }

    /// Description of the kind.
    pub fn about(&self) -> &'static str {
        self.0.about()
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
    /// A size of the network or of the shape is out of range, the board is not one that it works on, or it has more than
    /// 67 million parameters.
    pub fn layout(&self, shape: &Shape) -> Result<Vec<TensorSpec>, NetworkError> {
        self.layout_with(shape, &[])
    }

    /// [`layout`](Self::layout) of the network in training, with further heads, whose parameters are the last.
    ///
    /// # Errors
    /// The errors of [`layout`](Self::layout), and for a head that this network or this board cannot have.
    pub fn layout_with(&self, shape: &Shape, further: &[HeadSpec]) -> Result<Vec<TensorSpec>, NetworkError> {
        Ok(Network::with_heads(self, shape, further)?.layout())
    }

    /// Whether a network built for one shape can be used in a game of another: inputs and actions are equal, and so are
    /// the boards if this kind of network uses them.
    pub fn fits(&self, made_for: &Shape, game: &Shape) -> bool {
        made_for.sizes() == game.sizes()
            && (made_for.board == game.board
                || Network::new(self, made_for).is_ok_and(|network| !network.reads_points()))
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
        config.0.check()?;
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
        self.kind() == other.kind() && self.0.values() == other.0.values()
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
        self.0.values().iter().try_for_each(|(name, size)| write!(f, ", {name} {size}"))
    }
}

impl Serialize for NetworkConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sizes = self.0.values();
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
        let mut network = Self::of_kind(&kind).map_err(D::Error::custom)?;
        for (name, size) in sizes {
            let size = Given::deserialize(size).map_err(D::Error::custom)?;
            settings::set(network.settings(), &name, &size).map_err(D::Error::custom)?;
        }
        Ok(network)
    }
}

#[cfg(test)]
pub(crate) mod tests;
