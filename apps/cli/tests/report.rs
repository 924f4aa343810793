//! `turnstone report` on finished, new and interrupted runs, and on folders without a run.

use std::fs;
use std::path::{Path, PathBuf};

use super::calls::{fault, turnstone};

fn refusal(run: &Path) -> String {
    fault(&["report", &run.display().to_string()])
}

fn train_smoke(run: &Path) {
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/smoke.toml");
    let output = turnstone(&["train", config, "--quiet", "--run", &run.display().to_string()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The page of a run, written to the default path.
fn page(run: &Path) -> String {
    let output = turnstone(&["report", &run.display().to_string()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(run.join("report.html")).expect("the page is there");
    check(&page);
    page
}

/// Checks that the page is self-contained and its elements are nested properly.
fn check(page: &str) {
    // The name of a namespace, which is not loaded.
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    for trace in ["http://", "https://", "src=", "@import", "url(", "<link"] {
        assert!(
            !outside.contains(trace),
            "{trace}: {:?}",
            outside.split(trace).nth(1).map(|rest| &rest[..rest.len().min(80)])
        );
    }
    assert!(!page.contains("NaN") && !page.contains("infM"));
    let markup = page
        .split("<script")
        .map(|part| part.split_once("</script>").map_or(part, |(_, rest)| rest))
        .collect::<String>();
    let markup = markup
        .split("<style>")
        .map(|part| part.split_once("</style>").map_or(part, |(_, rest)| rest))
        .collect::<String>();
    let mut open = Vec::new();
    for tag in markup.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        let name = tag.split_whitespace().next().unwrap_or_default().trim_end_matches('/');
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{open:?}");
        } else if !tag.ends_with('/') && !["!DOCTYPE", "meta", "br", "input"].contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

fn copy(from: &Path, to: PathBuf, files: &[&str]) -> PathBuf {
    fs::create_dir(&to).expect("writable");
    for file in files {
        fs::copy(from.join(file), to.join(file)).expect("readable");
    }
    to
}

#[test]
fn a_run_in_every_state_has_a_report() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run");
    train_smoke(&run);
    let whole = page(&run);
    for text in [
        ">finished<",
        "10 / 10",
        "against alphabeta:depth=2",
        "id=\"strength\"",
        "id=\"games\"",
        "id=\"learning\"",
        "id=\"throughput\"",
        "id=\"config\"",
        "stones = 3",
        "Policy divergence",
        "Elo difference",
        "game-3",
        concat!("turnstone ", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(whole.contains(text), "{text}");
    }
    assert_eq!(page(&run), whole, "the same run gives the same page");
    let elsewhere = folder.path().join("page.html").display().to_string();
    let written = turnstone(&["report", &run.display().to_string(), "--out", &elsewhere]);
    assert!(written.status.success());
    assert_eq!(fs::read_to_string(elsewhere).expect("written"), whole);

    // Interrupted while the second line was being written: one iteration, no match yet.
    let files = ["config.toml", "latest.safetensors", "metrics.jsonl"];
    let begun = copy(&run, folder.path().join("begun"), &files);
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).expect("readable");
    let second = metrics.find('\n').expect("a line") + 1;
    fs::write(begun.join("metrics.jsonl"), &metrics[..second + 40]).expect("writable");
    let page_of_begun = page(&begun);
    for text in ["1 / 10", "iteration 1 of 10: interrupted", "the first one comes after iteration 5", "game-1"] {
        assert!(page_of_begun.contains(text), "{text}");
    }
    let config = fs::read_to_string(run.join("config.toml")).expect("readable");
    fs::write(begun.join("config.toml"), format!("# </pre><script>alert(1)</script>\n{config}")).expect("writable");
    assert!(page(&begun).contains("# &lt;/pre&gt;&lt;script&gt;"));

    // Before the end of the first iteration there is only the config.
    assert!(page(&copy(&run, folder.path().join("new"), &files[..1])).contains("No iteration has been finished yet"));

    fs::write(begun.join("metrics.jsonl"), metrics.replacen("\"iteration\":3", "\"iteration\":x", 1))
        .expect("writable");
    let text = refusal(&begun);
    assert!(text.contains("metrics.jsonl: line 3: "), "{text}");
}

#[test]
fn what_is_no_run_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert!(refusal(folder.path()).contains("holds no run"));
    assert!(refusal(&folder.path().join("missing")).contains("missing holds no run"));
}

#[test]
fn the_page_of_a_match_and_of_a_tournament_stand_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for agents in [&["random", "alphabeta:depth=1"][..], &["random", "alphabeta:depth=1", "minimax:depth=2"]] {
        let out = folder.path().join(agents.len().to_string()).display().to_string();
        let args = [&["arena", "mancala"], agents, &["--games", "4", "--out", &out]].concat();
        assert!(turnstone(&args).status.success());
        let page = fs::read_to_string(Path::new(&out).join("report.html")).expect("the page is there");
        check(&page);
        assert!(page.contains("id=\"viewer\"") && page.contains("id=\"all-games\""));
    }
}

#[test]
fn several_runs_are_compared_on_one_page() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/smoke.toml");
    let run = |name: &str, change: &[&str]| {
        let run = folder.path().join(name);
        let shown = run.display().to_string();
        let output = turnstone(&[&["train", config, "--quiet", "--run", &shown], change].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        shown
    };
    let (a, b) = (run("a<b", &[]), run("other", &["--set", "learn.learning_rate=0.0007", "--set", "seed=9"]));
    let output = turnstone(&["report", &a, &b]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(folder.path().join("comparison.html")).expect("the page is beside the runs");
    check(&page);
    for text in ["2 runs compared", "a&lt;b", "random: ", "Losses: policy", "<td>0.0007</td>"] {
        assert!(page.contains(text), "{text}");
    }
    let table = page.split("<h2>Configs</h2>").last().expect("the last part");
    assert!(table.contains("learn.learning_rate") && table.contains("seed"), "{table}");
    assert!(!table.contains("learn.batch"), "equal values are left out");
    // A run of another game, and one that is not there.
    let other = folder.path().join("torere");
    fs::create_dir(&other).expect("writable");
    fs::write(other.join("config.toml"), "[game]\nname = \"mu_torere\"\n").expect("writable");
    for (run, fault) in [(&other, "only runs of one game are compared"), (&folder.path().join("none"), "none")] {
        let output = turnstone(&["report", &a, &run.display().to_string()]);
        let text = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(output.status.code() == Some(1) && text.trim_end().lines().count() == 1, "{text}");
        assert!(text.contains(fault), "{text}");
    }
}
