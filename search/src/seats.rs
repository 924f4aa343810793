//! Tree searches side by side, whose leaves are evaluated in one batch.

use rand::Rng;
use turnstone_env::Rules;

use crate::backend::{Backend, EvalBatch, Fault};
use crate::mcts::{Mcts, SearchOptions, SearchStep};

/// Tree searches in numbered seats, and the backend that evaluates their leaves.
///
/// ```
/// use rand::SeedableRng;
/// use turnstone_env::{Notation, Rules, games::MuTorere};
/// use turnstone_search::{Cached, Fault, Pace, SearchOptions, Seats, Uniform};
///
/// let game = MuTorere::default();
/// let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
/// let mut seats = Seats::new(Cached::new(Uniform, 1024));
/// for seat in 0..8 {
///     seats.idle(&game, seat).reset(&game, game.start());
///     seats.begin(&game, seat, &SearchOptions::default(), 100, &mut rng);
/// }
/// let mut over = Vec::new();
/// while seats.searching() > 0 {
///     seats.advance(&game, |_, _| Pace::Continue, &mut over)?;
///     for &seat in &over {
///         println!("{seat}: {}", game.action_text(&game.start(), seats.search(seat).choose(0.0, &mut rng)));
///     }
/// }
/// # Ok::<(), Fault>(())
/// ```
#[derive(Debug)]
pub struct Seats<G: Rules, B> {
    seats: Vec<Seat<G>>,
    /// The leaves that wait.
    batch: EvalBatch<G::State>,
    backend: B,
}

#[derive(Debug)]
struct Seat<G: Rules> {
    search: Mcts<G>,
    stage: Stage,
    /// Whether the backend's exact values are asked for.
    asks: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Idle,
    Searching,
    /// Its leaf is this row of the batch.
    Waiting(usize),
}

/// Next step of a search after a simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// With the next simulation.
    Continue,
    /// In the next call.
    Pause,
    /// Not at all.
    End,
}

const BUSY: &str = "the seat is searching";

impl<G: Rules, B: Backend<G>> Seats<G, B> {
    /// Without seats, which are made as needed.
    pub fn new(backend: B) -> Self {
        Self { seats: Vec::new(), batch: EvalBatch::default(), backend }
    }

    /// The backend.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// The backend, to be restarted or asked.
    pub fn backend_mut(&mut self) -> &mut B {
        &mut self.backend
    }

    /// The tree of a seat, whether it is searching or not.
    ///
    /// # Panics
    /// If there is no such seat.
    pub fn search(&self, seat: usize) -> &Mcts<G> {
        &self.seats[seat].search
    }

    /// The tree of a seat that is not searching.
    ///
    /// # Panics
    /// If it is searching.
    pub fn idle(&mut self, game: &G, seat: usize) -> &mut Mcts<G> {
        while self.seats.len() <= seat {
            self.seats.push(Seat { search: Mcts::new(game, game.start()), stage: Stage::Idle, asks: false });
        }
        assert!(self.seats[seat].stage == Stage::Idle, "{BUSY}");
        &mut self.seats[seat].search
    }

    /// Begins `simulations` simulations from the root of a seat, as [`Mcts::begin`] does.
    ///
    /// # Panics
    /// If it is searching, or there is no such seat.
    pub fn begin(&mut self, game: &G, seat: usize, options: &SearchOptions, simulations: u32, rng: &mut impl Rng) {
        let Seat { search, stage, asks } = &mut self.seats[seat];
        assert!(*stage == Stage::Idle, "{BUSY}");
        search.begin(game, options, simulations, rng);
        *asks = self.backend.exact(game, search.state()).is_none();
        *stage = Stage::Searching;
    }

    /// Number of seats that are searching.
    #[must_use]
    pub fn searching(&self) -> usize {
        self.seats.iter().filter(|seat| seat.stage != Stage::Idle).count()
    }

    /// The backend and the tree of the only seat that is searching, unless its leaf waits or its root has not been evaluated.
    pub fn alone(&mut self) -> Option<(&mut B, &mut Mcts<G>)> {
        let mut searching = self.seats.iter_mut().filter(|seat| seat.stage != Stage::Idle);
        let seat = searching.next().filter(|_| searching.next().is_none())?;
        let is_ready = seat.stage == Stage::Searching && seat.search.is_root_evaluated();
        is_ready.then_some((&mut self.backend, &mut seat.search))
    }

    /// Takes every search to its next leaf that needs an evaluation, and evaluates the leaves in one batch. Where searches are
    /// over, it returns them in `over` before the evaluation, so that the caller can begin others whose leaves join the batch.
    ///
    /// `pace` is asked after every simulation, with the seat.
    ///
    /// # Errors
    /// The evaluation failed. Nothing is lost: the next call evaluates the same leaves again.
    pub fn advance(
        &mut self,
        game: &G,
        mut pace: impl FnMut(usize, &Mcts<G>) -> Pace,
        over: &mut Vec<usize>,
    ) -> Result<(), Fault> {
        over.clear();
        for (number, seat) in self.seats.iter_mut().enumerate() {
            if seat.stage == Stage::Searching {
                seat.next_leaf(game, &mut self.backend, &mut self.batch, |search| pace(number, search));
                if seat.stage == Stage::Idle {
                    over.push(number);
                }
            }
        }
        if !over.is_empty() || self.batch.is_empty() {
            return Ok(());
        }
        self.backend.evaluate(game, &mut self.batch)?;
        for seat in &mut self.seats {
            if let Stage::Waiting(row) = seat.stage {
                let (priors, estimate) = self.batch.answer(row);
                seat.search.apply(priors, estimate);
                seat.stage = Stage::Searching;
            }
        }
        self.batch.clear();
        Ok(())
    }

    /// Ends all searches without a result. Their trees are lost.
    pub fn clear(&mut self, game: &G) {
        self.batch.clear();
        for seat in self.seats.iter_mut().filter(|seat| seat.stage != Stage::Idle) {
            // A search that waits for an evaluation cannot be used again.
            (seat.search, seat.stage) = (Mcts::new(game, *seat.search.state()), Stage::Idle);
        }
    }
}

impl<G: Rules> Seat<G> {
    /// Searches until a leaf waits, the search is over, or `pace` says so.
    fn next_leaf(
        &mut self,
        game: &G,
        backend: &mut impl Backend<G>,
        batch: &mut EvalBatch<G::State>,
        mut pace: impl FnMut(&Mcts<G>) -> Pace,
    ) {
        loop {
            match pace(&self.search) {
                Pace::Continue => {}
                Pace::Pause => return,
                Pace::End => {
                    self.stage = Stage::Idle;
                    return;
                }
            }
            match self.search.step(game) {
                SearchStep::Done => {
                    self.stage = Stage::Idle;
                    return;
                }
                SearchStep::Finished => {}
                SearchStep::Leaf => {
                    let (state, legal) = self.search.leaf();
                    let exact =
                        if self.asks && self.search.is_root_evaluated() { backend.exact(game, state) } else { None };
                    if let Some(value) = exact {
                        self.search.set_proven(value);
                    } else if let Some((priors, estimate)) = backend.known(state) {
                        self.search.apply(priors, estimate);
                    } else {
                        self.stage = Stage::Waiting(batch.push(*state, legal));
                        return;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use turnstone_env::Notation;
    use turnstone_env::Side;
    use turnstone_env::games::Mancala;

    use super::*;
    use crate::backend::{Cached, Rollout};
    use crate::mcts::RootAction;

    type State = <Mancala as Rules>::State;

    /// An evaluation that depends on the position only; every third call fails.
    struct Playouts {
        calls: u32,
        fails: bool,
    }

    impl Backend<Mancala> for Playouts {
        fn evaluate(&mut self, game: &Mancala, batch: &mut EvalBatch<State>) -> Result<(), Fault> {
            self.calls += 1;
            if self.fails && self.calls.is_multiple_of(3) {
                return Err(Fault::new("out of order"));
            }
            let mut one = EvalBatch::default();
            for row in 0..batch.len() {
                let (state, legal) = batch.position(row);
                one.clear();
                one.push(*state, legal);
                Rollout::new(7).evaluate(game, &mut one)?;
                let (priors, estimate) = one.answer(0);
                batch.set_evaluation(row, estimate);
                batch.priors_mut(row).copy_from_slice(priors);
            }
            Ok(())
        }
    }

    fn begin<B: Backend<Mancala>>(seats: &mut Seats<Mancala, B>, game: &Mancala, seat: usize, number: usize) {
        seats.idle(game, seat).reset(game, game.start());
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(number as u64);
        seats.begin(game, seat, &SearchOptions::default(), 20 + 7 * number as u32, &mut rng);
    }

    /// Result of a single search with this number.
    fn alone(game: &Mancala, number: usize) -> (usize, Vec<RootAction>) {
        let mut seats = Seats::new(Playouts { calls: 0, fails: false });
        begin(&mut seats, game, 0, number);
        while seats.searching() > 0 {
            seats.advance(game, |_, _| Pace::Continue, &mut Vec::new()).expect("it never fails");
        }
        (number, seats.search(0).actions().collect())
    }

    #[test]
    fn searches_side_by_side_are_those_of_one_after_another() {
        const SEARCHES: usize = 9;
        let game = Mancala::default();
        for paused in [false, true] {
            let mut seats = Seats::new(Cached::new(Playouts { calls: 0, fails: true }, 64));
            let (mut numbers, mut in_seat, mut found) = (0..SEARCHES, [0; 3], Vec::new());
            for (seat, number) in numbers.by_ref().take(3).enumerate() {
                in_seat[seat] = number;
                begin(&mut seats, &game, seat, number);
            }
            let (mut over, mut faults, mut pauses) = (Vec::new(), 0, 0);
            while seats.searching() > 0 {
                let pace = |_, search: &Mcts<Mancala>| {
                    let pauses_here = paused && search.simulations_left() % 5 == 2 && pauses < 100;
                    pauses += u32::from(pauses_here);
                    if pauses_here { Pace::Pause } else { Pace::Continue }
                };
                if let Err(fault) = seats.advance(&game, pace, &mut over) {
                    assert_eq!(fault, Fault::new("out of order"));
                    faults += 1;
                }
                for &seat in &over {
                    found.push((in_seat[seat], seats.search(seat).actions().collect()));
                    if let Some(number) = numbers.next() {
                        in_seat[seat] = number;
                        begin(&mut seats, &game, seat, number);
                    }
                }
            }
            assert!(faults > 10 && seats.backend().stats().merged > 0 && (pauses == 100) == paused);
            found.sort_by_key(|(number, _)| *number);
            assert_eq!(found, (0..SEARCHES).map(|number| alone(&game, number)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_search_that_is_ended_is_over_and_the_others_go_on() {
        let game = Mancala::default();
        let mut seats = Seats::new(Playouts { calls: 0, fails: false });
        (0..3).for_each(|seat| begin(&mut seats, &game, seat, seat));
        let (mut over, mut left) = (Vec::new(), 12);
        while over.is_empty() {
            let pace = |seat, search: &Mcts<Mancala>| match seat {
                1 if search.simulations_left() <= left => Pace::End,
                _ => Pace::Continue,
            };
            seats.advance(&game, pace, &mut over).expect("it never fails");
        }
        left = seats.search(1).simulations_left();
        assert_eq!((over.clone(), left, seats.searching()), (vec![1], 12, 2));
        let visits: u32 = seats.search(1).actions().map(|action| action.visits).sum();
        assert_eq!(visits, 27 - 12, "what it has found stays");
        let mut rest = Vec::new();
        while seats.searching() > 0 {
            seats.advance(&game, |_, _| Pace::Continue, &mut over).expect("it never fails");
            rest.extend(over.iter().map(|&seat| (seat, seats.search(seat).actions().collect())));
        }
        assert_eq!(rest, [alone(&game, 0), alone(&game, 2)]);
    }

    #[test]
    fn cleared_seats_begin_afresh() {
        let game = Mancala::default();
        let mut seats = Seats::new(Playouts { calls: 0, fails: false });
        (0..2).for_each(|seat| begin(&mut seats, &game, seat, seat));
        for _ in 0..5 {
            seats.advance(&game, |_, _| Pace::Continue, &mut Vec::new()).expect("it never fails");
        }
        seats.clear(&game);
        assert_eq!((seats.searching(), seats.search(1).actions().count()), (0, 0));
        begin(&mut seats, &game, 1, 4);
        while seats.searching() > 0 {
            seats.advance(&game, |_, _| Pace::Continue, &mut Vec::new()).expect("it never fails");
        }
        assert_eq!((4, seats.search(1).actions().collect()), alone(&game, 4));
    }

    /// Knows that the first side wins with one stone in its store.
    struct Table;

    impl Backend<Mancala> for Table {
        fn evaluate(&mut self, game: &Mancala, batch: &mut EvalBatch<State>) -> Result<(), Fault> {
            crate::backend::Uniform.evaluate(game, batch)
        }

        fn exact(&mut self, game: &Mancala, state: &State) -> Option<i8> {
            (game.store(state, Side::First) == 1).then_some(1)
        }
    }

    #[test]
    fn exact_values_prove_positions_below_a_root_without_one() {
        let game = Mancala::default();
        let proven = |root: &str| {
            let mut seats = Seats::new(Table);
            seats.idle(&game, 0).reset(&game, game.parse_position(root).expect("a position"));
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
            seats.begin(&game, 0, &SearchOptions::default(), 40, &mut rng);
            while seats.searching() > 0 {
                seats.advance(&game, |_, _| Pace::Continue, &mut Vec::new()).expect("it never fails");
            }
            seats.search(0).proven()
        };
        assert_eq!(proven("4,4,4,4,4,4/0 4,4,4,4,4,4/0 1"), Some(1), "a move puts a stone into the store");
        assert_eq!(proven("4,4,4,4,4,3/1 4,4,4,4,4,4/0 1"), None, "the root has an exact value: none is asked for");
    }
}
