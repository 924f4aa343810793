//! What a classical search finds in one position, with its statistics.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use serde_json::{Value, json};
use turnstone_agents::{AgentSpec, PlayableGame};
use turnstone_env::AnyState;
use turnstone_search::classic::SearchResult;

/// The result of a search of a position.
pub(super) struct Found {
    agent: String,
    state: AnyState,
    result: SearchResult,
    /// The name of the static evaluation, and its estimate of the position itself.
    heuristic: String,
    estimate: i32,
    time: Duration,
}

/// Searches the position.
pub(super) fn find(game: &dyn PlayableGame, state: &AnyState, agent: &AgentSpec) -> Result<Found> {
    let Some(spec) = agent.classical() else { bail!("agent `{agent}` does no classical search") };
    let of_agent = |fault| anyhow!("agent `{agent}`: {fault}");
    let mut find = game.classical_search(&spec).map_err(of_agent)?;
    let start = Instant::now();
    let result = find(state);
    let time = start.elapsed();
    let estimate = game.static_score(state, spec.heuristic.as_deref()).map_err(of_agent)?;
    let heuristic = spec.heuristic.unwrap_or_else(|| game.heuristics()[0].to_owned());
    Ok(Found { agent: agent.to_string(), state: state.clone(), result, heuristic, estimate, time })
}

impl Found {
    /// The result for people, with the statistics that the sources of the games ask for.
    pub(super) fn text(&self, game: &dyn PlayableGame) -> String {
        let Self { result, heuristic, estimate, .. } = self;
        let none = || "none, the game is over".to_owned();
        let action = result.action.map_or_else(none, |action| game.display_text(&self.state, action));
        let line = game.line_display(&self.state, &result.line).join(" ");
        let score = result.score;
        let found = format!("best action   {action}\nscore         {score:+} for player 1\nline          {line}");
        format!("{found}\nstatic        {estimate:+} for player 1, by {heuristic}\n{}", self.work())
    }

    fn work(&self) -> String {
        let (stats, seconds) = (self.result.stats, self.time.as_secs_f64());
        let share = if self.result.complete { ", to the end of every game that matters" } else { "" };
        [
            format!("depth         {}{share}", self.result.depth),
            format!("evaluated     {} positions by static estimation", stats.evaluated),
            format!("nodes         {} positions visited, {} of them expanded", stats.nodes, stats.expanded),
            format!("cutoffs       {}", stats.cutoffs),
            format!("branching     {:.2} actions per position expanded, on average", stats.branching()),
            format!("time          {seconds:.3} s, {:.1} million nodes/s", rate(stats.nodes, self.time) / 1e6),
        ]
        .join("\n")
    }

    /// The result and the statistics for scripts.
    pub(super) fn json(&self, game: &dyn PlayableGame) -> Value {
        let Self { state, result, .. } = self;
        json!({
            "game": game.name(),
            "position": game.position_text(state),
            "agent": self.agent,
            "action": result.action.map(|action| game.action_text(state, action)),
            "score": result.score,
            "complete": result.complete,
            "line": game.line_texts(state, &result.line),
            "heuristic": self.heuristic,
            "static": self.estimate,
            "evaluated": result.stats.evaluated,
            "nodes": result.stats.nodes,
            "expanded": result.stats.expanded,
            "cutoffs": result.stats.cutoffs,
            "branching": result.stats.branching(),
            "depth": result.depth,
            "seconds": self.time.as_secs_f64(),
            "nodes_per_second": rate(result.stats.nodes, self.time),
        })
    }
}

/// Nodes per second.
fn rate(nodes: u64, time: Duration) -> f64 {
    nodes as f64 / time.as_secs_f64().max(1e-9)
}
