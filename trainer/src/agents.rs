//! Agents by a one-line spec: `random`, `minimax:depth=6`, `alphabeta:depth=8`, `mcts:sims=200`,
//! `az:<checkpoint>,sims=100`, `human`.

mod players;

pub use players::Player;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use turnstone_env::{Game, nearest};
use turnstone_models::{CheckpointError, CheckpointInfo, MismatchError, NetworkError, Weights};
use turnstone_search::classic::{Classical, Heuristic};

use crate::config::SearchKind;
use crate::network::{checkpoint_params, shape};

/// Deepest fixed depth of the classical searches.
const MAX_DEPTH: u32 = 64;
/// Most simulations per move.
const MAX_SIMULATIONS: u32 = 10_000_000;

/// Which agent plays.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum AgentSpec {
    /// A person at the terminal; only in `play`.
    Human,
    /// Uniformly random legal actions.
    Random,
    /// Plain minimax.
    Minimax {
        /// Plies to look ahead.
        depth: u32,
        /// Static evaluation by name; the game's first one if absent.
        heuristic: Option<String>,
    },
    /// Alpha-beta.
    AlphaBeta {
        /// Plies to look ahead.
        depth: u32,
        /// Static evaluation by name; the game's first one if absent.
        heuristic: Option<String>,
    },
    /// Tree search with random playouts.
    Mcts {
        /// Simulations per move.
        simulations: u32,
    },
    /// Tree search with a trained network.
    Az {
        /// A checkpoint, or a run folder, whose `latest.safetensors` is meant.
        checkpoint: PathBuf,
        /// Simulations per move; 0 plays the network's policy without search.
        simulations: u32,
        /// Which search.
        search: SearchKind,
    },
}

/// Why an agent cannot play.
#[derive(Debug, Error)]
pub enum AgentError {
    /// The spec is malformed.
    #[error("agent `{spec}`: {fault}")]
    Spec {
        /// The spec given.
        spec: String,
        /// What is wrong with it.
        fault: String,
    },
    /// The checkpoint cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The checkpoint is of something else.
    #[error("{}: {mismatch}", path.display())]
    Mismatch {
        /// The checkpoint.
        path: PathBuf,
        /// How it differs.
        mismatch: MismatchError,
    },
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

/// A checkpoint made ready to play, read once for all threads.
#[derive(Clone, Debug)]
pub struct LoadedNetwork {
    /// What it says about itself.
    pub info: CheckpointInfo,
    /// Its weights.
    pub weights: Weights,
}

/// An agent whose files have been read and whose names have been checked for a game; builds its players.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The spec it was made from.
    pub spec: AgentSpec,
    network: Option<LoadedNetwork>,
}

impl Agent {
    /// Reads what the spec names and checks that it plays this game.
    ///
    /// # Errors
    /// One line that names the spec or file and the fault.
    pub fn load<G: Classical>(spec: &AgentSpec, game: &G) -> Result<Self, AgentError> {
        let network = match spec {
            AgentSpec::Az { checkpoint, .. } => Some(load_network(checkpoint, game)?),
            AgentSpec::Minimax { heuristic, .. } | AgentSpec::AlphaBeta { heuristic, .. } => {
                find_heuristic::<G>(heuristic.as_deref())
                    .map_err(|fault| AgentError::Spec { spec: spec.to_string(), fault })?;
                None
            }
            _ => None,
        };
        Ok(Self { spec: spec.clone(), network })
    }

    /// An agent that searches with weights that are in memory.
    #[must_use]
    pub fn from_network(
        network: LoadedNetwork,
        name: impl Into<PathBuf>,
        simulations: u32,
        search: SearchKind,
    ) -> Self {
        Self { spec: AgentSpec::Az { checkpoint: name.into(), simulations, search }, network: Some(network) }
    }

    /// A player for one seat of one game at a time.
    ///
    /// # Errors
    /// The spec is `human`, who is no player of this program, or the network cannot be built.
    pub fn player<G: Classical>(&self, game: &G) -> Result<Box<dyn Player<G>>, AgentError> {
        let heuristic =
            |name: &Option<String>| find_heuristic::<G>(name.as_deref()).expect("the name was checked on loading");
        Ok(match &self.spec {
            AgentSpec::Human => {
                let fault = "a person can only `play`".to_owned();
                return Err(AgentError::Spec { spec: self.spec.to_string(), fault });
            }
            AgentSpec::Random => Box::new(players::Random::default()),
            AgentSpec::Minimax { depth, heuristic: name } => Box::new(players::Minimax::new(heuristic(name), *depth)),
            AgentSpec::AlphaBeta { depth, heuristic: name } => {
                Box::new(players::AlphaBeta::new(heuristic(name), *depth))
            }
            AgentSpec::Mcts { simulations } => Box::new(players::Rollouts::new(game, *simulations)),
            AgentSpec::Az { simulations, search, .. } => {
                let network = self.network.as_ref().expect("the checkpoint was read on loading");
                Box::new(players::Network::new(game, network, *simulations, search.strongest())?)
            }
        })
    }
}

/// Reads a checkpoint of this game from a file, or from a run folder's `latest.safetensors`.
///
/// # Errors
/// One line that names the file and the fault.
pub fn load_network<G: Game>(path: &Path, game: &G) -> Result<LoadedNetwork, AgentError> {
    let path = if path.is_dir() { path.join("latest.safetensors") } else { path.to_owned() };
    let (info, weights) = turnstone_models::load(&path)?;
    info.expect(G::NAME, G::VERSION, &checkpoint_params(game), shape(&game.spec()))
        .map_err(|mismatch| AgentError::Mismatch { path, mismatch })?;
    Ok(LoadedNetwork { info, weights })
}

fn find_heuristic<G: Classical>(name: Option<&str>) -> Result<Box<dyn Heuristic<G>>, String> {
    let mut all = G::heuristics();
    let Some(name) = name else { return Ok(all.swap_remove(0)) };
    match all.iter().position(|heuristic| heuristic.name() == name) {
        Some(i) => Ok(all.swap_remove(i)),
        None => {
            let names: Vec<&str> = all.iter().map(|heuristic| heuristic.name()).collect();
            Err(format!("{} has no heuristic `{name}`; it has {}", G::NAME, names.join(", ")))
        }
    }
}

const AGENTS: [&str; 6] = ["human", "random", "minimax", "alphabeta", "mcts", "az"];

impl FromStr for AgentSpec {
    type Err = AgentError;

    fn from_str(spec: &str) -> Result<Self, AgentError> {
        let fault = |fault: String| AgentError::Spec { spec: spec.to_owned(), fault };
        let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
        let mut options = Options::parse(rest, name == "az").map_err(fault)?;
        let parsed = match name {
            "human" => Ok(Self::Human),
            "random" => Ok(Self::Random),
            "minimax" | "alphabeta" => options.depth_and_heuristic().map(|(depth, heuristic)| match name {
                "minimax" => Self::Minimax { depth, heuristic },
                _ => Self::AlphaBeta { depth, heuristic },
            }),
            "mcts" => options.number("sims", 200, 1..=MAX_SIMULATIONS).map(|simulations| Self::Mcts { simulations }),
            "az" => options.number("sims", 100, 0..=MAX_SIMULATIONS).and_then(|simulations| {
                let search = options.search()?;
                let checkpoint = options.file.take().ok_or("name a checkpoint: az:<file>,sims=100")?;
                Ok(Self::Az { checkpoint, simulations, search })
            }),
            _ => Err(match nearest(name, AGENTS) {
                Some(near) => format!("unknown agent (did you mean `{near}`?)"),
                None => format!("unknown agent; the agents are {}", AGENTS.join(", ")),
            }),
        };
        parsed.and_then(|spec| options.finish().map(|()| spec)).map_err(fault)
    }
}

/// The part of a spec behind the colon.
struct Options {
    file: Option<PathBuf>,
    pairs: Vec<(String, String)>,
    known: Vec<&'static str>,
}

impl Options {
    fn parse(text: &str, with_file: bool) -> Result<Self, String> {
        let mut options = Self { file: None, pairs: Vec::new(), known: Vec::new() };
        for (i, part) in text.split(',').enumerate().filter(|(_, part)| !part.is_empty()) {
            match part.split_once('=') {
                _ if i == 0 && with_file => options.file = Some(part.into()),
                Some((key, value)) => options.pairs.push((key.to_owned(), value.to_owned())),
                None => return Err(format!("`{part}` is not `key=value`")),
            }
        }
        Ok(options)
    }

    fn take(&mut self, key: &'static str) -> Option<String> {
        self.known.push(key);
        let found = self.pairs.iter().position(|(k, _)| k == key)?;
        Some(self.pairs.remove(found).1)
    }

    fn number(&mut self, key: &'static str, default: u32, range: std::ops::RangeInclusive<u32>) -> Result<u32, String> {
        let Some(value) = self.take(key) else { return Ok(default) };
        value
            .parse()
            .ok()
            .filter(|number| range.contains(number))
            .ok_or_else(|| format!("{key} must be a number from {} to {}, not `{value}`", range.start(), range.end()))
    }

    fn depth_and_heuristic(&mut self) -> Result<(u32, Option<String>), String> {
        Ok((self.number("depth", 6, 1..=MAX_DEPTH)?, self.take("heuristic")))
    }

    fn search(&mut self) -> Result<SearchKind, String> {
        match self.take("search").as_deref() {
            None => Ok(SearchKind::default()),
            Some("puct") => Ok(SearchKind::Puct),
            Some("gumbel") => Ok(SearchKind::Gumbel),
            Some(other) => Err(format!("search must be puct or gumbel, not `{other}`")),
        }
    }

    /// Confirms that nothing is left over.
    fn finish(&self) -> Result<(), String> {
        let Some((key, _)) = self.pairs.first() else { return Ok(()) };
        Err(match nearest(key, self.known.iter().copied()) {
            Some(near) => format!("unknown option `{key}` (did you mean `{near}`?)"),
            None if self.known.is_empty() => format!("unknown option `{key}`; it has none"),
            None => format!("unknown option `{key}`; known are {}", self.known.join(", ")),
        })
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut classical = |name: &str, depth: &u32, heuristic: &Option<String>| {
            write!(f, "{name}:depth={depth}")?;
            heuristic.as_ref().map_or(Ok(()), |heuristic| write!(f, ",heuristic={heuristic}"))
        };
        match self {
            Self::Human => write!(f, "human"),
            Self::Random => write!(f, "random"),
            Self::Minimax { depth, heuristic } => classical("minimax", depth, heuristic),
            Self::AlphaBeta { depth, heuristic } => classical("alphabeta", depth, heuristic),
            Self::Mcts { simulations } => write!(f, "mcts:sims={simulations}"),
            Self::Az { checkpoint, simulations, search } => {
                write!(f, "az:{},sims={simulations}", checkpoint.display())?;
                match search {
                    SearchKind::Puct => Ok(()),
                    SearchKind::Gumbel => write!(f, ",search=gumbel"),
                }
            }
        }
    }
}

impl TryFrom<String> for AgentSpec {
    type Error = AgentError;

    fn try_from(spec: String) -> Result<Self, AgentError> {
        spec.parse()
    }
}

impl From<AgentSpec> for String {
    fn from(spec: AgentSpec) -> Self {
        spec.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_come_back_as_they_were_written() {
        for spec in [
            "human",
            "random",
            "minimax:depth=6",
            "alphabeta:depth=8,heuristic=store_difference",
            "mcts:sims=200",
            "az:runs/a b/latest.safetensors,sims=100",
            "az:x,sims=16,search=gumbel",
        ] {
            assert_eq!(spec.parse::<AgentSpec>().map(|s| s.to_string()).ok().as_deref(), Some(spec));
        }
        assert_eq!("alphabeta".parse::<AgentSpec>().expect("valid").to_string(), "alphabeta:depth=6");
        assert_eq!("az:x".parse::<AgentSpec>().expect("valid").to_string(), "az:x,sims=100");
    }

    #[test]
    fn faults_are_named() {
        let fault = |spec: &str| spec.parse::<AgentSpec>().expect_err("a fault").to_string();
        assert_eq!(fault("rando"), "agent `rando`: unknown agent (did you mean `random`?)");
        assert_eq!(
            fault("alphabeta:dept=3"),
            "agent `alphabeta:dept=3`: unknown option `dept` (did you mean `depth`?)"
        );
        assert!(fault("minimax:depth=0").contains("depth must be a number from 1 to 64"));
        assert!(fault("az").contains("name a checkpoint"));
        assert!(fault("random:x").contains("not `key=value`"));
        assert!(fault("mcts:sims=-1").contains("sims must be"));
    }
}
