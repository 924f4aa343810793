//! `docs/adding-a-game.md` adds a game that works, and shows its code as it is.

use std::fs;
use std::path::Path;

#[path = "../examples/nim.rs"]
#[allow(dead_code, unreachable_pub)] // it is a crate of its own
mod nim;

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The lines that hold something.
fn lines<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    lines.filter(|line| !line.trim().is_empty()).collect()
}

#[test]
fn the_page_shows_the_example() {
    let (page, example) = (text("../docs/adding-a-game.md"), text("examples/nim.rs"));
    let blocks = page.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    assert_eq!(lines(blocks.flat_map(str::lines)), lines(example.lines()));
}

#[test]
fn the_example_conforms() {
    turnstone_env::conformance::check(&nim::Nim, 1000, 1);
}
