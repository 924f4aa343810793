//! `docs/adding-a-game.md` shows this crate as it is.

use std::fs;
use std::path::Path;

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A fenced block: the file that the line before it names, and its lines.
struct Block {
    file: String,
    lines: String,
}

/// The blocks of Rust and TOML on the page. The last line of text before a block ends with the file in backticks and a
/// colon.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let (mut said, mut open) = ("", None);
    for line in page.lines() {
        match (&mut open, line) {
            (None, "```rust" | "```toml") => {
                let file = said.strip_suffix("`:").and_then(|said| said.rsplit('`').next());
                let file = file.unwrap_or_else(|| panic!("no file is named before the block after `{said}`"));
                open = Some(Block { file: file.to_owned(), lines: String::new() });
            }
            (Some(_), "```") => blocks.extend(open.take()),
            (Some(block), line) => block.lines += &format!("{line}\n"),
            (None, "") => {}
            (None, line) => said = line,
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

#[test]
fn every_block_stands_in_its_file() {
    let blocks = blocks(&text("../../docs/adding-a-game.md"));
    for Block { file, lines } in &blocks {
        let whole_lines = format!("\n{}", text(file));
        assert!(whole_lines.contains(&format!("\n{lines}")), "not in {file}:\n{lines}");
    }
    for file in ["Cargo.toml", "connect_four.toml", "src/main.rs", "src/lib.rs", "src/game.rs", "src/heuristic.rs", "src/solver.rs", "tests/game.rs"] {
        assert!(blocks.iter().any(|block| block.file == file), "the page shows nothing of {file}");
    }
}

/// The files that are short or that every game needs in full are shown from the first line to the last.
#[test]
fn short_files_are_shown_whole() {
    let blocks = blocks(&text("../../docs/adding-a-game.md"));
    for file in ["connect_four.toml", "src/main.rs", "src/lib.rs"] {
        let shown: String = blocks.iter().filter(|block| block.file == file).map(|block| block.lines.as_str()).collect();
        assert_eq!(shown, text(file), "{file}");
    }
}

/// All that the trait `Game` asks for is on the page.
#[test]
fn the_implementation_of_game_is_shown_whole() {
    let blocks = blocks(&text("../../docs/adding-a-game.md"));
    let shown: String = blocks.iter().filter(|block| block.file == "src/game.rs").map(|block| block.lines.as_str()).collect();
    let game = text("src/game.rs");
    let start = game.find("impl Game for ConnectFour {").expect("it is there");
    let end = start + game[start..].find("\n}\n").expect("it ends");
    let lines = |text: &str| text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let shown = lines(&shown);
    let missing: Vec<String> = lines(&game[start..end]).into_iter().filter(|line| !shown.contains(line)).collect();
    assert!(missing.is_empty(), "not on the page:\n{}", missing.join("\n"));
}
