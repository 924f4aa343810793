//! The pages of `docs` about games, networks, agents and targets of one's own show this crate as it is.

use std::fs;
use std::path::Path;

const PAGE: &str = "../../docs/adding-a-game.md";
const NETWORK_PAGE: &str = "../../docs/adding-a-network.md";
const AGENT_PAGE: &str = "../../docs/adding-an-agent.md";
const TARGET_PAGE: &str = "../../docs/adding-a-target.md";

/// Links do not survive everywhere.
#[test]
fn the_package_has_the_files_of_the_clone() {
    let names = |folder: &str| {
        let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("a folder");
        let names = files.map(|file| file.expect("readable").file_name().into_string().expect("plain names"));
        names.filter(|name| !name.ends_with(".so") && name != "__pycache__").collect::<std::collections::BTreeSet<_>>()
    };
    const CLONE: &str = "../../apps/python/python/turnstone_rl";
    assert_eq!(names("python/turnstone_rl"), names(CLONE));
    for name in names(CLONE) {
        assert_eq!(text(&format!("python/turnstone_rl/{name}")), text(&format!("{CLONE}/{name}")), "{name}");
    }
}

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
    for Block { file, lines } in
        [PAGE, NETWORK_PAGE, AGENT_PAGE, TARGET_PAGE].iter().flat_map(|page| blocks(&text(page)))
    {
        let whole_lines = format!("\n{}", text(&file));
        assert!(whole_lines.contains(&format!("\n{lines}")), "not in {file}:\n{lines}");
    }
    let blocks = blocks(&text(PAGE));
    for file in ["src/game.rs", "src/heuristic.rs", "src/solver.rs", "tests/game.rs"] {
        assert!(blocks.iter().any(|block| block.file == file), "the page shows nothing of {file}");
    }
}

#[test]
fn these_files_are_shown_from_the_first_line_to_the_last() {
    let game = ["examples/nim.rs", "nim.toml"].map(|file| (PAGE, file));
    let others = [(NETWORK_PAGE, "src/network.rs"), (AGENT_PAGE, "src/careful.rs"), (TARGET_PAGE, "src/ending.rs")];
    for (page, file) in game.into_iter().chain(others) {
        let blocks = blocks(&text(page));
        let of_file = blocks.iter().filter(|block| block.file == file);
        let shown: Vec<&str> = of_file.flat_map(|block| block.lines.lines()).filter(|line| !line.is_empty()).collect();
        let text = text(file);
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(shown, lines, "{file}");
    }
}
