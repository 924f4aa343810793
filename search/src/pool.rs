//! Searches side by side, whose leaves are evaluated in one batch.

use turnstone_env::Game;

use crate::evaluator::EvalBatch;
use crate::mcts::{Mcts, SearchStep};
use crate::requests::{CacheStats, Lookup, Requests};

/// What has a place in a [`Pool`]: a search and what belongs to it.
pub trait Pooled<G: Game> {
    /// The search.
    fn search(&mut self) -> &mut Mcts<G>;

    /// Whether the search is to end before its simulations are done.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Searches in steps: [`Pool::gather`] takes every search to its next leaf, [`Pool::evaluate`] evaluates the leaves.
///
/// The order of the searches, and so the rows of a batch, is that in which they were added; one that takes the place of
/// another has its rows.
#[derive(Debug)]
pub struct Pool<G: Game, T> {
    seats: Vec<Place<T>>,
    requests: Requests<G::State>,
    spare: Spare<G>,
}

/// Searches that are over, whose memory is reused.
#[derive(Debug)]
pub struct Spare<G: Game>(Vec<Mcts<G>>);

impl<G: Game> Spare<G> {
    /// A search rooted at `state`.
    pub fn search(&mut self, game: &G, state: G::State) -> Mcts<G> {
        let mut search = self.0.pop().unwrap_or_else(|| Mcts::new(game, state));
        search.reset(game, state);
        search
    }

    /// Takes a search that is over.
    pub fn keep(&mut self, search: Mcts<G>) {
        self.0.push(search);
    }
}

#[derive(Debug)]
struct Place<T> {
    /// `None` only while the caller decides what follows.
    seat: Option<T>,
    /// Row of the batch that has its leaf.
    row: Option<usize>,
}

impl<G: Game, T: Pooled<G>> Pool<G, T> {
    /// A pool with a cache of `cached` evaluations; 0 keeps none.
    #[must_use]
    pub fn new(cached: usize) -> Self {
        Self { seats: Vec::new(), requests: Requests::new(cached), spare: Spare(Vec::new()) }
    }

    /// Searches to begin new ones with.
    pub fn spare(&mut self) -> &mut Spare<G> {
        &mut self.spare
    }

    /// Adds a search that has begun.
    pub fn push(&mut self, seat: T) {
        self.seats.push(Place { seat: Some(seat), row: None });
    }

    /// The searches, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.seats.iter().flat_map(|place| &place.seat)
    }

    /// The only search, unless its leaf waits.
    pub fn single(&mut self) -> Option<&mut T> {
        match &mut *self.seats {
            [place] if place.row.is_none() => place.seat.as_mut(),
            _ => None,
        }
    }

    /// Number of searches.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seats.len()
    }

    /// Whether there are no searches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    /// The positions that wait for their evaluation, row by row.
    #[must_use]
    pub fn waiting(&self) -> &[G::State] {
        self.requests.waiting()
    }

    /// Takes every search to its next leaf that needs an evaluation, unless leaves wait already. A search that is over goes to
    /// `over`, which returns what takes its place: itself, begun anew, or another.
    pub fn gather(&mut self, game: &G, over: impl FnMut(T, &mut Spare<G>) -> Option<T>) {
        self.gather_while(game, || true, over);
    }

    /// [`Pool::gather`], ended early when `go_on`, which is called after every simulation without a leaf, returns false. The
    /// searches that have no leaf then continue in the next call.
    pub fn gather_while(
        &mut self,
        game: &G,
        mut go_on: impl FnMut() -> bool,
        mut over: impl FnMut(T, &mut Spare<G>) -> Option<T>,
    ) {
        let mut i = if self.requests.is_empty() { 0 } else { self.seats.len() };
        while let Some(place) = self.seats.get_mut(i) {
            let seat = place.seat.as_mut().expect("the caller has decided");
            match next_leaf(seat, game, &mut self.requests, &mut go_on) {
                Next::Leaf(row) => {
                    place.row = Some(row);
                    i += 1;
                    continue;
                }
                Next::Paused => return,
                Next::Over => {}
            }
            let next = place.seat.take().and_then(|seat| over(seat, &mut self.spare));
            match next {
                Some(seat) => place.seat = Some(seat),
                // This keeps the order of the others.
                None => drop(self.seats.remove(i)),
            }
        }
    }

    /// Evaluates the leaves that wait. Returns false if there are none.
    ///
    /// # Errors
    /// That of `evaluate`; the next call evaluates the same leaves again.
    pub fn evaluate<E>(&mut self, evaluate: impl FnOnce(&mut EvalBatch<G::State>) -> Result<(), E>) -> Result<bool, E> {
        if self.requests.is_empty() {
            return Ok(false);
        }
        self.requests.try_evaluate(evaluate)?;
        for place in &mut self.seats {
            // A search that was added or paused since has no leaf yet.
            let (Some(seat), Some(row)) = (&mut place.seat, place.row.take()) else { continue };
            let (priors, estimate) = self.requests.answer(row);
            seat.search().apply(priors, estimate);
        }
        self.requests.clear();
        Ok(true)
    }

    /// Drops all searches, and the leaves that wait.
    pub fn clear(&mut self) {
        self.seats.clear(); // searches with a pending leaf cannot be reused
        self.requests = Requests::new(self.requests.cached());
    }

    /// Removes all cached evaluations, as when the network has changed.
    pub fn forget(&mut self) {
        self.requests.forget();
    }

    /// Statistics of the cache.
    #[must_use]
    pub fn cache(&self) -> CacheStats {
        self.requests.cache()
    }
}

/// Where a search has come to.
enum Next {
    /// A leaf that has to be evaluated, in this row.
    Leaf(usize),
    /// The caller interrupted it.
    Paused,
    /// Its end.
    Over,
}

/// Takes a search to its next leaf that has to be evaluated, while `go_on` returns true.
fn next_leaf<G: Game, T: Pooled<G>>(
    seat: &mut T,
    game: &G,
    requests: &mut Requests<G::State>,
    go_on: &mut impl FnMut() -> bool,
) -> Next {
    loop {
        if seat.is_stopped() {
            return Next::Over;
        }
        let search = seat.search();
        match search.step(game) {
            SearchStep::Done => return Next::Over,
            SearchStep::Finished => {}
            SearchStep::Leaf => {
                let (state, legal) = search.leaf();
                match requests.request(state, legal) {
                    Lookup::Known(priors, estimate) => search.apply(priors, estimate),
                    Lookup::Waiting(row) => return Next::Leaf(row),
                }
            }
        }
        if !go_on() {
            return Next::Paused;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use turnstone_env::games::Mancala;

    use super::*;
    use crate::evaluator::{Evaluator, Rollout};
    use crate::mcts::{RootAction, SearchOptions};

    struct Numbered {
        number: usize,
        search: Mcts<Mancala>,
        is_stopped: bool,
    }

    impl Pooled<Mancala> for Numbered {
        fn search(&mut self) -> &mut Mcts<Mancala> {
            &mut self.search
        }

        fn is_stopped(&self) -> bool {
            self.is_stopped
        }
    }

    /// An evaluation that depends on the position only.
    fn evaluate(game: &Mancala, batch: &mut EvalBatch<<Mancala as Game>::State>) {
        for i in 0..batch.len() {
            let mut one = EvalBatch::default();
            let (state, legal) = batch.position(i);
            one.push(*state, legal);
            Rollout::new(7).evaluate(game, &mut one);
            let (priors, estimate) = one.answer(0);
            batch.set_evaluation(i, estimate);
            batch.legal_and_priors(i).1.copy_from_slice(priors);
        }
    }

    fn begun(game: &Mancala, number: usize, mut search: Mcts<Mancala>) -> Numbered {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(number as u64);
        search.begin(game, &SearchOptions::default(), 20 + 7 * number as u32, &mut rng);
        Numbered { number, search, is_stopped: false }
    }

    #[test]
    fn searches_side_by_side_are_those_of_one_after_another() {
        const SEARCHES: usize = 9;
        let game = Mancala::default();
        let mut found: Vec<(usize, Vec<RootAction>)> = Vec::new();
        let mut pool = Pool::new(64);
        let mut numbers = 0..SEARCHES - 1;
        for number in numbers.by_ref().take(3) {
            let search = pool.spare().search(&game, game.start());
            pool.push(begun(&game, number, search));
        }
        for round in 0.. {
            pool.gather(&game, |over: Numbered, spare| {
                found.push((over.number, over.search.actions().collect()));
                spare.keep(over.search);
                numbers.next().map(|number| begun(&game, number, spare.search(&game, game.start())))
            });
            if round == 5 {
                // It waits for the next round: it has no leaf in this batch.
                pool.push(begun(&game, SEARCHES - 1, Mcts::new(&game, game.start())));
            }
            let waiting = pool.waiting().to_vec();
            let evaluated = pool.evaluate(|batch| {
                evaluate(&game, batch);
                if round % 3 == 1 { Err("out of order") } else { Ok(()) }
            });
            match evaluated {
                Ok(true) => assert!(pool.waiting().is_empty()),
                Ok(false) => break,
                Err(_) => assert_eq!(pool.waiting(), waiting, "nothing is lost"),
            }
        }
        assert!(pool.is_empty() && pool.cache().merged > 0);
        found.sort_by_key(|(number, _)| *number);
        let alone = |number| {
            let mut one = begun(&game, number, Mcts::new(&game, game.start()));
            let mut batch = EvalBatch::default();
            while let Some((state, legal)) = one.search.gather(&game) {
                batch.clear();
                batch.push(*state, legal);
                evaluate(&game, &mut batch);
                let (priors, estimate) = batch.answer(0);
                one.search.apply(priors, estimate);
            }
            (number, one.search.actions().collect())
        };
        assert_eq!(found, (0..SEARCHES).map(alone).collect::<Vec<_>>());
    }

    #[test]
    fn a_paused_search_continues_with_the_same_result() {
        let game = Mancala::default();
        let searched = |slices: bool| {
            let mut pool = Pool::new(64);
            (0..3).for_each(|number| pool.push(begun(&game, number, Mcts::new(&game, game.start()))));
            let (mut found, mut calls, mut pauses) = (Vec::new(), 0, 0);
            while !pool.is_empty() {
                let go_on = || {
                    calls += 1;
                    pauses += u32::from(slices);
                    !slices
                };
                pool.gather_while(&game, go_on, |over: Numbered, _| {
                    found.push((over.number, over.search.actions().collect::<Vec<_>>()));
                    None
                });
                let Ok(_) = pool.evaluate(|batch| {
                    evaluate(&game, batch);
                    Ok::<(), std::convert::Infallible>(())
                });
            }
            found.sort_by_key(|(number, _)| *number);
            assert_eq!(pauses > 3, slices, "{calls} simulations had no leaf");
            found
        };
        assert_eq!(searched(true), searched(false));
    }

    #[test]
    fn a_stopped_search_is_over_and_the_others_keep_their_order() {
        let game = Mancala::default();
        let mut pool = Pool::new(0);
        for number in 0..4 {
            pool.push(begun(&game, number, Mcts::new(&game, game.start())));
        }
        pool.seats[1].seat.as_mut().expect("it was added").is_stopped = true;
        let mut over = Vec::new();
        pool.gather(&game, |seat, _| {
            over.push(seat.number);
            None
        });
        assert_eq!((over, pool.len(), pool.waiting().len()), (vec![1], 3, 1), "the equal roots are one row");
        let left: Vec<usize> = pool.iter().map(|seat| seat.number).collect();
        assert_eq!(left, [0, 2, 3]);
        pool.clear();
        assert!(pool.is_empty() && pool.waiting().is_empty());
        assert_eq!(pool.evaluate(|_| Err("nothing waits")), Ok(false));
    }
}
