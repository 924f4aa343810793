//! Jobs: everything that games or answers depend on, as the bytes of an object that is named by its checksum.
//!
//! A job begins with `TSJ1`, the length of a JSON header (u32) and the header, which are followed by numbers (f32): the
//! weights of its networks in the order of their layouts and, for self-play, the observations by which its network is
//! quantised.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use turnstone_agents::{Agent, AgentSpec, LoadedNetwork, PlayableGame, checkpoint_params, shape};
use turnstone_arena::{PlannedGame, TournamentHeader, is_portable};
use turnstone_env::Params;
use turnstone_models::{CheckpointInfo, NamedTensor, NetworkConfig, Weights};
use turnstone_selfplay::{GameSettings, Games, Task, TrainableGame};

use crate::wire::{Malformed, Reader, put_blob};

const MAGIC: [u8; 4] = *b"TSJ1";
/// Maximum length of a job; the largest part are weights.
pub(crate) const LONGEST_JOB: usize = 1 << 30;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    game: String,
    version: u32,
    params: Params,
    work: Work,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Work {
    SelfPlay(SelfPlay),
    Games { agents: Vec<AgentHeader>, tournament: TournamentHeader, plans: Vec<PlannedGame> },
    Positions { agent: AgentHeader, texts: Vec<String>, seed: u64 },
}

#[derive(Serialize, Deserialize)]
struct SelfPlay {
    network: NetworkConfig,
    /// Number of samples' numbers.
    samples: usize,
    #[serde(flatten)]
    settings: GameSettings,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentHeader {
    spec: String,
    network: Option<NetworkHeader>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NetworkHeader {
    network: NetworkConfig,
    step: u64,
    /// Entries of the checkpoint, among them the settings of the search that it was trained with.
    extra: std::collections::BTreeMap<String, String>,
}

/// A job as it was read.
pub struct Job {
    /// The game.
    pub game: Arc<dyn TrainableGame>,
    /// The task.
    pub kind: Kind,
}

/// The items by number.
pub enum Kind {
    /// Games of self-play.
    SelfPlay(Box<Task>),
    /// Games of a tournament.
    Games {
        /// The agents by index.
        agents: Vec<Agent>,
        /// Settings and openings.
        tournament: Box<TournamentHeader>,
        /// The games.
        plans: Vec<PlannedGame>,
    },
    /// Positions to be answered.
    Positions {
        /// Who answers.
        agent: Box<Agent>,
        /// The positions.
        texts: Vec<String>,
        /// Seed of the agent's random choices.
        seed: u64,
    },
}

impl Job {
    /// Number of items.
    #[must_use]
    pub fn items(&self) -> usize {
        match &self.kind {
            Kind::SelfPlay(task) => task.settings.self_play.games_per_iteration,
            Kind::Games { plans, .. } => plans.len(),
            Kind::Positions { texts, .. } => texts.len(),
        }
    }

    /// Reads a job.
    ///
    /// # Errors
    /// It is malformed, of a game that this program does not have, or a value in it is out of range.
    pub fn decode(bytes: &[u8], games: &Games) -> Result<Self, Malformed> {
        let mut reader = Reader::of(bytes, MAGIC)?;
        let fault = |fault: &dyn std::fmt::Display| Malformed::new(fault.to_string());
        let header: Header = serde_json::from_slice(reader.blob()?).map_err(|error| fault(&error))?;
        let game = games.make(&header.game, &header.params).map_err(|error| fault(&error))?;
        if (game.version(), game.params()) != (header.version, header.params) {
            return Err(Malformed::new(format!("it is for another version of {}", header.game)));
        }
        let kind = match header.work {
            Work::SelfPlay(self_play) => Kind::SelfPlay(Box::new(task(&*game, self_play, &mut reader)?)),
            Work::Games { agents, tournament, plans } => {
                let agents =
                    agents.iter().map(|header| agent(&*game, header, &mut reader)).collect::<Result<_, _>>()?;
                Kind::Games { agents, tournament: Box::new(tournament), plans }
            }
            Work::Positions { agent: header, texts, seed } => {
                Kind::Positions { agent: Box::new(agent(&*game, &header, &mut reader)?), texts, seed }
            }
        };
        reader.end()?;
        Ok(Self { game, kind })
    }
}

/// Encodes the games of a task. Threads have no part in it, and `auto` becomes the arithmetic that this machine would
/// choose.
#[must_use]
pub fn of_task(game: &dyn TrainableGame, task: &Task) -> Vec<u8> {
    let mut settings = task.settings.clone();
    settings.self_play.threads = 0;
    settings.self_play.precision = settings.self_play.precision.resolved();
    let work = Work::SelfPlay(SelfPlay { network: task.network.clone(), samples: task.samples.len(), settings });
    let mut bytes = encode_header(game, work);
    put_weights(&mut bytes, &task.weights);
    bytes.extend(task.samples.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

/// Encodes games of a tournament.
#[must_use]
pub fn of_games(
    game: &dyn PlayableGame,
    agents: &[&Agent],
    tournament: &TournamentHeader,
    plans: &[PlannedGame],
) -> Vec<u8> {
    let headers = agents.iter().map(|agent| header_of(agent)).collect();
    let (tournament, plans) = (tournament.clone(), plans.to_vec());
    let mut bytes = encode_header(game, Work::Games { agents: headers, tournament, plans });
    agents.iter().filter_map(|agent| agent.network()).for_each(|network| put_weights(&mut bytes, &network.weights));
    bytes
}

/// Encodes positions for an agent to answer.
#[must_use]
pub fn of_positions(game: &dyn PlayableGame, agent: &Agent, texts: &[&str], seed: u64) -> Vec<u8> {
    let texts = texts.iter().map(|&text| text.to_owned()).collect();
    let mut bytes = encode_header(game, Work::Positions { agent: header_of(agent), texts, seed });
    agent.network().into_iter().for_each(|network| put_weights(&mut bytes, &network.weights));
    bytes
}

fn encode_header(game: &dyn PlayableGame, work: Work) -> Vec<u8> {
    let header = Header { game: game.name().to_owned(), version: game.version(), params: game.params(), work };
    let mut bytes = MAGIC.to_vec();
    put_blob(&mut bytes, &serde_json::to_vec(&header).expect("a header of plain fields can be written"));
    bytes
}

fn header_of(agent: &Agent) -> AgentHeader {
    let network = agent.network().map(|loaded| NetworkHeader {
        network: loaded.info.network.clone(),
        step: loaded.info.step,
        extra: loaded.info.extra.clone(),
    });
    AgentHeader { spec: agent.spec.to_string(), network }
}

fn put_weights(bytes: &mut Vec<u8>, weights: &Weights) {
    for tensor in weights.tensors() {
        bytes.extend(tensor.data.iter().flat_map(|number| number.to_le_bytes()));
    }
}

fn task(game: &dyn TrainableGame, header: SelfPlay, reader: &mut Reader<'_>) -> Result<Task, Malformed> {
    let SelfPlay { network, samples, settings } = header;
    let GameSettings { search, self_play, .. } = &settings;
    search.validate().and_then(|()| self_play.validate()).map_err(Malformed::new)?;
    self_play.opening_states(game).map_err(Malformed::new)?;
    let weights = weights(game, &network, reader)?;
    let samples = reader.floats(samples)?;
    Ok(Task { settings, network, weights, samples })
}

fn agent(game: &dyn TrainableGame, header: &AgentHeader, reader: &mut Reader<'_>) -> Result<Agent, Malformed> {
    let fault = |fault: &dyn std::fmt::Display| Malformed::new(format!("agent `{}`: {fault}", header.spec));
    let spec: AgentSpec = header.spec.parse().map_err(|error| fault(&error))?;
    let mut loaded = None;
    if let Some(NetworkHeader { network, step, extra }) = &header.network {
        let (params, shape) = (checkpoint_params(game), shape(game.spec()));
        let mut info = CheckpointInfo::new(game.name(), game.version(), params, network.clone(), shape, *step);
        info.extra = extra.clone();
        let network = LoadedNetwork::new(info, weights(game, network, reader)?);
        loaded = Some(network.checked(Path::new("of the job"), game).map_err(|error| fault(&error))?);
    }
    let agent = Agent::with_network(spec, loaded);
    // Nothing in a spec may name a file or a program.
    if is_portable(&agent) { Ok(agent) } else { Err(fault(&"it plays on its own machine only")) }
}

/// Reads the weights of a network, which are finite and as many as its layout says.
fn weights(game: &dyn TrainableGame, network: &NetworkConfig, reader: &mut Reader<'_>) -> Result<Weights, Malformed> {
    let layout = network.layout(&shape(game.spec())).map_err(|error| Malformed::new(error.to_string()))?;
    let mut tensors = Vec::with_capacity(layout.len());
    for spec in &layout {
        let (name, shape) = (spec.name.clone(), spec.shape.clone());
        tensors.push(NamedTensor { name, shape, data: reader.floats(spec.count())? });
    }
    Weights::new(&layout, tensors).map_err(|error| Malformed::new(error.to_string()))
}
