//! The picture of the crates in ARCHITECTURE.md, drawn from the manifests: an arrow leads from a crate to one that uses it.
//! `UPDATE=1 cargo test -p xtask --test picture` draws it anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Size of a box, and distances of columns and rows, in pixels.
const BOX: [f64; 2] = [92.0, 30.0];
const STEP: [f64; 2] = [124.0, 44.0];

/// A crate, or a place that an arrow passes in a column between the crates that it joins.
type Node = String;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two folders below the workspace").to_owned()
}

/// The product's crates in the order of the manifest, each with those that it depends on.
fn crates() -> Vec<(Node, BTreeSet<Node>)> {
    let table = |path: &str| -> toml::Table {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        text.parse().unwrap_or_else(|e| panic!("{path}: {e}"))
    };
    let workspace = table("Cargo.toml");
    let members = workspace["workspace"]["members"].as_array().expect("a list");
    let folders = members.iter().filter_map(|member| member.as_str()).chain(["apps/python"]);
    let product = folders.filter(|folder| !folder.starts_with("checks/") && *folder != "models/features");
    let read = product.map(|folder| {
        let manifest = table(&format!("{folder}/Cargo.toml"));
        let package = manifest["package"]["name"].as_str().expect("a name").to_owned();
        let used = manifest["dependencies"].as_table().expect("a table").keys().cloned().collect::<BTreeSet<_>>();
        (folder.rsplit('/').next().expect("a part").to_owned(), package, used)
    });
    let read: Vec<_> = read.collect();
    let named = |used: &BTreeSet<String>| {
        read.iter().filter(|(_, package, _)| used.contains(package)).map(|(name, ..)| name.clone()).collect()
    };
    read.iter().map(|(name, _, used)| (name.clone(), named(used))).collect()
}

/// Leaves out every dependency that follows from others.
fn reduced(crates: &[(Node, BTreeSet<Node>)]) -> BTreeMap<Node, BTreeSet<Node>> {
    let direct: BTreeMap<_, _> = crates.iter().cloned().collect();
    fn all(name: &Node, direct: &BTreeMap<Node, BTreeSet<Node>>) -> BTreeSet<Node> {
        direct[name].iter().flat_map(|used| all(used, direct).into_iter().chain([used.clone()])).collect()
    }
    let needed = |used: &BTreeSet<Node>| {
        let indirect: BTreeSet<Node> = used.iter().flat_map(|other| all(other, &direct)).collect();
        used.difference(&indirect).cloned().collect()
    };
    direct.iter().map(|(name, used)| (name.clone(), needed(used))).collect()
}

/// The column of each crate: after all that it uses, and, where something uses it, directly before the first that does.
fn columns(used: &BTreeMap<Node, BTreeSet<Node>>) -> BTreeMap<Node, usize> {
    fn earliest(name: &Node, used: &BTreeMap<Node, BTreeSet<Node>>) -> usize {
        used[name].iter().map(|other| earliest(other, used) + 1).max().unwrap_or(0)
    }
    fn latest(name: &Node, used: &BTreeMap<Node, BTreeSet<Node>>) -> usize {
        let users = used.iter().filter(|(_, others)| others.contains(name));
        users.map(|(user, _)| latest(user, used) - 1).min().unwrap_or_else(|| earliest(name, used))
    }
    used.keys().map(|name| (name.clone(), latest(name, used))).collect()
}

fn drawing(crates: &[(Node, BTreeSet<Node>)]) -> String {
    let used = reduced(crates);
    let column = columns(&used);
    let mut places: Vec<Vec<Node>> = vec![Vec::new(); column.values().max().map_or(0, |last| last + 1)];
    for (name, _) in crates {
        places[column[name]].push(name.clone());
    }
    let mut arrows: Vec<Vec<Node>> = Vec::new();
    for (user, others) in &used {
        for other in others {
            let between: Vec<_> =
                (column[other] + 1..column[user]).map(|at| (at, format!("{other}>{user}@{at}"))).collect();
            between.iter().for_each(|(at, place)| places[*at].push(place.clone()));
            let passed = between.into_iter().map(|(_, place)| place);
            arrows.push([other.clone()].into_iter().chain(passed).chain([user.clone()]).collect());
        }
    }
    // Rows by the mean of the neighbours', first of those to the left, then of those to the right, a few times over.
    let steps: Vec<(Node, Node)> =
        arrows.iter().flat_map(|arrow| arrow.windows(2).map(|pair| (pair[0].clone(), pair[1].clone()))).collect();
    let mut height = BTreeMap::new();
    let arrange = |column: &mut Vec<Node>, height: &mut BTreeMap<Node, f64>, from_left: bool| {
        let mean = |place: &Node| {
            let beside = steps.iter().filter_map(|(a, b)| match from_left {
                true => (b == place).then_some(a),
                false => (a == place).then_some(b),
            });
            let rows: Vec<f64> = beside.filter_map(|other| height.get(other)).copied().collect();
            if rows.is_empty() {
                height.get(place).copied().unwrap_or(0.0)
            } else {
                rows.iter().sum::<f64>() / rows.len() as f64
            }
        };
        let mut keyed: Vec<_> = column.drain(..).map(|place| (mean(&place), place)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        column.extend(keyed.into_iter().map(|(_, place)| place));
        let middle = (column.len() - 1) as f64 / 2.0;
        column.iter().enumerate().for_each(|(row, place)| {
            height.insert(place.clone(), row as f64 - middle);
        });
    };
    for _ in 0..8 {
        places.iter_mut().for_each(|column| arrange(column, &mut height, true));
        places.iter_mut().rev().for_each(|column| arrange(column, &mut height, false));
    }
    svg(&places, &height, &arrows, &used)
}

fn svg(
    places: &[Vec<Node>],
    height: &BTreeMap<Node, f64>,
    arrows: &[Vec<Node>],
    used: &BTreeMap<Node, BTreeSet<Node>>,
) -> String {
    let rows = places.iter().map(Vec::len).max().unwrap_or(0) as f64;
    let size = [STEP[0] * (places.len() as f64 - 1.0) + BOX[0] + 16.0, STEP[1] * (rows - 1.0) + BOX[1] + 16.0];
    let column: BTreeMap<&Node, usize> =
        places.iter().enumerate().flat_map(|(at, column)| column.iter().map(move |place| (place, at))).collect();
    let left = |place: &Node| 8.0 + STEP[0] * column[place] as f64;
    let middle = |place: &Node| size[1] / 2.0 + STEP[1] * height[place];
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"14\">\n\
         <title>The crates of Turnstone: an arrow leads from a crate to one that uses it</title>\n\
         <marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\" fill=\"#768390\"/></marker>\n",
        size[0], size[1]
    );
    for arrow in arrows {
        let mut at = [left(&arrow[0]) + BOX[0], middle(&arrow[0])];
        let mut path = format!("M{} {}", at[0], at[1]);
        for place in &arrow[1..] {
            let to = [left(place), middle(place)];
            let bend = (to[0] - at[0]) / 2.0;
            let _ = write!(path, "C{} {} {} {} {} {}", at[0] + bend, at[1], to[0] - bend, to[1], to[0], to[1]);
            at = to;
            if !used.contains_key(place) {
                at[0] += BOX[0];
                let _ = write!(path, "H{}", at[0]);
            }
        }
        let _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"#768390\" marker-end=\"url(#tip)\"/>");
    }
    for name in used.keys() {
        let (x, y) = (left(name), middle(name) - BOX[1] / 2.0);
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"5\" fill=\"#f6f8fa\" stroke=\"#57606a\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#1f2328\">{name}</text>",
            BOX[0],
            BOX[1],
            x + BOX[0] / 2.0,
            y + 20.0
        );
    }
    out + "</svg>\n"
}

#[test]
fn the_picture_shows_the_manifests() {
    let path = root().join("docs/crates.svg");
    let drawn = drawing(&crates());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &drawn).expect("writable");
    }
    let shown = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        shown == drawn,
        "docs/crates.svg is not what the manifests give: UPDATE=1 cargo test -p xtask --test picture"
    );
}

#[test]
fn arrows_that_follow_from_others_are_left_out() {
    let list = [("a", vec![]), ("b", vec!["a"]), ("c", vec!["a", "b"]), ("d", vec!["a"])];
    let list: Vec<(Node, BTreeSet<Node>)> =
        list.into_iter().map(|(name, used)| (name.to_owned(), used.into_iter().map(str::to_owned).collect())).collect();
    let used = reduced(&list);
    assert_eq!(used["c"], BTreeSet::from(["b".to_owned()]));
    assert_eq!(
        columns(&used),
        BTreeMap::from([("a", 0), ("b", 1), ("c", 2), ("d", 1)].map(|(n, c)| (n.to_owned(), c)))
    );
    assert_eq!(drawing(&list).matches("marker-end").count(), 3);
}
