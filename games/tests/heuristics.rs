//! Static evaluations against the rules and worked examples. `apps/hosts/tests` compares those of Morris with the handout's.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_agents::Playable;
use turnstone_env::games::{Konane, Mancala, Morris};
use turnstone_env::{ActionList, Notation, Params, Rules, Side, play_text};
use turnstone_games as known;
use turnstone_games::mancala::StoreDifference;
use turnstone_search::classic::{Heuristic, Minimax};

/// A heuristic of a game by its name.
fn heuristic<K: Playable>(name: &str) -> Box<dyn Heuristic<K::Game>> {
    K::heuristics().into_iter().find(|heuristic| heuristic.name() == name).expect("a heuristic of the game")
}

/// Random positions of a game, the start first.
fn positions<G: Rules>(game: &G, count: usize) -> Vec<G::State> {
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
    let konane = Konane::default().with_params(&Params::new().with("size", 4)).expect("valid");
    // O jumps up into the gap at (3,3) and left into the one at (2,2); X cannot jump.
    let state = konane.parse_position("XOXO/O..X/X.XO/OXOX O").expect("well-formed");
    assert_eq!(heuristic::<known::Konane>("mobility").estimate(&konane, &state), -2);
    assert_eq!(heuristic::<known::Konane>("jumps_and_stones").estimate(&konane, &state), -6);

    let mancala = Mancala::default();
    let estimate = |text: &str| {
        heuristic::<known::Mancala>("prospects").estimate(&mancala, &mancala.parse_position(text).expect("well-formed"))
    };
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
    let estimate = |text: &str| {
        heuristic::<known::Morris>("mills").estimate(&morris, &morris.parse_position(text).expect("well-formed"))
    };
    assert_eq!(estimate("xxxxxxxxxxxxxxxxxx W 8 8 - 0"), 32);
    // Equal in number. White has a0 and b1, and c2 is empty: an open line (10). Five free neighbours against three of g6
    // (2 each), and Black is to move.
    assert_eq!(estimate("WxWxxxxxxxxxxxxxxB B 6 7 - 0"), 10 + 2 * (5 - 3) - 32);
}

#[test]
fn the_seeds_evaluation_of_mancala() {
    let game = Mancala::default();
    let mut state = game.start();
    // Equal at depth 1 except B4, which ends in the store and scores 1 with the move kept.
    let found = Minimax::new(&game, &StoreDifference).search(&state, 1);
    assert_eq!((found.score, game.action_text(&state, found.action.expect("running"))), (1, "B4".into()));
    // After B2 (no store) A2 to A5 all sow one stone into the store: the first in board order is chosen.
    play_text(&game, &mut state, "B2").expect("legal");
    let found = Minimax::new(&game, &StoreDifference).search(&state, 1);
    assert_eq!((found.score, game.action_text(&state, found.action.expect("running"))), (-1, "A2".into()));
    assert_eq!(game.mover(&state), Side::Second);
}
