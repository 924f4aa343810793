//! Agents by a one-line spec: `random`, `minimax:depth=6`, `alphabeta:depth=8`, `alphabeta:time=1s`, `mcts:sims=200`,
//! `az:<checkpoint>,sims=100`, `az:pretrained`, `human`.

mod options;
mod players;
mod classical;
mod pretrained;

pub use classical::{ClassicalMethod, ClassicalSearch, ClassicalSpec};
pub use players::Player;
pub use pretrained::pretrained_games;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use turnstone_env::{Game, nearest};
use turnstone_models::{CheckpointError, CheckpointInfo, MismatchError, NetworkError, Weights};
use turnstone_search::classic::Classical;

use self::classical::ClassicalPlayer;
use self::options::Options;
use crate::config::SearchKind;
use crate::network::{checkpoint_params, shape};

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
    /// A classical search.
    Classical(ClassicalSpec),
    /// Tree search with random playouts.
    Mcts {
        /// Simulations per move.
        simulations: u32,
    },
    /// Tree search with a trained network.
    Az {
        /// A checkpoint, or a run folder, whose `latest.safetensors` is meant, or `pretrained` for the agent that comes
        /// with the program (`./pretrained` is a file of that name).
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
    /// No trained agent comes with the program for this game.
    #[error(
        "no trained agent comes with the program for `{game}` (only for: {games}); train one, or name a checkpoint"
    )]
    NotPretrained {
        /// The game.
        game: String,
        /// The games that have one.
        games: String,
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
            AgentSpec::Classical(classical) => {
                classical::find_heuristic::<G>(classical.heuristic.as_deref())
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
        Ok(match &self.spec {
            AgentSpec::Human => {
                let fault = "a person can only `play`".to_owned();
                return Err(AgentError::Spec { spec: self.spec.to_string(), fault });
            }
            AgentSpec::Random => Box::new(players::Random::default()),
            AgentSpec::Classical(classical) => {
                let search = ClassicalSearch::new(classical, game).expect("the heuristic was found on loading");
                Box::new(ClassicalPlayer::new(search))
            }
            AgentSpec::Mcts { simulations } => Box::new(players::Rollouts::new(game, *simulations)),
            AgentSpec::Az { simulations, search, .. } => {
                let network = self.network.as_ref().expect("the checkpoint was read on loading");
                Box::new(players::Network::new(game, network, *simulations, search.strongest(*simulations))?)
            }
        })
    }
}

/// Reads a checkpoint of this game: a file, a run folder's `latest.safetensors`, or `pretrained`.
///
/// # Errors
/// One line that names the file and the fault.
pub fn load_network<G: Game>(checkpoint: &Path, game: &G) -> Result<LoadedNetwork, AgentError> {
    read_network(checkpoint, G::NAME)?.checked(checkpoint, game)
}

/// Reads a checkpoint whatever its game; `game` is the one whose agent `pretrained` stands for.
///
/// # Errors
/// One line that names the file and the fault.
pub fn read_network(checkpoint: &Path, game: &str) -> Result<LoadedNetwork, AgentError> {
    let is_pretrained = checkpoint.as_os_str() == pretrained::NAME;
    let (info, weights) =
        if is_pretrained { pretrained::read(game)? } else { turnstone_models::load(&file(checkpoint))? };
    Ok(LoadedNetwork { info, weights })
}

/// The file that a checkpoint's name means, as errors name it.
fn file(checkpoint: &Path) -> PathBuf {
    if checkpoint.as_os_str() == pretrained::NAME {
        PathBuf::from(pretrained::FILE)
    } else if checkpoint.is_dir() {
        checkpoint.join("latest.safetensors")
    } else {
        checkpoint.to_owned()
    }
}

impl LoadedNetwork {
    /// Confirms that it is a network of this game; `checkpoint` is where it was read from.
    ///
    /// # Errors
    /// How it differs.
    pub fn checked<G: Game>(self, checkpoint: &Path, game: &G) -> Result<Self, AgentError> {
        self.info
            .expect(G::NAME, G::VERSION, &checkpoint_params(game), &shape(&game.spec()))
            .map_err(|mismatch| AgentError::Mismatch { path: file(checkpoint), mismatch })?;
        Ok(self)
    }
}

/// The names of the agents that are not classical searches.
const OTHERS: [&str; 4] = ["human", "random", "mcts", "az"];

impl FromStr for AgentSpec {
    type Err = AgentError;

    fn from_str(spec: &str) -> Result<Self, AgentError> {
        let fault = |fault: String| AgentError::Spec { spec: spec.to_owned(), fault };
        let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
        let mut options = Options::parse(rest, name == "az").map_err(fault)?;
        let parsed = match name {
            "human" => Ok(Self::Human),
            "random" => Ok(Self::Random),
            "mcts" => options.number("sims", 1..=MAX_SIMULATIONS).map(|simulations| {
                let simulations = simulations.unwrap_or(200);
                Self::Mcts { simulations }
            }),
            "az" => options.number("sims", 0..=MAX_SIMULATIONS).and_then(|simulations| {
                let search = search_kind(&mut options)?;
                let checkpoint = options.file.take().ok_or("name a checkpoint: az:<file>,sims=100 or az:pretrained")?;
                Ok(Self::Az { checkpoint, simulations: simulations.unwrap_or(100), search })
            }),
            _ if classical::NAMES.contains(&name) => ClassicalSpec::parse(name, &mut options).map(Self::Classical),
            _ => {
                let agents = [&OTHERS[..], &classical::NAMES].concat();
                Err(match nearest(name, agents.iter().copied()) {
                    Some(near) => format!("unknown agent (did you mean `{near}`?)"),
                    None => format!("unknown agent; the agents are {}", agents.join(", ")),
                })
            }
        };
        parsed.and_then(|spec| options.finish().map(|()| spec)).map_err(fault)
    }
}

fn search_kind(options: &mut Options) -> Result<SearchKind, String> {
    match options.take("search").as_deref() {
        None => Ok(SearchKind::default()),
        Some("puct") => Ok(SearchKind::Puct),
        Some("gumbel") => Ok(SearchKind::Gumbel),
        Some(other) => Err(format!("search must be puct or gumbel, not `{other}`")),
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Human => write!(f, "human"),
            Self::Random => write!(f, "random"),
            Self::Classical(classical) => classical.fmt(f),
            Self::Mcts { simulations } => write!(f, "mcts:sims={simulations}"),
            Self::Az { checkpoint, simulations, search } => {
                write!(f, "az:{},sims={simulations}", checkpoint.display())?;
                match search {
                    SearchKind::Puct => write!(f, ",search=puct"),
                    SearchKind::Gumbel => Ok(()),
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
            "alphabeta:depth=8,hash=64",
            "alphabeta:nodes=100000",
            "alphabeta:depth=20,nodes=5,time=1500ms,total=60s,hash=0",
            "breadthfirst:depth=2",
            "bestfirst:nodes=1000,heuristic=win_loss",
            "mcts:sims=200",
            "az:runs/a b/latest.safetensors,sims=100",
            "az:x,sims=16,search=puct",
            "az:pretrained,sims=200",
        ] {
            assert_eq!(spec.parse::<AgentSpec>().map(|s| s.to_string()).ok().as_deref(), Some(spec));
        }
        assert_eq!("alphabeta".parse::<AgentSpec>().expect("valid").to_string(), "alphabeta:depth=6");
        assert_eq!("alphabeta:time=2m,hash=64".parse::<AgentSpec>().expect("valid").to_string(), "alphabeta:time=120s");
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
        assert!(fault("minimax:depth=0").contains("depth must be a number from 1 to 128"));
        for time in ["1", "0s", "-1s", "nans", "infs", "1h", "9999m", "s"] {
            assert!(fault(&format!("alphabeta:time={time}")).contains("time must be a time such as"));
        }
        assert!(fault("az").contains("name a checkpoint"));
        assert!(fault("random:x").contains("not `key=value`"));
        assert!(fault("mcts:sims=-1").contains("sims must be"));
    }
}
