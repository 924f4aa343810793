//! One search by several threads, each with an evaluator of its own.

use turnstone_env::Game;
use turnstone_models::DeviceError;
use turnstone_search::classic::Stop;
use turnstone_search::{EvalBatch, Mcts, SearchStep, SharedWalker};

use crate::evaluator::TryEvaluator;
use crate::threads::spawn_or_warn;

/// Simulations that the tree has room for before the threads pause while it grows.
const ROOM: u32 = 1 << 16;

/// The exact value of a position below the root, where it is known.
pub(crate) type Known<'a, G> = &'a (dyn Fn(&<G as Game>::State) -> Option<i8> + Sync);

/// Runs the simulations that are left of a search whose root is evaluated, one thread per evaluator; this one is the first.
/// `go_on`, which is called after each simulation of this thread, ends the search by returning false, and so does `stop`,
/// which every thread looks at. Returns whether the search was ended. Threads that the system refuses are done without.
///
/// # Errors
/// An evaluation failed.
pub(crate) fn run_together<G: Game, E: TryEvaluator<G> + Send>(
    game: &G,
    search: &mut Mcts<G>,
    evaluators: &mut [E],
    known: Known<'_, G>,
    stop: &Stop,
    go_on: &mut dyn FnMut(&Mcts<G>) -> bool,
) -> Result<bool, DeviceError> {
    let (first, others) = evaluators.split_first_mut().expect("there is an evaluator");
    let mut goes_on = true;
    while goes_on && search.simulations_left() > 0 && search.proven().is_none() {
        search.make_room(search.simulations_left().min(ROOM));
        let shared = &search.share();
        std::thread::scope(|scope| {
            let run = |evaluator| {
                move || {
                    let ended = walk(game, shared.walker(), evaluator, known, &mut || !stop.is_raised());
                    if stop.is_raised() || ended.is_err() {
                        shared.end();
                    }
                    ended
                }
            };
            let others: Vec<_> =
                others.iter_mut().map_while(|evaluator| spawn_or_warn(scope, run(evaluator))).collect();
            let mut check = || {
                goes_on = go_on(shared);
                goes_on
            };
            let mut ended = walk(game, shared.walker(), first, known, &mut check);
            if !goes_on || ended.is_err() {
                shared.end();
            }
            for thread in others {
                ended = ended.and(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            ended
        })?;
    }
    Ok(!goes_on)
}

/// Runs simulations on this thread until none is left or the search is ended.
fn walk<G: Game>(
    game: &G,
    mut walker: SharedWalker<'_, G>,
    evaluator: &mut impl TryEvaluator<G>,
    known: Known<'_, G>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), DeviceError> {
    let mut batch = EvalBatch::default();
    loop {
        match walker.step(game) {
            SearchStep::Done => return Ok(()),
            SearchStep::Finished => {}
            SearchStep::Leaf => {
                let (state, legal) = walker.leaf();
                if let Some(value) = known(state) {
                    walker.settle(value);
                } else {
                    batch.clear();
                    batch.push(*state, legal);
                    evaluator.try_evaluate(game, &mut batch)?;
                    let (priors, estimate) = batch.answer(0);
                    walker.apply(priors, estimate);
                }
            }
        }
        if !go_on() {
            return Ok(());
        }
    }
}
