//! Agents by a one-line spec: `random`, `minimax:depth=6`, `alphabeta:depth=8`, `alphabeta:time=1s`, `mcts:sims=200`,
//! `az:<checkpoint>,sims=100`, `az:pretrained`, `exact:<folder of tables>`, `engine:nodes=100:<command line>`, `human`.

mod options;
mod thinking;
mod tree_player;
mod players;
mod classical;
mod exact;
mod external;
mod pretrained;

pub use classical::{ClassicalMethod, ClassicalSearch, ClassicalSpec};
pub use exact::{ExactSpec, Rate};
pub use external::EngineSpec;
pub(crate) use options::parse_time;
pub use players::{Player, PlayerFault};
pub use pretrained::pretrained_games;
pub use thinking::{Thinking, Thought, Verdict};
pub use tree_player::Budget;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use turnstone_env::games::AnyGame;
use turnstone_env::{Game, nearest};
use turnstone_models::{CheckpointError, CheckpointInfo, MismatchError, NetworkError, Weights};
use turnstone_search::classic::Classical;
use turnstone_search::exact::Solvable;

use self::classical::ClassicalPlayer;
use self::external::External;
use self::options::{Options, time_text};
use crate::config::SearchKind;
use crate::network::{checkpoint_params, game_params, shape};

/// Most simulations per move.
const MAX_SIMULATIONS: u32 = 10_000_000;

/// A game that agents can be built for, as all of this program's are.
pub trait Playable: Classical + Solvable {}

impl<G: Classical + Solvable> Playable for G {}

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
        /// What bounds the search.
        budget: Budget,
    },
    /// A player that knows the exact truth.
    Exact(ExactSpec),
    /// Tree search with a trained network.
    Az {
        /// A checkpoint, or a run folder, whose `latest.safetensors` is meant, or `pretrained` for the agent that comes
        /// with the program (`./pretrained` is a file of that name).
        checkpoint: PathBuf,
        /// What bounds the search; 0 simulations play the network's policy without search.
        budget: Budget,
        /// Which search.
        search: SearchKind,
    },
    /// Another program that speaks the Universal Game Interface.
    Engine(EngineSpec),
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
    /// A player failed where nothing can go on without it.
    #[error(transparent)]
    Player(#[from] PlayerFault),
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
    pub fn load<G: Playable>(spec: &AgentSpec, game: &G) -> Result<Self, AgentError> {
        let network = match spec {
            AgentSpec::Az { checkpoint, .. } => Some(load_network(checkpoint, game)?),
            AgentSpec::Classical(classical) => {
                classical::find_heuristic::<G>(classical.heuristic.as_deref())
                    .map_err(|fault| AgentError::Spec { spec: spec.to_string(), fault })?;
                None
            }
            AgentSpec::Exact(exact) => {
                exact::find_truth(exact, game)?;
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
        let budget = Budget::Simulations(simulations);
        Self { spec: AgentSpec::Az { checkpoint: name.into(), budget, search }, network: Some(network) }
    }

    /// A checksum of the network that it plays with, if it has one: a file of the same name may change.
    #[must_use]
    pub fn network_checksum(&self) -> Option<u32> {
        let mut hasher = crc32fast::Hasher::new();
        for tensor in self.network.as_ref()?.weights.tensors() {
            hasher.update(bytemuck::cast_slice(&tensor.data));
        }
        Some(hasher.finalize())
    }

    /// The network that it searches with, if it has one.
    #[must_use]
    pub fn network(&self) -> Option<&LoadedNetwork> {
        self.network.as_ref()
    }

    /// A player for one seat of one game at a time.
    ///
    /// # Errors
    /// The spec is `human`, who is no player of this program, or the network cannot be built.
    pub fn player<G: Playable>(&self, game: &G) -> Result<Box<dyn Player<G>>, AgentError> {
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
            AgentSpec::Engine(spec) => Box::new(External::new(game, spec)?),
            AgentSpec::Mcts { budget } => Box::new(players::Rollouts::new(game, *budget)),
            AgentSpec::Exact(exact) => Box::new(exact::Exact::new(exact, game)?),
            AgentSpec::Az { budget, search, .. } => {
                let network = self.network.as_ref().expect("the checkpoint was read on loading");
                Box::new(players::Network::new(game, network, *budget, *search)?)
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

impl AgentSpec {
    /// The game that the agent's checkpoint is for, with its parameters. `None` if the agent has no file.
    ///
    /// # Errors
    /// The checkpoint cannot be read, or is of a game that this program does not know.
    pub fn checkpoint_game(&self) -> Result<Option<AnyGame>, AgentError> {
        let Self::Az { checkpoint, .. } = self else { return Ok(None) };
        if checkpoint.as_os_str() == pretrained::NAME {
            return Ok(None);
        }
        let (info, _) = turnstone_models::load(&file(checkpoint))?;
        let game = AnyGame::new(&info.game, &game_params(&info));
        game.map(Some).map_err(|error| AgentError::Spec { spec: self.to_string(), fault: error.to_string() })
    }
}

/// The names of the agents that are not classical searches.
const OTHERS: [&str; 6] = ["human", "random", "mcts", "az", "exact", "engine"];

impl FromStr for AgentSpec {
    type Err = AgentError;

    fn from_str(spec: &str) -> Result<Self, AgentError> {
        let fault = |fault: String| AgentError::Spec { spec: spec.to_owned(), fault };
        let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
        // An engine's command line may hold anything, so its options come first.
        let (rest, command) = match name {
            "engine" => rest.split_once(':').unwrap_or((rest, "")),
            _ => (rest, ""),
        };
        let with_file = match name {
            "az" => true,
            "exact" => !rest.split(',').next().is_some_and(|first| first.contains('=')),
            _ => false,
        };
        let mut options = Options::parse(rest, with_file).map_err(fault)?;
        let parsed = match name {
            "human" => Ok(Self::Human),
            "random" => Ok(Self::Random),
            "mcts" => budget(&mut options, 1, 200).map(|budget| Self::Mcts { budget }),
            "az" => budget(&mut options, 0, 100).and_then(|budget| {
                let search = search_kind(&mut options)?;
                let checkpoint = options.file.take().ok_or("name a checkpoint: az:<file>,sims=100 or az:pretrained")?;
                Ok(Self::Az { checkpoint, budget, search })
            }),
            "exact" => ExactSpec::parse(&mut options).map(Self::Exact),
            "engine" => EngineSpec::parse(command, &mut options).map(Self::Engine),
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

/// `sims=` or `time=`, of which there can be one.
fn budget(options: &mut Options, least: u32, default: u32) -> Result<Budget, String> {
    let simulations = options.number("sims", least..=MAX_SIMULATIONS)?;
    match (simulations, options.time("time")?) {
        (Some(_), Some(_)) => Err("give sims or time, not both".into()),
        (None, Some(time)) => Ok(Budget::Time(time)),
        (simulations, None) => Ok(Budget::Simulations(simulations.unwrap_or(default))),
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
            Self::Engine(engine) => engine.fmt(f),
            Self::Mcts { budget } => write!(f, "mcts:{budget}"),
            Self::Exact(exact) => exact.fmt(f),
            Self::Az { checkpoint, budget, search } => {
                write!(f, "az:{},{budget}", checkpoint.display())?;
                match search {
                    SearchKind::Puct => write!(f, ",search=puct"),
                    SearchKind::Gumbel => Ok(()),
                }
            }
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simulations(simulations) => write!(f, "sims={simulations}"),
            Self::Time(time) => write!(f, "time={}", time_text(*time)),
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
            "mcts:time=50ms",
            "az:x,time=1s,search=puct",
            "exact",
            "exact:error=0.5",
            "exact:other/tables,error=0.05,depth=6",
            "az:runs/a b/latest.safetensors,sims=100",
            "az:x,sims=16,search=puct",
            "az:pretrained,sims=200",
            "engine::my-engine",
            "engine:time=500ms,patience=5s:./my engine --agent az:a b,sims=5,time=1s",
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
        assert!(fault("engine").contains("name a program"));
        assert!(fault("engine:nodes=5").contains("name a program"));
        assert!(fault("engine::a 'b").contains("a quote has no end"));
        assert!(fault("engine:sims=5:a").contains("unknown option `sims`"));
        assert!(fault("random:x").contains("not `key=value`"));
        assert!(fault("mcts:sims=10,time=1s").contains("sims or time, not both"));
        assert!(fault("exact:error=2").contains("error must be a rate from 0 to 1"));
        assert!(fault("exact:x,error=nan").contains("error must be a rate"));
        assert!(fault("mcts:sims=-1").contains("sims must be"));
    }
}
