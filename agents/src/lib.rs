//! Agents by a one-line spec: `random`, `minimax:depth=6`, `alphabeta:depth=8`, `alphabeta:time=1s`, `mcts:sims=200`,
//! `az:<checkpoint>,sims=100`, `az:pretrained`, `exact:<folder of tables>`, `engine:nodes=100:<command line>`, `human`.

mod options;
mod thinking;
mod tree_player;
mod tree_spec;
mod players;
mod classical;
mod exact;
mod external;
mod pretrained;
mod spec;

pub use classical::{ClassicalMethod, ClassicalSearch, ClassicalSpec};
pub use exact::{ExactSpec, Rate};
pub use external::EngineSpec;
pub(crate) use options::parse_time;
pub use players::{Player, PlayerFault};
pub use pretrained::pretrained_games;
pub use spec::AgentSpec;
pub use thinking::{Thinking, Thought, Verdict};
pub use tree_spec::{Budget, DrawValue, TreeSpec};

use std::path::{Path, PathBuf};

use thiserror::Error;
use turnstone_env::Game;
use turnstone_env::games::AnyGame;
use turnstone_models::{CheckpointError, CheckpointInfo, MismatchError, NetworkError, Weights};
use turnstone_search::classic::Classical;
use turnstone_exact::Solvable;

use self::classical::ClassicalPlayer;
use self::external::External;
use crate::config::SearchKind;
use crate::network::{checkpoint_params, game_params, shape};

/// A game that agents can be built for, as all of this program's are.
pub trait Playable: Classical + Solvable {}

impl<G: Classical + Solvable> Playable for G {}

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
        let tree = TreeSpec::simulations(simulations, search);
        Self { spec: AgentSpec::Az { checkpoint: name.into(), tree }, network: Some(network) }
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
            AgentSpec::Az { tree, .. } => {
                let network = self.network.as_ref().expect("the checkpoint was read on loading");
                Box::new(players::Network::new(game, network, *tree)?)
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
