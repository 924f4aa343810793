//! Planted faults: each rule finds its own, and nothing in a tidy crate.

use std::collections::BTreeMap;

use super::*;

/// A made-up crate: folder, dependencies (`name?` if optional) and the text of each file.
type MadeUp<'a> = (&'a str, &'a [&'a str], &'a [(&'a str, &'a str)]);

fn workspace(crates: &[MadeUp<'_>]) -> Workspace {
    let crates = crates.iter().map(|(folder, dependencies, files)| Crate {
        folder: (*folder).to_owned(),
        name: format!("turnstone-{}", folder.rsplit('/').next().expect("a name")),
        dependencies: dependencies
            .iter()
            .map(|name| (name.trim_end_matches('?').into(), name.ends_with('?')))
            .collect(),
        test_programs: vec!["suite".to_owned()],
        sources: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect(),
        parsed: std::cell::OnceCell::new(),
    });
    let mut workspace = Workspace { crates: crates.collect(), all_sources: BTreeMap::new() };
    workspace.all_sources = workspace.sources().map(|(_, path, text)| (path, text.to_owned())).collect();
    workspace
}

/// What a rule finds in one crate.
fn found(rule: Rule, folder: &str, dependencies: &[&str], files: &[(&str, &str)]) -> Vec<String> {
    rule(&workspace(&[(folder, dependencies, files)]))
}

#[track_caller]
fn assert_finds(rule: Rule, folder: &str, text: &str, expected: usize) {
    assert_eq!(found(rule, folder, &[], &[("lib.rs", text)]).len(), expected, "{text}");
}

/// A crate of two files, and whether they use each other in a circle.
fn is_circle(lib: &str, a: &str, b: &str) -> bool {
    let faults = found(circles, "env", &[], &[("lib.rs", lib), ("a.rs", a), ("b.rs", b)]);
    assert!(faults.iter().all(|fault| fault.contains("uses")), "{faults:?}");
    !faults.is_empty()
}

#[test]
fn crates_have_an_order() {
    let of = |agents: &[&str], env: &[&str]| layers(&workspace(&[("env", env, &[]), ("agents", agents, &[])]));
    assert_eq!(of(&["turnstone-env", "serde"], &["rand"]), [""; 0]);
    assert_eq!(of(&[], &["turnstone-agents"]), ["env depends on turnstone-agents".replace("turnstone-", "")]);
    assert_eq!(of(&["xtask"], &[]).len(), 1);
    assert_eq!(layers(&workspace(&[("new", &[], &[])])).len(), 1);
    let on_base = |folder| layers(&workspace(&[("base", &[], &[]), (folder, &["turnstone-base"], &[])])).len();
    assert_eq!(["env", "search", "exact", "statistics", "models"].map(on_base), [1, 1, 1, 1, 0]);
    assert_eq!(found(independence, "statistics", &["serde"], &[]), [""; 0]);
    assert_eq!(found(independence, "statistics", &["rand"], &[]).len(), 1);
    assert_eq!(found(independence, "arena", &["clap"], &[]).len(), 1);
    let with_env = |folder| independence(&workspace(&[("env", &[], &[]), (folder, &["turnstone-env"], &[])]));
    assert_eq!(["base", "models", "agents"].map(|folder| with_env(folder).len()), [1, 1, 0]);
    let with_features =
        |folder| independence(&workspace(&[("models/features", &[], &[]), (folder, &["turnstone-features"], &[])]));
    assert_eq!((with_features("models").len(), with_features("env").len()), (0, 1));
}

#[test]
fn lock_files_are_compared() {
    let lock = |packages: &[(&str, &str)]| {
        let package = |(name, version): &(&str, &str)| format!("[[package]]\nname = '{name}'\nversion = '{version}'\n");
        packages.iter().map(package).collect::<String>().parse::<toml::Table>().expect("it is a lock file")
    };
    let first = lock(&[("rand", "0.10.3"), ("rand", "0.9.2"), ("serde", "1.0.229")]);
    assert_eq!(other_versions(&first, &lock(&[("rand", "0.10.3"), ("pyo3", "0.30.1")])), [""; 0]);
    assert_eq!(other_versions(&first, &lock(&[("rand", "0.10.4"), ("serde", "1.0.229")])).len(), 1);
}

#[test]
fn our_crates_are_optimised_in_every_workspace() {
    let ours = workspace(&[("env", &[], &[]), ("models/features", &[], &[])]);
    let config = |packages: &str| format!("[profile.release.package]\n{packages}").parse().expect("it is a config");
    assert_eq!(unoptimised(&ours, &config("turnstone-env = { opt-level = 3 }")), [""; 0]);
    for packages in ["turnstone-env = { opt-level = 0 }", "turnstone-search = { opt-level = 3 }"] {
        assert_eq!(unoptimised(&ours, &config(packages)), [".cargo/config.toml does not optimise turnstone-env"]);
    }
}

#[test]
fn circles_are_found() {
    let lib = "mod a; mod b;";
    assert!(is_circle(lib, "use crate::b::B; pub struct A;", "use super::a::A; pub struct B;"));
    assert!(is_circle(lib, "use crate::{b::{B, C as D}}; pub struct A;", "pub enum C {} pub struct B(crate::a::A);"));
    assert!(is_circle(lib, "use crate::b; fn f() { b::g::<u8>() }", "pub fn g<T>() { super::a::f() }"));
    assert!(!is_circle(lib, "use crate::b::B; pub struct A;", "pub struct B;"));
    // An export leads to the file that defines the name, and is itself no use of it.
    assert!(is_circle("mod a; mod b; pub use a::A;", "use crate::b::B; pub struct A;", "use crate::A; pub struct B;"));
    assert!(!is_circle("mod a; mod b; pub use a::A;", "pub struct A;", "use crate::A;"));
    // Where the parent needs the name too, it uses the child.
    assert!(is_circle("mod a; mod b; pub use a::A; pub struct L(A);", "use crate::L; pub struct A;", ""));
    assert!(!is_circle("mod a; mod b; pub use a::A; pub struct L;", "use crate::L; pub struct A;", ""));
    // An exported macro is a name of the root, and leads to its file.
    let exported = "#[macro_export] macro_rules! m { () => {}; } pub fn f() { crate::a::f() }";
    assert!(is_circle(lib, "pub fn f() { crate::m!() }", exported));
    assert!(!is_circle(lib, "pub fn f() {}", exported));
    // Neither tests nor comments nor texts are uses.
    let tests = "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }";
    assert!(!is_circle(lib, "use crate::b::B; pub struct A;", tests));
    assert!(!is_circle(lib, "use crate::b::B; pub struct A;", "/* crate::a::A */ const B: &str = r#\"crate::a::A\"#;"));
}

#[test]
fn modules_stand_in_reading_order() {
    let early = |lib: &str, a: &str, b: &str| {
        found(reading_order, "env", &[], &[("lib.rs", lib), ("a.rs", a), ("b.rs", b), ("b/c.rs", "pub fn h() {}")])
            .len()
    };
    assert_eq!(early("mod a; mod b;", "pub fn f() {}", "mod c; fn g() { crate::a::f(); c::h() }"), 0);
    assert_eq!(early("mod b; mod a;", "pub fn f() {}", "mod c; fn g() { crate::a::f() }"), 1);
    assert_eq!(early("mod a; mod b;", "pub fn f() { super::b::c::h() }", "pub mod c;"), 1);
}

#[test]
fn longer_circles_and_blocks_are_found() {
    let files = [
        ("lib.rs", "mod a; mod c;"),
        ("a.rs", "mod b; pub fn f() { b::g() }"),
        ("a/b.rs", "mod inner { pub fn h() { super::super::super::c::k() } } pub fn g() { inner::h() }"),
        ("c.rs", "pub fn k() { crate::a::f() }"),
    ];
    let faults = found(circles, "env", &[], &files);
    assert_eq!(faults.len(), 1);
    assert!(["a.rs uses a/b.rs", "a/b.rs uses c.rs", "c.rs uses a.rs"].iter().all(|step| faults[0].contains(step)));
}

#[test]
fn what_cannot_be_followed_is_a_fault() {
    assert_finds(circles, "env", "mod a { pub fn f() {} } fn g() { a::f(); crate::a::f(); }", 0);
    assert_finds(circles, "env", "mod a { pub fn f() {} } use crate::a::nothing;", 1);
    assert_finds(circles, "env", "mod a { pub fn f() {} } use a::*;", 0);
    assert_finds(circles, "env", "mod a { pub fn f() {} } use self::a::*;", 1);
    assert_finds(circles, "env", "mod a { #[macro_export] macro_rules! m { () => {}; } } fn f() { crate::m!() }", 0);
    assert_finds(circles, "env", "mod a { macro_rules! m { () => {}; } } fn f() { crate::m!() }", 1);
}

#[test]
fn files_begin_with_a_sentence() {
    assert_finds(first_lines, "env", "//! `a` and its kin.\n", 0);
    assert_finds(first_lines, "env", "use a;\n//! Late.\n", 1);
    assert_finds(first_lines, "env", "// Not for readers.\n", 1);
}

#[test]
fn the_program_alone_ends_the_process() {
    assert_finds(exits, "apps/cli", "fn f() { std::process::exit(1) }", 0);
    assert_finds(exits, "arena", "fn f() { std::process::exit(1) }", 1);
    assert_finds(exits, "arena", "// process::exit\nconst A: &str = \"process::exit\";", 0);
}

#[test]
fn errors_have_types() {
    assert_eq!(found(anyhow, "agents", &["thiserror"], &[]), [""; 0]);
    assert_eq!(found(anyhow, "agents", &["anyhow"], &[]).len(), 1);
    assert_eq!(found(anyhow, "trainer", &["anyhow"], &[]), [""; 0]);
    assert_eq!(found(anyhow, "games", &["anyhow"], &[]).len(), 1);
}

#[test]
fn long_files_say_why() {
    let lines = |count| "\n".repeat(count);
    assert_finds(lengths, "env", &lines(LONGEST_FILE), 0);
    assert_finds(lengths, "env", &lines(LONGEST_FILE + 1), 1);
    assert_finds(lengths, "env", &format!("// tidy: long because it is one table.{}", lines(LONGEST_FILE + 1)), 0);
    assert_finds(lengths, "env", &format!("{}// tidy: long because it grew.", lines(LONGEST_FILE + 1)), 1);
}

#[test]
fn long_functions_say_why() {
    let lines = |count: usize| "\n".repeat(count - 1);
    let (short, long) = (format!("fn f() {{{}}}", lines(LONGEST_FUNCTION)), format!("fn f() {{{}}}", lines(41)));
    assert_finds(long_functions, "env", &short, 0);
    assert_finds(long_functions, "env", &long, 1);
    assert_finds(long_functions, "env", &format!("// long because it is one table.\npub {long}"), 0);
    assert_finds(long_functions, "env", &format!("// long because it is one.\n/// Docs.\n#[inline]\npub {long}"), 0);
    assert_finds(long_functions, "env", &format!("/// Docs.\n// long because it is one.\npub {long}"), 0);
    assert_finds(long_functions, "env", &format!("// long because it was.\n\n{long}"), 2);
    assert_finds(long_functions, "env", &format!("// long because it was.\n{short}"), 1);
    assert_finds(
        long_functions,
        "env",
        &format!("// long because it is.\n/// Docs.\n// long because it is.\n{long}"),
        1,
    );
    assert_finds(long_functions, "env", &format!("mod a {{ impl A {{ {long} }} trait B {{ {long} }} }}"), 2);
    assert_finds(long_functions, "env", &format!("#[cfg(test)] mod a {{ {long} }}"), 0);
    let tests = [("lib.rs", "#[cfg(test)] mod tests;"), ("tests.rs", long.as_str())];
    assert_eq!(found(long_functions, "env", &[], &tests), [""; 0]);
}

#[test]
fn no_crate_is_too_large() {
    let of = |lines: [usize; 5]| {
        let texts = lines.map(|lines| "\n".repeat(lines));
        let files: Vec<_> = texts.iter().map(|text| [("lib.rs", text.as_str())]).collect();
        let crates: Vec<_> = LAYERS.iter().zip(&files).map(|(name, files)| (*name, &[][..], &files[..])).collect();
        shares(&workspace(&crates)).len()
    };
    assert_eq!((of([25, 25, 25, 20, 5]), of([30, 20, 20, 20, 10])), (0, 1));
}

#[test]
fn the_clock_is_for_others() {
    assert_finds(clocks, "search", "fn f() { let t = std::time::Instant::now(); }", 1);
    assert_finds(clocks, "search", "use std::time::SystemTime;", 1);
    assert_finds(clocks, "search", "#[cfg(not(target_family = \"wasm\"))] fn f() { Instant::now(); }", 0);
    assert_finds(clocks, "search", "#[cfg(test)] mod tests { fn f() { Instant::now(); } }", 0);
    assert_finds(
        clocks,
        "search",
        "#[cfg(not(target_family = \"wasm\"))] mod a { fn f() {} } fn g() { Instant::now(); }",
        1,
    );
    assert_finds(clocks, "arena", "fn f() { Instant::now(); }", 0);
    let files = [
        ("lib.rs", "#[cfg(not(target_family = \"wasm\"))] mod a;"),
        ("a.rs", "mod b;"),
        ("a/b.rs", "fn f() { Instant::now(); }"),
    ];
    assert_eq!(found(clocks, "agents", &[], &files), [""; 0]);
}

#[test]
fn frameworks_name_no_game() {
    assert_finds(named_games, "search", "use turnstone_env::games::MuTorere;", 1);
    assert_finds(named_games, "trainer", "fn f(name: &str) -> bool { name == \"mancala\" }", 1);
    assert_finds(named_games, "agents", "pub struct KonaneSolver; fn solve_konane() {}", 2);
    assert_finds(named_games, "exact", "/// As in Morris.\npub struct Solver; // not Konane", 0);
    assert_finds(named_games, "arena", "#[cfg(test)] mod tests { use turnstone_games::Mancala; }", 0);
    assert_finds(named_games, "games", "pub struct Mancala;", 0);
    assert_finds(named_games, "apps/cli", "#[command(after_help = \"play mancala\")] struct Play { mancala: u8 }", 1);
    let files =
        [("lib.rs", "#[cfg(test)] mod tests;\nmod a;"), ("tests.rs", "use x::Mancala;"), ("a.rs", "type A = Morris;")];
    assert_eq!(found(named_games, "selfplay", &[], &files), ["selfplay/src/a.rs:1: Morris"]);
}

#[test]
fn packages_are_whole() {
    assert_finds(inclusions, "env", "const A: &str = include_str!(\"../a.txt\");", 0);
    assert_finds(inclusions, "env", "const A: &str = include_str!(\"../../a.txt\");", 1);
    assert_finds(inclusions, "env", "const A: &[u8] = include_bytes!(concat!(\"../../\", \"a.txt\"));", 1);
    assert_finds(inclusions, "env", "include!(concat!(env!(\"OUT_DIR\"), \"/../../a.rs\"));", 0);
    assert_finds(inclusions, "apps/cli", "const A: &str = include_str!(\"../a.txt\");", 0);
    assert_finds(inclusions, "apps/cli", "const A: &str = include_str!(\"../../a.txt\");", 1);
    assert_finds(inclusions, "env", "#![doc = include_str!(\"../../README.md\")]", 1);
}

#[test]
fn nothing_is_left() {
    for text in
        ["fn f() { todo!() }", "fn f() { dbg!(1); }", "#[test] #[ignore] fn f() {}", "#[ignore = \"slow\"] fn f() {}"]
    {
        assert_finds(leftovers, "env", text, 1);
    }
    assert_finds(leftovers, "env", "fn todo(ignore: u8) {} // todo!", 0);
}

#[test]
fn tokens_have_lines() {
    let found = |code: &[Token]| code.iter().map(|token| (token.text.clone(), token.line)).collect::<Vec<_>>();
    let code = tokens("a /* b /* c */ d */ ::e // f\n(\"g h\")");
    let expected = [("a", 1), ("::", 1), ("e", 1), ("(", 2), ("\"g h\"", 2), (")", 2)];
    assert_eq!(found(&code), expected.map(|(text, line)| (text.to_owned(), line)));
    let left = |text: &str| joined(&listed(without_items(trees(text), &["cfg(test)"])));
    assert_eq!(
        left("#[cfg(test)] use a::{b, c}; fn d() {} mod e { #[cfg(test)] #[f] fn g(h: [u8; 1]) {} i!(#) }"),
        "fnd(){}mode{i!(#)}"
    );
    assert_eq!(left("#![a] /// b\n#[cfg(test)] mod c; #[cfg(d)] mod e;"), "#![a]#[cfg(d)]mode;");
    assert_eq!(joined(&listed(without_attributes(trees("#![a] /// b\n#[c(d)] fn e(#[f] g: u8) {}")))), "fne(g:u8){}");
}

#[test]
fn files_of_tests_that_never_run_are_found() {
    let mut workspace = workspace(&[("env", &[], &[])]);
    workspace.all_sources.insert("env/tests/suite.rs".into(), "//! Tests.\n\nmod perft;\n".into());
    workspace.all_sources.insert("env/tests/perft.rs".into(), String::new());
    workspace.all_sources.insert("env/tests/perft/helper.rs".into(), String::new());
    assert_eq!(suites(&workspace), [""; 0]);
    workspace.all_sources.insert("env/tests/new.rs".into(), String::new());
    assert_eq!(suites(&workspace), ["env/tests/new.rs is not in suite.rs"]);
}
