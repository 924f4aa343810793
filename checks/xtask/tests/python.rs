//! The Python package beside the program: its settings of search and self-play are described as the config's keys are,
//! and its arena has the options of the program's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The public fields of the structs of a file with the first sentences of their docs.
fn fields(source: &str) -> BTreeMap<String, String> {
    let (mut fields, mut docs) = (BTreeMap::new(), String::new());
    for line in source.lines().map(str::trim) {
        if let Some(doc) = line.strip_prefix("///") {
            docs = format!("{docs} {}", doc.trim()).trim().to_owned();
            continue;
        }
        if let Some((name, _)) = line.strip_prefix("pub ").and_then(|field| field.split_once(": ")) {
            fields.insert(name.to_owned(), docs.clone());
        }
        // An attribute stands between a field and its docs.
        if !line.starts_with("#[") {
            docs.clear();
        }
    }
    fields
}

/// The ends of the ranges of the numbers that `settings!` declares.
fn ranges(source: &str) -> BTreeMap<String, [String; 2]> {
    let range = |line: &str| {
        let (name, value) = line.trim().strip_prefix("pub ")?.split_once(": ")?;
        let (least, most) = value.strip_suffix(';')?.rsplit_once(", ")?.1.split_once("..=")?;
        let end = |text: &str| text.replace('_', "").parse::<f64>().expect("a number").to_string();
        Some((name.to_owned(), [end(least), end(most)]))
    };
    source.lines().filter_map(range).collect()
}

/// The entries below `Args:` in the docs of a class.
fn arguments(source: &str) -> BTreeMap<String, String> {
    let docs = source.lines().map_while(|line| if line.contains("#[pyclass") { None } else { Some(line) });
    let entries = docs.skip_while(|line| *line != "/// Args:").skip(1).filter_map(|line| line.strip_prefix("///     "));
    let (mut arguments, mut last) = (BTreeMap::<String, String>::new(), String::new());
    for entry in entries {
        match entry.split_once(": ").filter(|_| !entry.starts_with(' ')) {
            Some((name, text)) => {
                last = name.to_owned();
                arguments.insert(last.clone(), text.to_owned());
            }
            None => {
                let text = arguments.get_mut(&last).expect("an entry begins with a name");
                *text = format!("{text} {}", entry.trim());
            }
        }
    }
    arguments
}

/// Python's text of a setting up to its range; the config's text begins with it.
fn subject(text: &str) -> &str {
    let end = [" (", ".", ";"].iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    &text[..end]
}

#[test]
fn settings_are_described_as_in_the_config() {
    let mut keys = fields(&read("selfplay/src/config/search.rs"));
    let constants = read("agents/src/search_settings.rs");
    let ranges = ranges(&constants);
    assert!(ranges.len() > 5, "{ranges:?}");
    keys.extend(fields(&constants));
    keys.extend(fields(&read("selfplay/src/config/self_play.rs")));
    assert!(keys.len() > 20, "{keys:?}");
    let others = ["game", "evaluate", "seed", "concurrent_games", "threads"];
    for (file, own) in [
        ("apps/python/src/search.rs", &["simulations", "cached_positions", "draw"][..]),
        ("apps/python/src/self_play.rs", &[]),
    ] {
        let arguments = arguments(&read(file));
        assert!(arguments.len() > 10, "{file}: {arguments:?}");
        for (name, text) in arguments.iter().filter(|(name, _)| !others.iter().chain(own).any(|own| own == name)) {
            let key = keys.get(name).unwrap_or_else(|| panic!("{file}: {name} is no key of the config"));
            assert!(key.starts_with(subject(text)), "{file}: {name}: {text}\nin the config: {key}");
            let range = ranges.get(name);
            assert!(range.is_none_or(|range| range.iter().all(|end| text.contains(end))), "{file}: {name}: {range:?}");
        }
    }
}

#[test]
fn the_arena_takes_every_option_of_a_match() {
    let program = read("apps/python/python/turnstone_rl/_program.py");
    let (_, arena) = program.split_once("\ndef arena(\n").expect("the function");
    let (signature, body) = arena.split_once(") -> ArenaResult:\n").expect("its signature");
    let others = ["game", "agents", "threads", "ladder", "out", "resume", "progress"];
    let names = |text: &str, before: &str, after: &str| -> BTreeSet<String> {
        let name = |line: &str| Some(line.trim().strip_prefix(before)?.split_once(after)?.0.to_owned());
        text.lines().filter_map(name).filter(|name| !others.contains(&name.as_str())).collect()
    };
    let options: BTreeSet<String> = fields(&read("arena/src/options.rs")).into_keys().collect();
    assert!(options.len() > 5, "{options:?}");
    assert_eq!(names(signature, "", ": "), options, "keywords");
    let (docs, code) = body.split_once("Args:\n").and_then(|(_, rest)| rest.split_once("\"\"\"")).expect("its docs");
    assert!(names(docs, "", ": ").is_subset(&options), "documentation");
    let (handed, _) = code.split_once("\n    }\n").expect("the end of the options");
    assert_eq!(names(handed, "\"", "\": "), options, "handed to the program");
}
