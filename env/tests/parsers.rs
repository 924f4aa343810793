//! No parser panics on any text, and what one accepts it stands by. The fuzz targets make the same checks.

use std::sync::Arc;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::{built_in, names};
use turnstone_env::{AnyState, DynGame, Params};

use super::text_checks;

fn any_game() -> impl Strategy<Value = Arc<dyn DynGame>> {
    prop::sample::select(built_in().defaults().collect::<Vec<_>>())
}

/// The state after `plies` random plies, or at the end of the game if that comes first.
fn reached(game: &dyn DynGame, plies: usize, seed: u64) -> AnyState {
    let mut state = game.start();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..plies {
        let legal = game.legal_actions(&state);
        if legal.is_empty() {
            break;
        }
        game.play(&mut state, legal[rng.random_range(0..legal.len())]);
    }
    state
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text(game in any_game(), text in "\\PC{0,80}") {
        text_checks::position(&*game, &text);
        text_checks::action(&*game, &text);
    }

    #[test]
    fn texts_of_the_right_letters(game in any_game(), text in "[ABXOWBxo0-9a-h(),/. -]{0,40}") {
        text_checks::position(&*game, &text);
        text_checks::action(&*game, &text);
    }

    #[test]
    fn command_strings(game in any_game(), name in "remove|jump", numbers in prop::collection::vec(-1i32..18, 0..9)) {
        let numbers: Vec<String> = numbers.iter().map(i32::to_string).collect();
        text_checks::action(&*game, &format!("{name}({})", numbers.join(",")));
    }

    #[test]
    fn parameters(name in prop::sample::select(names().to_vec()), text in "((size|pits|stones|max_plies|first_player)=[0-9XO]{1,3} ?){0,3}") {
        text_checks::params(name, &text);
    }

    #[test]
    fn reachable_positions_and_their_neighbours(
        game in any_game(), plies in 0usize..120, seed: u64, at: prop::sample::Index, letter in "[ -~]",
    ) {
        let state = reached(&*game, plies, seed);
        let text = game.position_text(&state);
        prop_assert_eq!(game.parse_position(&text), Ok(state));
        // One character replaced, one left out, and one put in.
        let at = at.index(text.len());
        for (end, insert) in [(at + 1, letter.as_str()), (at + 1, ""), (at, letter.as_str())] {
            let mutated = format!("{}{insert}{}", &text[..at], &text[end..]);
            text_checks::position(&*game, &mutated);
        }
    }
}

/// Error of a parser for a text that it refuses: a position has spaces, an action has none.
fn fault(name: &str, params: &Params, text: &str) -> String {
    let game = built_in().make(name, params).expect("valid parameters");
    match text.split_once(' ') {
        Some(_) => game.parse_position(text).expect_err(text).to_string(),
        None => game.parse_action(&game.start(), text).expect_err(text).to_string(),
    }
}

#[test]
fn konane_names_the_fault() {
    let small = Params::new().with("size", 4);
    for (text, expected) in [
        ("XOXO/OXOX/XOXO/OXOX Y", "the mover must be X or O"),
        ("XOXO/OXOX/XOXO X", "there must be 4 rows, not 3"),
        ("XOXO/OXOX/XOXOX/OXOX X", "row 3 from the top must have 4 cells, not 5"),
        ("XOXO/OXXX/XOXO/OXOX X", "cell c3 must be O or `.`, not `X`"),
        ("XOXO/OXOX/XOXO/O.OX X", "the first gap must be at a corner or in the middle"),
        (".OXO/OXOX/XOXO/OXOX X", "X has removed, the other is to move"),
        ("..XO/OXOX/XOXO/OXOX O", "O to move must have removed"),
        (".OXO/OXOX/XOXO/OXO. X", "side by side"),
        ("XOXO/O.OX/.O.O/OXOX X", "O has lost no stone"),
        ("..../..../..../.... X", "the board cannot be empty"),
        ("remove(5,1)", "`5` is not a row or column from 1 to 4"),
        ("remove(1)", "`remove` takes one row and one column"),
        ("remove(01,1)", "`01` is not a row or column"),
        ("jump(1,1,1,3,1)", "`jump` takes the row and column of two cells or more"),
        ("jump(1,1)", "`jump` takes the row and column of two cells or more"),
        ("jump(1,1,3,3)", "two cells along a row or a column"),
        ("jump(1,1,1,2)", "two cells along a row or a column"),
        ("jump(1,1,1,3,3,3)", "in the same direction"),
        ("jump(1,1,1,3,1,1)", "in the same direction"),
        ("d1", "expected a stone to remove, `xd5`"),
        ("xd1-d3", "expected a stone to remove, `xd5`"),
        ("xe4", "`e4` is no cell from a1 to d4"),
        ("a1-a5", "`a5` is no cell from a1 to d4"),
        ("a1-b3", "two cells along a row or a column"),
        ("hop(1,1,1,3)", "expected a stone to remove, `xd5`"),
        ("jump1,1,1,3", "expected a stone to remove, `xd5`"),
    ] {
        let found = fault("konane", &small, text);
        assert!(found.contains(expected), "`{text}`: {found}");
    }
    for (text, possible) in [
        ("XOXO/OXOX/XOXO/OXOX O", true),
        ("XOXO/O.OX/XOXO/OXOX O", true),
        ("XOXO/OX.X/XOXO/OXOX O", false),
        ("XOXO/O..X/XOXO/OXOX X", true),
        ("XOXO/O..X/XOXO/OXOX O", true),
    ] {
        let game = built_in().make("konane", &small).expect("valid parameters");
        assert_eq!(game.parse_position(text).is_ok(), possible, "{text}");
    }
    for size in ["3", "5", "18", "0", "-4", "8.0"] {
        assert!(built_in().make("konane", &Params::new().with("size", size)).is_err(), "{size}");
    }
}

#[test]
fn mancala_and_mu_torere_name_the_fault() {
    for (name, text, expected) in [
        ("mancala", "4,4,4,4,4,4/0 4,4,4,4,4,4/1 1", "there must be 48 stones in all, not 49"),
        ("mancala", "4,4,4,4,4/4 4,4,4,4,4,4/0 1", "a row must have 6 pits, not 5"),
        ("mancala", "4,4,4,4,4,4/0 4,4,4,4,4,4/0 3", "the mover must be 1 or 2"),
        ("mancala", "4,4,4,4,4,x/0 4,4,4,4,4,4/0 1", "`x` is not a number up to 255"),
        ("mancala", "B8", "expected a pit B2 to B7 or A2 to A7"),
        ("mu_torere", "121202122 1 0", "each player must have four pieces"),
        ("mu_torere", "12120212 1 0", "nine digits"),
        ("mu_torere", "121202121 1 101", "exceed max_plies = 100"),
        ("mu_torere", "0,8", "not adjacent"),
        ("mu_torere", "0;4", "expected `start-end`"),
    ] {
        let found = fault(name, &Params::new(), text);
        assert!(found.contains(expected), "`{text}`: {found}");
    }
}
