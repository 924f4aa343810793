//! Morris: the rules at the corners.

use turnstone_env::games::Morris;
use turnstone_env::{ActionList, Notation, Outcome, Rules, Side, play_text};

/// The position after the plies, and the outcome there.
fn after(position: &str, plies: &str) -> (String, Option<Outcome>) {
    let game = Morris::default();
    let mut state = game.parse_position(position).expect("a position");
    play_text(&game, &mut state, plies).expect("legal plies");
    (game.position_text(&state), game.outcome(&state))
}

#[test]
fn a_mill_removes_a_piece_that_stands_in_none() {
    let game = Morris::default();
    let mut state = game.start();
    play_text(&game, &mut state, "a0 g6 b1 d6 c2").expect("legal plies");
    assert_eq!(game.position_text(&state), "WxWxWxxxxxxxxxxxBB W 5 6 x 0");
    assert!(state.removal_pending() && game.outcome(&state).is_none());
    let refusal = play_text(&game, &mut state, "xa6").expect_err("nothing stands there");
    assert_eq!(refusal.to_string(), "illegal action `xa6`; legal: xd6 xg6");
    play_text(&game, &mut state, "xd6").expect("a piece outside mills");
    assert_eq!(game.position_text(&state), "WxWxWxxxxxxxxxxxxB B 5 6 - 0");
}

#[test]
fn nothing_is_removed_where_all_stand_in_mills() {
    let (position, outcome) = after("WxWxxxxxxxxxxxxBBB W 5 5 - 0", "c2");
    assert_eq!((position.as_str(), outcome), ("WxWxWxxxxxxxxxxBBB B 4 5 - 0", None));
}

#[test]
fn two_mills_at_once_remove_one_piece() {
    // g6 closes a6-d6-g6 and g0-g3-g6.
    let (position, _) = after("xWxxBBxxWBxxxxxWWx W 4 4 - 0", "g6 xc2");
    assert_eq!(position, "xWxxxBxxWBxxxxxWWW B 3 4 - 0");
}

#[test]
fn who_is_down_to_two_pieces_has_lost() {
    let (position, outcome) = after("WxWxxWxxxxxxxxBBBx W 0 0 - 3", "e2-c2 xf5");
    assert_eq!(position, "WxWxWxxxxxxxxxxBBx B 0 0 - 0");
    assert_eq!(outcome, Some(Outcome::win(Side::First)));
}

#[test]
fn the_rule_goes_before_the_limit() {
    let near_limit = "BBBBWWxWxxxxWxxWxW W 0 0 - 99";
    assert_eq!(after(near_limit, "g6-g3").1, Some(Outcome::win(Side::First)), "Black is blocked");
    assert_eq!(after(near_limit, "g6-d6").1, Some(Outcome::truncation()));
    // A removal that is pending when the limit is reached is made, and starts the count anew.
    let closing = "BBBBWxxWWxxWWxxWxx W 0 0 - 99";
    let (position, outcome) = after(closing, "e4-e3");
    assert_eq!((position.as_str(), outcome), ("BBBBWxWWWxxxWxxWxx W 0 0 x 100", None));
    assert_eq!(after(closing, "e4-e3 xa0").0, "xBBBWxWWWxxxWxxWxx B 0 0 - 0");
}

#[test]
fn three_pieces_hop() {
    let game = Morris::default();
    let state = game.parse_position("WxxWxxxxWBBxBxxxxx W 0 0 - 3").expect("a position");
    let mut legal = ActionList::new();
    game.legal(&state, &mut legal);
    assert_eq!(legal.len(), 3 * 12);
}

#[test]
fn impossible_positions_are_refused_with_the_reason() {
    for (text, reason) in [
        ("xxxxxxxxxxxxxxxxx W 8 8 - 0", "18 letters, not 17"),
        ("xxxxxxxxxxxxxxxxxy W 8 8 - 0", "`y` on the board"),
        ("xxxxxxxxxxxxxxxxxx w 8 8 - 0", "the mover must be W or B"),
        ("xxxxxxxxxxxxxxxxxx W 9 8 - 0", "a number up to 8"),
        ("xxxxxxxxxxxxxxxxxx W 8 8 - 101", "exceed no_progress_limit = 100"),
        ("xxxxxxxxxxxxxxxxxx W 8 8 - 65536", "a number up to 65535"),
        ("xxxxxxxxxxxxxxxxxx W 8 8 ? 0", "must be `x` or `-`"),
        ("xxxxxxxxxxxxxxxxxx W 8 8", "expected board, mover"),
        ("Wxxxxxxxxxxxxxxxxx W 8 8 - 0", "9 pieces, more than 8"),
        ("Wxxxxxxxxxxxxxxxxx W 7 8 - 0", "place in turn"),
        ("Wxxxxxxxxxxxxxxxxx B 8 7 - 0", "9 pieces, more than 8"),
        ("WxxxxxxxxxxxxxxxxB B 7 7 - 0", "place in turn"),
        ("xxxxxxxxxxxxxxxxxB W 7 7 - 0", "W lost 1 pieces to B's 1 placements"),
        ("WBxxxxxxxxxxxxxxxx W 7 7 - 1", "only when all pieces are placed"),
        ("WWxxxxxxxxxxxxxxBB W 6 6 x 0", "place in turn"),
        ("WWWxxxxxxxxxxxxxBB W 5 6 x 0", "no mill"),
        ("WxWxWxxxxxxxxxxBBB W 0 0 x 1", "no opponent's piece stands outside a mill"),
        ("WxWxWxxxxxxxxxxBxx W 0 0 - 1", "B has 1 pieces: the game ended before"),
        ("WxWxWxxxxxxxxxxBBx W 0 0 - 1", "B has 2 pieces: the game ended before"),
        ("WxWxxxxxxxxxxxxBBB B 0 0 - 1", "W has 2 pieces: the game ended before"),
    ] {
        let fault = Morris::default().parse_position(text).expect_err(text).to_string();
        assert!(fault.contains(reason), "{fault}");
    }
}

#[test]
fn the_board_has_four_symmetries() {
    assert_eq!(Morris::default().spec().symmetries.len(), 4);
    assert_eq!(Morris::default().spec().features(), 42);
}
