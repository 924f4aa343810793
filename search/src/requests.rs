//! Batches of leaves from many searches: equal positions are evaluated once, cached ones not at all.

use std::convert::Infallible;
use std::hash::Hash;

use turnstone_env::{Action, Game};

use crate::evaluator::{EvalBatch, Evaluation, Evaluator};
use crate::hash::hash;

/// Reply to a request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lookup<'a> {
    /// The position is cached: priors of its legal actions, and its evaluation.
    Known(&'a [f32], Evaluation),
    /// The position waits in this row of the batch.
    Waiting(usize),
}

/// Statistics of the cache.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CacheStats {
    /// Positions requested.
    pub requests: u64,
    /// Of these, found in the cache.
    pub hits: u64,
    /// Of these, equal to a position that already waited in the batch.
    pub merged: u64,
    /// Batches evaluated.
    pub batches: u64,
}

impl CacheStats {
    /// Positions passed to the evaluator.
    #[must_use]
    pub fn evaluations(&self) -> u64 {
        self.requests - self.hits - self.merged
    }

    /// Mean number of positions per batch.
    #[must_use]
    pub fn mean_batch(&self) -> f64 {
        self.evaluations() as f64 / self.batches.max(1) as f64
    }

    /// Adds what another worker counted.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.hits += other.hits;
        self.merged += other.merged;
        self.batches += other.batches;
    }
}

/// A batch under collection, and a cache of earlier evaluations of a fixed size. States are compared, so a collision of
/// hashes cannot return a wrong evaluation. With an evaluator whose results do not depend on the rest of the batch, the
/// cache does not change the result of any search.
///
/// The table is direct-mapped: a new position takes the place of an older one with the same index. Priors lie in a
/// ring, where the oldest are overwritten; an entry whose priors are gone counts as unknown.
#[derive(Clone, Debug)]
pub struct Requests<S> {
    batch: EvalBatch<S>,
    /// Index in `table` of each row of the batch.
    places: Vec<usize>,
    table: Vec<Option<Entry<S>>>,
    priors: Ring,
    /// Whether answers are kept after their batch.
    keep: bool,
    cache: CacheStats,
}

#[derive(Clone, Debug)]
struct Entry<S> {
    state: S,
    answer: Answer,
}

#[derive(Clone, Copy, Debug)]
enum Answer {
    /// It waits in this row of the current batch.
    Waiting(usize),
    Known {
        priors: Span,
        estimate: Evaluation,
    },
}

impl<S: Copy + Eq + Hash> Requests<S> {
    /// Mean number of legal actions per cached position that the ring is sized for.
    const PRIORS: usize = 16;
    /// Size of the table that finds equal positions in a batch when nothing is kept.
    const UNKEPT: usize = 1024;

    /// With a cache of about `cached` positions (rounded up to a power of two); 0 keeps no answer.
    #[must_use]
    pub fn new(cached: usize) -> Self {
        let (keep, size) = if cached == 0 { (false, Self::UNKEPT) } else { (true, cached.next_power_of_two()) };
        let table = (0..size).map(|_| None).collect();
        let priors = Ring::new(if keep { size * Self::PRIORS } else { 0 });
        Self { batch: EvalBatch::default(), places: Vec::new(), table, priors, keep, cache: CacheStats::default() }
    }

    /// Asks for a running position with these legal actions.
    pub fn request(&mut self, state: &S, legal: &[Action]) -> Lookup<'_> {
        self.cache.requests += 1;
        let place = hash(state) as usize & (self.table.len() - 1);
        if let Some(entry) = self.table[place].as_ref().filter(|entry| entry.state == *state) {
            match entry.answer {
                Answer::Waiting(row) => {
                    self.cache.merged += 1;
                    return Lookup::Waiting(row);
                }
                Answer::Known { priors, estimate } => {
                    if let Some(priors) = self.priors.get(priors) {
                        self.cache.hits += 1;
                        return Lookup::Known(priors, estimate);
                    }
                }
            }
        }
        let row = self.batch.push(*state, legal);
        self.places.push(place);
        self.table[place] = Some(Entry { state: *state, answer: Answer::Waiting(row) });
        Lookup::Waiting(row)
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// The positions that wait, row by row.
    #[must_use]
    pub fn waiting(&self) -> &[S] {
        self.batch.states()
    }

    /// Evaluates the batch; the answers can be read until [`Requests::clear`].
    pub fn evaluate<G: Game<State = S>>(&mut self, game: &G, evaluator: &mut (impl Evaluator<G> + ?Sized)) {
        let Ok(()) = self.try_evaluate(|batch| {
            evaluator.evaluate(game, batch);
            Ok::<(), Infallible>(())
        });
    }

    /// [`Requests::evaluate`] with a function that may fail.
    ///
    /// # Errors
    /// That of the function. The batch still waits, and can be evaluated again.
    pub fn try_evaluate<E>(&mut self, evaluate: impl FnOnce(&mut EvalBatch<S>) -> Result<(), E>) -> Result<(), E> {
        evaluate(&mut self.batch)?;
        self.cache.batches += 1;
        for (row, &place) in self.places.iter().enumerate() {
            let entry = &mut self.table[place];
            // A later row of the batch may have taken the place.
            let Some(found) = entry.as_mut().filter(|found| matches!(found.answer, Answer::Waiting(r) if r == row))
            else {
                continue;
            };
            let (priors, estimate) = self.batch.answer(row);
            match self.keep.then(|| self.priors.push(priors)).flatten() {
                Some(priors) => found.answer = Answer::Known { priors, estimate },
                None => *entry = None,
            }
        }
        Ok(())
    }

    /// A row of the evaluated batch: priors of the legal actions, and the evaluation of the position.
    #[must_use]
    pub fn answer(&self, row: usize) -> (&[f32], Evaluation) {
        self.batch.answer(row)
    }

    /// Begins a new batch after an evaluated one.
    pub fn clear(&mut self) {
        self.batch.clear();
        self.places.clear();
    }

    /// Removes all cached answers, as when the evaluator has changed. The positions of the current batch still wait.
    pub fn forget(&mut self) {
        for entry in &mut self.table {
            if matches!(entry, Some(Entry { answer: Answer::Known { .. }, .. })) {
                *entry = None;
            }
        }
    }

    /// What was counted so far.
    #[must_use]
    pub fn cache(&self) -> CacheStats {
        self.cache
    }

    /// Capacity of the cache in positions; 0 if no answer is kept.
    #[must_use]
    pub fn cached(&self) -> usize {
        if self.keep { self.table.len() } else { 0 }
    }

    /// Bytes of the cache.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.table) + size_of_val(&*self.priors.numbers)
    }
}

/// Numbers in the order in which they came; the oldest are overwritten.
#[derive(Clone, Debug)]
struct Ring {
    numbers: Vec<f32>,
    /// Numbers written since the beginning, those skipped at the end of a round included.
    written: u64,
}

/// A piece of a ring.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// Where it began, counted from the beginning of time.
    start: u64,
    length: u32,
}

impl Ring {
    fn new(length: usize) -> Self {
        Self { numbers: vec![0.0; length], written: 0 }
    }

    /// `None` if it is longer than the ring.
    fn push(&mut self, piece: &[f32]) -> Option<Span> {
        let length = self.numbers.len();
        if piece.len() > length {
            return None;
        }
        let mut at = (self.written % length as u64) as usize;
        if at + piece.len() > length {
            self.written += (length - at) as u64;
            at = 0;
        }
        self.numbers[at..at + piece.len()].copy_from_slice(piece);
        let span = Span { start: self.written, length: piece.len() as u32 };
        self.written += piece.len() as u64;
        Some(span)
    }

    /// The piece, unless some of it is overwritten.
    fn get(&self, span: Span) -> Option<&[f32]> {
        let length = self.numbers.len() as u64;
        let at = (span.start % length) as usize;
        (self.written - span.start <= length).then(|| &self.numbers[at..at + span.length as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::Rollout;
    use turnstone_env::ActionList;
    use turnstone_env::games::Mancala;

    #[test]
    fn a_failed_evaluation_can_be_repeated() {
        let (game, mut legal) = (Mancala::default(), ActionList::new());
        let start = game.start();
        game.legal(&start, &mut legal);
        let mut requests = Requests::new(64);
        assert_eq!(requests.request(&start, &legal), Lookup::Waiting(0));
        assert_eq!(requests.try_evaluate(|_| Err("no network")), Err("no network"));
        assert_eq!((requests.cache().batches, requests.is_empty()), (0, false));
        assert_eq!(requests.request(&start, &legal), Lookup::Waiting(0), "nothing is known yet");
        requests.evaluate(&game, &mut crate::evaluator::Uniform);
        assert_eq!(requests.answer(0).0, [1.0 / 6.0; 6]);
        requests.clear();
        assert!(matches!(requests.request(&start, &legal), Lookup::Known(..)));
        requests.forget();
        assert_eq!(requests.request(&start, &legal), Lookup::Waiting(0));
        requests.forget();
        assert_eq!(requests.request(&start, &legal), Lookup::Waiting(0), "what waits is kept");
    }

    #[test]
    fn equal_positions_go_once_and_known_ones_not_at_all() {
        let game = Mancala::default();
        let mut legal = ActionList::new();
        let states: Vec<_> = {
            let start = game.start();
            game.legal(&start, &mut legal);
            let after = |&action: &Action| {
                let mut state = start;
                game.play(&mut state, action);
                state
            };
            legal.iter().map(after).collect()
        };
        for cached in [0, 64] {
            let mut requests = Requests::new(cached);
            let mut rows = Vec::new();
            for state in states.iter().chain(&states) {
                game.legal(state, &mut legal);
                let Lookup::Waiting(row) = requests.request(state, &legal) else { panic!("nothing is known yet") };
                rows.push(row);
            }
            assert_eq!(rows[..6], rows[6..]);
            requests.evaluate(&game, &mut Rollout::new(1));
            let answers: Vec<(Vec<f32>, Evaluation)> =
                rows.iter().map(|&row| requests.answer(row)).map(|(p, e)| (p.to_vec(), e)).collect();
            requests.clear();
            for (state, answer) in states.iter().zip(&answers) {
                game.legal(state, &mut legal);
                match requests.request(state, &legal) {
                    Lookup::Known(priors, estimate) => assert_eq!((priors, estimate), (&answer.0[..], answer.1)),
                    Lookup::Waiting(_) => assert_eq!(cached, 0),
                }
            }
            let cache = requests.cache();
            assert_eq!((cache.requests, cache.merged, cache.batches), (18, 6, 1));
            assert_eq!(cache.hits, if cached == 0 { 0 } else { 6 });
        }
    }

    #[test]
    fn rings_know_what_they_have_overwritten() {
        let mut ring = Ring::new(8);
        let first = ring.push(&[1.0, 2.0, 3.0]).unwrap();
        let second = ring.push(&[4.0, 5.0, 6.0]).unwrap();
        assert_eq!(ring.get(first), Some(&[1.0, 2.0, 3.0][..]));
        let third = ring.push(&[7.0, 8.0, 9.0]).unwrap(); // does not fit behind: two places are skipped
        assert_eq!(ring.get(first), None);
        assert_eq!(ring.get(second), Some(&[4.0, 5.0, 6.0][..]));
        assert_eq!(ring.get(third), Some(&[7.0, 8.0, 9.0][..]));
        assert!(ring.push(&[0.0; 9]).is_none());
        ring.push(&[0.0; 8]).unwrap();
        assert_eq!(ring.get(third), None);
    }
}
