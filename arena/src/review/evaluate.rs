//! An agent's results in many positions, each searched by itself.

use anyhow::{Context, Result};
use turnstone_agents::review::Found;
use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, PlayableGame, SearchRequest};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::AnyState;

use crate::asking::{MOST_AT_ONCE, ask_on_threads};

/// Searches positions, in which the game is not over. What is found in one depends on it alone. `None` if `stop` was raised
/// before the end.
///
/// # Errors
/// The agent cannot search, fails, or gives no evaluation.
pub(super) fn evaluate(
    game: &dyn PlayableGame,
    agent: &Agent,
    states: &[&AnyState],
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
    stop: &Stop,
) -> Result<Option<Vec<Found>>> {
    ask_on_threads(
        (0..threads.clamp(1, states.len().max(1)))
            .map(|_| || agent.search(game, MOST_AT_ONCE).map_err(anyhow::Error::new)),
        states.len(),
        // A search passes on exact values only where reports are asked for.
        &SearchRequest::stopped_by(stop).with_reports(),
        &|number| Ok((states[number].clone(), stream(0, Purpose::Play, [0, 0]))),
        &|_, state, chosen, search, seat| {
            let action = chosen.with_context(|| format!("agent `{}`", agent.spec))?;
            let found = match search.analysis(seat) {
                Some(analysis) => Found::of_analysis(&analysis),
                None => {
                    let fault = || format!("agent `{}` gives no evaluation of a position", agent.spec);
                    Found::of_report(game, state, action, search.report(seat)).with_context(fault)?
                }
            };
            progress(1);
            Ok(found)
        },
    )
}
