//! The documentation as a whole: links lead somewhere, the book has every page, sheets are alike.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use xtask::root;

/// The files that git knows or could know and whose names have this form.
fn files(names: &str) -> Vec<PathBuf> {
    let list = ["ls-files", "--cached", "--others", "--exclude-standard", names];
    let output = Command::new("git").args(list).current_dir(root()).output().expect("git runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(PathBuf::from).filter(|page| root().join(page).is_file()).collect()
}

/// All Markdown files.
fn pages() -> Vec<PathBuf> {
    files("*.md")
}

/// The targets of a page's links and pictures, outside of blocks of code.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut code = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    // Code within a line is no link.
    let prose: String = prose.split('`').step_by(2).collect::<Vec<_>>().join("x");
    for part in prose.split("](").skip(1) {
        found.extend(part.split(')').next().map(str::to_owned));
    }
    for part in prose.split("src=\"").skip(1) {
        found.extend(part.split('"').next().map(str::to_owned));
    }
    found
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The tables and charts of measured figures are those of `docs/results.toml`.
#[test]
fn figures_are_those_of_their_source() {
    let output = Command::new("python3").args(["docs/results.py", "--check"]).current_dir(root()).output();
    let output = output.expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The magic bytes of every format are on the page of formats.
#[test]
fn the_page_of_formats_has_them_all() {
    let page = fs::read_to_string(root().join("docs/formats.md")).expect("a page");
    let mut seen = Vec::new();
    for file in files("*.rs") {
        let text = fs::read_to_string(root().join(&file)).expect("readable");
        for line in text.lines().filter(|line| line.contains("MAGIC: ") && line.contains("b\"")) {
            let magic = line.split('"').nth(1).expect("a literal of bytes");
            assert!(page.contains(&format!("`{magic}`")), "docs/formats.md has no {magic}, of {}", file.display());
            seen.push(magic.to_owned());
        }
    }
    assert!(seen.len() >= 3, "{seen:?}");
}

/// Paths into a clone, as commands and manifests on the pages write them, exist in the repository.
#[test]
fn paths_into_a_clone_exist() {
    const CLONE: &str = "../turnstone/";
    let (mut faults, mut seen) = (Vec::new(), 0);
    for page in pages().into_iter().filter(|page| !page.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(root().join(&page)).expect("readable");
        for (place, _) in text.match_indices(CLONE) {
            let rest = &text[place + CLONE.len()..];
            let path = rest.split(|c: char| !(c.is_alphanumeric() || "/_-.".contains(c))).next().unwrap_or("");
            seen += 1;
            // A pattern such as `folder/*.py` names its folder.
            if !root().join(path).exists() {
                faults.push(format!("{}: {CLONE}{path}: no such file", page.display()));
            }
        }
    }
    assert!(seen >= 8, "{seen} paths");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Folders that commands of the pages install from stand where the commands say, seen from the root or from the page.
#[test]
fn commands_install_folders_that_exist() {
    let (mut faults, mut seen) = (Vec::new(), 0);
    for page in pages().into_iter().filter(|page| !page.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(root().join(&page)).expect("readable");
        for command in ["cargo install --locked --path ", "pip install ./", "pip install \"./"] {
            for (place, _) in text.match_indices(command) {
                let rest = &text[place + command.len()..];
                let folder = rest.split(|c: char| !(c.is_alphanumeric() || "/_-".contains(c))).next().unwrap_or("");
                let from = [root().to_owned(), root().join(page.parent().expect("a folder"))];
                seen += 1;
                if !from.iter().any(|from| from.join(folder).is_dir()) {
                    faults.push(format!("{}: {command}{folder}: no such folder", page.display()));
                }
            }
        }
    }
    assert!(seen >= 4, "{seen} commands");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn links_lead_somewhere() {
    let mut faults = Vec::new();
    for page in pages() {
        if root().join(&page).is_symlink() {
            continue; // it is another page
        }
        let text = fs::read_to_string(root().join(&page)).expect("readable");
        for target in targets(&text) {
            let target = target.split_whitespace().collect::<String>();
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = if file.is_empty() { page.clone() } else { plain(&page.parent().expect("a folder").join(file)) };
            let whole = root().join(&file);
            if !whole.exists() {
                faults.push(format!("{}: {target}: no such file", page.display()));
            } else if !anchor.is_empty() && file.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(whole).expect("readable");
                if !anchors(&text).contains(anchor) {
                    faults.push(format!("{}: {target}: no such heading", page.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// docs/ is the book for users, docs/lab/ the one for developers.
#[test]
fn the_books_have_every_page_of_their_folders() {
    let is_developers = |page: &PathBuf| page.starts_with("docs/lab");
    for book in ["docs", "docs/lab"] {
        let path = format!("{book}/SUMMARY.md");
        let summary = fs::read_to_string(root().join(&path)).expect("the summary");
        let listed: BTreeSet<PathBuf> =
            targets(&summary).into_iter().map(|target| Path::new(book).join(target)).collect();
        let own = pages().into_iter().filter(|page| page.starts_with("docs") && !page.ends_with("SUMMARY.md"));
        let pages: BTreeSet<PathBuf> = own.filter(|page| is_developers(page) == (book == "docs/lab")).collect();
        let missing: Vec<_> = pages.difference(&listed).collect();
        assert!(missing.is_empty(), "{path} lacks {missing:?}");
        let gone: Vec<_> = listed.difference(&pages).collect();
        assert!(gone.is_empty(), "{path} lists {gone:?}");
    }
}

/// The files that a page names in code, such as `env/src/game.rs` or `games/src/<game>/solver.rs`.
fn named_files(text: &str) -> Vec<String> {
    let code = text.split('`').skip(1).step_by(2);
    let is_file = |name: &&str| {
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./<>*".contains(c));
        let kind = name.rsplit_once('.').map(|(_, kind)| kind);
        plain && name.contains('/') && matches!(kind, Some("rs" | "md" | "toml" | "py" | "sh" | "txt" | "mjs" | "conf"))
    };
    code.filter(is_file).map(str::to_owned).collect()
}

/// Whether a file of the repository has this path, in which `*` and `<...>` stand for one name.
fn exists(path: &Path, files: &[PathBuf]) -> bool {
    let is_any = |part: &str| part.contains('*') || part.contains('<');
    let fits = |part: &str, name: &str| {
        let ending = part.rsplit_once('.').map_or("", |(_, ending)| ending);
        part == name || is_any(part) && name.ends_with(ending)
    };
    files.iter().any(|file| {
        let names: Vec<_> = file.iter().filter_map(|name| name.to_str()).collect();
        let parts: Vec<_> = path.iter().filter_map(|part| part.to_str()).collect();
        parts.len() == names.len() && parts.iter().zip(names).all(|(part, name)| fits(part, name))
    })
}

/// Pages may name files by their place in the repository, or in a folder around the page; pages about a crate of the user's
/// have its files in examples. CHANGELOG.md names what was.
#[test]
fn named_files_exist() {
    let files = files("*");
    let mut gone = Vec::new();
    for page in pages().into_iter().filter(|page| !page.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(root().join(&page)).expect("readable");
        let examples = page.starts_with("docs").then_some(["examples/own_game", "env", "models"]);
        let folders: Vec<&Path> = page.ancestors().skip(1).chain(examples.iter().flatten().map(Path::new)).collect();
        for name in named_files(&text) {
            if !folders.iter().any(|folder| exists(&plain(&folder.join(&name)), &files)) {
                gone.push(format!("{} names {name}", page.display()));
            }
        }
    }
    assert!(gone.is_empty(), "{}", gone.join("\n"));
}

/// The bodies of the functions of this name in a file, which end at the indentation where they begin.
fn bodies<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let begins = |line: &str| {
        let after = line.split_once("fn ").and_then(|(_, after)| after.strip_prefix(name));
        after.is_some_and(|after| after.starts_with(['(', '<']))
    };
    let mut found = Vec::new();
    let mut place = 0;
    for line in text.split_inclusive('\n') {
        if begins(line) {
            let end = format!("\n{}}}\n", &line[..line.len() - line.trim_start().len()]);
            let body = &text[place..];
            found.push(body.find(&end).map_or(body, |end| &body[..end]));
        }
        place += line.len();
    }
    found
}

/// Each row of the page names a function, and another that it calls.
#[test]
fn the_life_of_a_position_follows_the_calls() {
    let page = fs::read_to_string(root().join("docs/lab/life-of-a-position.md")).expect("a page");
    let (mut rows, mut faults) = (0, Vec::new());
    for row in page.lines().filter(|row| row.starts_with("| `")) {
        let code: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        let [file, function, called, ..] = code[..] else { panic!("{row}") };
        let text = fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let is_call = |rest: &str| rest.starts_with('(') || rest.starts_with("::<");
        if !bodies(&text, function).iter().any(|body| body.split(called).skip(1).any(is_call)) {
            faults.push(format!("{file}: `{function}` does not call `{called}`"));
        }
        rows += 1;
    }
    assert!(rows > 20 && faults.is_empty(), "{}", faults.join("\n"));
    let types = page.split_once("A leaf meets eight types").and_then(|(_, rest)| rest.split_once("\n\n"));
    let (types, _) = types.expect("the sentence");
    assert_eq!(types.split('`').skip(1).step_by(2).count(), 8, "{types}");
}

/// The common changes of CONTRIBUTING.md name folders and code that exist.
#[test]
fn common_changes_name_what_exists() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("a page");
    let (_, changes) = text.split_once("\n## Common changes\n").expect("the section");
    let (changes, _) = changes.split_once("\n## ").expect("its end");
    let told = [
        "A game",
        "A kind of network",
        "A setting",
        "A column of the arena's report",
        "A message of the cluster",
        "A command",
    ];
    for change in told {
        assert!(changes.contains(&format!("\n**{change}.** ")), "CONTRIBUTING.md does not tell: {change}");
    }
    let sources: String =
        files("*.rs").iter().map(|file| fs::read_to_string(root().join(file)).expect("readable")).collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = sources.split(|c| !is_word(c)).collect();
    let exists = |code: &str| {
        let mut names = code.trim_end_matches('!').split("::");
        match code.split_once('/') {
            Some((folder, _)) if root().join(folder).is_dir() && !code.contains([' ', '<']) => {
                root().join(code).exists()
            }
            _ => !names.clone().all(|name| name.chars().all(is_word)) || names.all(|name| words.contains(name)),
        }
    };
    let gone: Vec<&str> = changes.split('`').skip(1).step_by(2).filter(|code| !exists(code)).collect();
    assert!(gone.is_empty(), "CONTRIBUTING.md names {gone:?}");
}

/// Each list of the built-in games names a game twice, as a module and in the list itself, and nothing else does.
#[test]
fn a_game_is_two_lines_of_each_list() {
    let lists = ["env/src/games.rs", "games/src/lib.rs"];
    let names: Vec<_> = files("env/src/games/*.rs")
        .into_iter()
        .filter(|file| file.parent() == Some(Path::new("env/src/games")))
        .map(|file| file.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert!(names.len() >= 5, "{names:?}");
    for (list, name) in lists.iter().flat_map(|list| names.iter().map(move |name| (list, name))) {
        let text = fs::read_to_string(root().join(list)).expect("readable");
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| line.contains(name.as_str())).collect();
        let is_listed = |line: &&str| line.starts_with(&format!("{name}::")) && line.ends_with(';');
        assert_eq!(lines.len(), 2, "{list}: {lines:?}");
        assert!(lines[0] == format!("pub mod {name};") && is_listed(&lines[1]), "{list}: {lines:?}");
    }
}

/// Every sheet has the same sections in the same order, a picture, and lines that start a game and make one in Rust.
#[test]
fn the_games_sheets_are_alike() {
    let headings =
        |text: &str| -> Vec<String> { text.lines().filter(|l| l.starts_with("## ")).map(str::to_owned).collect() };
    let sheets: Vec<(&str, String)> = turnstone_env::games::names()
        .into_iter()
        .map(|game| (game, fs::read_to_string(root().join(format!("docs/games/{game}.md"))).expect("a sheet")))
        .collect();
    for (game, sheet) in &sheets {
        assert_eq!(headings(sheet), headings(&sheets[0].1), "{game}");
        for part in [
            format!("../boards/{game}.svg"),
            format!("turnstone play {game}"),
            format!("turnstone_env::make(\"{game}\""),
        ] {
            assert!(sheet.contains(&part), "{game}: {part}");
        }
    }
}

#[test]
fn faults_are_seen() {
    let page =
        "# One two\n[a](b.md#x) `[c](d)` ![p](e.svg)\n```\n[f](g)\n```\n<img src=\"h.svg\">\n## It's `code` (1)\n";
    assert_eq!(targets(page), ["b.md#x", "e.svg", "h.svg"]);
    assert!(anchors(page).contains("one-two") && anchors(page).contains("its-code-1"));
    assert_eq!(plain(Path::new("docs/games/../boards/./x.svg")), Path::new("docs/boards/x.svg"));
    assert_eq!(named_files("`a/b.rs` a/c.rs `cargo run a/d.rs` `a/<x>.rs` `e.rs`"), ["a/b.rs", "a/<x>.rs"]);
    let files = ["a/b.rs", "a/b/c.rs"].map(PathBuf::from);
    let found =
        ["a/b.rs", "a/<x>.rs", "a/*/c.rs", "a/c.rs", "b.rs", "a/<x>.md"].map(|path| exists(Path::new(path), &files));
    assert_eq!(found, [true, true, true, false, false, false]);
}

/// `cargo run`, without a name, as README.md says it.
#[test]
fn cargo_run_runs_the_program() {
    let read = |path: &str| -> toml::Table {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        text.parse().unwrap_or_else(|e| panic!("{path}: {e}"))
    };
    let members = read("Cargo.toml")["workspace"].get("default-members").cloned();
    assert_eq!(members, Some(vec!["apps/cli"].into()), "the default members of the workspace");
    let package = read("apps/cli/Cargo.toml");
    assert_eq!(package["package"]["name"].as_str(), Some("turnstone"));
    assert!(!package.contains_key("bin") && !root().join("apps/cli/src/bin").exists(), "one program, that of its name");
    let readme = fs::read_to_string(root().join("README.md")).expect("a page");
    assert!(readme.contains("\ncargo run --release -- train configs/mu_torere.toml\n"), "the first command");
}
