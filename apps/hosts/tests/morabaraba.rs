//! The Morabaraba contest's own query functions.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::Morabaraba;
use turnstone_env::games::morabaraba::State;
use turnstone_env::{Action, ActionList, Notation, Rules, play_text};
use turnstone_hosts::morabaraba::{self, Board, Player, PlayerAction};

fn board(text: &str) -> Board {
    text.parse().expect("a board")
}

fn position(text: &str) -> State {
    Morabaraba::default().parse_position(text).expect("a position")
}

#[test]
fn the_contests_printed_examples() {
    let state = position("B...BW......W.BB..WW...W B 0 0 - 3 0 - -");
    assert_eq!(morabaraba::get_effective_cell_moves(&state, (0, 0)), [(3, 0), (1, 1), (0, 3)]);

    let game = Morabaraba::default();
    let actions = morabaraba::get_player_actions(&game, &game.start(), Player::DARK);
    assert_eq!(actions.len(), 24);
    assert_eq!(actions[1], PlayerAction::Add { to: (0, 3) });
    assert_eq!(actions[21..], [(6, 0), (6, 3), (6, 6)].map(|to| PlayerAction::Add { to }));

    let row = vec![[(0, 0), (3, 0), (6, 0)]];
    assert_eq!(morabaraba::is_making_mill(&board("WWW....................."), Player::WHITE, (0, 0)), (true, row));
    assert_eq!(morabaraba::is_making_mill(&board("WWB....................."), Player::WHITE, (0, 0)), (false, vec![]));
    assert_eq!(morabaraba::stealables(Player::DARK, &board("W..W...................W")), [(0, 0), (1, 1), (6, 6)]);

    let mut played = state_after("d7");
    assert_eq!(
        morabaraba::get_latest_move(&played.0, &played.1).expect("an action").to_string(),
        "{'action_type': 'ADD', 'action': {'to': (6, 3)}}"
    );
    played = state_after("");
    assert_eq!(morabaraba::get_latest_move(&played.0, &played.1), None);

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
    assert_eq!(morabaraba::get_all_empty_cells(&five), empty);
    assert_eq!(morabaraba::get_player_pieces_on_board(&five, Player::WHITE), [(0, 0), (1, 1), (4, 2), (6, 3)]);

    let two = board("WWW...WWW...............");
    assert_eq!(morabaraba::player_mills(&two, Player::WHITE), [[(0, 0), (3, 0), (6, 0)], [(2, 2), (3, 2), (4, 2)]]);
    assert_eq!(morabaraba::names((1, 1)), Some("b2"));
    assert_eq!(morabaraba::names((3, 3)), None);
    assert_eq!(morabaraba::coordinates("a1"), Some((0, 0)));
    assert_eq!(morabaraba::coordinates("d4"), None);
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
    let mills = morabaraba::mills();
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
            let actions = morabaraba::get_player_actions(&game, &state, player);
            assert_eq!(actions.len(), legal.len());
            let from = |action: &PlayerAction| match *action {
                PlayerAction::Move { at, .. } | PlayerAction::Fly { at, .. } => Some(at),
                PlayerAction::Add { .. } | PlayerAction::Steal { .. } => None,
            };
            if actions.iter().any(|action| from(action).is_some()) {
                for cell in morabaraba::get_player_pieces_on_board(&morabaraba::get_board(&state), player) {
                    let moves = actions.iter().filter(|action| from(action) == Some(cell)).count();
                    assert_eq!(morabaraba::get_effective_cell_moves(&state, cell).len(), moves);
                }
            }
            if legal.is_empty() {
                break;
            }
            let index = rng.random_range(0..legal.len());
            game.play(&mut state, legal[index]);
            played.push(legal[index]);
            let latest = morabaraba::get_latest_move(&state, &played).expect("an action was played");
            assert!(actions.contains(&latest), "{latest}");
        }
    }
}

/// The contest's coordinates count x to the right and y down.
#[test]
fn the_picture_lies_as_in_the_contest() {
    let game = Morabaraba::default();
    let points = game.board(&game.start(), None).points();
    let of = |name: &str| points.iter().find(|point| point.label == name).expect("a point").at;
    let (corner, unit) = (of("a1"), (of("a7")[0] - of("a1")[0]) / 6.0);
    for point in &points {
        let (x, y) = morabaraba::coordinates(&point.label).expect("a point");
        let place = [0, 1].map(|axis| (point.at[axis] - corner[axis]) / unit);
        assert_eq!(place, [x, y].map(|n| n as f32), "{}", point.label);
    }
}
