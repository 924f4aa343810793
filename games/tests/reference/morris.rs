//! The Morris handout's own functions.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::Morris;
use turnstone_env::games::morris::State;
use turnstone_env::{ActionList, Game, Side};
use turnstone_games::morris::reference::{self, Board, Phase};

fn board(text: &str) -> Board {
    text.parse().expect("a board")
}

#[test]
fn neighbours_and_mills_as_printed() {
    assert_eq!(reference::neighbors(0), [1, 2, 15]);
    assert_eq!(reference::neighbors(1), [0, 3, 8]);
    assert!(reference::neighbors(18).is_empty());
    assert!(reference::close_mill(0, &board("WxWxWxxxxxxxxxxxxx")), "a0, b1, c2");
    assert!(!reference::close_mill(0, &board("WxWxBxxxxxxxxxxxxx")));
    assert!(!reference::close_mill(0, &board("WWxxxxxxxxxxxxxWxx")), "the lines a0-g0 and a0-a6 have no middle");
    assert!(reference::close_mill(1, &board("xBxBxBxxxxxxxxxxxx")), "g0, f1, e2");
    assert!(reference::close_mill(1, &board("xBxxxxxxBxxxxxxxxB")), "g0, g3, g6");
    assert!(!reference::close_mill(1, &board("xxxxxxxxBxxxxxxxxB")), "no piece there");
    assert!(!reference::close_mill(18, &board("xxxxxxxxxxxxxxxxxx")));
}

#[test]
fn generators_keep_order_and_duplicates() {
    let texts = |list: Vec<Board>| list.iter().map(Board::to_string).collect::<Vec<_>>();
    // Of e2's neighbours only f1 is empty.
    assert_eq!(texts(reference::generate_move(&board("xxxxBWBxxxxxxxxxxx"))), ["xxxWBxBxxxxxxxxxxx"]);
    // A mill with all black pieces in mills adds the board itself.
    assert_eq!(texts(reference::generate_move(&board("xWWxWxxxxxxxxxxBBB")))[0], "WxWxWxxxxxxxxxxBBB");
    let hopping = reference::generate_moves_midgame_endgame(&board("WxWxxxxxxxxxxxxxxW"));
    assert_eq!(hopping.len(), 3 * 15);
    assert_eq!(hopping, reference::generate_hopping(&board("WxWxxxxxxxxxxxxxxW")));
    // No black piece at all: the mill adds the board itself as well.
    assert!(texts(hopping).contains(&"WxWxWxxxxxxxxxxxxx".to_owned()));
    let add = reference::generate(&board("Bxxxxxxxxxxxxxxxxx"), Side::Second, Phase::Opening);
    assert_eq!((add.len(), texts(add)[0].as_str()), (17, "BBxxxxxxxxxxxxxxxx"));
}

#[test]
fn static_estimates_to_the_letter() {
    assert_eq!(reference::static_estimation_opening(&board("WxWxWxxxxxxxxxxBBx")), 1);
    for (text, value) in [
        ("WWWxxxxxxxxxxxxxBB", 10_000),
        ("BBxxxxxxxxxxxxxxxx", 10_000),
        ("WWxxxxxxxxxxxxxBBB", -10_000),
        ("BBBBWWxWWxxxWxxWxx", 10_000), // Black is blocked
        ("BBBBWWxWxxxxWxxWxW", 1999),   // Black has g0-g3 alone
        ("WWWWxxxxxxxxxxxxxx", 10_000),
    ] {
        assert_eq!(reference::static_estimation_midgame_endgame(&board(text)), value, "{text}");
    }
    // Three black pieces hop to eleven points each; d4-d6 alone closes a mill, and may remove any of four pieces.
    let hopping = board("WWWWxxxxxxBxxxxBxB");
    assert_eq!(reference::static_estimation_midgame_endgame(&hopping), 1000 - (3 * 11 - 1 + 4));
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
                assert_eq!(reference::generate(&Board::from(&state), mover, phase), reached);
            }
            game.play(&mut state, legal[rng.random_range(0..legal.len())]);
        }
    }
}
