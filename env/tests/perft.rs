//! Perft counts from data files: `tests/perft/<game>.txt`.
//!
//! A line is `<position or "start"> [| k=v ...] ; D<depth> <count> ; ...`; `#` starts a comment. Counts come from
//! independent programs or from the rules' contract, as each file says.

use std::fs;
use std::path::Path;

use turnstone_env::games::built_in;
use turnstone_env::{DynGame, Params};

#[test]
fn counts_in_data_files() {
    for name in built_in().names() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/perft/{name}.txt"));
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let counted: usize = lines.map(|line| check_line(name, line)).sum();
        assert!(counted > 0, "{} holds no counts", path.display());
    }
}

/// Checks all depths of a line and returns their number.
fn check_line(name: &str, line: &str) -> usize {
    let mut fields = line.split(';').map(str::trim);
    let head = fields.next().expect("split yields at least one field");
    let (position, settings) = head.split_once('|').unwrap_or((head, ""));
    let mut params = Params::new();
    for setting in settings.split_whitespace() {
        let (key, value) = setting.split_once('=').unwrap_or_else(|| panic!("`{setting}` in `{line}`"));
        params.set(key, value);
    }
    let game = built_in().make(name, &params).unwrap_or_else(|e| panic!("`{line}`: {e}"));
    check_counts(&*game, position.trim(), fields, line)
}

fn check_counts<'a>(game: &dyn DynGame, position: &str, counts: impl Iterator<Item = &'a str>, line: &str) -> usize {
    let state = match position {
        "start" => game.start(),
        text => game.parse_position(text).unwrap_or_else(|e| panic!("`{line}`: {e}")),
    };
    let mut checked = 0;
    for count in counts {
        let (depth, expected) = count.split_once(' ').unwrap_or_else(|| panic!("`{count}` in `{line}`"));
        let depth = depth.strip_prefix('D').and_then(|d| d.parse().ok()).unwrap_or_else(|| panic!("`{line}`"));
        let expected: u64 = expected.trim().parse().unwrap_or_else(|_| panic!("`{line}`"));
        assert_eq!(game.perft(&state, depth), expected, "{} at depth {depth} of `{line}`", game.name());
        checked += 1;
    }
    checked
}
