//! An agent's results in many positions, each searched by itself.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result};
use turnstone_agents::review::Found;
use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, Chosen, PlayableGame, Search, SearchRequest};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::AnyState;

use crate::asking::{MOST_AT_ONCE, Question, ask_all};

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
    let (first_free, found) = (AtomicUsize::new(0), Mutex::new(vec![None; states.len()]));
    let threads = threads.clamp(1, states.len().max(1));
    let work = || -> Result<()> {
        let mut search = agent.search(game, MOST_AT_ONCE)?;
        let mut next = || {
            let number = first_free.fetch_add(1, Ordering::Relaxed);
            let question = |state: &&AnyState| Question {
                key: number,
                state: (*state).clone(),
                rng: stream(0, Purpose::Play, [0, 0]),
            };
            Ok(states.get(number).map(question))
        };
        let mut put = |number: usize, state: &AnyState, chosen: Chosen, search: &mut dyn Search, seat: usize| {
            let action = chosen.with_context(|| format!("agent `{}`", agent.spec))?;
            let result = match search.analysis(seat) {
                Some(analysis) => Found::of_analysis(&analysis),
                None => {
                    let fault = || format!("agent `{}` gives no evaluation of a position", agent.spec);
                    Found::of_report(game, state, action, search.report(seat)).with_context(fault)?
                }
            };
            found.lock().expect("no thread panics while it holds the list")[number] = Some(result);
            progress(1);
            Ok(())
        };
        // A search passes on exact values only where reports are asked for.
        let request = SearchRequest::stopped_by(stop).with_reports();
        ask_all(&mut *search, states.len().div_ceil(threads), &request, &mut next, &mut put)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(found.into_inner().expect("all threads have ended well").into_iter().collect())
}
