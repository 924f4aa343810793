//! Minimax against plain recursion; every other search against minimax, with double moves; limits, and wins soonest.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::{Konane, Mancala, Morris, MuTorere, morris};
use turnstone_env::toy::Toy;
use turnstone_env::{Action, ActionList, Game, Outcome, Params, Side, for_each_game, play_text};
use turnstone_exact::Solution;
use turnstone_search::Clock;
use turnstone_search::classic::{
    AlphaBeta, BestFirst, BreadthFirst, Classical, Control, Heuristic, Limits, Minimax, SearchResult, Stop,
    StoreDifference, ToyMargin, WIN_BAND, WON, WinLoss,
};

/// Tables from one bucket, where every position collides, to more room than is needed.
const TABLES: [usize; 3] = [0, 1 << 12, 1 << 20];

/// The toy with an estimate for inner nodes: the first leaf on the way down, made a little wrong.
#[derive(Debug)]
struct Guess;

impl Heuristic<Toy> for Guess {
    fn name(&self) -> &'static str {
        "guess"
    }

    fn estimate(&self, game: &Toy, state: &<Toy as Game>::State) -> i32 {
        let mut end = *state;
        let plies = (0..)
            .take_while(|_| {
                game.outcome(&end).is_none() && {
                    game.play(&mut end, Action(0));
                    true
                }
            })
            .count();
        ToyMargin.final_score(game, &end, &game.outcome(&end).expect("the end of a line")) + plies as i32 % 2
    }

    fn final_score(&self, game: &Toy, state: &<Toy as Game>::State, outcome: &Outcome) -> i32 {
        ToyMargin.final_score(game, state, outcome)
    }
}

/// Minimax where the score of a won game is one less for each ply: plain recursion, to test searches against.
fn soonest<G: Game>(game: &G, heuristic: &dyn Heuristic<G>, state: &G::State, depth: u32) -> (i32, Option<Action>) {
    if let Some(outcome) = game.outcome(state) {
        return (heuristic.final_score(game, state, &outcome), None);
    }
    if depth == 0 {
        let sure = heuristic.won() - WIN_BAND; // no estimate is a win
        return (heuristic.estimate(game, state).clamp(-sure, sure), None);
    }
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    let scored = legal.iter().map(|&action| {
        let mut next = *state;
        game.play(&mut next, action);
        let score = soonest(game, heuristic, &next, depth - 1).0;
        let is_win = score.abs() > heuristic.won() - WIN_BAND;
        (score - if is_win { score.signum() } else { 0 }, Some(action))
    });
    let first = game.mover(state) == Side::First;
    let best = scored.reduce(|best, next| {
        let better = if first { next.0 > best.0 } else { next.0 < best.0 };
        if better { next } else { best }
    });
    best.expect("a running game has legal actions")
}

fn result(found: &SearchResult) -> (i32, Option<Action>) {
    (found.score, found.action)
}

/// Every form of search to a depth agrees with minimax on score and action.
fn all_agree<G: Game>(game: &G, heuristic: &dyn Heuristic<G>, state: &G::State, depth: u32) {
    let at = format!("{} depth {depth} {}", heuristic.name(), game.position_text(state));
    let minimax = Minimax::new(game, heuristic).search(state, depth);
    let plain = AlphaBeta::new(game, heuristic).search(state, depth);
    assert_eq!(result(&plain), result(&minimax), "{at}");
    assert!(plain.complete || !minimax.complete, "{at}");
    assert_eq!(result(&BreadthFirst::new(game, heuristic).search(state, depth)), result(&minimax), "{at}");
    let soonest = soonest(game, heuristic, state, depth);
    for bytes in TABLES {
        let mut search = AlphaBeta::new(game, heuristic).with_table(bytes);
        assert_eq!(result(&search.search(state, depth)), result(&minimax), "table of {bytes}: {at}");
        for again in 0..2 {
            let found = search.deepen(state, &Limits::depth(depth));
            // It may end before the depth where a deeper search finds nothing else.
            assert_eq!(result(&found), soonest, "deepening {again}, table of {bytes}: {at}");
        }
        assert_eq!(result(&search.search(state, depth)), result(&minimax), "after deepening: {at}");
    }
    let found = AlphaBeta::new(game, heuristic).deepen(state, &Limits::depth(depth));
    assert_eq!(result(&found), soonest, "deepening without a table: {at}");
}

#[test]
fn golden_tree_with_double_moves() {
    // Player 1 moves twice in a row on the left and could take 5; on the right player 2 answers twice.
    let toy: Toy = "1(1(+5 2(+1 +9)) 2(2(+8 -4) +7) 2(+4 +6))".parse().expect("well-formed");
    let found = AlphaBeta::new(&toy, &ToyMargin).search(&toy.start(), 9);
    assert_eq!(result(&found), (5, Some(Action(0))));
    assert_eq!((found.line, found.complete), (vec![Action(0), Action(0)], true));
    let minimax = Minimax::new(&toy, &ToyMargin).search(&toy.start(), 9);
    assert_eq!((minimax.score, minimax.line), (5, vec![Action(0), Action(0)]));
    // Five inner nodes with 3, 2, 2, 2 and 2 children, and the root.
    assert_eq!((minimax.stats.expanded, minimax.stats.generated, minimax.stats.nodes), (6, 13, 13));
    assert_eq!((minimax.stats.evaluated, minimax.stats.cutoffs), (8, 0));
    assert!((minimax.stats.branching() - 13.0 / 6.0).abs() < 1e-12);
}

#[test]
fn random_trees() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(17);
    for number in 0..3000 {
        let toy = Toy::random(&mut rng, 7, 4, 5);
        let minimax = Minimax::new(&toy, &ToyMargin).search(&toy.start(), 9);
        assert_eq!(minimax.score, i32::from(toy.value(toy.start())), "{toy:?}");
        assert!(minimax.complete);
        all_agree(&toy, &ToyMargin, &toy.start(), 9);
        all_agree(&toy, &Guess, &toy.start(), 1 + number % 7);
        all_agree(&toy, &WinLoss, &toy.start(), 1 + number % 7);
        let found = BestFirst::new(&toy, &Guess).search(&toy.start(), u64::MAX);
        assert!(!found.complete || found.score == minimax.score, "{toy:?}");
    }
}

/// All searches agree at random positions of every game with every heuristic.
fn agree<G: Classical>(game: &G, games: usize) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut legal = ActionList::new();
    for number in 0..games {
        let mut state = game.start();
        game.legal(&state, &mut legal);
        for ply in 0.. {
            if legal.is_empty() {
                break;
            }
            if ply % 11 == number % 11 {
                for heuristic in G::heuristics() {
                    all_agree(game, &*heuristic, &state, rng.random_range(1..=3));
                }
            }
            game.play(&mut state, legal[rng.random_range(0..legal.len())]);
            game.legal(&state, &mut legal);
        }
    }
}

#[test]
fn all_games() {
    for_each_game!(G => agree(&G::default(), 12));
}

/// Deeper searches of one game, where the table and its replacement have work to do.
#[test]
fn mancala_and_mu_torere_deeper() {
    let mancala = Mancala::default();
    let mut state = mancala.start();
    for moves in ["B5", "A3", "B2", "A2"] {
        play_text(&mancala, &mut state, moves).expect("legal");
        all_agree(&mancala, &StoreDifference, &state, 6);
    }
    let mu_torere = MuTorere::default();
    for depth in [9, 12] {
        all_agree(&mu_torere, &WinLoss, &mu_torere.start(), depth);
    }
}

#[test]
fn pruning_and_the_table_save_work() {
    let game = Mancala::default();
    let minimax = Minimax::new(&game, StoreDifference).search(&game.start(), 8).stats;
    let plain = AlphaBeta::new(&game, StoreDifference).search(&game.start(), 8).stats;
    assert!(minimax.nodes > 20 * plain.nodes && minimax.evaluated > 20 * plain.evaluated, "{plain:?}");
    assert!(plain.cutoffs > 0 && (4.0..6.0).contains(&plain.branching()));
    let plain = AlphaBeta::new(&game, StoreDifference).search(&game.start(), 12).stats;
    let table = AlphaBeta::new(&game, StoreDifference).with_table(1 << 22).search(&game.start(), 12).stats;
    assert!(plain.nodes > 3 * table.nodes, "{table:?}");
}

#[test]
fn the_seeds_evaluation_of_mancala() {
    let game = Mancala::default();
    let mut state = game.start();
    // Equal at depth 1 except B4, which ends in the store and scores 1 with the move kept.
    let found = Minimax::new(&game, &StoreDifference).search(&state, 1);
    assert_eq!((found.score, game.action_text(found.action.expect("running"))), (1, "B4".into()));
    // After B2 (no store) A2 to A5 all sow one stone into the store: the first in board order is chosen.
    play_text(&game, &mut state, "B2").expect("legal");
    let found = Minimax::new(&game, &StoreDifference).search(&state, 1);
    assert_eq!((found.score, game.action_text(found.action.expect("running"))), (-1, "A2".into()));
    assert_eq!(game.mover(&state), Side::Second);
}

#[test]
fn wins_come_soon_and_losses_late() {
    // Left a win in three plies, right one in two; plain alpha-beta takes the first it finds.
    let toy: Toy = "1(1(1(+1)) 2(+1 +1) 2(+1 -1))".parse().expect("well-formed");
    assert_eq!(result(&AlphaBeta::new(&toy, WinLoss).search(&toy.start(), 9)), (WON, Some(Action(0))));
    let found = AlphaBeta::new(&toy, WinLoss).with_table(0).deepen(&toy.start(), &Limits::depth(9));
    assert_eq!((result(&found), found.depth), ((WON - 2, Some(Action(1))), 2));
    let lost: Toy = "2(1(+1) 1(2(+1 +2)) +1)".parse().expect("well-formed");
    let found = AlphaBeta::new(&lost, WinLoss).deepen(&lost.start(), &Limits::default());
    assert_eq!(result(&found), (WON - 3, Some(Action(1))));
}

/// In every position of Mu Torere a win is found if and only if there is one, and it takes as long as it must.
#[test]
fn mu_torere_against_its_solution() {
    let game = MuTorere::with_params(&Params::new().with("max_plies", 0)).expect("valid");
    let solution = Solution::of(&game, 100_000).expect("a small game");
    let mut search = AlphaBeta::new(&game, WinLoss).with_table(1 << 20);
    for state in solution.states().iter().filter(|state| game.outcome(state).is_none()) {
        search.forget();
        let found = search.deepen(state, &Limits::depth(24));
        let value = i32::from(solution.value(state).expect("reachable"));
        assert_eq!(found.score.signum(), value, "{}", game.position_text(state));
        if value == 0 {
            continue;
        }
        let plies = (WON - found.score.abs()) as u32;
        assert_eq!(found.depth, plies, "found as soon as it can be seen");
        assert_eq!(found.line.len() as u32, plies);
        let (shorter, _) = soonest(&game, &WinLoss, state, (plies - 1).min(12));
        assert_eq!(shorter, 0, "no win is shorter");
    }
}

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

/// A clock that goes on by a millisecond whenever it is read.
fn ticking() -> Clock {
    Clock::new(|| {
        READS.set(READS.get() + 1);
        Duration::from_millis(READS.get().into())
    })
}

/// Time limits are measured with the clock that is handed in, from the begin of the search.
#[test]
fn time_is_read_from_the_clock_given() {
    let game = Mancala::default();
    let start = game.start();
    let searched = |limits: &Limits, clock| {
        let control = Control { clock, ..Control::default() };
        AlphaBeta::new(&game, StoreDifference).deepen_until(&start, limits, &control, &mut |_| {})
    };
    READS.set(1_000_000); // what a clock says at the begin does not matter
    let (short, long) = (Limits::time(Duration::from_millis(20)), Limits::time(Duration::from_millis(200)));
    let [few, many] = [short, long].map(|limits| searched(&limits, ticking()).stats.nodes);
    assert_eq!((few, many), (20 * 512, 200 * 512), "read at the begin and every 512 nodes");
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

#[test]
fn searches_repeat() {
    let game = Mancala::default();
    let searches = || {
        let mut search = AlphaBeta::new(&game, StoreDifference).with_table(1 << 14);
        let mut state = game.start();
        let mut play = || {
            let found = search.deepen(&state, &Limits::nodes(20_000));
            game.play(&mut state, found.action.expect("running"));
            found
        };
        [(); 8].map(|()| play())
    };
    let first = searches();
    assert_eq!(first, searches());
    // A forgetful search is like a new one.
    let mut search = AlphaBeta::new(&game, StoreDifference).with_table(1 << 14);
    search.deepen(&game.start(), &Limits::nodes(50_000));
    search.forget();
    assert_eq!(search.deepen(&game.start(), &Limits::nodes(20_000)), first[0]);
}

/// Every action of a line is legal where it is played, and a line to the full depth ends in a position with the score.
#[test]
fn lines_can_be_played() {
    let game = Mancala::default();
    for bytes in TABLES {
        let mut search = AlphaBeta::new(&game, StoreDifference).with_table(bytes);
        let mut state = game.start();
        while game.outcome(&state).is_none() {
            let found = search.deepen(&state, &Limits::depth(7));
            let mut end = state;
            let texts: Vec<String> = found.line.iter().map(|&action| game.action_text(action)).collect();
            play_text(&game, &mut end, &texts.join(" ")).expect("legal");
            let score = game.outcome(&end).map_or_else(
                || StoreDifference.estimate(&game, &end),
                |outcome| StoreDifference.final_score(&game, &end, &outcome),
            );
            if found.line.len() as u32 == found.depth || game.outcome(&end).is_some() {
                assert_eq!(score, found.score);
            }
            game.play(&mut state, found.line[0]);
        }
    }
}

#[test]
fn best_first_search_follows_the_best_line() {
    // Expanding the root makes the right look best (estimate +9); closer looks make it -5, then the left is best.
    let toy: Toy = "1(2(+2 +3) 2(+9 -5) -1)".parse().expect("well-formed");
    let mut search = BestFirst::new(&toy, Guess);
    let found = search.search(&toy.start(), 1);
    assert_eq!((result(&found), found.stats.nodes, found.depth), ((10, Some(Action(1))), 3, 1));
    let found = search.search(&toy.start(), 5);
    assert_eq!((result(&found), found.stats.nodes), ((3, Some(Action(0))), 5));
    let found = search.search(&toy.start(), 99);
    assert_eq!((result(&found), found.stats.nodes, found.complete), ((2, Some(Action(0))), 7, true));
    assert_eq!((found.line, found.depth), (vec![Action(0), Action(0)], 2));
}

#[test]
fn finished_games_have_a_score_and_no_action() {
    let game = Mancala::default();
    let over = game.parse_position("0,0,0,0,0,0/30 0,0,0,0,0,0/18 1").expect("well-formed");
    let expected = (12, None);
    assert_eq!(result(&Minimax::new(&game, StoreDifference).search(&over, 3)), expected);
    assert_eq!(result(&AlphaBeta::new(&game, StoreDifference).search(&over, 3)), expected);
    assert_eq!(result(&AlphaBeta::new(&game, StoreDifference).deepen(&over, &Limits::nodes(9))), expected);
    assert_eq!(result(&BreadthFirst::new(&game, StoreDifference).search(&over, 3)), expected);
    assert_eq!(result(&BestFirst::new(&game, StoreDifference).search(&over, 3)), expected);
    assert_eq!(result(&AlphaBeta::new(&game, StoreDifference).search(&game.start(), 0)), (0, None));
}

/// A heuristic of a game by its name.
fn heuristic<G: Classical>(name: &str) -> Box<dyn Heuristic<G>> {
    G::heuristics().into_iter().find(|heuristic| heuristic.name() == name).expect("a heuristic of the game")
}

/// Random positions of a game, the start first.
fn positions<G: Game>(game: &G, count: usize) -> Vec<G::State> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    let mut legal = ActionList::new();
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut state = game.start();
        while game.outcome(&state).is_none() {
            positions.push(state);
            game.legal(&state, &mut legal);
            game.play(&mut state, legal[rng.random_range(0..legal.len())]);
        }
    }
    positions
}

/// The fast evaluations of Morris are the handout's functions to the letter.
#[test]
fn the_handouts_estimations_of_morris() {
    use morris::reference::{Board, static_estimation_midgame_endgame, static_estimation_opening};
    let game = Morris::default();
    let named = heuristic::<Morris>;
    let [opening, midgame, both] =
        ["static_estimation_opening", "static_estimation_midgame_endgame", "static_estimation"].map(named);
    for state in positions(&game, 20_000) {
        let (board, at) = (Board::from(&state), game.position_text(&state));
        assert_eq!(opening.estimate(&game, &state), static_estimation_opening(&board), "{at}");
        assert_eq!(midgame.estimate(&game, &state), static_estimation_midgame_endgame(&board), "{at}");
        let placing = state.in_hand(Side::First) + state.in_hand(Side::Second) > 0;
        let phase = if placing { &opening } else { &midgame };
        assert_eq!(both.estimate(&game, &state), phase.estimate(&game, &state), "{at}");
    }
    assert_eq!(midgame.final_score(&game, &game.start(), &Outcome::win(Side::Second)), -10_000);
}

/// Mobility is what the rules allow: for the mover, the number of legal actions.
#[test]
fn mobility_of_konane() {
    let game = Konane::default();
    let mut legal = ActionList::new();
    for state in positions(&game, 2000) {
        game.legal(&state, &mut legal);
        let starts: std::collections::HashSet<_> = legal.iter().map(|&action| game.cells(action)[0]).collect();
        if legal.iter().all(|&action| game.cells(action).len() > 1) {
            let mobility = game.mobility(&state, game.mover(&state));
            assert_eq!((mobility.jumps as usize, mobility.stones as usize), (legal.len(), starts.len()));
        }
    }
}

/// Worked examples of the heuristics that the program adds.
#[test]
fn worked_examples() {
    let konane = Konane::with_params(&Params::new().with("size", 4)).expect("valid");
    // O jumps up into the gap at (3,3) and left into the one at (2,2); X cannot jump.
    let state = konane.parse_position("XOXO/O..X/X.XO/OXOX O").expect("well-formed");
    assert_eq!(heuristic("mobility").estimate(&konane, &state), -2);
    assert_eq!(heuristic("jumps_and_stones").estimate(&konane, &state), -6);

    let mancala = Mancala::default();
    let estimate =
        |text: &str| heuristic("prospects").estimate(&mancala, &mancala.parse_position(text).expect("well-formed"));
    // All equal but the turn.
    assert_eq!(estimate("4,4,4,4,4,4/0 4,4,4,4,4,4/0 1"), 12);
    assert_eq!(estimate("4,4,4,4,4,4/0 4,4,4,4,4,4/0 2"), -12);
    // Stores 200 and 180, rows 6 and 14; B7 gives another turn (5), B2 reaches the empty B3 opposite five stones (10).
    assert_eq!(estimate("1,0,0,0,1,1/20 0,5,0,0,0,2/18 1"), 20 - 8 + 5 + 10 + 12);
    // More than half is a win.
    assert!(estimate("0,0,0,0,1,0/25 0,0,0,0,2,0/20 2") > 90_000);
}

#[test]
fn worked_examples_of_mills() {
    let morris = Morris::default();
    let estimate =
        |text: &str| heuristic("mills").estimate(&morris, &morris.parse_position(text).expect("well-formed"));
    assert_eq!(estimate("xxxxxxxxxxxxxxxxxx W 8 8 - 0"), 32);
    // Equal in number. White has a0 and b1, and c2 is empty: an open line (10). Five free neighbours against three of g6
    // (2 each), and Black is to move.
    assert_eq!(estimate("WxWxxxxxxxxxxxxxxB B 6 7 - 0"), 10 + 2 * (5 - 3) - 32);
}
