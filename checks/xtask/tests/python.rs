//! The Python package beside the program: its settings of search and self-play are described as the config's keys are.

use std::collections::BTreeMap;
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
