//! The work of a run: everything that its games or answers depend on, as bytes that are named by their checksum. A header
//! (JSON) is followed by the checkpoints of the networks and the observations by which self-play quantises its own (f32).

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use turnstone_agents::settings::Settings;
use turnstone_agents::{Agent, LoadedNetwork, PlayableGame, checkpoint_params, shape};
use turnstone_arena::{PlannedGame, TournamentHeader, is_portable};
use turnstone_env::Params;
use turnstone_models::{CheckpointInfo, save_bytes};
use turnstone_selfplay::{GameSettings, Games, Task, TrainableGame};

use crate::wire::{framed, unframed};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    game: String,
    version: u32,
    params: Params,
    items: Items,
    /// Lengths of the checkpoints; 0 for an agent without one.
    checkpoints: Vec<usize>,
}

/// The items of a work, and the specs of the agents that play them.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Items {
    SelfPlay(Box<GameSettings>),
    Games { agents: Vec<String>, tournament: Box<TournamentHeader>, plans: Vec<PlannedGame> },
    Positions { agent: String, texts: Vec<String>, seed: u64 },
}

/// The work of a run as it was read.
pub struct Work {
    pub(crate) game: Arc<dyn TrainableGame>,
    pub(crate) kind: Kind,
}

/// The items by number.
pub(crate) enum Kind {
    SelfPlay(Box<Task>),
    Games { agents: Vec<Agent>, tournament: Box<TournamentHeader>, plans: Vec<PlannedGame> },
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
        let (header, mut rest) = unframed::<Header>(bytes)?;
        let game = games.make(&header.game, &header.params)?;
        let is_same = (game.version(), game.params()) == (header.version, header.params);
        ensure!(is_same, "it is for another version of {}", header.game);
        let (mut networks, name) = (Vec::new(), Path::new("of the work"));
        for length in header.checkpoints {
            let (checkpoint, after) = rest.split_at_checked(length).context("it is cut short")?;
            rest = after;
            let read = (length > 0).then(|| LoadedNetwork::from_bytes(checkpoint, name)?.checked(name, &*game));
            networks.push(read.transpose()?);
        }
        let mut networks = networks.into_iter();
        let mut agent = |spec: &String| -> Result<Agent> {
            let agent = Agent::with_network(spec.parse()?, networks.next().flatten());
            // Nothing in a spec may name a file or a program.
            ensure!(is_portable(&agent), "agent `{spec}` plays on its own machine only");
            Ok(agent)
        };
        let kind = match header.items {
            Items::Games { agents, tournament, plans } => {
                Kind::Games { agents: agents.iter().map(agent).collect::<Result<_>>()?, tournament, plans }
            }
            Items::Positions { agent: spec, texts, seed } => {
                Kind::Positions { agent: Box::new(agent(&spec)?), texts, seed }
            }
            Items::SelfPlay(settings) => {
                settings.search.check().and_then(|()| settings.self_play.validate())?;
                settings.self_play.opening_states(&*game).map_err(anyhow::Error::msg)?;
                let LoadedNetwork { info, weights, .. } = networks.next().flatten().context("it has no network")?;
                let samples = rest.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
                Kind::SelfPlay(Box::new(Task { settings: *settings, network: info.network, weights, samples }))
            }
        };
        Ok(Self { game, kind })
    }
}

/// Encodes the games of a task. Threads have no part in it, and `auto` becomes the arithmetic that this machine would
/// choose.
pub(crate) fn of_task(game: &dyn TrainableGame, task: &Task) -> Result<Vec<u8>> {
    let mut settings = Box::new(task.settings.clone());
    settings.self_play.threads = 0;
    settings.self_play.precision = settings.self_play.precision.resolved();
    let (params, shape) = (checkpoint_params(game), shape(game.spec()));
    let info = CheckpointInfo::new(game.name(), game.version(), params, task.network.clone(), shape, 0);
    let samples: Vec<u8> = task.samples.iter().flat_map(|number| number.to_le_bytes()).collect();
    encode(game, Items::SelfPlay(settings), &[save_bytes(&info, &task.weights)?], &samples)
}

/// Encodes games of a tournament.
pub(crate) fn of_games(
    game: &dyn PlayableGame,
    agents: &[&Agent],
    tournament: &TournamentHeader,
    plans: &[PlannedGame],
) -> Result<Vec<u8>> {
    let specs = agents.iter().map(|agent| agent.spec.to_string()).collect();
    let items = Items::Games { agents: specs, tournament: Box::new(tournament.clone()), plans: plans.to_vec() };
    let checkpoints: Vec<_> = agents.iter().map(|agent| checkpoint(agent)).collect::<Result<_>>()?;
    encode(game, items, &checkpoints, &[])
}

/// Encodes positions for an agent to answer.
pub(crate) fn of_positions(game: &dyn PlayableGame, agent: &Agent, texts: &[&str], seed: u64) -> Result<Vec<u8>> {
    let texts = texts.iter().map(|&text| text.to_owned()).collect();
    encode(game, Items::Positions { agent: agent.spec.to_string(), texts, seed }, &[checkpoint(agent)?], &[])
}

fn checkpoint(agent: &Agent) -> Result<Vec<u8>> {
    Ok(agent.network().map_or(Ok(Vec::new()), |network| save_bytes(&network.info, &network.weights))?)
}

fn encode(game: &dyn PlayableGame, items: Items, checkpoints: &[Vec<u8>], samples: &[u8]) -> Result<Vec<u8>> {
    let (version, params, lengths) = (game.version(), game.params(), checkpoints.iter().map(Vec::len).collect());
    let header = Header { game: game.name().to_owned(), version, params, items, checkpoints: lengths };
    Ok(framed(&header, &[&checkpoints.concat(), samples].concat()))
}
