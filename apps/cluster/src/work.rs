//! The work of a run: everything that its games or answers depend on, as bytes that are named by their checksum.
//!
//! A header (JSON) is followed by numbers (f32): the weights of its networks in the order of their layouts and, for
//! self-play, the observations by which its network is quantised.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use turnstone_agents::{Agent, AgentSpec, LoadedNetwork, PlayableGame, checkpoint_params, shape};
use turnstone_arena::{PlannedGame, TournamentHeader, is_portable};
use turnstone_env::Params;
use turnstone_models::{CheckpointInfo, NamedTensor, NetworkConfig, Weights};
use turnstone_selfplay::{GameSettings, Games, Task, TrainableGame};

use crate::messages::{framed, unframed};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    game: String,
    version: u32,
    params: Params,
    items: Items,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Items {
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

/// The work of a run as it was read.
pub struct Work {
    /// The game.
    pub(crate) game: Arc<dyn TrainableGame>,
    /// The items.
    pub(crate) kind: Kind,
}

/// The items by number.
pub(crate) enum Kind {
    /// Games of self-play.
    SelfPlay(Box<Task>),
    /// Games of a tournament.
    Games { agents: Vec<Agent>, tournament: Box<TournamentHeader>, plans: Vec<PlannedGame> },
    /// Positions to be answered by an agent, with the seed of its random choices.
    Positions { agent: Box<Agent>, texts: Vec<String>, seed: u64 },
}

impl Work {
    /// Number of items.
    #[must_use]
    pub fn items(&self) -> usize {
        match &self.kind {
            Kind::SelfPlay(task) => task.settings.self_play.games_per_iteration,
            Kind::Games { plans, .. } => plans.len(),
            Kind::Positions { texts, .. } => texts.len(),
        }
    }

    /// Reads a work.
    ///
    /// # Errors
    /// It is malformed, of a game that this program does not have, or a value in it is out of range.
    pub fn decode(bytes: &[u8], games: &Games) -> Result<Self> {
        let (header, rest) = unframed::<Header>(bytes)?;
        let game = games.make(&header.game, &header.params)?;
        ensure!(
            (game.version(), game.params()) == (header.version, header.params),
            "it is for another version of {}",
            header.game
        );
        let mut numbers = Numbers(rest);
        let kind = match header.items {
            Items::SelfPlay(self_play) => Kind::SelfPlay(Box::new(task(&*game, self_play, &mut numbers)?)),
            Items::Games { agents, tournament, plans } => {
                let agents = agents.iter().map(|header| agent(&*game, header, &mut numbers)).collect::<Result<_>>()?;
                Kind::Games { agents, tournament: Box::new(tournament), plans }
            }
            Items::Positions { agent: header, texts, seed } => {
                Kind::Positions { agent: Box::new(agent(&*game, &header, &mut numbers)?), texts, seed }
            }
        };
        ensure!(numbers.0.is_empty(), "it has bytes beyond its end");
        Ok(Self { game, kind })
    }
}

/// Encodes the games of a task. Threads have no part in it, and `auto` becomes the arithmetic that this machine would
/// choose.
pub(crate) fn of_task(game: &dyn TrainableGame, task: &Task) -> Vec<u8> {
    let mut settings = task.settings.clone();
    settings.self_play.threads = 0;
    settings.self_play.precision = settings.self_play.precision.resolved();
    let items = Items::SelfPlay(SelfPlay { network: task.network.clone(), samples: task.samples.len(), settings });
    let mut numbers = bytes_of([&task.weights]);
    numbers.extend(task.samples.iter().flat_map(|number| number.to_le_bytes()));
    encode(game, items, &numbers)
}

/// Encodes games of a tournament.
pub(crate) fn of_games(
    game: &dyn PlayableGame,
    agents: &[&Agent],
    tournament: &TournamentHeader,
    plans: &[PlannedGame],
) -> Vec<u8> {
    let headers = agents.iter().map(|agent| header_of(agent)).collect();
    let items = Items::Games { agents: headers, tournament: tournament.clone(), plans: plans.to_vec() };
    encode(game, items, &bytes_of(agents.iter().filter_map(|agent| Some(&agent.network()?.weights))))
}

/// Encodes positions for an agent to answer.
pub(crate) fn of_positions(game: &dyn PlayableGame, agent: &Agent, texts: &[&str], seed: u64) -> Vec<u8> {
    let texts = texts.iter().map(|&text| text.to_owned()).collect();
    let items = Items::Positions { agent: header_of(agent), texts, seed };
    encode(game, items, &bytes_of(agent.network().map(|network| &network.weights)))
}

fn encode(game: &dyn PlayableGame, items: Items, numbers: &[u8]) -> Vec<u8> {
    let header = Header { game: game.name().to_owned(), version: game.version(), params: game.params(), items };
    framed(&header, numbers)
}

fn header_of(agent: &Agent) -> AgentHeader {
    let network = agent.network().map(|loaded| NetworkHeader {
        network: loaded.info.network.clone(),
        step: loaded.info.step,
        extra: loaded.info.extra.clone(),
    });
    AgentHeader { spec: agent.spec.to_string(), network }
}

fn bytes_of<'a>(weights: impl IntoIterator<Item = &'a Weights>) -> Vec<u8> {
    let tensors = weights.into_iter().flat_map(|weights| weights.tensors().iter());
    tensors.flat_map(|tensor| tensor.data.iter().flat_map(|number| number.to_le_bytes())).collect()
}

/// The numbers that are still to be read.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn take(&mut self, count: usize) -> Result<Vec<f32>> {
        let split = count.checked_mul(4).and_then(|length| self.0.split_at_checked(length));
        let (numbers, rest) = split.context("it is cut short")?;
        self.0 = rest;
        Ok(numbers.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}

fn task(game: &dyn TrainableGame, header: SelfPlay, numbers: &mut Numbers<'_>) -> Result<Task> {
    let SelfPlay { network, samples, settings } = header;
    let GameSettings { search, self_play, .. } = &settings;
    search.validate().and_then(|()| self_play.validate()).map_err(anyhow::Error::msg)?;
    self_play.opening_states(game).map_err(anyhow::Error::msg)?;
    let weights = weights(game, &network, numbers)?;
    let samples = numbers.take(samples)?;
    Ok(Task { settings, network, weights, samples })
}

fn agent(game: &dyn TrainableGame, header: &AgentHeader, numbers: &mut Numbers<'_>) -> Result<Agent> {
    let named = || format!("agent `{}`", header.spec);
    let spec: AgentSpec = header.spec.parse().with_context(named)?;
    let mut loaded = None;
    if let Some(NetworkHeader { network, step, extra }) = &header.network {
        let (params, shape) = (checkpoint_params(game), shape(game.spec()));
        let mut info = CheckpointInfo::new(game.name(), game.version(), params, network.clone(), shape, *step);
        info.extra = extra.clone();
        let network = LoadedNetwork::new(info, weights(game, network, numbers)?);
        loaded = Some(network.checked(Path::new("of the work"), game).with_context(named)?);
    }
    let agent = Agent::with_network(spec, loaded);
    // Nothing in a spec may name a file or a program.
    ensure!(is_portable(&agent), "{}: it plays on its own machine only", named());
    Ok(agent)
}

/// Reads the weights of a network, which are finite and as many as its layout says.
fn weights(game: &dyn TrainableGame, network: &NetworkConfig, numbers: &mut Numbers<'_>) -> Result<Weights> {
    let layout = network.layout(&shape(game.spec()))?;
    let mut tensors = Vec::with_capacity(layout.len());
    for spec in &layout {
        let (name, shape) = (spec.name.clone(), spec.shape.clone());
        tensors.push(NamedTensor { name, shape, data: numbers.take(spec.count())? });
    }
    Ok(Weights::new(&layout, tensors)?)
}
