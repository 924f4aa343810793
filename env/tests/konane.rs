//! Konane's numbers as its sheet, `docs/games/konane.md`, gives them.

use turnstone_env::games::Konane;
use turnstone_env::{Action, ActionList, Notation, Params, Rules};

fn board(size: usize) -> Konane {
    Konane::default().with_params(&Params::new().with("size", size)).expect("a valid size")
}

#[test]
fn actions_are_numbered_as_the_sheet_says() {
    for n in [4, 6, 8, 10, 16] {
        let game = board(n);
        let (mut index, mut expected) = (0, Vec::new());
        let name = |row: usize, column: usize| (n - row, column + 1);
        for point in 0..n * n {
            expected.push((index, vec![name(point / n, point % n)]));
            index += 1;
        }
        for direction in ["up", "right", "down", "left"] {
            for k in 1..n / 2 {
                let first = index;
                for (r, c) in (0..n).flat_map(|r| (0..n).map(move |c| (r, c))) {
                    let short = n - 2 * k;
                    let (starts, w, offset) = match direction {
                        "up" => (r >= 2 * k, n, 2 * k * n),
                        "right" => (c < short, short, 0),
                        "down" => (r < short, n, 0),
                        _ => (c >= 2 * k, short, 2 * k),
                    };
                    if starts {
                        let cell = |jumps: usize| match direction {
                            "up" => name(r - 2 * jumps, c),
                            "right" => name(r, c + 2 * jumps),
                            "down" => name(r + 2 * jumps, c),
                            _ => name(r, c - 2 * jumps),
                        };
                        expected.push((first + r * w + c - offset, (0..=k).map(cell).collect()));
                        index += 1;
                    }
                }
            }
        }
        assert_eq!(game.spec().actions, index);
        for (action, cells) in expected {
            assert_eq!(game.cells(Action(action as u16)), cells, "size {n}, action {action}");
        }
    }
    assert_eq!([8, 16].map(|size| board(size).spec().actions), [448, 3840]);
}

#[test]
fn four_symmetries_keep_colours_and_opening() {
    for (size, first_player) in [(4, "X"), (8, "X"), (8, "O"), (14, "O")] {
        let params = Params::new().with("size", size).with("first_player", first_player);
        let game = Konane::default().with_params(&params).expect("valid parameters");
        let (start, symmetries, mut legal) = (game.start(), game.spec().symmetries, ActionList::new());
        game.legal(&start, &mut legal);
        assert_eq!((symmetries.len(), legal.len()), (4, 4));
        for symmetry in symmetries {
            assert_eq!(game.permuted(&start, &symmetry), start);
            assert!(legal.iter().all(|action| legal.contains(Action(symmetry.actions[action.index()]))));
        }
    }
}

#[test]
fn actions_are_read_as_the_page_writes_them() {
    for size in [4, 8, 16] {
        let (game, start) = (board(size), board(size).start());
        for action in (0..game.spec().actions).map(|index| Action(index as u16)) {
            let cells = game.cells(action);
            let letter = |column: usize| char::from(b'a' + column as u8 - 1);
            let names: Vec<String> = cells.iter().map(|&(row, column)| format!("{}{row}", letter(column))).collect();
            let text = format!("{}{}", if cells.len() == 1 { "x" } else { "" }, names.join("-"));
            assert_eq!(game.parse_action(&start, &text), Ok(action), "{text}");
        }
        for text in ["", "x", "x4", "xq1", "xa0", "xa17", "xa01", "a1", "a1-", "a1-a2", "A1-A3", "xa1-a3", "é1-a3"] {
            assert!(game.parse_action(&start, text).is_err(), "{text}");
        }
    }
}

#[test]
fn people_see_the_cells_of_the_board_and_programs_the_command_strings() {
    let (game, start) = (board(16), board(16).start());
    for (shown, written) in [
        ("xd5", "remove(5,4)"),
        ("d3-d5", "jump(3,4,5,4)"),
        ("d2-d4-d6", "jump(2,4,4,4,6,4)"),
        ("p16-n16", "jump(16,16,16,14)"),
    ] {
        let action = game.parse_action(&start, written).expect("an action");
        assert_eq!(game.parse_action(&start, shown), Ok(action), "{shown}");
        assert_eq!(
            (game.display_text(&start, action), game.action_text(&start, action)),
            (shown.into(), written.into())
        );
    }
}
