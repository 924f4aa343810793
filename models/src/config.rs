//! The kinds of networks and their sizes.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{NetworkError, within};
use crate::shape::{Neighbourhood, Shape, Taps};

/// Number of classes of the value head: win, draw and loss for the mover, in this order.
pub const OUTCOMES: usize = 3;

/// Kind and size of a network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields, remote = "Self")]
pub enum NetworkConfig {
    /// A residual MLP: a stem, then blocks `x -> relu(x + W2 relu(W1 x + b1) + b2)` of constant width, without
    /// normalisation layers. It reads an observation as a flat vector and does not use the board.
    ResidualMlp {
        /// Number of residual blocks, 0 to 32.
        #[serde(default = "default_blocks")]
        blocks: usize,
        /// Units per layer, 1 to 2048.
        #[serde(default = "default_width")]
        width: usize,
    },
    /// A residual network over the board's points: a stem per point, then blocks
    /// `x -> relu(x + W2 relu(W1 N(x) + b1) + b2)` with weights shared by all points. `N` concatenates the channels of a
    /// point and of its neighbours, with zeros beyond the end of a line. The heads read a few channels of every point.
    ResidualGraph {
        /// Number of residual blocks, 0 to 32.
        #[serde(default = "default_blocks")]
        blocks: usize,
        /// Channels per point, 1 to 512.
        #[serde(default = "default_channels")]
        channels: usize,
        /// Number of neighbours in each direction, 1 to 16.
        #[serde(default = "default_reach")]
        reach: usize,
        /// The directions in which neighbours are found.
        #[serde(default)]
        neighbourhood: Neighbourhood,
    },
    /// A residual tower of 3x3 convolutions over the cells of the lattice, with zeros beyond its edge: a stem, then blocks
    /// `x -> relu(x + g (W2 N(h) + b2 + p))` with `h = relu(W1 N(x) + b1)`. `N` concatenates the channels of a cell and of the
    /// eight cells around it. `p`, with `global_pooling`, is a layer of the mean and the maximum of each channel of `h` over
    /// the board; `g`, with `squeeze_excite`, a sigmoid per channel behind two layers of the mean over the board of what it
    /// multiplies. Without them `p` is 0 and `g` is 1. Heads as in `ResidualGraph`.
    ResidualConv {
        /// Number of residual blocks, 0 to 32.
        #[serde(default = "default_conv_blocks")]
        blocks: usize,
        /// Channels per cell, 1 to 512.
        #[serde(default = "default_conv_channels")]
        channels: usize,
        /// Whether every block reads means and maxima over the whole board.
        #[serde(default)]
        global_pooling: bool,
        /// Hidden units of each block's squeeze-and-excitation, 0 to 512; 0 leaves it out.
        #[serde(default)]
        squeeze_excite: usize,
    },
}

impl Serialize for NetworkConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for NetworkConfig {
    /// Reads a kind and its sizes. The error for the kind that version 0.1.0 had says why it is missing.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer).map_err(|error| {
            let (message, unknown) = (error.to_string(), "unknown variant `mixer`, expected one of");
            let Some((_, kinds)) = message.split_once(unknown) else { return error };
            let kinds = kinds.lines().next().unwrap_or_default();
            D::Error::custom(format!(
                "`mixer` was removed after version 0.1.0, as it learned too slowly; the kinds are{kinds}"
            ))
        })
    }
}

/// The layers of a block of convolutions that read the whole board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OverBoard {
    /// Whether it has a layer of means and maxima.
    pub(crate) pools: bool,
    /// Whether it has the two layers of squeeze-and-excitation.
    pub(crate) excites: bool,
}

impl fmt::Display for NetworkConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ResidualMlp { blocks, width } => write!(f, "residual MLP, {blocks} blocks of {width} units"),
            Self::ResidualGraph { blocks, channels, reach, neighbourhood } => {
                let near = match neighbourhood {
                    Neighbourhood::Lines => format!("{reach} along the lines"),
                    Neighbourhood::Square => "the square around".to_owned(),
                };
                write!(f, "residual graph, {blocks} blocks of {channels} channels, {near}")
            }
            Self::ResidualConv { blocks, channels, global_pooling, squeeze_excite } => {
                write!(f, "residual conv, {blocks} blocks of {channels} channels")?;
                if *global_pooling {
                    write!(f, ", global pooling")?;
                }
                if *squeeze_excite > 0 {
                    write!(f, ", squeeze-excite {squeeze_excite}")?;
                }
                Ok(())
            }
        }
    }
}

fn default_blocks() -> usize {
    3
}

fn default_width() -> usize {
    128
}

fn default_channels() -> usize {
    48
}

fn default_conv_blocks() -> usize {
    6
}

fn default_conv_channels() -> usize {
    64
}

fn default_reach() -> usize {
    1
}

impl Default for NetworkConfig {
    fn default() -> Self {
        NetworkConfig::ResidualMlp { blocks: default_blocks(), width: default_width() }
    }
}

impl NetworkConfig {
    /// Checks the sizes of the network without regard to a game.
    ///
    /// # Errors
    /// [`NetworkError::OutOfRange`] names the first size that is out of range.
    pub fn validate(&self) -> Result<(), NetworkError> {
        let of_points = |channels| within("the number of channels", channels, 1..=512);
        within("the number of blocks", self.blocks(), 0..=32)?;
        match *self {
            NetworkConfig::ResidualMlp { width, .. } => within("the network width", width, 1..=2048),
            NetworkConfig::ResidualGraph { channels, reach, .. } => {
                of_points(channels)?;
                within("the reach", reach, 1..=16)
            }
            NetworkConfig::ResidualConv { channels, squeeze_excite, .. } => {
                of_points(channels)?;
                within("the number of units of squeeze_excite", squeeze_excite, 0..=512)
            }
        }
    }

    /// Number of residual blocks.
    pub fn blocks(&self) -> usize {
        match *self {
            NetworkConfig::ResidualMlp { blocks, .. }
            | NetworkConfig::ResidualGraph { blocks, .. }
            | NetworkConfig::ResidualConv { blocks, .. } => blocks,
        }
    }

    /// Whether a network built for one shape can be used in a game of another: inputs and actions are equal, and so are
    /// the boards if this kind of network uses them.
    pub fn fits(&self, made_for: &Shape, game: &Shape) -> bool {
        let blind = matches!(self, NetworkConfig::ResidualMlp { .. });
        made_for.sizes() == game.sizes() && (blind || made_for.board == game.board)
    }

    /// Whether the network can be computed with integers of eight bits. Those of convolutions lack an input layer over
    /// neighbours and the layers over the whole board.
    pub fn has_integers(&self) -> bool {
        !matches!(self, NetworkConfig::ResidualConv { .. })
    }

    /// What a block of convolutions has besides them; `None` for other kinds.
    pub(crate) fn over_board(&self) -> Option<OverBoard> {
        match *self {
            NetworkConfig::ResidualConv { global_pooling, squeeze_excite, .. } => {
                Some(OverBoard { pools: global_pooling, excites: squeeze_excite > 0 })
            }
            _ => None,
        }
    }

    /// The points that each layer of a graph network or of convolutions reads, on a board that has been checked; `None` for
    /// other kinds.
    pub(crate) fn taps(&self, shape: &Shape) -> Option<Taps> {
        match *self {
            NetworkConfig::ResidualGraph { reach, neighbourhood, .. } => Some(shape.board.taps(neighbourhood, reach)),
            NetworkConfig::ResidualConv { .. } => Some(shape.board.taps(Neighbourhood::Square, 1)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_config_reads_from_text() {
        let config: NetworkConfig = serde_json::from_str(r#"{"kind":"residual_mlp","blocks":3,"width":128}"#).unwrap();
        assert_eq!(config, NetworkConfig::ResidualMlp { blocks: 3, width: 128 });
        assert!(
            serde_json::from_str::<NetworkConfig>(r#"{"kind":"residual_mlp","blocks":3,"width":128,"w":1}"#).is_err()
        );
    }

    #[test]
    fn the_removed_kind_says_so_and_names_the_others() {
        let fault = serde_json::from_str::<NetworkConfig>(r#"{"kind":"mixer","blocks":3,"hidden":96}"#).unwrap_err();
        let expected = "`mixer` was removed after version 0.1.0, as it learned too slowly; the kinds are `residual_mlp`, \
                        `residual_graph`, `residual_conv`";
        assert!(fault.to_string().starts_with(expected), "{fault}");
        let other = serde_json::from_str::<NetworkConfig>(r#"{"kind":"mix"}"#).unwrap_err().to_string();
        assert!(other.starts_with("unknown variant `mix`, expected one of"), "{other}");
    }
}
