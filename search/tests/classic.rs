//! Minimax against plain recursion; every other search against minimax, with double moves; lines, and wins soonest.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_agents::Playable;
use turnstone_env::games::{Mancala, MuTorere};
use turnstone_env::toy::Toy;
use turnstone_env::{Action, ActionList, Notation, Outcome, Params, Rules, Side, play_text, try_play};
use turnstone_exact::Solution;
use turnstone_games::for_each_game;
use turnstone_games::mancala::StoreDifference;
use turnstone_search::classic::{
    AlphaBeta, BestFirst, BreadthFirst, Heuristic, Limits, Minimax, SearchResult, ToyMargin, WIN_BAND, WON, WinLoss,
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

    fn estimate(&self, game: &Toy, state: &<Toy as Rules>::State) -> i32 {
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

    fn final_score(&self, game: &Toy, state: &<Toy as Rules>::State, outcome: &Outcome) -> i32 {
        ToyMargin.final_score(game, state, outcome)
    }
}

/// Minimax where the score of a won game is one less for each ply: plain recursion, to test searches against.
fn soonest<G: Notation>(game: &G, heuristic: &dyn Heuristic<G>, state: &G::State, depth: u32) -> (i32, Option<Action>) {
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
fn all_agree<G: Notation>(game: &G, heuristic: &dyn Heuristic<G>, state: &G::State, depth: u32) {
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
fn agree<G: Notation>(game: &G, heuristics: &[Box<dyn Heuristic<G>>], games: usize) {
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
                for heuristic in heuristics {
                    all_agree(game, &**heuristic, &state, rng.random_range(1..=3));
                }
            }
            game.play(&mut state, legal[rng.random_range(0..legal.len())]);
            game.legal(&state, &mut legal);
        }
    }
}

#[test]
fn all_games() {
    for_each_game!(K => agree(&<K as Playable>::Game::default(), &K::heuristics(), 12));
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
    let game = MuTorere::default().with_params(&Params::new().with("max_plies", 0)).expect("valid");
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
            found.line.iter().for_each(|&action| try_play(&game, &mut end, action).expect("legal"));
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
