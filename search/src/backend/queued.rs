//! One device for many workers: what waits is evaluated together.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use turnstone_env::Rules;

use super::{Backend, EvalBatch, Fault};

/// A worker's way to backends that many workers share. A worker that finds a backend free evaluates with it what waits, its
/// own batch and those of others together; the others wait. With two backends of the same device one batch is under way
/// while the next one is collected.
///
/// A fault reaches every worker whose positions were in the batch.
pub struct Queued<G: Rules, B> {
    queue: Arc<Queue<G, B>>,
    /// The number of this worker.
    number: usize,
}

struct Queue<G: Rules, B> {
    /// Most positions of a batch.
    largest: usize,
    state: Mutex<QueueState<G, B>>,
    /// Notified when answers are there or a backend is free.
    changed: Condvar,
}

struct QueueState<G: Rules, B> {
    /// Backends that evaluate nothing.
    free: Vec<(B, EvalBatch<G::State>)>,
    waiting: VecDeque<(usize, EvalBatch<G::State>)>,
    /// By worker.
    answers: Vec<Option<Answer<G::State>>>,
}

/// A batch that was evaluated, or why it was not.
type Answer<S> = (EvalBatch<S>, Result<(), Fault>);

impl<G: Rules, B> Queued<G, B> {
    /// Shares `backends` among `workers` workers. Batches have at most `largest` positions, unless a worker's own has more.
    ///
    /// # Panics
    /// If there is no backend.
    pub fn share(backends: Vec<B>, largest: usize, workers: usize) -> Vec<Self> {
        assert!(!backends.is_empty(), "nothing could be evaluated");
        let free = backends.into_iter().map(|backend| (backend, EvalBatch::default())).collect();
        let answers = (0..workers).map(|_| None).collect();
        let state = Mutex::new(QueueState { free, waiting: VecDeque::new(), answers });
        let queue = Arc::new(Queue { largest, state, changed: Condvar::new() });
        (0..workers).map(|number| Self { queue: Arc::clone(&queue), number }).collect()
    }
}

impl<G: Rules, B> Queue<G, B> {
    fn lock(&self) -> MutexGuard<'_, QueueState<G, B>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<G: Rules, B> QueueState<G, B> {
    /// Takes what waits, in its order, as far as it fits into one batch.
    fn take(&mut self, largest: usize) -> Vec<(usize, EvalBatch<G::State>)> {
        let (mut group, mut rows) = (Vec::new(), 0);
        while let Some((_, batch)) = self.waiting.front()
            && (group.is_empty() || rows + batch.len() <= largest)
        {
            rows += batch.len();
            group.extend(self.waiting.pop_front());
        }
        group
    }
}

impl<G: Rules, B: Backend<G>> Backend<G> for Queued<G, B> {
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), Fault> {
        let mut state = self.queue.lock();
        state.waiting.push_back((self.number, std::mem::take(batch)));
        loop {
            if let Some((answered, result)) = state.answers[self.number].take() {
                *batch = answered;
                return result;
            }
            if state.waiting.is_empty() || state.free.is_empty() {
                state = self.queue.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let mut group = state.take(self.queue.largest);
            let Some((mut backend, mut all)) = state.free.pop() else { continue };
            drop(state);
            // Others wait for this batch, whatever comes of it.
            let work = AssertUnwindSafe(|| together(game, &mut backend, &mut all, &mut group));
            let result = catch_unwind(work);
            state = self.queue.lock();
            state.free.push((backend, all));
            let answer = result.as_ref().map_or_else(|_| Err(Fault::new("the backend panicked")), Clone::clone);
            for (number, batch) in group {
                state.answers[number] = Some((batch, answer.clone()));
            }
            self.queue.changed.notify_all();
            if let Err(panic) = result {
                drop(state);
                resume_unwind(panic);
            }
        }
    }
}

/// Evaluates the batches of several workers as one.
fn together<G: Rules>(
    game: &G,
    backend: &mut impl Backend<G>,
    all: &mut EvalBatch<G::State>,
    group: &mut [(usize, EvalBatch<G::State>)],
) -> Result<(), Fault> {
    if let [(_, batch)] = group {
        return backend.evaluate(game, batch);
    }
    all.clear();
    group.iter().for_each(|(_, batch)| all.extend_from(batch, 0..batch.len()));
    backend.evaluate(game, all)?;
    let mut first = 0;
    for (_, batch) in group {
        let rows = first..first + batch.len();
        first = rows.end;
        batch.copy_answers(0, all, rows);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use turnstone_env::Notation;

    use turnstone_env::ActionList;
    use turnstone_env::toy::Toy;

    use super::*;
    use crate::backend::Evaluation;

    type State = <Toy as Rules>::State;

    /// Values a position by its number, and fails in one call.
    struct Numbers<'a> {
        calls: &'a AtomicUsize,
        largest: &'a AtomicUsize,
        fails_in: usize,
    }

    impl Backend<Toy> for Numbers<'_> {
        fn evaluate(&mut self, game: &Toy, batch: &mut EvalBatch<State>) -> Result<(), Fault> {
            self.largest.fetch_max(batch.len(), Ordering::Relaxed);
            if self.calls.fetch_add(1, Ordering::Relaxed) == self.fails_in {
                return Err(Fault::new("device lost"));
            }
            std::thread::sleep(std::time::Duration::from_micros(200));
            for row in 0..batch.len() {
                let value = value(game, &batch.states()[row]);
                batch.set_evaluation(row, Evaluation { value, draw: 0.0 });
            }
            Ok(())
        }
    }

    fn value(game: &Toy, state: &State) -> f32 {
        game.position_text(state).len() as f32 / 100.0
    }

    /// Lets five workers ask 200 times each. Returns the faults of each, and the number of calls and the largest batch.
    fn asked(fails_in: usize, largest: usize) -> ([usize; 5], usize, usize) {
        let game: Toy = "1(1(1(+1 -1) -1) 2(0 2(0 2(0 +1))))".parse().expect("a tree");
        let mut states = vec![game.start()];
        let mut legal = ActionList::new();
        for i in 0.. {
            let Some(&state) = states.get(i) else { break };
            game.legal(&state, &mut legal);
            for &action in &legal {
                let mut next = state;
                game.play(&mut next, action);
                if game.outcome(&next).is_none() {
                    states.push(next);
                }
            }
        }
        assert!(states.len() > 4);
        let (calls, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let backends = (0..2).map(|_| Numbers { calls: &calls, largest: &most, fails_in }).collect();
        let faults = std::thread::scope(|scope| {
            let ask = |number: usize, mut queued: Queued<Toy, Numbers<'_>>| {
                let (game, states, mut legal, mut batch, mut faults) =
                    (&game, &states, ActionList::new(), EvalBatch::default(), 0);
                for round in 0..200 {
                    batch.clear();
                    for i in 0..1 + (number + round) % 3 {
                        let state = states[(number * i + round) % states.len()];
                        game.legal(&state, &mut legal);
                        batch.push(state, &legal);
                    }
                    let before = batch.states().to_vec();
                    match queued.evaluate(game, &mut batch) {
                        Err(fault) => {
                            assert_eq!(fault, Fault::new("device lost"));
                            faults += 1;
                        }
                        Ok(()) => {
                            for (row, state) in before.iter().enumerate() {
                                assert_eq!(batch.answer(row).1.value, value(game, state), "its own rows");
                            }
                        }
                    }
                    assert_eq!(batch.states(), before, "nothing is lost");
                }
                faults
            };
            let workers = Queued::share(backends, largest, 5).into_iter().enumerate();
            let workers: Vec<_> = workers.map(|(number, queued)| scope.spawn(move || ask(number, queued))).collect();
            workers.into_iter().map(|worker| worker.join().expect("no panic")).collect::<Vec<usize>>()
        });
        (faults.try_into().expect("five"), calls.into_inner(), most.into_inner())
    }

    #[test]
    fn every_worker_gets_its_own_rows() {
        let (faults, calls, largest) = asked(usize::MAX, 100);
        assert_eq!(faults, [0; 5]);
        assert!(calls < 1000 && largest > 3, "{calls} batches of up to {largest}");
        let (_, calls, largest) = asked(usize::MAX, 1);
        assert!(calls == 1000 && largest <= 3, "none is put together");
    }

    #[test]
    fn a_fault_reaches_all_of_its_batch_and_nobody_else() {
        let (faults, _, _) = asked(100, 100);
        let all: usize = faults.iter().sum();
        assert!((1..=5).contains(&all) && faults.iter().all(|&faults| faults <= 1), "{faults:?}");
    }
}
