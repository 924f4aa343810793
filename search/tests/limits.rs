//! Limits of the classical searches: nodes, time on the clock that is given, and a flag.

use std::cell::Cell;
use std::time::{Duration, Instant};

use turnstone_env::Rules;
use turnstone_env::games::Mancala;
use turnstone_games::mancala::StoreDifference;
use turnstone_search::classic::{AlphaBeta, BestFirst, BreadthFirst, Control, Limits, Minimax};
use turnstone_search::{Clock, Stop};

/// Tables from one bucket, where every position collides, to more room than is needed.
const TABLES: [usize; 3] = [0, 1 << 12, 1 << 20];

#[test]
fn limits_are_kept() {
    let game = Mancala::default();
    for bytes in TABLES {
        let mut search = AlphaBeta::new(&game, StoreDifference).with_table(bytes);
        let mut depth = 0;
        for nodes in [0, 1, 5, 6, 7, 100, 10_000, 200_000] {
            search.forget();
            let found = search.deepen(&game.start(), &Limits::nodes(nodes));
            assert!(found.stats.nodes <= nodes && found.action.is_some() && found.depth >= depth);
            depth = found.depth;
        }
        assert!(depth >= 9, "{depth}");
        let limits = Limits { depth: Some(4), nodes: Some(1_000_000), ..Limits::default() };
        assert_eq!(search.deepen(&game.start(), &limits).depth, 4);
        for milliseconds in [0, 5, 60] {
            let (limit, start) = (Duration::from_millis(milliseconds), Instant::now());
            let found = search.deepen(&game.start(), &Limits::time(limit));
            // Generous, for a machine that does other things too.
            assert!(found.action.is_some() && start.elapsed() < limit + Duration::from_millis(500));
        }
    }
}

/// A raised flag ends every search; those that have nothing to fall back on have no action then.
#[test]
fn a_flag_ends_every_search() {
    let game = Mancala::default();
    let start = game.start();
    let (stop, none) = (Stop::default(), Limits::default());
    let control = Control::from(stop.clone());
    let mut alpha_beta = AlphaBeta::new(&game, StoreDifference);
    let mut reported = 0;
    let found = alpha_beta.deepen_until(&start, &none, &control, &mut |found| {
        reported += 1;
        assert_eq!(found.depth, reported);
        if found.depth == 6 {
            stop.raise();
        }
    });
    assert!(stop.is_raised() && reported == 6 && found.depth == 6 && found.action.is_some());
    assert_eq!(alpha_beta.search_within(&start, 99, &none, &control).action, None);
    assert_eq!(Minimax::new(&game, StoreDifference).search_within(&start, 99, &none, &control).action, None);
    assert_eq!(BreadthFirst::new(&game, StoreDifference).search_within(&start, 99, &none, &control).action, None);
    let two = Limits::depth(2);
    let found = BestFirst::new(&game, StoreDifference).search_within(&start, u64::MAX, &two, &Control::default());
    assert!(found.line.len() >= 2 && !found.complete && found.stats.nodes < 10_000, "{found:?}");
    let found = BestFirst::new(&game, StoreDifference).search_within(&start, u64::MAX, &none, &control);
    assert!(found.action.is_some() && !found.complete && found.stats.nodes < 10_000);
    let limits = Limits::nodes(1000);
    let found = Minimax::new(&game, StoreDifference).search_within(&start, 99, &limits, &Control::default());
    assert_eq!((found.action, found.stats.nodes), (None, 1000));
}

thread_local! {
    /// How often a test's clock was read.
    static READS: Cell<u32> = const { Cell::new(0) };
}

/// A clock that continues by a millisecond whenever it is read.
fn ticking() -> Clock {
    Clock::new(|| {
        READS.set(READS.get() + 1);
        Duration::from_millis(READS.get().into())
    })
}

/// Time limits are measured with the clock that is handed in, from the start of the search.
#[test]
fn time_is_read_from_the_clock_given() {
    let game = Mancala::default();
    let start = game.start();
    let searched = |limits: &Limits, clock| {
        let control = Control { clock, ..Control::default() };
        AlphaBeta::new(&game, StoreDifference).deepen_until(&start, limits, &control, &mut |_| {})
    };
    READS.set(1_000_000); // the clock's first reading does not matter
    let (short, long) = (Limits::time(Duration::from_millis(20)), Limits::time(Duration::from_millis(200)));
    let [few, many] = [short, long].map(|limits| searched(&limits, ticking()).stats.nodes);
    assert_eq!((few, many), (20 * 512, 200 * 512), "read at the start and every 512 nodes");
    assert_eq!(searched(&short, ticking()).stats.nodes, few, "the same reads, the same search");
    // No depth is begun after the share of time for it.
    let begin = Limits { begin: Some(Duration::from_millis(3)), ..Limits::nodes(100_000) };
    assert_eq!(searched(&begin, ticking()).depth, 2);
    // On a clock that stands still only the other limits count.
    let limits = Limits { nodes: Some(100_000), ..short };
    assert_eq!(searched(&limits, Clock::standing()).stats.nodes, 100_000);
    assert!(Clock::system().now() <= Clock::system().now());
}

/// The time for a whole game is never used up, and most of it is used.
#[test]
fn shares_of_a_game() {
    let mut remaining = Duration::from_secs(100);
    for _ in 0..50 {
        let limits = Limits::share_of(remaining);
        assert!(limits.begin < limits.time);
        remaining -= limits.time.expect("shares are times") / 2;
    }
    assert!(remaining > Duration::from_secs(5) && remaining < Duration::from_secs(20), "{remaining:?}");
}
