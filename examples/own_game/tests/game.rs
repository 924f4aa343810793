//! The rules of Connect Four: the conformance suite, move counts from independent programs, and errors.

use own_game::ConnectFour;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::{ActionList, Notation, Outcome, Params, Rules, Side, conformance, perft::perft, play_text};

#[test]
fn the_game_conforms() {
    conformance::check(&ConnectFour, 1000, 1);
}

#[test]
fn move_counts() {
    let known = [7, 49, 343, 2401, 16_807, 117_649, 823_536, 5_673_234];
    for (depth, leaves) in (1..).zip(known) {
        assert_eq!(perft(&ConnectFour, &ConnectFour.start(), depth), leaves, "depth {depth}");
    }
}

#[test]
fn four_in_a_row_win_in_every_direction() {
    let outcome = |moves| {
        let mut state = ConnectFour.start();
        play_text(&ConnectFour, &mut state, moves).expect("legal");
        ConnectFour.outcome(&state)
    };
    assert_eq!(outcome("1 1 2 2 3 3"), None);
    assert_eq!(outcome("1 1 2 2 3 3 4"), Some(Outcome::win(Side::First)));
    assert_eq!(outcome("1 2 1 2 1 2 3 2"), Some(Outcome::win(Side::Second)));
    assert_eq!(outcome("1 2 2 3 3 4 3 4 4 6 4"), Some(Outcome::win(Side::First)));
    assert_eq!(outcome("7 6 6 5 5 4 5 4 4 2 4"), Some(Outcome::win(Side::First)));
}

/// Whether a disc of this side on a point completes four in a row, counted along the lines through the point.
fn completes_four(board: &[char], point: usize, disc: char) -> bool {
    let at = |row: i32, column: i32| {
        (0..6).contains(&row) && (0..7).contains(&column) && board[(7 * row + column) as usize] == disc
    };
    let (row, column) = ((point / 7) as i32, (point % 7) as i32);
    [(0, 1), (1, 0), (1, 1), (1, -1)].into_iter().any(|(down, right)| {
        let run = |sign: i32| (1..4).take_while(|i| at(row + i * sign * down, column + i * sign * right)).count();
        run(1) + run(-1) >= 3
    })
}

#[test]
fn planes_show_the_cells_that_complete_four_and_the_movers_rows() {
    let mut features = vec![0.0; ConnectFour.spec().features()];
    let (mut legal, mut threats) = (ActionList::new(), 0);
    for seed in 0..300 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut state = ConnectFour.start();
        while ConnectFour.outcome(&state).is_none() {
            let board: Vec<char> = ConnectFour.position_text(&state).chars().filter(|&c| c != '/').collect();
            let discs = if ConnectFour.mover(&state) == Side::First { ['X', 'O'] } else { ['O', 'X'] };
            ConnectFour.observe(&state, &mut features);
            let is_odd = |point: usize| (6 - point / 7) % 2 == 1;
            let rows = &features[5 * 42..];
            assert!((0..42).all(|point| (rows[point] == 1.0) == (is_odd(point) == (discs[0] == 'X'))), "{rows:?}");
            for (plane, disc) in features.chunks(42).skip(3).zip(discs) {
                for point in 0..42 {
                    let expected = board[point] == '.' && completes_four(&board, point, disc);
                    assert_eq!(
                        plane[point] == 1.0,
                        expected,
                        "{disc} on {point}\n{}",
                        ConnectFour.board(&state, None).text()
                    );
                    threats += usize::from(expected);
                }
            }
            ConnectFour.legal(&state, &mut legal);
            ConnectFour.play(&mut state, legal[rng.random_range(0..legal.len())]);
        }
    }
    assert!(threats > 1000, "only {threats} cells tried");
}

#[test]
fn the_board_is_drawn_with_its_coordinates() {
    let mut state = ConnectFour.start();
    play_text(&ConnectFour, &mut state, "4 4 7").expect("legal");
    let drawing = ConnectFour.board(&state, None).text();
    let end = "2 . . . O . . .\n1 . . . X . . X\n  1 2 3 4 5 6 7\nplayer 2 to move\n";
    assert!(drawing.ends_with(end), "{drawing}");
}

#[test]
fn faults_are_named() {
    let position = |text: &str| ConnectFour.parse_position(text).expect_err("a fault").to_string();
    let rows = |rows: [&str; 3]| format!("......./......./......./{}", rows.join("/"));
    assert!(position("...").contains("6 rows"));
    assert!(position(&rows([".......", ".......", "...Z..."])).contains("`X`, `O` or `.`"));
    assert!(position(&rows([".......", ".......", "...O..."])).contains("as many discs"));
    assert!(position(&rows([".......", "...X...", "......."])).contains("empty cell below"));
    let before_the_end = rows([".......", "O......", "XXXXOOO"]);
    assert!(position(&before_the_end).contains("before the last disc"));
    let covered = rows([".......", "XXOXO..", "OOOOXXX"]);
    assert!(position(&covered).contains("before the last disc"));
    assert!(ConnectFour.parse_position(&rows(["XX.....", "OOOO...", "XOXOXX."])).is_ok(), "the last disc has won");
    assert!(ConnectFour.parse_action(&ConnectFour.start(), "8").expect_err("no column").to_string().contains("1 to 7"));
    let fault = ConnectFour.with_params(&Params::new().with("columns", 8)).expect_err("no parameter");
    assert!(fault.to_string().contains("no parameter `columns`"));
}

/// The whole program in one file, whose game is checked here.
#[cfg(feature = "program")]
#[path = "../examples/nim.rs"]
#[allow(dead_code)] // its `main`
mod nim;

#[cfg(feature = "program")]
#[test]
fn the_smallest_game_conforms() {
    conformance::check(&nim::Nim, 1000, 1);
}
