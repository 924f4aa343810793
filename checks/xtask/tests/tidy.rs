//! Rules of the architecture, read from the manifests and sources of the workspace. ARCHITECTURE.md explains them.
//!
//! Every rule is a function from the workspace to its violations; `tidy/faults.rs` plants one of each kind.

#[path = "tidy/tokens.rs"]
mod tokens;
#[path = "tidy/modules.rs"]
mod modules;
#[path = "tidy/graph.rs"]
mod graph;
#[path = "tidy/workspace.rs"]
mod workspace;
#[path = "tidy/faults.rs"]
mod faults;

use std::collections::BTreeSet;

use modules::Function;
use tokens::{Kind, Token, calls, joined, listed, starts_with, tokens, trees, without_attributes, without_items};
use workspace::{Crate, Workspace};

/// The crates from the first stage to the last; each depends on earlier ones only.
const LAYERS: [&str; 18] = [
    "models/features",
    "env",
    "search",
    "exact",
    "statistics",
    "base",
    "models",
    "agents",
    "games",
    "apps/hosts",
    "apps/web",
    "selfplay",
    "arena",
    "apps/cluster",
    "trainer",
    "apps/serve",
    "apps/cli",
    "apps/python",
];

/// No file is longer without a line that says why.
const LONGEST_FILE: usize = 400;

/// No function of the product is longer, from its signature to its closing brace, without a line that says why.
const LONGEST_FUNCTION: usize = 40;

/// No crate has more of the workspace's lines of Rust.
const LARGEST_SHARE: f64 = 0.25;

/// Crates that build for WebAssembly, where the system's clock panics.
const WITHOUT_CLOCK: [&str; 8] = ["env", "search", "exact", "base", "models", "agents", "games", "apps/web"];

/// Crates for games of any kind, which name none of the built-in ones.
const WITHOUT_GAMES: [&str; 13] = [
    "search",
    "exact",
    "statistics",
    "base",
    "models",
    "agents",
    "selfplay",
    "arena",
    "trainer",
    "apps/cluster",
    "apps/serve",
    "apps/web",
    "apps/cli",
];

/// Crates that the program's errors may come from without a type, and the other program.
const WITH_ANYHOW: [&str; 6] = ["apps/hosts", "arena", "apps/cluster", "trainer", "apps/serve", "apps/cli"];

/// Crates that may end the process.
const PROGRAMS: [&str; 2] = ["apps/cli", "apps/hosts"];

type Rule = fn(&Workspace) -> Vec<String>;

const RULES: [(&str, Rule); 16] = [
    ("crates depend on earlier crates only", layers),
    ("some crates do without some dependencies", independence),
    ("the workspaces agree", workspaces),
    ("files do not use each other in circles", circles),
    ("a module uses only modules declared before it", reading_order),
    ("a file begins with a sentence", first_lines),
    ("only the program ends the process", exits),
    ("errors without a type are for the last crates", anyhow),
    ("a long file says why", lengths),
    ("a long function says why", long_functions),
    ("no crate is above a quarter of the code", shares),
    ("what runs on WebAssembly reads no clock", clocks),
    ("crates for all games name none", named_games),
    ("compiled-in files are in the crate's package", inclusions),
    ("every file of tests belongs to a program of tests", suites),
    ("nothing is left to be done", leftovers),
];

#[test]
fn the_workspace_is_tidy() {
    let workspace = Workspace::read();
    let found: Vec<_> = RULES
        .iter()
        .flat_map(|(name, rule)| rule(&workspace).into_iter().map(move |fault| format!("{name}: {fault}\n")))
        .collect();
    assert!(found.is_empty(), "\n{}", found.concat());
}

fn layers(workspace: &Workspace) -> Vec<String> {
    let mut faults = Vec::new();
    for member in &workspace.crates {
        let Some(layer) = LAYERS.iter().position(|layer| *layer == member.folder) else {
            faults.push(format!("{} is not in the list of layers", member.folder));
            continue;
        };
        let names = member.dependencies.iter().filter_map(|(name, _)| workspace.folder_of(name));
        let late = names.filter(|name| !LAYERS[..layer].contains(name));
        faults.extend(late.map(|name| format!("{} depends on {name}", member.folder)));
    }
    faults
}

fn independence(workspace: &Workspace) -> Vec<String> {
    let dependencies = |folder: &str| {
        let found = workspace.crates.iter().find(|member| member.folder == folder);
        found.map_or(&[][..], |member| member.dependencies.as_slice())
    };
    let mut faults = Vec::new();
    for (name, _) in dependencies("statistics").iter().filter(|(name, _)| name != "serde") {
        faults.push(format!("statistics depends on {name}"));
    }
    for folder in ["base", "models"] {
        let knows_games = dependencies(folder).iter().any(|(name, _)| workspace.folder_of(name) == Some("env"));
        faults.extend(knows_games.then(|| format!("{folder} depends on env, which knows games")));
    }
    // It brings every crate below burn.
    for member in workspace.crates.iter().filter(|member| member.folder != "models") {
        let found = member.dependencies.iter().filter(|(name, _)| workspace.folder_of(name) == Some("models/features"));
        faults.extend(found.map(|_| format!("{} depends on features", member.folder)));
    }
    for folder in ["env", "search", "exact", "statistics", "base", "agents", "games", "apps/web", "selfplay", "arena"] {
        for (name, optional) in dependencies(folder) {
            if !optional && matches!(name.as_str(), "burn" | "clap") {
                faults.push(format!("{folder} depends on {name}"));
            }
        }
    }
    // Asynchronous code is behind the blocking interface of one crate.
    for member in workspace.crates.iter().filter(|member| member.folder != "apps/cluster") {
        let found = member.dependencies.iter().filter(|(name, _)| matches!(name.as_str(), "tokio" | "async-nats"));
        faults.extend(found.map(|(name, _)| format!("{} depends on {name}", member.folder)));
    }
    faults
}

/// The Python package's workspace has the lints, the version and the locked dependencies of the repository's, and our crates
/// are optimised in every workspace.
fn workspaces(workspace: &Workspace) -> Vec<String> {
    let [root, python] = ["Cargo.toml", "apps/python/Cargo.toml"].map(workspace::manifest);
    let [locked, python_locked] = ["Cargo.lock", "apps/python/Cargo.lock"].map(workspace::manifest);
    let mut faults = Vec::new();
    if root["workspace"]["lints"] != python["workspace"]["lints"] {
        faults.push("apps/python/Cargo.toml has other lints".to_owned());
    }
    for key in ["version", "edition", "rust-version", "license"] {
        if root["workspace"]["package"][key] != python["package"][key] {
            faults.push(format!("apps/python/Cargo.toml has another {key}"));
        }
    }
    faults.extend(other_versions(&locked, &python_locked));
    faults.extend(unoptimised(workspace, &workspace::manifest(".cargo/config.toml")));
    faults
}

/// Our crates that a workspace of which they are no members would compile as it does other dependencies: `"*"` means both.
fn unoptimised(workspace: &Workspace, config: &toml::Table) -> Vec<String> {
    let packages = &config["profile"]["release"]["package"];
    let ours = workspace.crates.iter().filter(|member| !matches!(&*member.folder, "models/features" | "apps/python"));
    let level = |name: &str| packages.get(name).and_then(|profile| profile["opt-level"].as_integer());
    let without = ours.map(|member| &*member.name).filter(|name| level(name).is_none_or(|level| level == 0));
    without.map(|name| format!(".cargo/config.toml does not optimise {name}")).collect()
}

/// The packages of the second lock file that the first has, but in other versions.
fn other_versions(first: &toml::Table, second: &toml::Table) -> Vec<String> {
    let packages = |lock: &toml::Table| -> Vec<(String, String)> {
        let packages = lock["package"].as_array().into_iter().flatten();
        let text = |package: &toml::Value, key: &str| package[key].as_str().unwrap_or_default().to_owned();
        packages.map(|package| (text(package, "name"), text(package, "version"))).collect()
    };
    let first = packages(first);
    let mut other = packages(second);
    other.retain(|(name, _)| first.iter().any(|(known, _)| known == name));
    other.retain(|package| !first.contains(package));
    other.into_iter().map(|(name, version)| format!("apps/python/Cargo.lock has {name} {version}")).collect()
}

fn circles(workspace: &Workspace) -> Vec<String> {
    let mut faults = Vec::new();
    for member in &workspace.crates {
        let modules = member.modules();
        for (place, module) in modules {
            let globs = module.imports.iter().filter(|import| import.name == "*");
            let own = globs.filter(|glob| matches!(glob.path.segments[0].as_str(), "crate" | "self" | "super"));
            faults.extend(own.map(|_| format!("{}: `*` of {} hides what is used", member.folder, place.join("::"))));
        }
        match graph::uses(modules) {
            Ok(uses) => {
                let circles = graph::circles(&uses);
                faults.extend(circles.iter().map(|circle| format!("{}: {circle:#?}", member.folder)));
            }
            Err(fault) => faults.push(format!("{}/src/{fault}", member.folder)),
        }
    }
    faults
}

fn reading_order(workspace: &Workspace) -> Vec<String> {
    let mut faults = Vec::new();
    for member in &workspace.crates {
        let modules = member.modules();
        let Ok(uses) = graph::uses(modules) else { continue }; // `circles` says what cannot be followed
        faults.extend(graph::early_uses(modules, &uses).iter().map(|fault| format!("{}/src/{fault}", member.folder)));
    }
    faults
}

fn first_lines(workspace: &Workspace) -> Vec<String> {
    let begins = |text: &str| {
        let sentence = text.strip_prefix("//! ");
        sentence.is_some_and(|sentence| sentence.starts_with(|first: char| first.is_uppercase() || first == '`'))
    };
    workspace.sources().filter(|(_, _, text)| !begins(text)).map(|(_, path, _)| path).collect()
}

fn exits(workspace: &Workspace) -> Vec<String> {
    let mut faults = Vec::new();
    for (_, path, text) in workspace.sources().filter(|(member, ..)| !PROGRAMS.contains(&member.folder.as_str())) {
        faults.extend(places(text, &path, &[&["process", "::", "exit"]], tokens));
    }
    faults
}

fn anyhow(workspace: &Workspace) -> Vec<String> {
    let without = workspace.crates.iter().filter(|member| !WITH_ANYHOW.contains(&member.folder.as_str()));
    let faults = without.filter(|member| member.dependencies.iter().any(|(name, _)| name == "anyhow"));
    faults.map(|member| format!("{} depends on it", member.folder)).collect()
}

fn lengths(workspace: &Workspace) -> Vec<String> {
    let long = |text: &str| text.lines().count() > LONGEST_FILE;
    let says_why = |text: &str| text.lines().take(30).any(|line| line.starts_with("// tidy: long because "));
    let faults = workspace.all_sources.iter().filter(|(_, text)| long(text) && !says_why(text));
    faults.map(|(path, text)| format!("{path} has {} lines", text.lines().count())).collect()
}

/// One line says why, directly above a function or above its docs, and no line says so of a function that is short.
fn long_functions(workspace: &Workspace) -> Vec<String> {
    let mut faults = Vec::new();
    for member in &workspace.crates {
        let modules = member.modules();
        // Modules of tests are left out: their functions may be long.
        let files: BTreeSet<&str> = modules.values().map(|module| module.file.as_str()).collect();
        for file in files {
            let path = format!("{}/src/{file}", member.folder);
            let lines = (1..).zip(member.sources[file].lines());
            let mut reasons: BTreeSet<usize> = lines
                .filter(|(_, text)| text.trim_start().starts_with("// long because "))
                .map(|(line, _)| line)
                .collect();
            let functions = modules.values().filter(|module| module.file == file).flat_map(|module| &module.functions);
            for Function { name, line, length, heads } in functions {
                let long = *length > LONGEST_FUNCTION;
                if long && !heads.iter().any(|head| reasons.remove(&(head - 1))) {
                    faults.push(format!("{path}:{line}: {name} has {length} lines"));
                }
            }
            faults
                .extend(reasons.into_iter().map(|line| format!("{path}:{line}: the reason is above no long function")));
        }
    }
    faults
}

fn shares(workspace: &Workspace) -> Vec<String> {
    let lines = |member: &Crate| member.sources.values().map(|text| text.lines().count()).sum::<usize>();
    let all: usize = workspace.crates.iter().map(lines).sum();
    let share = |member: &Crate| lines(member) as f64 / all as f64;
    let large = workspace.crates.iter().filter(|member| share(member) > LARGEST_SHARE);
    large.map(|member| format!("{} is {:.0} % of it", member.folder, 100.0 * share(member))).collect()
}

fn clocks(workspace: &Workspace) -> Vec<String> {
    let allowed = ["cfg(test)", "cfg(not(target_family=\"wasm\"))"];
    let mut faults = Vec::new();
    for member in workspace.crates.iter().filter(|member| WITHOUT_CLOCK.contains(&member.folder.as_str())) {
        for module in member.modules().values() {
            if module.conditions.iter().any(|condition| condition == "not(target_family=\"wasm\")") {
                continue;
            }
            let path = format!("{}/src/{}", member.folder, module.file);
            let code = |text: &str| listed(without_items(trees(text), &allowed));
            let clocks = [&["Instant", "::", "now"][..], &["SystemTime"]];
            faults.extend(places(&member.sources[&module.file], &path, &clocks, code));
        }
    }
    faults
}

/// The built-in games in code, not in comments, tests or attributes (help has examples).
fn named_games(workspace: &Workspace) -> Vec<String> {
    let plain = |text: &str| text.to_lowercase().replace('_', "");
    let names: Vec<String> = turnstone_env::games::NAMES.iter().map(|name| plain(name)).collect();
    let mut faults = Vec::new();
    for member in workspace.crates.iter().filter(|member| WITHOUT_GAMES.contains(&member.folder.as_str())) {
        let files: BTreeSet<&String> = member.modules().values().map(|module| &module.file).collect();
        for file in files {
            if !names.iter().any(|name| plain(&member.sources[file]).contains(name)) {
                continue; // most need no reading
            }
            let code = without_items(trees(&member.sources[file]), &["cfg(test)"]);
            let code = listed(without_attributes(code));
            let named = code.iter().filter(|token| names.iter().any(|name| plain(&token.text).contains(name)));
            faults.extend(named.map(|token| format!("{}/src/{file}:{}: {}", member.folder, token.line, token.text)));
        }
    }
    faults
}

/// The folder of the package that a file belongs to, and the file's path in it.
fn package_of(path: &str) -> Option<(&str, &str)> {
    let grouped = path.starts_with("apps/") || path.starts_with("checks/");
    let (end, _) = path.match_indices('/').nth(usize::from(grouped))?;
    Some((&path[..end], &path[end + 1..]))
}

fn inclusions(workspace: &Workspace) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, text) in &workspace.all_sources {
        let Some((package, within)) = package_of(path).filter(|(package, _)| *package != "checks/xtask") else {
            continue;
        };
        if !text.contains("include") {
            continue;
        }
        for call in calls(trees(text)).iter().filter(|call| call.name.starts_with("include")) {
            // Of `concat!` the first text says where the path leads; with `env!` it is the build's own place.
            let file = call.arguments.iter().find(|token| token.kind == Kind::Literal).map_or("", |token| &*token.text);
            let up = file.matches("../").count();
            if up > within.matches('/').count() && !call.arguments.iter().any(|token| token.text == "env") {
                faults.push(format!("{path}:{}: {file} is outside of {package}", call.line));
            }
        }
    }
    faults
}

/// Where `tests/suite.rs` makes one program of a crate's tests, a file that it does not name would never run.
fn suites(workspace: &Workspace) -> Vec<String> {
    let mut faults = Vec::new();
    for member in &workspace.crates {
        let folder = format!("{}/tests/", member.folder);
        let Some(suite) = workspace.all_sources.get(&format!("{folder}suite.rs")) else { continue };
        let code = tokens(suite);
        let files = workspace.all_sources.keys().filter_map(|path| path.strip_prefix(&folder)?.strip_suffix(".rs"));
        for name in files.filter(|name| !name.contains('/')) {
            let declared = (0..code.len()).any(|at| starts_with(&code, at, &["mod", name, ";"]));
            if !declared && !member.test_programs.iter().any(|program| program == name) {
                faults.push(format!("{folder}{name}.rs is not in suite.rs"));
            }
        }
    }
    faults
}

fn leftovers(workspace: &Workspace) -> Vec<String> {
    let patterns = [&["todo", "!"][..], &["unimplemented", "!"], &["dbg", "!"], &["#", "[", "ignore"]];
    workspace.all_sources.iter().flat_map(|(path, text)| places(text, path, &patterns, tokens)).collect()
}

/// Where tokens of one of these patterns stand in a file.
fn places(text: &str, path: &str, patterns: &[&[&str]], tokens: impl Fn(&str) -> Vec<Token>) -> Vec<String> {
    let mut found = Vec::new();
    // Most files need no reading.
    for pattern in patterns.iter().filter(|pattern| pattern.iter().all(|part| text.contains(part))) {
        let code = tokens(text);
        let at = (0..code.len()).filter(|&at| starts_with(&code, at, pattern));
        found.extend(at.map(|at| format!("{path}:{}: {}", code[at].line, joined(&code[at..at + pattern.len()]))));
    }
    found
}
