//! One search by several threads, each with a backend of its own.

use turnstone_env::Rules;
use turnstone_search::Stop;
use turnstone_search::{Backend, EvalBatch, Fault, Mcts, SearchStep, SharedSimulator};

use crate::network_backend::AnyBackend;
use crate::threads::spawn_or_warn;

/// Simulations that the tree has room for before the threads pause while it grows.
const ROOM: u32 = 1 << 16;

/// Runs the simulations that are left of a search whose root is evaluated: this thread with the backend `own`, and a thread
/// for each of `others`. `go_on`, which is called after each simulation of this thread, ends the search by returning false,
/// and so does `stop`, which every thread looks at. Threads that the system refuses are done without.
///
/// # Errors
/// An evaluation failed.
pub(crate) fn run_threads<G: Rules>(
    game: &G,
    search: &mut Mcts<G>,
    own: &mut AnyBackend<G>,
    others: &mut [AnyBackend<G>],
    stop: &Stop,
    go_on: &mut dyn FnMut(&Mcts<G>) -> bool,
) -> Result<(), Fault> {
    let asks = own.exact(game, search.state()).is_none();
    let mut goes_on = true;
    while goes_on && search.simulations_left() > 0 && search.proven().is_none() {
        search.make_room(search.simulations_left().min(ROOM));
        let shared = &search.share();
        std::thread::scope(|scope| {
            let run = |backend: &mut AnyBackend<G>, go_on: &mut dyn FnMut() -> bool| {
                let ended = walk(game, shared.simulator(), backend, asks, go_on);
                if stop.is_raised() || ended.is_err() {
                    shared.end();
                }
                ended
            };
            let start = |backend| spawn_or_warn(scope, move || run(backend, &mut || !stop.is_raised()));
            let others: Vec<_> = others.iter_mut().map_while(start).collect();
            let mut check = || {
                goes_on = go_on(shared);
                goes_on
            };
            let mut ended = run(own, &mut check);
            if !goes_on {
                shared.end();
            }
            for thread in others {
                ended = ended.and(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            ended
        })?;
    }
    Ok(())
}

/// Runs simulations on this thread until none is left or the search is ended.
fn walk<G: Rules>(
    game: &G,
    mut simulator: SharedSimulator<'_, G>,
    backend: &mut AnyBackend<G>,
    asks: bool,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), Fault> {
    let mut batch = EvalBatch::default();
    loop {
        match simulator.step(game) {
            SearchStep::Done => return Ok(()),
            SearchStep::Finished => {}
            SearchStep::Leaf => {
                let (state, legal) = simulator.leaf();
                if let Some(value) = if asks { backend.exact(game, state) } else { None } {
                    simulator.set_proven(value);
                } else {
                    batch.clear();
                    batch.push(*state, legal);
                    backend.evaluate(game, &mut batch)?;
                    let (priors, estimate) = batch.answer(0);
                    simulator.apply(priors, estimate);
                }
            }
        }
        if !go_on() {
            return Ok(());
        }
    }
}
