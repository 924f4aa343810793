//! What builds of the repository consist of: no crate for GPUs by default, one set of features for burn, the same versions
//! and lints in every workspace, and every file of tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use xtask::root;

/// The packages of a build, each with its sets of features, from `cargo tree` in a folder of the repository. Code that runs
/// while others compile may have a set of its own.
type Packages = BTreeMap<String, BTreeSet<String>>;

fn packages(folder: &str, arguments: &str) -> Packages {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--prefix", "none", "--format", "{p}|{f}"])
        .args(arguments.split(' '))
        .current_dir(root().join(folder))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut packages = Packages::new();
    for (package, features) in text.lines().filter_map(|line| line.split_once('|')) {
        packages.entry(package.replace(" (proc-macro)", "")).or_default().insert(features.replace(" (*)", ""));
    }
    packages
}

/// The names of the packages that a build of the program with these features consists of.
fn names(features: &str) -> BTreeSet<String> {
    let all = packages(".", &format!("-p turnstone -e normal,build --features={features}"));
    all.into_keys().filter_map(|package| package.split(' ').next().map(str::to_owned)).collect()
}

/// Whether a package is one of burn's for GPUs, of what they compile kernels with, or of what they reach GPUs through.
/// `cubecl-common`, `-environment` and `-zspace` are vocabulary of burn's own crates.
fn is_for_gpus(package: &str) -> bool {
    let burns = ["burn-cubecl", "burn-fusion", "burn-wgpu", "burn-cuda", "burn-rocm"];
    let vocabulary = ["cubecl-common", "cubecl-environment", "cubecl-zspace"];
    let begins = ["cubecl", "cubek", "wgpu", "naga", "cudarc"].iter().any(|name| package.starts_with(name));
    (begins || burns.iter().any(|name| package.starts_with(name)) || package == "ash") && !vocabulary.contains(&package)
}

#[test]
fn the_default_build_has_no_gpu_crate() {
    let default = names("");
    let found: Vec<&String> = default.iter().filter(|package| is_for_gpus(package)).collect();
    assert_eq!(found, [""; 0]);
    // What the features bring is recognised.
    for (feature, package) in [("wgpu", "wgpu-core"), ("cuda", "cudarc")] {
        let added: BTreeSet<String> = &names(feature) - &default;
        assert!(added.contains(package), "{feature} does not bring {package}");
        assert!(is_for_gpus(package) && added.iter().filter(|package| is_for_gpus(package)).count() > 10, "{added:?}");
    }
}

/// The packages that only the first of two builds compiles with some features, after which burn is compiled once for each.
fn differences(common: &BTreeSet<String>, one: &Packages, other: &Packages) -> Vec<String> {
    let both = common.iter().filter_map(|package| Some((package, one.get(package)?, other.get(package)?)));
    both.filter(|(_, one, other)| !one.is_subset(other))
        .map(|(package, one, other)| format!("{package}: {one:?} | {other:?}"))
        .collect()
}

#[test]
fn every_build_compiles_burn_with_the_same_features() {
    let burn: BTreeSet<String> = packages(".", "-p burn -e normal,build").into_keys().collect();
    assert!(burn.len() > 100, "{burn:?}");
    let program = packages(".", "-p turnstone -e normal,build");
    for (folder, arguments) in [
        (".", "-p turnstone -e normal,build --features cluster"),
        (".", "--workspace -e normal,build,dev"),
        (".", "-p turnstone-trainer -e normal,build"),
        (".", "-p turnstone-models -e normal,build,dev --features train"),
        ("examples/own_game", "-e normal,build,dev"),
        ("apps/python", "-e normal,build"),
    ] {
        let found = differences(&burn, &program, &packages(folder, arguments));
        assert!(
            found.is_empty(),
            "models/features/Cargo.toml lacks a feature for `cargo tree {arguments}` in {folder}:\n{}",
            found.join("\n")
        );
    }
    // A difference is seen: without `turnstone-features`, rand has fewer features.
    let rand: BTreeSet<String> = program.keys().filter(|package| package.starts_with("rand ")).cloned().collect();
    let alone = packages(".", "-p turnstone-env -e normal,build");
    assert_eq!(differences(&rand, &program, &alone).len(), 1);
}

fn table(path: &str) -> toml::Table {
    fs::read_to_string(root().join(path)).expect("readable").parse().expect("TOML")
}

/// The Python package is a workspace of its own, since pyo3 shall not be part of the repository's builds.
#[test]
fn the_workspaces_agree() {
    let [ours, python] = ["Cargo.toml", "apps/python/Cargo.toml"].map(table);
    assert_eq!(ours["workspace"]["lints"], python["workspace"]["lints"]);
    for key in ["version", "edition", "rust-version", "license"] {
        assert_eq!(ours["workspace"]["package"][key], python["package"][key], "{key}");
    }
    let [ours, python] = ["Cargo.lock", "apps/python/Cargo.lock"].map(|path| {
        let versions = table(path)["package"].as_array().expect("a list").clone().into_iter().map(|package| {
            (
                package["name"].as_str().expect("a name").to_owned(),
                package["version"].as_str().expect("text").to_owned(),
            )
        });
        versions.collect::<BTreeSet<_>>()
    });
    let other = python.difference(&ours).filter(|(name, _)| ours.iter().any(|(known, _)| known == name));
    let other: Vec<_> = other.collect();
    assert!(other.is_empty(), "apps/python/Cargo.lock has other versions: {other:?}");
}

/// In the other workspaces our crates are dependencies, which the profile of `"*"` would leave as slow as those.
#[test]
fn our_crates_are_optimised_in_every_workspace() {
    let config = table(".cargo/config.toml");
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let names = manifest.lines().filter_map(|line| line.split_once(" = { path")).map(|(name, _)| name);
    for name in names.filter(|name| *name != "turnstone-features") {
        let level =
            config["profile"]["release"]["package"].get(name).and_then(|profile| profile["opt-level"].as_integer());
        assert!(level.is_some_and(|level| level > 0), ".cargo/config.toml does not optimise {name}");
    }
}

/// Where `tests/suite.rs` makes one program of a crate's tests, a file that it does not name would never run.
#[test]
fn suites_have_every_file_of_tests() {
    for member in table("Cargo.toml")["workspace"]["members"].as_array().expect("a list") {
        let folder = root().join(member.as_str().expect("a folder"));
        let Ok(suite) = fs::read_to_string(folder.join("tests/suite.rs")) else { continue };
        let named = suite + &fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        for file in fs::read_dir(folder.join("tests")).expect("a folder") {
            let file = file.expect("an entry").file_name().into_string().expect("UTF-8");
            let Some(name) = file.strip_suffix(".rs") else { continue };
            let ways = [format!("mod {name};"), format!("name = \"{name}\"")];
            assert!(ways.iter().any(|line| named.contains(line)), "{}: {file} is not named", folder.display());
        }
    }
}
