//! The manifests and sources of the workspace.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::modules::{Modules, modules};

/// A crate of the workspace.
pub(crate) struct Crate {
    pub(crate) folder: String,
    pub(crate) name: String,
    /// Normal and build dependencies, each with whether it is optional.
    pub(crate) dependencies: Vec<(String, bool)>,
    /// The programs of tests that the manifest names.
    pub(crate) test_programs: Vec<String>,
    /// The files under `src`, by path relative to it.
    pub(crate) sources: BTreeMap<String, String>,
    pub(crate) parsed: OnceCell<Modules>,
}

impl Crate {
    /// The modules of its library, without tests.
    pub(crate) fn modules(&self) -> &Modules {
        self.parsed.get_or_init(|| modules(&self.sources))
    }
}

/// What the rules are about.
pub(crate) struct Workspace {
    /// The members but this one and the fuzz targets, on which nothing depends, and the Python package, which is a
    /// workspace of its own.
    pub(crate) crates: Vec<Crate>,
    /// Every file of Rust, tests, examples and benches too, by path relative to the workspace.
    pub(crate) all_sources: BTreeMap<String, String>,
}

impl Workspace {
    /// Reads the workspace around this crate.
    pub(crate) fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two folders below the workspace");
        let mut all_sources = BTreeMap::new();
        read_sources(root, "", &mut all_sources);
        let manifest = table(&root.join("Cargo.toml"));
        let members = manifest["workspace"]["members"].as_array().expect("members are a list");
        let members = members.iter().map(|member| member.as_str().expect("members are folders"));
        let crates = members.chain(["apps/python"]).filter(|folder| !folder.starts_with("checks/")).map(|folder| {
            let manifest = table(&root.join(folder).join("Cargo.toml"));
            let prefix = format!("{folder}/src/");
            let own = all_sources.iter().filter_map(|(path, text)| Some((path.strip_prefix(&prefix)?, text)));
            Crate {
                folder: folder.to_owned(),
                name: manifest["package"]["name"].as_str().expect("a name is text").to_owned(),
                dependencies: dependencies(&manifest),
                test_programs: test_programs(&manifest),
                sources: own.map(|(path, text)| (path.to_owned(), text.clone())).collect(),
                parsed: OnceCell::new(),
            }
        });
        Self { crates: crates.collect(), all_sources: all_sources.clone() }
    }

    /// The folder of the member with this name.
    pub(crate) fn folder_of(&self, name: &str) -> Option<&str> {
        match name {
            "xtask" => Some("checks/xtask"),
            _ => self.crates.iter().find(|member| member.name == name).map(|member| member.folder.as_str()),
        }
    }

    /// The files under `src` of every crate: the crate, the path relative to the workspace, the text.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&Crate, String, &str)> {
        self.crates.iter().flat_map(|member| {
            let sources = member.sources.iter();
            sources.map(move |(path, text)| (member, format!("{}/src/{path}", member.folder), text.as_str()))
        })
    }
}

/// A manifest or a lock file, by its path relative to the workspace.
pub(crate) fn manifest(path: &str) -> toml::Table {
    table(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path))
}

fn table(path: &Path) -> toml::Table {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn dependencies(manifest: &toml::Table) -> Vec<(String, bool)> {
    let target_tables = manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten();
    let places = target_tables.filter_map(|(_, target)| target.as_table()).chain([manifest]);
    let tables = places.flat_map(|place| ["dependencies", "build-dependencies"].map(|kind| place.get(kind)));
    let all = tables.flatten().filter_map(toml::Value::as_table).flatten();
    all.map(|(name, dependency)| {
        let optional = dependency.get("optional").and_then(toml::Value::as_bool);
        let package = dependency.get("package").and_then(toml::Value::as_str).unwrap_or(name);
        (package.to_owned(), optional == Some(true))
    })
    .collect()
}

fn test_programs(manifest: &toml::Table) -> Vec<String> {
    let tests = manifest.get("test").and_then(toml::Value::as_array).into_iter().flatten();
    tests.map(|test| test["name"].as_str().expect("a name is text").to_owned()).collect()
}

/// Reads every file of Rust in a folder, but for hidden folders and build outputs.
fn read_sources(folder: &Path, prefix: &str, sources: &mut BTreeMap<String, String>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = format!("{prefix}{name}");
        if path.is_dir() && !name.starts_with('.') && !path.join("CACHEDIR.TAG").exists() && name != "target" {
            read_sources(&path, &format!("{place}/"), sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            sources.insert(place, text);
        }
    }
}
