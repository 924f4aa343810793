//! A search that has come to its full size allocates nothing more, simulation after simulation and move after move.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::Mancala;
use turnstone_env::{Action, Rules};
use turnstone_search::{Backend, Cached, EvalBatch, Evaluation, Fault, Gumbel, Method, Pace, Puct, Seats};

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

impl Backend<Mancala> for Fixed {
    fn evaluate(&mut self, _: &Mancala, batch: &mut EvalBatch<<Mancala as Rules>::State>) -> Result<(), Fault> {
        for i in 0..batch.len() {
            let priors = batch.priors_mut(i);
            let equal = 1.0 / priors.len() as f32;
            priors.fill(equal);
            batch.set_evaluation(i, Evaluation::default());
        }
        Ok(())
    }
}

/// Plays some games side by side, as self-play does, and returns the number of allocations.
fn play(
    game: &Mancala,
    method: &Method,
    seats: &mut Seats<Mancala, Cached<<Mancala as Rules>::State, Fixed>>,
    moves: &mut Vec<Action>,
    over: &mut Vec<usize>,
) -> u64 {
    const SEATS: usize = 4;
    let before = ALLOCATIONS.get();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    moves.clear();
    for seat in 0..SEATS {
        seats.idle(game, seat).reset(game, game.start());
        seats.begin(game, seat, &(*method).into(), 50, &mut rng);
    }
    while seats.searching() > 0 {
        seats.advance(game, |_, _| Pace::Continue, over).expect("it never fails");
        for &seat in &*over {
            let search = seats.idle(game, seat);
            let action = search.actions().max_by_key(|action| action.visits).expect("a running game").action;
            moves.push(action);
            search.advance(game, action);
            if game.outcome(search.state()).is_none() && moves.len() < 30 * SEATS {
                seats.begin(game, seat, &(*method).into(), 50, &mut rng);
            }
        }
    }
    ALLOCATIONS.get() - before
}

#[test]
fn steady_state_allocates_nothing() {
    let game = Mancala::default();
    for method in [Method::Puct(Puct::default()), Method::Gumbel(Gumbel::default())] {
        let (mut seats, mut moves, mut over) = (Seats::new(Cached::new(Fixed, 64)), Vec::new(), Vec::new());
        let mut play = || play(&game, &method, &mut seats, &mut moves, &mut over);
        let first = play();
        play(); // the two arenas of a search change places, so each has to come to its size
        assert!(first > 0, "the counter counts");
        assert_eq!(play(), 0, "{method:?}");
    }
}
