//! Games and answers that other machines play on behalf of this one, and their state.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, Traits};

use super::record::{GameRecord, TournamentHeader, TournamentSettings};
use super::schedule::PlannedGame;

/// The leader's report on a run, every second, also in the file `cluster/status.json` of the run.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct RunStatus {
    /// Random identifier of the leader.
    pub leader: String,
    /// Name of the game.
    pub game: String,
    /// Description of the work; empty between two works.
    pub stage: String,
    /// Items received, and all of them.
    pub items: [u64; 2],
    /// Jobs done since the leader began, deliveries beyond the first, and failures.
    pub jobs: [u64; 3],
    /// The workers that have sent results for the last work, by name.
    pub workers: BTreeMap<String, WorkerStatus>,
}

/// A worker of a run.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Number of threads.
    pub threads: usize,
    /// Its items for the last work.
    pub items: u64,
    /// Items per second.
    pub rate: f64,
}

/// Plays games and answers positions elsewhere, with the results that this machine would get.
pub trait Remote: Sync {
    /// Plays the planned games. Returns false if `stop` was raised before the end.
    ///
    /// # Errors
    /// The games cannot be handed out, or `put` fails.
    fn play(&self, round: &RemoteRound<'_>) -> Result<bool>;

    /// Answers positions. Returns false if `stop` was raised before the end.
    ///
    /// # Errors
    /// The positions cannot be handed out.
    fn answer(&self, positions: &RemotePositions<'_>) -> Result<bool>;
}

/// Games of a round.
pub struct RemoteRound<'a> {
    /// The agents by index.
    pub agents: &'a [&'a Agent],
    /// Settings and openings.
    pub header: &'a TournamentHeader,
    /// The games, in the order in which they are needed.
    pub plans: &'a [PlannedGame],
    /// Takes the record of the game with this index in `plans`, or says what is wrong with it.
    pub put: &'a dyn Fn(usize, GameRecord) -> Result<Result<(), String>>,
    /// Whether the game with this index is still needed: a test may end a match early.
    pub is_needed: &'a dyn Fn(usize) -> bool,
    /// Ends it when raised.
    pub stop: &'a Stop,
}

/// Positions for an agent to answer.
pub struct RemotePositions<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// The positions' texts.
    pub texts: Vec<&'a str>,
    /// Seed of the agent's random choices.
    pub seed: u64,
    /// Takes the answer to the position with this number, or says what is wrong with it.
    pub put: &'a dyn Fn(usize, RemoteAnswer) -> Result<(), String>,
    /// Ends it when raised.
    pub stop: &'a Stop,
}

/// An agent's answer to a position.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteAnswer {
    /// The chosen action.
    pub action: String,
    /// Probabilities of win, draw and loss for the mover, predicted by the network without search, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<[f32; 3]>,
}

/// Whether other machines can play for this agent: it needs no file but a network, no other program and no GPU, its
/// arithmetic is the same on every machine, and the time that it takes does not matter to its moves.
#[must_use]
pub fn is_portable(agent: &Agent) -> bool {
    let Traits { is_portable, checkpoint, .. } = agent.spec.traits();
    is_portable && (checkpoint.is_none() || agent.network().is_some())
}

/// Checks that other machines can play games between these agents at these settings.
///
/// # Errors
/// One line that names what they cannot.
pub fn check_portable(agents: &[&Agent], settings: &TournamentSettings) -> Result<()> {
    ensure!(settings.clock.is_none(), "games with clocks are played on one machine");
    let fixed = agents.iter().find(|agent| !is_portable(agent));
    ensure!(
        fixed.is_none(),
        "`{}` plays on this machine only: it needs files, a program, a GPU, a clock, threads or `precision=auto`",
        fixed.map(|agent| agent.spec.to_string()).unwrap_or_default()
    );
    Ok(())
}
