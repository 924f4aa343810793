//! The sources' printed examples, and their own functions against the games.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::{Konane, Mancala, MuTorere};
use turnstone_env::{Action, ActionList, Notation, Params, Rules, Side, play_text};
use turnstone_hosts::konane;
use turnstone_hosts::mancala::{self, Player};
use turnstone_hosts::mu_torere;

/// Calls `visit` with every state of some random games and the legal actions' texts.
pub(crate) fn walk<G: Notation>(game: &G, games: u64, mut visit: impl FnMut(&G::State, &[String])) {
    for seed in 0..games {
        let (mut rng, mut legal) = (Xoshiro256PlusPlus::seed_from_u64(seed), ActionList::new());
        let mut state = game.start();
        loop {
            game.legal(&state, &mut legal);
            let texts: Vec<String> = legal.iter().map(|&action| game.action_text(&state, action)).collect();
            visit(&state, &texts);
            if legal.is_empty() {
                break;
            }
            let action: Action = legal[rng.random_range(0..legal.len())];
            game.play(&mut state, action);
        }
    }
}

#[test]
fn konane_prints_the_board_after_ten_moves() {
    let game = Konane::default();
    let mut state = game.start();
    let moves = "remove(5,4) remove(5,5) jump(3,4,5,4) jump(5,7,5,5) jump(3,2,3,4) jump(5,3,3,3) \
                 jump(7,6,5,6) jump(6,4,6,6) jump(7,8,7,6) jump(2,4,4,4,6,4)";
    play_text(&game, &mut state, moves).expect("the source's game is legal");
    let board = "\
8 X O X O X O X O
7 O X O X O X . .
6 X O X O . O X O
5 O X . . O X . X
4 X O . . X O X O
3 O . O . O X O X
2 X O X . X O X O
1 O X O X O X O X";
    let rows: Vec<String> = board.lines().map(|line| line[2..].replace(' ', "")).collect();
    assert_eq!(game.position_text(&state), format!("{} X", rows.join("/")));
    let drawn: Vec<String> = game.board(&state, None).text().lines().take(8).map(|row| words(row).join(" ")).collect();
    assert_eq!(drawn.join("\n"), board);
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn konane_lists_the_jumps_of_the_game() {
    let game = Konane::default();
    walk(&game, 100, |state, legal| {
        let mut board = konane::initial_board();
        for (row, column) in (1..=8).flat_map(|row| (1..=8).map(move |column| (row, column))) {
            if game.stone(state, row, column).is_none() {
                konane::play(&mut board, &[row, column]);
            }
        }
        let piece = ['X', 'O'][game.mover(state).index()];
        let first_move = konane::get_empties(&board).len() < 2;
        let moves = konane::move_generator(&board, piece, first_move);
        let mut commands: Vec<String> = moves.iter().map(|positions| konane::format_move(positions)).collect();
        let mut legal = legal.to_vec();
        commands.sort_unstable();
        legal.sort_unstable();
        assert_eq!(commands, legal, "at {}", game.position_text(state));
    });
}

#[test]
fn konane_plays_commands_as_the_game_does() {
    let mut board = konane::initial_board();
    for positions in [&[5, 4][..], &[5, 5], &[3, 4, 5, 4], &[5, 7, 5, 5], &[3, 2, 3, 4], &[5, 3, 3, 3]] {
        konane::play(&mut board, positions);
    }
    for positions in [&[7, 6, 5, 6][..], &[6, 4, 6, 6], &[7, 8, 7, 6], &[2, 4, 4, 4, 6, 4]] {
        konane::play(&mut board, positions);
    }
    let row = |cells: &[Option<char>; 8]| cells.iter().map(|cell| cell.unwrap_or('.')).collect::<String>();
    assert_eq!(board.iter().map(row).nth(4).as_deref(), Some("OX..OX.X"));
    assert_eq!(konane::get_empties(&board).len(), 11);
    assert_eq!(konane::other_piece('X'), 'O');
}

#[test]
fn mancala_sows_b5_as_printed() {
    let game = Mancala::default();
    let mut state = game.start();
    play_text(&game, &mut state, "B5").expect("a legal move");
    assert_eq!(game.position_text(&state), "4,4,4,0,5,5/1 4,4,4,4,4,5/0 2");
}

#[test]
fn mancala_board_agrees_with_the_game() {
    for first_player in ["1", "2"] {
        let game = Mancala::default().with_params(&Params::new().with("first_player", first_player)).expect("valid");
        let mut before: Option<(mancala::Board, Vec<String>)> = None;
        walk(&game, 200, |state, legal| {
            let row = |side| game.row(state, side).to_vec();
            let [bottom, mut top] = [row(Side::First), row(Side::Second)].map(|row| <[u8; 6]>::try_from(row).unwrap());
            top.reverse();
            let stores = Side::BOTH.map(|side| game.store(state, side));
            let board = mancala::Board::new(bottom, top, stores);
            let player = [Player::One, Player::Two][game.mover(state).index()];
            assert_eq!(board.find_moves(player), legal);
            assert_eq!(board.no_moves_remaining(player), legal.is_empty());
            assert_eq!([board.player1_points(), board.player2_points()], stores);
            let margin = i16::from(stores[0]) - i16::from(stores[1]);
            assert_eq!(board.calculate_heuristic_score(Player::One), margin);
            assert_eq!(board.calculate_heuristic_score(Player::Two), -margin);
            if let Some((previous, moves)) = before.replace((board, legal.to_vec())).filter(|(_, m)| !m.is_empty()) {
                let reached = moves.iter().any(|pit| {
                    let mut after = previous;
                    let again = after.update_board(pit).expect("a legal move");
                    let owner = if pit.starts_with('B') { Player::One } else { Player::Two };
                    let next = if again == (owner == Player::One) { Player::One } else { Player::Two };
                    if after.no_moves_remaining(next) {
                        after.collect_remaining();
                    }
                    after == board && next == player
                });
                assert!(reached, "no move leads from\n{previous}to\n{board}");
            }
        });
    }
}

#[test]
fn mancala_refuses_pits_that_cannot_be_chosen() {
    let mut board = mancala::Board::new([0; 6], [4; 6], [24, 0]);
    for position in ["B2", "B8", "A1", "C3", "", "B22"] {
        assert!(board.update_board(position).is_err(), "{position}");
    }
    assert_eq!(board, mancala::Board::new([0; 6], [4; 6], [24, 0]));
}

#[test]
fn mu_torere_follows_the_notebook() {
    let game = MuTorere::default();
    assert_eq!(game.position_text(&game.start()), "121202121 1 0");
    walk(&game, 300, |state, legal| {
        let text = game.position_text(state);
        let mut board = [0; 9];
        text.bytes().take(9).enumerate().for_each(|(square, digit)| board[square] = digit - b'0');
        let player = game.mover(state).number();
        let moves = mu_torere::valid_moves(&board, player);
        let blocked = moves.is_empty();
        assert_eq!(mu_torere::win_status(&board, 3 - player).is_some(), blocked, "{text}");
        if !game.outcome(state).is_some_and(|outcome| outcome.truncated) {
            let texts: Vec<String> = moves.iter().map(|[start, end]| format!("{start},{end}")).collect();
            assert_eq!(texts, legal, "{text}");
        }
    });
    let state = mu_torere::initial_state();
    assert_eq!(mu_torere::update_state(&state, 1, [0, 4]), [0, 2, 1, 2, 1, 2, 1, 2, 1]);
    assert_eq!(mu_torere::adjacent_squares(5), Some(&[2, 4, 8][..]));
    assert_eq!(mu_torere::adjacent_squares(9), None);
}
