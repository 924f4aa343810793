//! What an agent finds in many positions, each searched by itself.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result};
use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, Analysis, Chosen, PlayableGame, Search, SearchInfo, SearchRequest};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::{Action, AnyState, DynGame};

use crate::asking::{MOST_AT_ONCE, Question, ask_all};

/// What a search has found in a position.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Value of the position for the first side, -1..=1.
    pub(super) value: f64,
    /// Its exact value for the first side, if the search has proven it.
    pub(super) proven: Option<i8>,
    /// The best action and the expected line after it.
    pub(super) line: Vec<Action>,
    /// The other actions that were searched with their values for the first side, by decreasing visits; `None` if the
    /// search compares no actions.
    pub(super) others: Option<Vec<(Action, f64)>>,
}

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
                Some(analysis) => of_analysis(&analysis),
                None => {
                    let fault = || format!("agent `{}` gives no evaluation of a position", agent.spec);
                    of_report(game, state, action, search.report(seat)).with_context(fault)?
                }
            };
            found.lock().expect("no thread panics while it holds the list")[number] = Some(result);
            progress(1);
            Ok(())
        };
        // Exact values are told where reports are asked for.
        let request = SearchRequest::stopped_by(stop).with_reports();
        ask_all(&mut *search, states.len().div_ceil(threads), &request, &mut next, &mut put)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(found.into_inner().expect("all threads have ended well").into_iter().collect())
}

fn of_analysis(analysis: &Analysis) -> Found {
    let value = |value: f32, proven: Option<i8>| proven.map_or(f64::from(value), f64::from);
    let (best, others) = analysis.actions.split_first().expect("a running game has legal actions");
    let visited = others.iter().map(|other| &other.root).filter(|root| root.visits > 0);
    Found {
        value: value(analysis.estimate.value, analysis.proven),
        proven: analysis.proven,
        line: best.line.clone(),
        others: Some(visited.map(|root| (root.action, value(root.value, root.proven))).collect()),
    }
}

/// What an agent without a tree reports; `None` without an evaluation.
fn of_report(game: &dyn PlayableGame, state: &AnyState, action: Action, info: SearchInfo) -> Option<Found> {
    let [win, _, loss] = info.score?.win_draw_loss;
    let value = f64::from(game.mover(state).sign() * (win - loss));
    let line = if info.line.first() == Some(&action) { info.line } else { vec![action] };
    Some(Found { value, proven: None, line: legal_part(game, state, line), others: None })
}

/// The line up to its first action that is not legal, as other programs may report.
fn legal_part(game: &dyn DynGame, state: &AnyState, mut line: Vec<Action>) -> Vec<Action> {
    let mut state = state.clone();
    let legal = line.iter().take_while(|&&action| game.try_play(&mut state, action).is_ok()).count();
    line.truncate(legal);
    line
}
