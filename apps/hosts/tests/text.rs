//! The sources' readers against text from outside: none panics, and what is accepted is written as it was.

use proptest::prelude::*;
use turnstone_hosts::{morabaraba, morris};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_parser_panics(text in r"\PC*|[WBx]{18}|[WB.]{24}|[a-g][0-7]") {
        if let Ok(board) = text.parse::<morris::Board>() {
            prop_assert_eq!(board.to_string(), text.as_str());
        }
        if let Ok(board) = text.parse::<morabaraba::Board>() {
            prop_assert_eq!(board.to_string(), text.as_str());
        }
        if let Some(cell) = morabaraba::coordinates(&text) {
            prop_assert_eq!(morabaraba::names(cell), Some(text.as_str()));
        }
    }
}
