//! A search that has come to its full size allocates nothing more, simulation after simulation and move after move.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::Mancala;
use turnstone_env::{Action, Game};
use turnstone_search::{EvalBatch, Evaluation, Evaluator, Gumbel, Lookup, Mcts, Method, Puct, Requests};

thread_local! {
    /// Of this thread: the test harness has threads of its own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is passed on to the system's allocator; only a counter is added.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Priors and values that only depend on the position, so that the same game is played again and again.
struct Fixed;

impl Evaluator<Mancala> for Fixed {
    fn evaluate(&mut self, _: &Mancala, batch: &mut EvalBatch<<Mancala as Game>::State>) {
        for i in 0..batch.len() {
            let priors = batch.priors_mut(i);
            let equal = 1.0 / priors.len() as f32;
            priors.fill(equal);
            batch.set_evaluation(i, Evaluation::default());
        }
    }
}

/// Plays some games side by side, as self-play does, and returns the number of allocations.
fn play(
    game: &Mancala,
    method: &Method,
    searches: &mut [Mcts<Mancala>],
    requests: &mut Requests<<Mancala as Game>::State>,
    moves: &mut Vec<Action>,
) -> u64 {
    let before = ALLOCATIONS.get();
    for search in &mut *searches {
        search.reset(game, game.start());
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    moves.clear();
    for _ in 0..30 {
        for search in &mut *searches {
            if game.outcome(search.state()).is_none() {
                search.begin(game, &(*method).into(), 50, &mut rng);
            }
        }
        loop {
            let mut waiting = [usize::MAX; 4];
            for (search, waiting) in searches.iter_mut().zip(&mut waiting) {
                while let Some((state, legal)) = search.gather(game) {
                    match requests.request(state, legal) {
                        Lookup::Known(priors, estimate) => search.apply(priors, estimate),
                        Lookup::Waiting(row) => {
                            *waiting = row;
                            break;
                        }
                    }
                }
            }
            if requests.is_empty() {
                break;
            }
            requests.evaluate(game, &mut Fixed);
            for (search, &row) in searches.iter_mut().zip(&waiting).filter(|(_, row)| **row != usize::MAX) {
                let (priors, estimate) = requests.answer(row);
                search.apply(priors, estimate);
            }
            requests.clear();
        }
        for search in searches.iter_mut().filter(|search| game.outcome(search.state()).is_none()) {
            let action = search.actions().max_by_key(|action| action.visits).expect("a running game").action;
            moves.push(action);
            search.advance(game, action);
        }
    }
    ALLOCATIONS.get() - before
}

#[test]
fn steady_state_allocates_nothing() {
    let game = Mancala::default();
    for method in [Method::Puct(Puct::default()), Method::Gumbel(Gumbel::default())] {
        let mut searches: Vec<_> = (0..4).map(|_| Mcts::new(&game, game.start())).collect();
        let (mut requests, mut moves) = (Requests::new(64), Vec::new());
        let mut play = || play(&game, &method, &mut searches, &mut requests, &mut moves);
        let first = play();
        play(); // the two arenas of a search change places, so each has to come to its size
        assert!(first > 0, "the counter counts");
        assert_eq!(play(), 0, "{method:?}");
    }
}
