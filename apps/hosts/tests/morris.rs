//! The Morris handout's own functions.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_agents::Playable;
use turnstone_env::games::Morris;
use turnstone_env::games::morris::State;
use turnstone_env::{ActionList, Notation, Outcome, Rules, Side};
use turnstone_hosts::morris::{self, Board, Phase};

use super::sources::walk;

fn board(text: &str) -> Board {
    text.parse().expect("a board")
}

#[test]
fn neighbours_and_mills_as_printed() {
    assert_eq!(morris::neighbors(0), [1, 2, 15]);
    assert_eq!(morris::neighbors(1), [0, 3, 8]);
    assert!(morris::neighbors(18).is_empty());
    assert!(morris::close_mill(0, &board("WxWxWxxxxxxxxxxxxx")), "a0, b1, c2");
    assert!(!morris::close_mill(0, &board("WxWxBxxxxxxxxxxxxx")));
    assert!(!morris::close_mill(0, &board("WWxxxxxxxxxxxxxWxx")), "the lines a0-g0 and a0-a6 have no middle");
    assert!(morris::close_mill(1, &board("xBxBxBxxxxxxxxxxxx")), "g0, f1, e2");
    assert!(morris::close_mill(1, &board("xBxxxxxxBxxxxxxxxB")), "g0, g3, g6");
    assert!(!morris::close_mill(1, &board("xxxxxxxxBxxxxxxxxB")), "no piece there");
    assert!(!morris::close_mill(18, &board("xxxxxxxxxxxxxxxxxx")));
}

#[test]
fn generators_keep_order_and_duplicates() {
    let texts = |list: Vec<Board>| list.iter().map(Board::to_string).collect::<Vec<_>>();
    // Of e2's neighbours only f1 is empty.
    assert_eq!(texts(morris::generate_move(&board("xxxxBWBxxxxxxxxxxx"))), ["xxxWBxBxxxxxxxxxxx"]);
    // A mill with all black pieces in mills adds the board itself.
    assert_eq!(texts(morris::generate_move(&board("xWWxWxxxxxxxxxxBBB")))[0], "WxWxWxxxxxxxxxxBBB");
    let hopping = morris::generate_moves_midgame_endgame(&board("WxWxxxxxxxxxxxxxxW"));
    assert_eq!(hopping.len(), 3 * 15);
    assert_eq!(hopping, morris::generate_hopping(&board("WxWxxxxxxxxxxxxxxW")));
    // No black piece at all: the mill adds the board itself as well.
    assert!(texts(hopping).contains(&"WxWxWxxxxxxxxxxxxx".to_owned()));
    let add = morris::generate(&board("Bxxxxxxxxxxxxxxxxx"), Side::Second, Phase::Opening);
    assert_eq!((add.len(), texts(add)[0].as_str()), (17, "BBxxxxxxxxxxxxxxxx"));
}

#[test]
fn static_estimates_to_the_letter() {
    assert_eq!(morris::static_estimation_opening(&board("WxWxWxxxxxxxxxxBBx")), 1);
    for (text, value) in [
        ("WWWxxxxxxxxxxxxxBB", 10_000),
        ("BBxxxxxxxxxxxxxxxx", 10_000),
        ("WWxxxxxxxxxxxxxBBB", -10_000),
        ("BBBBWWxWWxxxWxxWxx", 10_000), // Black is blocked
        ("BBBBWWxWxxxxWxxWxW", 1999),   // Black has g0-g3 alone
        ("WWWWxxxxxxxxxxxxxx", 10_000),
    ] {
        assert_eq!(morris::static_estimation_midgame_endgame(&board(text)), value, "{text}");
    }
    // Three black pieces hop to eleven points each; d4-d6 alone closes a mill, and may remove any of four pieces.
    let hopping = board("WWWWxxxxxxBxxxxBxB");
    assert_eq!(morris::static_estimation_midgame_endgame(&hopping), 1000 - (3 * 11 - 1 + 4));
}

/// The handout's lists are the boards that this crate reaches by a move and, if one is due, its removal, in order.
#[test]
fn generators_agree_with_the_game() {
    let game = Morris::default();
    let (mut legal, mut removals) = (ActionList::new(), ActionList::new());
    for seed in 0..300 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut state: State = game.start();
        loop {
            game.legal(&state, &mut legal);
            if legal.is_empty() {
                break;
            }
            if !state.removal_pending() {
                let mut reached = Vec::new();
                for &action in &legal {
                    let mut next = state;
                    game.play(&mut next, action);
                    if next.removal_pending() {
                        game.legal(&next, &mut removals);
                        for &removal in &removals {
                            let mut last = next;
                            game.play(&mut last, removal);
                            reached.push(Board::from(&last));
                        }
                    } else {
                        reached.push(Board::from(&next));
                    }
                }
                let mover = game.mover(&state);
                let phase = if state.in_hand(mover) > 0 { Phase::Opening } else { Phase::MidgameEndgame };
                assert_eq!(morris::generate(&Board::from(&state), mover, phase), reached);
            }
            game.play(&mut state, legal[rng.random_range(0..legal.len())]);
        }
    }
}

/// The fast evaluations of Morris are the handout's functions to the letter.
#[test]
fn the_handouts_estimations_of_morris() {
    let game = Morris::default();
    let named = |name: &str| {
        let all = turnstone_games::Morris::heuristics();
        all.into_iter().find(|heuristic| heuristic.name() == name).expect("a heuristic of the game")
    };
    let [opening, midgame, both] =
        ["static_estimation_opening", "static_estimation_midgame_endgame", "static_estimation"].map(named);
    walk(&game, 300, |state, _| {
        let (board, at) = (Board::from(state), game.position_text(state));
        assert_eq!(opening.estimate(&game, state), morris::static_estimation_opening(&board), "{at}");
        assert_eq!(midgame.estimate(&game, state), morris::static_estimation_midgame_endgame(&board), "{at}");
        let placing = state.in_hand(Side::First) + state.in_hand(Side::Second) > 0;
        let phase = if placing { &opening } else { &midgame };
        assert_eq!(both.estimate(&game, state), phase.estimate(&game, state), "{at}");
    });
    assert_eq!(midgame.final_score(&game, &game.start(), &Outcome::win(Side::Second)), -10_000);
}
