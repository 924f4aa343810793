//! What an agent finds in many positions, each searched by itself.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result};
use turnstone_agents::search::classic::Stop;
use turnstone_agents::{
    Agent, AgentSpec, Analysis, AtOnce, Budget, Leaves, PlayableGame, SearchInfo, SearchRequest, TreeSearch, TreeSpec,
};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::{Action, AnyState, DynGame};
use turnstone_models::Instructions;

use crate::stopping::stopped_inside_moves;

/// Positions that a thread searches at once, whose leaves are evaluated together.
const SEATS: usize = 64;
/// Capacity of a thread's cache of evaluations.
const CACHED: usize = 1 << 14;

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

/// Searches positions, in which the game is not over. What is found in one depends on it alone. `None` if `stop` was set
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
    stop: &AtomicBool,
) -> Result<Option<Vec<Found>>> {
    let (first_free, found) = (AtomicUsize::new(0), Mutex::new(vec![None; states.len()]));
    let next = || {
        let number = first_free.fetch_add(1, Ordering::Relaxed);
        states.get(number).filter(|_| !stop.load(Ordering::Relaxed)).map(|state| (number, *state))
    };
    let put = |number: usize, result: Found| {
        found.lock().expect("no thread panics while it holds the list")[number] = Some(result);
        progress(1);
    };
    stopped_inside_moves(stop, |raised| {
        let work = || match tree_search(game, agent)? {
            Some(search) => in_seats(search, &next, &put, stop),
            None => one_by_one(game, agent, &next, &put, raised),
        };
        thread::scope(|scope| {
            let threads = threads.clamp(1, states.len().max(1));
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    })?;
    Ok(found.into_inner().expect("all threads have ended well").into_iter().collect())
}

/// A tree search in seats.
struct Seats {
    search: Box<dyn TreeSearch>,
    number: usize,
    simulations: u32,
}

/// The tree search of the agent; `None` if it has none that can be asked by simulations.
fn tree_search(game: &dyn PlayableGame, agent: &Agent) -> Result<Option<Seats>> {
    let seats = if let AtOnce::Team(most) = agent.at_once() { most.min(SEATS) } else { 1 };
    let (leaves, simulations, seats) = match (&agent.spec, agent.network()) {
        (
            AgentSpec::Az {
                tree: tree @ TreeSpec { budget: Budget::Simulations(simulations), .. }, tables: None, ..
            },
            Some(network),
        ) => (Leaves::Network { network, tree, batch: seats, instructions: Instructions::best() }, *simulations, seats),
        // Playouts of several seats would depend on one another.
        (AgentSpec::Mcts { budget: Budget::Simulations(simulations), .. }, _) => {
            (Leaves::Playouts { seed: 0 }, *simulations, 1)
        }
        _ => return Ok(None),
    };
    Ok(Some(Seats { search: game.tree_search(leaves, CACHED)?, number: seats, simulations: simulations.max(1) }))
}

/// Gives the next position and its number.
type Next<'a> = dyn Fn() -> Option<(usize, &'a AnyState)> + 'a;

fn in_seats(
    Seats { mut search, number, simulations }: Seats,
    next: &Next<'_>,
    put: &dyn Fn(usize, Found),
    stop: &AtomicBool,
) -> Result<()> {
    let mut asked: Vec<Option<usize>> = vec![None; number];
    let mut done = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        for (seat, place) in asked.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
            let Some((number, state)) = next() else { break };
            search.analyse(seat, state, simulations, Stop::default());
            *place = Some(number);
        }
        if asked.iter().all(Option::is_none) {
            break;
        }
        search.advance(&mut done)?;
        for seat in done.drain(..) {
            let number = asked[seat].take().expect("a position was asked in this seat");
            put(number, of_analysis(&search.analysis(seat)));
        }
    }
    Ok(())
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

fn one_by_one(
    game: &dyn PlayableGame,
    agent: &Agent,
    next: &Next<'_>,
    put: &dyn Fn(usize, Found),
    stop: &Stop,
) -> Result<()> {
    let mut player = agent.player(game)?;
    while let Some((number, state)) = next() {
        let mut rng = stream(0, Purpose::Play, [0, 0]);
        player.new_game(state, &mut rng);
        let mut last: Option<SearchInfo> = None;
        let mut report = |info: &SearchInfo| last = Some(info.clone());
        let mut request =
            SearchRequest { control: stop.clone().into(), report: Some(&mut report), ..SearchRequest::default() };
        let action = player.search(state, &mut request, &mut rng);
        if stop.is_raised() {
            break; // the search may be cut short
        }
        let action = action.with_context(|| format!("agent `{}`", agent.spec))?;
        let info = last.filter(|info| info.score.is_some());
        let info = info.with_context(|| format!("agent `{}` gives no evaluation of a position", agent.spec))?;
        let [win, _, loss] = info.score.expect("it was checked").win_draw_loss;
        let value = f64::from(game.mover(state).sign() * (win - loss));
        let line = if info.line.first() == Some(&action) { info.line } else { vec![action] };
        put(number, Found { value, proven: None, line: legal_part(game, state, line), others: None });
    }
    Ok(())
}

/// The line up to its first action that is not legal, as other programs may report.
fn legal_part(game: &dyn DynGame, state: &AnyState, mut line: Vec<Action>) -> Vec<Action> {
    let mut state = state.clone();
    let legal = line.iter().take_while(|&&action| game.try_play(&mut state, action).is_ok()).count();
    line.truncate(legal);
    line
}
