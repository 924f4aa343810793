//! Which file of a crate uses which: paths are followed to the file that defines what they name.

use std::collections::BTreeMap;

use crate::modules::{Module, Modules};

/// For each file the files that it uses, each with one path that does.
pub(crate) type Uses = BTreeMap<String, BTreeMap<String, String>>;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Module(Vec<String>),
    /// An item of this file.
    Item(String),
    /// Something of another crate.
    Outside,
}

/// Which file uses which. An export (`pub use`) uses nothing unless the file itself needs the name.
///
/// # Errors
/// A path into the crate that cannot be followed.
pub(crate) fn uses(modules: &Modules) -> Result<Uses, String> {
    let mut uses = Uses::new();
    for (place, module) in modules {
        let needed = module.imports.iter().filter(|import| !import.exported || module.names.contains(&import.name));
        for path in module.paths.iter().chain(needed.map(|import| &import.path)) {
            let text = path.segments.join("::");
            let inside = matches!(path.segments[0].as_str(), "crate" | "self" | "super");
            match resolve(modules, place, &path.segments, 0) {
                Some(Target::Item(file)) if file != module.file => {
                    let used = uses.entry(module.file.clone()).or_default();
                    used.entry(file).or_insert_with(|| format!("line {}: {text}", path.line));
                }
                None if inside => {
                    return Err(format!("{}:{}: `{text}` cannot be followed", module.file, path.line));
                }
                _ => {}
            }
        }
    }
    Ok(uses)
}

/// What a path names in the module at `place`. `depth` counts the imports that were followed.
fn resolve(modules: &Modules, place: &[String], segments: &[String], depth: usize) -> Option<Target> {
    let (mut current, mut rest) = (Target::Module(place.to_vec()), segments);
    loop {
        match rest.first()?.as_str() {
            "crate" => current = Target::Module(Vec::new()),
            "self" => {}
            "super" => {
                let Target::Module(path) = &current else { return None };
                current = Target::Module(path[..path.len().checked_sub(1)?].to_vec());
            }
            _ => break,
        }
        rest = &rest[1..];
        if rest.is_empty() {
            return Some(current);
        }
    }
    while let (Target::Module(path), [name, after @ ..]) = (&current, rest) {
        current = lookup(modules, path, name, after.is_empty(), depth)?;
        rest = after;
    }
    Some(current)
}

/// What a name means in a module. A module and an item may share one: a path continues through the module.
fn lookup(modules: &Modules, path: &[String], name: &str, last: bool, depth: usize) -> Option<Target> {
    let module = modules.get(path)?;
    let child = || {
        let found = module.children.iter().any(|child| child == name);
        found.then(|| Target::Module([path, &[name.to_owned()]].concat()))
    };
    let item = || module.items.contains(name).then(|| Target::Item(module.file.clone()));
    let inner = || module.inner_items.contains(name).then(|| Target::Item(module.file.clone()));
    let imported = || imported(modules, path, module, name, last, depth);
    if last { item().or_else(imported).or_else(child) } else { child().or_else(item).or_else(imported) }.or_else(inner)
}

fn imported(
    modules: &Modules,
    path: &[String],
    module: &Module,
    name: &str,
    last: bool,
    depth: usize,
) -> Option<Target> {
    let imports = module.imports.iter().filter(|import| import.name == name && depth < 16);
    let targets = imports.map(|import| {
        let first = import.path.segments[0].as_str();
        let here = module.children.iter().any(|child| child == first) || module.items.contains(first);
        if !here && !matches!(first, "crate" | "self" | "super") {
            return Some(Target::Outside);
        }
        resolve(modules, path, &import.path.segments, depth + 1)
    });
    let targets: Vec<_> = targets.flatten().collect();
    let is_module = |target: &&Target| matches!(target, Target::Module(_));
    targets.iter().find(|target| is_module(target) != last).or(targets.first()).cloned()
}

/// Uses of a module that is declared after the one that uses it, or after the one around it.
pub(crate) fn early_uses(modules: &Modules, uses: &Uses) -> Vec<String> {
    let place = |file: &str| {
        let path = file.trim_end_matches(".rs");
        let names = path.split('/').filter(|_| path != "lib").map(str::to_owned);
        names.collect::<Vec<_>>()
    };
    let mut early = Vec::new();
    for (file, used) in uses {
        for (other, why) in used {
            let (user, target) = (place(file), place(other));
            let common = user.iter().zip(&target).take_while(|(a, b)| a == b).count();
            let (Some(user), Some(target)) = (user.get(common), target.get(common)) else { continue };
            let children = &modules[&place(file)[..common]].children;
            let at = |name: &String| children.iter().position(|child| child == name);
            if at(user) < at(target) {
                early.push(format!("{file} uses {other}, which is declared later ({why})"));
            }
        }
    }
    early
}

/// Circles of files, each as one line per step. No two of them share a step.
pub(crate) fn circles(uses: &Uses) -> Vec<Vec<String>> {
    let (mut left, mut circles) = (uses.clone(), Vec::new());
    while let Some(steps) = circle(&mut left) {
        let lines = steps.iter().map(|(file, used)| format!("{file} uses {used} ({})", uses[file][used]));
        circles.push(lines.collect());
        for (file, used) in &steps {
            left.get_mut(file).expect("a step begins at a file").remove(used);
        }
    }
    circles
}

/// One circle, as pairs of files; only the files that lead to one are left.
fn circle(left: &mut Uses) -> Option<Vec<(String, String)>> {
    loop {
        let (files, before) = (left.keys().cloned().collect::<Vec<_>>(), left.clone());
        for used in left.values_mut() {
            used.retain(|file, _| files.contains(file));
        }
        left.retain(|_, used| !used.is_empty());
        if *left == before {
            break;
        }
    }
    // Every file that is left uses one that is left, so the walk comes back to where it was.
    let (mut walk, mut at) = (Vec::<String>::new(), left.keys().next()?.clone());
    while !walk.contains(&at) {
        walk.push(at.clone());
        at = left[&at].keys().next()?.clone();
    }
    let start = walk.iter().position(|file| *file == at)?;
    walk.push(at);
    Some(walk[start..].windows(2).map(|step| (step[0].clone(), step[1].clone())).collect())
}
