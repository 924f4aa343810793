//! Morabaraba: the rules at the corners.

use turnstone_env::games::Morabaraba;
use turnstone_env::games::morabaraba::State;
use turnstone_env::{ActionList, Notation, Outcome, Params, Rules, Side, play_text};

fn position(text: &str) -> State {
    Morabaraba::default().parse_position(text).expect("a position")
}

fn legal(state: &State) -> Vec<String> {
    let (game, mut legal) = (Morabaraba::default(), ActionList::new());
    game.legal(state, &mut legal);
    legal.iter().map(|&action| game.action_text(state, action)).collect()
}

/// The position after the plies, and the outcome there.
fn after(text: &str, plies: &str) -> (String, Option<Outcome>) {
    let game = Morabaraba::default();
    let mut state = position(text);
    play_text(&game, &mut state, plies).expect("legal plies");
    (game.position_text(&state), game.outcome(&state))
}

#[test]
fn a_mill_shoots_a_cow_that_stands_in_none() {
    let game = Morabaraba::default();
    let mut state = game.start();
    play_text(&game, &mut state, "a1 g7 a4 g4 a7").expect("legal plies");
    assert_eq!(game.position_text(&state), "BBB...................WW B 9 10 x 5 0 - -");
    play_text(&game, &mut state, "xg4").expect("a shot");
    assert_eq!(game.position_text(&state), "BBB....................W W 9 10 - 0 0 - -");
    assert_eq!((game.score(&state, Side::First), game.score(&state, Side::Second)), (1, 0));
}

#[test]
fn where_all_stand_in_mills_any_may_be_shot() {
    // White's mill shot one cow; now Dark forms one, and all of White's cows stand in theirs.
    let (position_text, _) = after("BB...................WWW B 9 9 - 1 0 - -", "a7");
    assert_eq!(position_text, "BBB..................WWW B 8 9 x 2 0 - -");
    assert_eq!(legal(&position(&position_text)), ["xg1", "xg4", "xg7"]);
}

/// Dark has the mill a1-a4-a7, d1 and e3; White has b6, d5, f2, f4 and g7.
const MILL: &str = "BBB..W...B..W..B..WW...W B 0 0 - 3 0 - -";

#[test]
fn a_broken_mill_may_not_be_formed_by_the_next_move() {
    let (broken, _) = after(MILL, "a1-b2");
    assert_eq!(broken, ".BBB.W...B..W..B..WW...W W 0 0 - 4 0 a1a4a7 -");
    let (again, _) = after(&broken, "g7-g4");
    assert_eq!(again, ".BBB.W...B..W..B..WW..W. B 0 0 - 5 0 a1a4a7 -");
    // Neither the cow that left nor another may complete it; one of its own two may move there and complete nothing.
    let moves = legal(&position(&again));
    assert!(!moves.contains(&"b2-a1".to_owned()) && !moves.contains(&"d1-a1".to_owned()), "{moves:?}");
    assert!(moves.contains(&"a4-a1".to_owned()), "{moves:?}");
    // The ban lasts for that one move.
    let (later, _) = after(&again, "e3-e4 g4-g7");
    assert_eq!(later, ".BBB.W...B..W...B.WW...W B 0 0 - 7 0 - -");
    let moves = legal(&position(&later));
    assert!(moves.contains(&"b2-a1".to_owned()) && moves.contains(&"d1-a1".to_owned()), "{moves:?}");
}

#[test]
fn flying_is_banned_from_a_broken_mill_too() {
    let (broken, _) = after("BBB..W......W.....WW...W B 0 0 - 3 0 - -", "a1-e4 g7-g4");
    assert_eq!(broken, ".BB..W......W...B.WW..W. B 0 0 - 5 2 a1a4a7 -");
    let moves = legal(&position(&broken));
    assert_eq!(moves.len(), 3 * 16 - 1);
    assert!(!moves.contains(&"e4-a1".to_owned()) && moves.contains(&"a7-a1".to_owned()), "{moves:?}");
}

#[test]
fn a_ban_is_dropped_when_the_opponent_enters_the_point_left() {
    let (entered, _) = after(".BBB.W...W..W..B...W...W W 0 0 - 4 0 a1a4a7 -", "d1-a1");
    assert_eq!(entered, "WBBB.W......W..B...W...W B 0 0 - 5 0 - -");
    let spelt_out = "WBBB.W......W..B...W...W B 0 0 - 5 0 a1a4a7 -";
    assert_eq!(position(spelt_out), position(&entered), "the same position, the ban spelt out");
}

#[test]
fn a_shot_lifts_the_ban_of_the_mill_it_tears() {
    let (shot, _) = after(".BBB....WB.....WWW...B.. W 0 0 x 3 0 a1a4a7,a1d1g1 -", "xa4");
    assert_eq!(shot, "..BB....WB.....WWW...B.. B 0 0 - 0 0 a1d1g1 -");
}

#[test]
fn a_player_whose_moves_are_all_banned_cannot_move() {
    let text = ".BBBWWW..BW...W...W..BW. B 0 0 - 3 0 a1a4a7,a1d1g1 -";
    // Dark has five cows and White seven: White shot seven, Dark five.
    assert_eq!(Morabaraba::default().outcome(&position(text)), Some(Outcome::by_margin(5 - 7)));
    assert_eq!(legal(&position(&text.replace("a1a4a7,a1d1g1", "a1a4a7"))), ["a4-a1"]);
}

#[test]
fn the_quiet_limit_ends_the_game_and_the_higher_score_wins() {
    let near_limit = ".BBB.W...B..W..B..WW...W B 0 0 - 49 0 - -";
    assert_eq!(after(near_limit, "e3-e4").1, Some(Outcome::by_margin(0)));
    let ahead = near_limit.replace("WW...W B", "WW.... B");
    assert_eq!(after(&ahead, "e3-e4").1, Some(Outcome::by_margin(1)), "a rule, no truncation");
    // A shot pending at the limit is made, and starts the count anew.
    let (pending, outcome) = after(near_limit, "d1-a1");
    assert_eq!((pending.as_str(), outcome), ("BBBB.W......W..B..WW...W B 0 0 x 50 0 - -", None));
    assert_eq!(after(&pending, "xg7"), ("BBBB.W......W..B..WW.... W 0 0 - 0 0 - -".to_owned(), None));
}

#[test]
fn plies_of_flight_are_counted_for_both() {
    let (one, _) = after("B...BW......W.B...WW...W W 0 0 - 0 0 - -", "f2-g1");
    assert_eq!(one, "B...BW......W.B....W.W.W B 0 0 - 1 1 - -");
    let (_, outcome) = after("B...BW......W.B...WW...W W 0 0 - 9 9 - -", "f2-g1");
    assert_eq!(outcome, Some(Outcome::by_margin(7 - 9)));
}

#[test]
fn a_player_with_two_cows_ends_the_game() {
    let (two, outcome) = after("B...B.........BWWW.....W W 0 0 x 4 4 - -", "xa1");
    assert_eq!(two, "....B.........BWWW.....W B 0 0 - 0 0 - -");
    assert_eq!(outcome, Some(Outcome::by_margin(8 - 10)));
}

#[test]
fn a_position_may_have_just_come_up() {
    for text in ["B....................... W 11 12 - 0 0 - -", "BBB.W......W..B..WW...W. W 0 0 - 0 0 - -"] {
        let game = Morabaraba::default();
        assert_eq!(game.position_text(&game.parse_position(text).expect(text)), text);
    }
}

#[test]
fn impossible_positions_are_refused_with_the_reason() {
    for (text, reason) in [
        ("....................... B 12 12 - 0 0 - -", "24 letters, not 23"),
        ("x....................... B 12 12 - 0 0 - -", "`x` on the board"),
        ("........................ D 12 12 - 0 0 - -", "the mover must be B or W"),
        ("........................ B 13 13 - 0 0 - -", "a number up to 12"),
        ("........................ B 12 12 - 0 0", "expected board, mover"),
        ("B....................... W 12 12 - 1 0 - -", "13 pieces"),
        ("B....................... B 11 12 - 1 0 - -", "place in turn"),
        ("B....................... W 11 12 - 2 0 - -", "2 plies without a shot do not fit 1 cows placed and 0 shot"),
        (".......................W B 11 11 - 0 0 - -", "B lost 1"),
        ("BW...................... B 11 11 - 51 0 - -", "a number up to its limit, 50"),
        ("BW...................... B 11 11 - 2 1 - -", "neither side flies"),
        ("BBB...................WW B 9 10 - 5 0 - -", "place in turn"),
        ("BB.B..................WW B 9 10 x 5 0 - -", "no mill"),
        ("BB...................... B 0 0 - 9 9 - -", "W has 0"),
        (".BBB.W...B..W..B..WW...W W 0 0 - 4 5 a1a4a7 -", "neither side flies"),
        (".BBB.W...B..W..B..WW...W W 0 0 - 4 0 a1a4 -", "there is no such mill"),
        (".BBB.W...B..W..B..WW...W W 0 0 - 4 0 a7a4a1 -", "there is no such mill"),
        (".BBB.W...B..W..B..WW...W W 0 0 - 4 0 a1a4a7,a1a4a7 -", "named twice"),
        (".BBB.W...B..W..B..WW...W W 0 0 - 4 0 a1a4a7,b2b4b6 -", "no point in common"),
        (".BBB.W...B..W..B..WW.B.W W 0 0 - 4 0 a1d1g1,g1g4g7 -", "do not lack the point"),
        ("BBB..W...B..W..B..WW...W W 0 0 - 4 0 a1a4a7 -", "stands on the board"),
        ("BBB....................W W 9 10 - 0 0 a1a4a7 -", "before all cows are placed"),
        ("B...BW......W.B...WW...W W 0 0 - 3 4 - -", "more plies of flight"),
    ] {
        let fault = Morabaraba::default().parse_position(text).expect_err(text).to_string();
        assert!(fault.contains(reason), "{fault}");
    }
}

#[test]
fn without_limits_no_counts_are_kept() {
    let params = Params::new().with("quiet_limit", 0).with("fly_limit", 0);
    let game = Morabaraba::default().with_params(&params).expect("valid parameters");
    let state = game.parse_position("B...BW......W.B...WW...W W 0 0 - 200 99 - -").expect("a position");
    assert_eq!(game.position_text(&state), "B...BW......W.B...WW...W W 0 0 - 0 0 - -");
}

#[test]
fn the_board_has_sixteen_symmetries() {
    assert_eq!(Morabaraba::default().spec().symmetries.len(), 16);
    assert_eq!(Morabaraba::default().spec().features(), 105);
}
