//! Konane's numbers as its sheet, `docs/games/konane.md`, gives them.

use turnstone_env::games::Konane;
use turnstone_env::{Action, ActionList, Params, Rules};

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
