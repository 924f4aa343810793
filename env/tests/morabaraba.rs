//! Morabaraba: the contest's query functions and the rules at the corners.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::Morabaraba;
use turnstone_env::games::morabaraba::State;
use turnstone_env::games::morabaraba::reference::{self, Board, Player, PlayerAction};
use turnstone_env::{Action, ActionList, Game, Outcome, Params, Side, play_text};

fn board(text: &str) -> Board {
    text.parse().expect("a board")
}

fn position(text: &str) -> State {
    Morabaraba::default().parse_position(text).expect("a position")
}

fn legal(state: &State) -> Vec<String> {
    let (game, mut legal) = (Morabaraba::default(), ActionList::new());
    game.legal(state, &mut legal);
    legal.iter().map(|&action| game.action_text(action)).collect()
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
    let game = Morabaraba::with_params(&params).expect("valid parameters");
    let state = game.parse_position("B...BW......W.B...WW...W W 0 0 - 200 99 - -").expect("a position");
    assert_eq!(game.position_text(&state), "B...BW......W.B...WW...W W 0 0 - 0 0 - -");
}

#[test]
fn the_board_has_sixteen_symmetries() {
    assert_eq!(Morabaraba::default().spec().symmetries.len(), 16);
    assert_eq!(Morabaraba::default().spec().features(), 105);
}

#[test]
fn the_contests_printed_examples() {
    let state = position("B...BW......W.BB..WW...W B 0 0 - 3 0 - -");
    assert_eq!(reference::get_effective_cell_moves(&state, (0, 0)), [(3, 0), (1, 1), (0, 3)]);

    let game = Morabaraba::default();
    let actions = reference::get_player_actions(&game, &game.start(), Player::DARK);
    assert_eq!(actions.len(), 24);
    assert_eq!(actions[1], PlayerAction::Add { to: (0, 3) });
    assert_eq!(actions[21..], [(6, 0), (6, 3), (6, 6)].map(|to| PlayerAction::Add { to }));

    let row = vec![[(0, 0), (3, 0), (6, 0)]];
    assert_eq!(reference::is_making_mill(&board("WWW....................."), Player::WHITE, (0, 0)), (true, row));
    assert_eq!(reference::is_making_mill(&board("WWB....................."), Player::WHITE, (0, 0)), (false, vec![]));
    assert_eq!(reference::stealables(Player::DARK, &board("W..W...................W")), [(0, 0), (1, 1), (6, 6)]);

    let mut played = state_after("d7");
    assert_eq!(
        reference::get_latest_move(&played.0, &played.1).expect("an action").to_string(),
        "{'action_type': 'ADD', 'action': {'to': (6, 3)}}"
    );
    played = state_after("");
    assert_eq!(reference::get_latest_move(&played.0, &played.1), None);

    let five = board("W..W....W.....WB........");
    let empty = [
        (0, 3),
        (0, 6),
        (1, 3),
        (1, 5),
        (2, 2),
        (2, 3),
        (3, 0),
        (3, 1),
        (3, 2),
        (3, 4),
        (3, 5),
        (3, 6),
        (4, 3),
        (4, 4),
        (5, 1),
        (5, 3),
        (5, 5),
        (6, 0),
        (6, 6),
    ];
    assert_eq!(reference::get_all_empty_cells(&five), empty);
    assert_eq!(reference::get_player_pieces_on_board(&five, Player::WHITE), [(0, 0), (1, 1), (4, 2), (6, 3)]);

    let two = board("WWW...WWW...............");
    assert_eq!(reference::player_mills(&two, Player::WHITE), [[(0, 0), (3, 0), (6, 0)], [(2, 2), (3, 2), (4, 2)]]);
    assert_eq!(reference::names((1, 1)), Some("b2"));
    assert_eq!(reference::names((3, 3)), None);
    assert_eq!(reference::coordinates("a1"), Some((0, 0)));
    assert_eq!(reference::coordinates("d4"), None);
    assert_eq!([-1, 0, 1].map(Player::from_number), [Some(Player::DARK), None, Some(Player::WHITE)]);
}

fn state_after(plies: &str) -> (State, Vec<Action>) {
    let game = Morabaraba::default();
    let mut state = game.start();
    let played = play_text(&game, &mut state, plies).expect("legal plies");
    (state, played)
}

#[test]
fn mills_are_listed_by_rows_columns_and_diagonals() {
    let mills = reference::mills();
    assert_eq!(mills.len(), 20);
    assert_eq!(mills[2..5], [[(2, 2), (3, 2), (4, 2)], [(0, 3), (1, 3), (2, 3)], [(4, 3), (5, 3), (6, 3)]]);
    assert_eq!(mills[8], [(0, 0), (0, 3), (0, 6)]);
    assert_eq!(mills[11..13], [[(3, 0), (3, 1), (3, 2)], [(3, 4), (3, 5), (3, 6)]]);
    assert_eq!(mills[15], [(6, 0), (6, 3), (6, 6)]);
    assert_eq!(mills[16..18], [[(0, 0), (1, 1), (2, 2)], [(4, 2), (5, 1), (6, 0)]]);
    assert_eq!(mills[18..], [[(0, 6), (1, 5), (2, 4)], [(4, 4), (5, 5), (6, 6)]]);
}

/// The contest's actions of the mover are the game's, and its moves of a cow are those that lead from its cell.
#[test]
fn queries_agree_with_the_game() {
    let (game, mut legal) = (Morabaraba::default(), ActionList::new());
    for seed in 0..200 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut state, mut played) = (game.start(), Vec::new());
        loop {
            game.legal(&state, &mut legal);
            let player = Player::from(game.mover(&state));
            let actions = reference::get_player_actions(&game, &state, player);
            assert_eq!(actions.len(), legal.len());
            let from = |action: &PlayerAction| match *action {
                PlayerAction::Move { at, .. } | PlayerAction::Fly { at, .. } => Some(at),
                PlayerAction::Add { .. } | PlayerAction::Steal { .. } => None,
            };
            if actions.iter().any(|action| from(action).is_some()) {
                for cell in reference::get_player_pieces_on_board(&reference::get_board(&state), player) {
                    let moves = actions.iter().filter(|action| from(action) == Some(cell)).count();
                    assert_eq!(reference::get_effective_cell_moves(&state, cell).len(), moves);
                }
            }
            if legal.is_empty() {
                break;
            }
            let index = rng.random_range(0..legal.len());
            game.play(&mut state, legal[index]);
            played.push(legal[index]);
            let latest = reference::get_latest_move(&state, &played).expect("an action was played");
            assert!(actions.contains(&latest), "{latest}");
        }
    }
}
