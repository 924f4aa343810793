//! Rules of the architecture that clippy and cargo-deny cannot state, listed in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use xtask::{product_lines, root};

/// The crates whose code may name the built-in games.
const WITH_GAMES: [&str; 4] = ["env", "games", "apps/hosts", "apps/python"];

/// The code of a crate's files by module, such as `crate::mcts::tree`, without comments and tests.
type Modules = BTreeMap<String, String>;

#[test]
fn crates_depend_on_earlier_crates() {
    let members = table("Cargo.toml")["workspace"]["members"].clone();
    let members = members.as_array().expect("a list").iter().filter_map(toml::Value::as_str).map(str::to_owned);
    let product = members.filter(|folder| !folder.starts_with("checks/")).chain(["apps/python".to_owned()]);
    assert_eq!(crates().into_iter().collect::<BTreeSet<_>>(), product.collect(), "ARCHITECTURE.md lists every crate");
    let manifests: Vec<_> = crates().iter().map(|folder| table(&format!("{folder}/Cargo.toml"))).collect();
    let names: Vec<_> =
        manifests.iter().map(|manifest| manifest["package"]["name"].as_str().expect("a name")).collect();
    for (place, manifest) in manifests.iter().enumerate() {
        let used = manifest.get("dependencies").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
        let late: Vec<_> = used.filter(|used| names[place..].contains(&used.as_str())).collect();
        assert!(late.is_empty(), "{} depends on {late:?}", names[place]);
    }
}

#[test]
fn files_use_each_other_in_order() {
    let found = crates().into_iter().map(|folder| (faults(&modules(&folder)), folder));
    assert_eq!(found.filter(|(faults, _)| !faults.is_empty()).collect::<Vec<_>>(), []);
}

#[test]
fn general_crates_name_no_game() {
    let general = crates().into_iter().filter(|folder| !WITH_GAMES.contains(&folder.as_str()));
    let found = general.map(|folder| (modules(&folder).values().flat_map(|text| named_games(text)).collect(), folder));
    assert_eq!(found.filter(|(named, _): &(Vec<_>, _)| !named.is_empty()).collect::<Vec<_>>(), []);
}

/// The folders of the crates, as ARCHITECTURE.md lists them: each crate depends on earlier ones only.
fn crates() -> Vec<String> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("a page");
    let (_, list) = text.split_once("\n| crate | content |").expect("the list");
    let rows = list.lines().skip(2).map_while(|row| row.strip_prefix("| `")?.split_once('`'));
    rows.map(|(folder, _)| folder.to_owned()).collect()
}

fn table(path: &str) -> toml::Table {
    fs::read_to_string(root().join(path)).expect("readable").parse().expect("a manifest")
}

fn modules(folder: &str) -> Modules {
    let mut modules = Modules::new();
    read(&root().join(folder).join("src"), "crate", &mut modules);
    modules
}

fn read(folder: &Path, module: &str, modules: &mut Modules) {
    for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("UTF-8");
        let name = if matches!(name, "lib" | "main") { module.to_owned() } else { format!("{module}::{name}") };
        if name.ends_with("tests") {
        } else if path.is_dir() {
            read(&path, &name, modules);
        } else {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let code = product_lines(&text).into_iter().filter(|line| !line.trim_start().starts_with("//"));
            modules.entry(name).or_default().extend(code.flat_map(|line| [line, "\n"]));
        }
    }
}

/// The lines that name a built-in game. Attributes may: help has examples.
fn named_games(text: &str) -> Vec<String> {
    let plain = |text: &str| text.to_lowercase().replace('_', "");
    let (mut is_attribute, mut named) = (false, Vec::new());
    for line in text.lines().map(str::trim) {
        is_attribute |= line.starts_with("#[");
        if !is_attribute && turnstone_env::games::names().iter().any(|name| plain(line).contains(&plain(name))) {
            named.push(line.to_owned());
        }
        is_attribute &= !line.ends_with(']');
    }
    named
}

/// The modules that are in a circle, and the uses of modules that are declared after the one that uses them.
fn faults(modules: &Modules) -> Vec<String> {
    let used = |module: &String| (module.clone(), uses(modules, module));
    let mut uses: BTreeMap<String, BTreeSet<String>> = modules.keys().map(used).collect();
    let pairs = uses.iter().flat_map(|(module, used)| used.iter().map(move |used| (module, used)));
    let late = pairs.filter(|(module, used)| is_late(modules, module, used));
    let mut faults: Vec<String> = late.map(|(module, used)| format!("{module} uses {used}, declared later")).collect();
    // A module that uses none of those that are left is in no circle.
    while let Some((free, _)) = uses.iter().find(|(_, used)| used.iter().all(|used| !uses.contains_key(used))) {
        uses.remove(&free.clone());
    }
    faults.extend(uses.iter().map(|(module, used)| format!("in or above a circle: {module} uses {used:?}")));
    faults
}

/// Whether of two modules of the same module the first is declared before the second.
fn is_late(modules: &Modules, module: &str, used: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (module.split("::").collect(), used.split("::").collect());
    let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let text = modules.get(&a[..shared].join("::")).map_or("", |text| text);
    let place = |names: &[&str]| text.find(&format!("mod {};", names.get(shared)?));
    place(&a).zip(place(&b)).is_some_and(|(module, used)| module < used)
}

/// The modules of the crate whose items a module names. To export an item is no use.
fn uses(modules: &Modules, module: &str) -> BTreeSet<String> {
    let mut text = modules[module].clone();
    for (_, tree) in trees(&text.clone()).filter(|(exported, _)| *exported) {
        text = text.replace(tree, "");
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut paths = Vec::new();
    for (at, _) in text.match_indices("::") {
        let start = text[..at].rfind(|c| !is_name(c)).map_or(0, |before| before + 1);
        if !text[..start].ends_with("::") {
            leaves(&text[start..], "", &mut paths);
        }
    }
    paths.iter().filter_map(|(path, _)| defining(modules, module, path, 0)).filter(|used| used != module).collect()
}

/// The trees of a module's `use` declarations, each with whether it is exported.
fn trees(text: &str) -> impl Iterator<Item = (bool, &str)> {
    text.match_indices("use ").filter_map(|(at, _)| {
        let before = text[..at].rsplit('\n').next()?.trim();
        let is_declaration = before.is_empty() || before.starts_with("pub") && !before.contains(' ');
        is_declaration.then(|| (!before.is_empty(), text[at + 4..].split(';').next().unwrap_or_default()))
    })
}

/// The paths of a tree such as `a::{b, c as d}`, each with its name: `a::b` and `b`, `a::c` and `d`.
fn leaves<'a>(text: &'a str, above: &str, found: &mut Vec<(String, &'a str)>) {
    let end = |text: &str| text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end(text));
    match rest.strip_prefix("::") {
        Some(group) if group.starts_with('{') => {
            let (mut depth, mut start) = (0, 1);
            for (at, letter) in group.char_indices() {
                depth += i32::from(letter == '{') - i32::from(letter == '}');
                if depth == 0 || depth == 1 && letter == ',' {
                    leaves(group[start..at].trim_start(), &format!("{above}{name}::"), found);
                    start = at + 1;
                }
                if depth == 0 {
                    break;
                }
            }
        }
        Some(rest) => leaves(rest, &format!("{above}{name}::"), found),
        None => found.push((format!("{above}{name}"), rest.strip_prefix(" as ").map_or(name, |own| &own[..end(own)]))),
    }
}

/// The module of the crate that defines what a path in a module names.
fn defining(modules: &Modules, module: &str, path: &str, depth: usize) -> Option<String> {
    let above = |module: &str| module.rsplit_once("::").map_or("crate", |(above, _)| above).to_owned();
    let mut segments = path.split("::").filter(|segment| *segment != "self");
    let mut at = module.to_owned();
    for (number, segment) in segments.by_ref().enumerate() {
        let below = format!("{at}::{segment}");
        let imported = || {
            let mut names = Vec::new();
            trees(&modules[&at]).for_each(|(_, tree)| leaves(tree, "", &mut names));
            names.into_iter().find(|(path, name)| *name == segment && path != segment && depth < 8)
        };
        at = match segment {
            "crate" => segment.to_owned(),
            "super" => above(&at),
            _ if modules.contains_key(&below) => below,
            _ if number == 0 && !path.starts_with("self::") => return None,
            _ => return imported().map_or(Some(at.clone()), |(path, _)| defining(modules, &at, &path, depth + 1)),
        };
    }
    Some(at)
}

#[test]
fn planted_faults_are_found() {
    let crate_of =
        |texts: &[(&str, &str)]| texts.iter().map(|(name, text)| (String::from(*name), String::from(*text))).collect();
    let found =
        |lib: &str, a: &str, b: &str| faults(&crate_of(&[("crate", lib), ("crate::a", a), ("crate::b", b)])).len();
    assert_eq!(found("mod a;\nmod b;\npub use b::B;", "", "use crate::a::{A, C};"), 0);
    assert_eq!(found("mod a;\nmod b;", "fn f() { crate::b::g() }", ""), 1, "order");
    assert_eq!(found("mod a;\nmod b;\npub use b::{B as C};", "use super::C;", ""), 1, "order through an export");
    assert_eq!(found("mod b;\nmod a;", "use super::{x::Y, b::B};", "use crate::a::A;"), 3, "a circle and an order");
    assert_eq!(found("mod a;\nmod b;\nfn f() { a::g() }", "use crate::f;", ""), 2, "a circle with the root");
    assert_eq!(named_games("#[arg(help = \"\\\nkonane\")]\nlet a = \"Mu Torere\";\nfn mu_torere()\nfn a()").len(), 1);
}
