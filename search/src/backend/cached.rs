//! A backend that keeps its evaluations, and evaluates equal positions of a batch once.

use std::hash::Hash;

use turnstone_env::Rules;

use super::{Backend, EvalBatch, Evaluation, Fault};
use crate::hash::hash;

/// Statistics of the cache.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CacheStats {
    /// Positions asked for, except those of batches that failed.
    pub requests: u64,
    /// Of these, found in the cache.
    pub hits: u64,
    /// Of these, equal to an earlier position of their batch.
    pub merged: u64,
    /// Batches evaluated.
    pub batches: u64,
}

impl CacheStats {
    /// Positions passed to the backend.
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

/// Keeps the evaluations of a backend in a cache of a fixed size. States are compared, so a collision of hashes cannot return
/// a wrong evaluation: with a backend whose results do not depend on the rest of the batch, the cache changes no result.
///
/// The table is direct-mapped: a new position takes the place of an older one with the same index. Priors lie in a
/// ring, where the oldest are overwritten; an entry whose priors have been overwritten counts as unknown.
#[derive(Clone, Debug)]
pub struct Cached<S, B> {
    backend: B,
    /// Empty if nothing is kept.
    table: Vec<Option<Entry<S>>>,
    priors: Ring,
    stats: CacheStats,
    repeats: Repeats,
    /// The positions of a batch, each once.
    distinct: EvalBatch<S>,
}

#[derive(Clone, Debug)]
struct Entry<S> {
    state: S,
    priors: Span,
    estimate: Evaluation,
}

impl<S: Copy + Eq + Hash, B> Cached<S, B> {
    /// Mean number of legal actions per cached position that the ring is sized for.
    const PRIORS: usize = 16;

    /// A cache of about `positions` positions (rounded up to a power of two); 0 keeps none.
    #[must_use]
    pub fn new(backend: B, positions: usize) -> Self {
        let size = if positions == 0 { 0 } else { positions.next_power_of_two() };
        Self {
            backend,
            table: (0..size).map(|_| None).collect(),
            priors: Ring::new(size * Self::PRIORS),
            stats: CacheStats::default(),
            repeats: Repeats::default(),
            distinct: EvalBatch::default(),
        }
    }

    /// The backend that is asked.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// The backend that is asked.
    pub fn backend_mut(&mut self) -> &mut B {
        &mut self.backend
    }

    /// Removes all evaluations, as when the network has changed.
    pub fn forget(&mut self) {
        self.table.fill_with(|| None);
    }

    /// The counts so far.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        self.stats
    }

    /// Bytes of the cache.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.table) + size_of_val(&*self.priors.numbers)
    }

    /// Index in the table of a position with this hash.
    fn place(&self, hash: u64) -> usize {
        hash as usize & (self.table.len() - 1)
    }
}

impl<G: Rules, B: Backend<G>> Backend<G> for Cached<G::State, B> {
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), Fault> {
        let distinct = self.repeats.find(batch.states());
        if distinct == batch.len() {
            self.backend.evaluate(game, batch)?;
        } else {
            self.distinct.clear();
            for (row, &number) in self.repeats.numbers.iter().enumerate() {
                if number == self.distinct.len() {
                    self.distinct.extend_from(batch, row..row + 1);
                }
            }
            self.backend.evaluate(game, &mut self.distinct)?;
            for (row, &number) in self.repeats.numbers.iter().enumerate() {
                batch.copy_answers(row, &self.distinct, number..number + 1);
            }
        }
        self.stats.batches += 1;
        self.stats.requests += batch.len() as u64;
        self.stats.merged += (batch.len() - distinct) as u64;
        if !self.table.is_empty() {
            let mut kept = 0;
            for row in 0..batch.len() {
                if self.repeats.numbers[row] != kept {
                    continue;
                }
                kept += 1;
                let (priors, estimate) = batch.answer(row);
                if let Some(priors) = self.priors.push(priors) {
                    let place = self.place(self.repeats.hashes[row]);
                    self.table[place] = Some(Entry { state: batch.states()[row], priors, estimate });
                }
            }
        }
        Ok(())
    }

    fn known(&mut self, state: &G::State) -> Option<(&[f32], Evaluation)> {
        if self.table.is_empty() {
            return None;
        }
        let place = self.place(hash(state));
        let entry = self.table[place].as_ref().filter(|entry| entry.state == *state)?;
        let priors = self.priors.get(entry.priors)?;
        self.stats.requests += 1;
        self.stats.hits += 1;
        Some((priors, entry.estimate))
    }

    fn exact(&mut self, game: &G, state: &G::State) -> Option<i8> {
        self.backend.exact(game, state)
    }

    fn restart(&mut self, seed: u64) {
        self.backend.restart(seed);
    }

    fn for_thread(&self, number: usize) -> Option<Box<dyn Backend<G> + Send>> {
        self.backend.for_thread(number)
    }
}

/// Finds equal positions in a batch.
#[derive(Clone, Default, Debug)]
struct Repeats {
    /// For each row, the number of its position among the distinct ones, in the order in which they first come.
    numbers: Vec<usize>,
    /// The hash of each row.
    hashes: Vec<u64>,
    /// Rows by the hash of their position, with open addressing.
    slots: Vec<Option<u32>>,
}

impl Repeats {
    /// Numbers the positions. Returns how many there are.
    fn find<S: Eq + Hash>(&mut self, states: &[S]) -> usize {
        self.numbers.clear();
        self.hashes.clear();
        self.slots.clear();
        self.slots.resize(2 * states.len().next_power_of_two(), None);
        let mut distinct = 0;
        for (row, state) in states.iter().enumerate() {
            let hash = hash(state);
            self.hashes.push(hash);
            let mut slot = hash as usize & (self.slots.len() - 1);
            let number = loop {
                match self.slots[slot] {
                    None => {
                        self.slots[slot] = Some(row as u32);
                        distinct += 1;
                        break distinct - 1;
                    }
                    Some(earlier) if states[earlier as usize] == *state => break self.numbers[earlier as usize],
                    Some(_) => slot = (slot + 1) & (self.slots.len() - 1),
                }
            };
            self.numbers.push(number);
        }
        distinct
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
    use turnstone_env::games::Mancala;
    use turnstone_env::{ActionList, Notation, Side};

    use super::*;
    use crate::backend::Rollout;

    type State = <Mancala as Rules>::State;

    /// The positions after each of the first moves.
    fn positions(game: &Mancala) -> Vec<State> {
        let after = |&action: &_| {
            let mut state = game.start();
            game.play(&mut state, action);
            state
        };
        let mut legal = ActionList::new();
        game.legal(&game.start(), &mut legal);
        legal.iter().map(after).collect()
    }

    fn batch<'a>(game: &Mancala, states: impl IntoIterator<Item = &'a State>) -> EvalBatch<State> {
        let (mut batch, mut legal) = (EvalBatch::default(), ActionList::new());
        for state in states {
            game.legal(state, &mut legal);
            batch.push(*state, &legal);
        }
        batch
    }

    #[test]
    fn equal_positions_go_once_and_known_ones_not_at_all() {
        let game = Mancala::default();
        let states = positions(&game);
        for cached in [0, 64] {
            // Playouts: an evaluation that was made twice would differ.
            let mut cache = Cached::new(Rollout::new(1), cached);
            let mut twice = batch(&game, states.iter().chain(&states));
            Backend::<Mancala>::evaluate(&mut cache, &game, &mut twice).expect("it never fails");
            let mut once = batch(&game, &states);
            Rollout::new(1).evaluate(&game, &mut once).expect("it never fails");
            for (row, state) in states.iter().enumerate() {
                assert_eq!(twice.answer(row), once.answer(row));
                assert_eq!(twice.answer(row + states.len()), once.answer(row));
                let known = Backend::<Mancala>::known(&mut cache, state);
                assert_eq!(known, (cached > 0).then(|| once.answer(row)));
            }
            let stats = cache.stats();
            assert_eq!((stats.batches, stats.merged), (1, 6));
            assert_eq!((stats.requests, stats.hits), if cached == 0 { (12, 0) } else { (18, 6) });
            cache.forget();
            assert!(states.iter().all(|state| Backend::<Mancala>::known(&mut cache, state).is_none()));
        }
    }

    /// Values the positions that the first side is to move in at 1, the others at -1.
    struct Movers;

    impl Backend<Mancala> for Movers {
        fn evaluate(&mut self, game: &Mancala, batch: &mut EvalBatch<State>) -> Result<(), Fault> {
            for row in 0..batch.len() {
                let value = game.mover(&batch.states()[row]).sign();
                batch.set_evaluation(row, Evaluation { value, draw: 0.0 });
            }
            Ok(())
        }
    }

    #[test]
    fn the_side_to_move_belongs_to_the_position() {
        let game = Mancala::default();
        let sides = ["1", "2"]
            .map(|mover| game.parse_position(&format!("4,4,4,4,4,4/0 4,4,4,4,4,4/0 {mover}")).expect("a position"));
        let mut cache = Cached::new(Movers, 1); // both have the same place
        let mut both = batch(&game, &sides);
        cache.evaluate(&game, &mut both).expect("it never fails");
        assert_eq!([0, 1].map(|row| both.answer(row).1.value), Side::BOTH.map(Side::sign));
        assert!(cache.known(&sides[0]).is_none() && cache.known(&sides[1]).is_some());
    }

    struct Failing;

    impl<G: Rules> Backend<G> for Failing {
        fn evaluate(&mut self, _: &G, _: &mut EvalBatch<G::State>) -> Result<(), Fault> {
            Err(Fault::new("device lost"))
        }
    }

    #[test]
    fn a_batch_that_failed_is_not_kept() {
        let game = Mancala::default();
        let (states, mut cache) = (positions(&game), Cached::new(Failing, 64));
        for twice in [&states[..], &[states[0], states[0]]] {
            let mut batch = batch(&game, twice);
            assert_eq!(cache.evaluate(&game, &mut batch), Err(Fault::new("device lost")));
        }
        assert!(Backend::<Mancala>::known(&mut cache, &states[0]).is_none());
        assert_eq!(cache.stats(), CacheStats::default());
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
