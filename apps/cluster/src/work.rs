//! The work of a run: everything that its games or answers depend on, as bytes that are named by their checksum.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use turnstone_agents::{Agent, LoadedNetwork};
use turnstone_arena::{PlannedGame, TournamentHeader, is_portable};
use turnstone_models::save_bytes;
use turnstone_selfplay::{GameSettings, PackedTask, Task, TrainableGame};

use crate::messages::{decode, encode};

/// A work as it is sent.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    kind: Kind,
    /// Specs and checkpoints of the agents.
    agents: Vec<(String, Option<ByteBuf>)>,
    /// Checkpoint of self-play, and the observations by which its network is quantised.
    network: Option<ByteBuf>,
    samples: Vec<f32>,
}

/// The items of a work, by number.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    SelfPlay(Box<GameSettings>),
    Games { tournament: Box<TournamentHeader>, plans: Vec<PlannedGame> },
    Positions { texts: Vec<String>, seed: u64 },
}

/// The work of a run as it was read.
pub struct Work {
    pub(crate) kind: Kind,
    /// The agents that play the games, or the one that answers.
    pub(crate) agents: Vec<Agent>,
    /// The games of self-play.
    pub(crate) task: Option<Task>,
}

impl Work {
    /// Reads a work.
    ///
    /// # Errors
    /// It is malformed, its networks are for another game, or a value in it is out of range.
    pub fn decode(bytes: &[u8], game: &dyn TrainableGame) -> Result<Self> {
        let Sent { kind, agents, network, samples } = decode(bytes)?;
        let name = Path::new("of the work");
        let load = |bytes: &ByteBuf| LoadedNetwork::from_bytes(bytes, name)?.checked(name, game);
        let agent = |(spec, checkpoint): &(String, Option<ByteBuf>)| {
            let agent = Agent::with_network(spec.parse()?, checkpoint.as_ref().map(load).transpose()?);
            // Nothing in a spec may name a file or a program.
            ensure!(is_portable(&agent), "agent `{spec}` plays on its own machine only");
            Ok(agent)
        };
        let agents = agents.iter().map(agent).collect::<Result<_>>()?;
        let mut task = None;
        if let Kind::SelfPlay(settings) = &kind {
            let checkpoint = network.context("it has no network")?.into_vec();
            let packed = PackedTask { settings: (**settings).clone(), checkpoint, samples };
            task = Some(packed.task(game).map_err(anyhow::Error::from_boxed)?);
        }
        Ok(Self { kind, agents, task })
    }
}

/// Encodes the games of a task.
pub(crate) fn of_task(game: &dyn TrainableGame, task: &Task) -> Result<Vec<u8>> {
    let PackedTask { settings, checkpoint, samples } =
        PackedTask::new(task, game).map_err(anyhow::Error::from_boxed)?;
    let (kind, network) = (Kind::SelfPlay(Box::new(settings)), Some(ByteBuf::from(checkpoint)));
    Ok(encode(&Sent { kind, agents: Vec::new(), network, samples }))
}

/// Encodes what agents play or answer.
pub(crate) fn of_agents(kind: Kind, agents: &[&Agent]) -> Result<Vec<u8>> {
    let checkpoint = |agent: &&Agent| {
        let network = agent.network().map(|network| save_bytes(&network.info, &network.weights)).transpose()?;
        Ok((agent.spec.to_string(), network.map(ByteBuf::from)))
    };
    let agents = agents.iter().map(checkpoint).collect::<Result<_>>()?;
    Ok(encode(&Sent { kind, agents, network: None, samples: Vec::new() }))
}
