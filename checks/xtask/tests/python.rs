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
        docs.clear();
    }
    fields
}

/// The numbers that `search_settings!` declares, with their docs and the ends of their ranges.
fn constants(source: &str) -> BTreeMap<String, (String, [String; 2])> {
    let (_, declared) = source.split_once("\nsearch_settings! {\n").expect("the declaration");
    let (declared, _) = declared.split_once("\n}\n").expect("its end");
    let (mut constants, mut docs) = (BTreeMap::new(), String::new());
    for line in declared.lines().map(str::trim) {
        if let Some(doc) = line.strip_prefix("///") {
            docs = format!("{docs} {}", doc.trim()).trim().to_owned();
        } else if let Some((name, value)) = line.split_once(": ").filter(|_| !line.starts_with('#')) {
            let range = value.rsplit_once('[').and_then(|(_, range)| range.strip_suffix("];")).expect("a range");
            let (least, most) = range.split_once(", ").expect("two ends");
            let end = |text: &str| text.replace('_', "").parse::<f64>().expect("a number").to_string();
            constants.insert(name.to_owned(), (std::mem::take(&mut docs), [end(least), end(most)]));
        }
    }
    assert!(constants.len() > 6, "{constants:?}");
    constants
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

/// What Python says of a setting up to its range, which the config says too.
fn subject(text: &str) -> &str {
    let end = [" (", ".", ";"].iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    &text[..end]
}

#[test]
fn settings_are_described_as_in_the_config() {
    let mut keys = fields(&read("selfplay/src/config/search.rs"));
    let constants = constants(&read("agents/src/search_settings.rs"));
    keys.extend(constants.iter().map(|(name, (docs, _))| (name.clone(), docs.clone())));
    keys.insert("method".to_owned(), "Search algorithm.".to_owned());
    keys.extend(fields(&read("selfplay/src/config/self_play.rs")));
    assert!(keys.len() > 20, "{keys:?}");
    let others = ["game", "evaluate", "seed", "concurrent_games", "threads"];
    for (file, own) in
        [("apps/python/src/search.rs", &["simulations", "cached_positions"][..]), ("apps/python/src/self_play.rs", &[])]
    {
        let arguments = arguments(&read(file));
        assert!(arguments.len() > 10, "{file}: {arguments:?}");
        for (name, text) in arguments.iter().filter(|(name, _)| !others.iter().chain(own).any(|own| own == name)) {
            let key = keys.get(name).unwrap_or_else(|| panic!("{file}: {name} is no key of the config"));
            assert!(key.starts_with(subject(text)), "{file}: {name}: {text}\nin the config: {key}");
            let range = constants.get(name).map(|(_, range)| range);
            assert!(range.is_none_or(|range| range.iter().all(|end| text.contains(end))), "{file}: {name}: {range:?}");
        }
    }
}

/// The names that `match_options!` declares.
fn match_options(source: &str) -> BTreeSet<String> {
    let (_, declared) = source.split_once("\nmatch_options! {\n").expect("the declaration");
    let (declared, _) = declared.split_once("\n}\n").expect("its end");
    let lines = declared.lines().map(str::trim).filter(|line| !line.starts_with("///"));
    lines.filter_map(|line| Some(line.split_once(": ")?.0.to_owned())).collect()
}

#[test]
fn the_arena_takes_every_option_of_a_match() {
    let program = read("apps/python/python/turnstone/_program.py");
    let (_, arena) = program.split_once("\ndef arena(\n").expect("the function");
    let (signature, body) = arena.split_once(") -> ArenaResult:\n").expect("its signature");
    let others = ["game", "agents", "threads", "ladder", "progress"];
    let names = |text: &str, before: &str, after: &str| -> BTreeSet<String> {
        let name = |line: &str| Some(line.trim().strip_prefix(before)?.split_once(after)?.0.to_owned());
        text.lines().filter_map(name).filter(|name| !others.contains(&name.as_str())).collect()
    };
    let options = match_options(&read("arena/src/options.rs"));
    assert!(options.len() > 5, "{options:?}");
    assert_eq!(names(signature, "", ": "), options, "keywords");
    let (docs, code) = body.split_once("Args:\n").and_then(|(_, rest)| rest.split_once("\"\"\"")).expect("its docs");
    assert!(names(docs, "", ": ").is_subset(&options), "documentation");
    let (handed, _) = code.split_once("\n    }\n").expect("the end of the options");
    assert_eq!(names(handed, "\"", "\": "), options, "handed to the program");
}
