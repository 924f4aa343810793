//! `turnstone sweep`: all variants are trained and ranked, an interrupted sweep continues where it was.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

const CONFIG: &str = r#"
seed = 3
[game]
name = "mu_torere"
max_plies = 20
[net]
kind = "residual_mlp"
blocks = 1
width = 8
[search]
simulations = 4
[self_play]
games_per_iteration = 8
threads = 2
[learn]
batch = 16
[arena]
games = 4
final_games = 4
simulations = 4
opponents = ["random"]
[run]
iterations = 4
"#;

fn sweep(folder: &Path, args: &[&str]) -> Command {
    let config = folder.join("tiny.toml");
    fs::write(&config, CONFIG).expect("writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnstone"));
    command.arg("sweep").arg(config).arg("--out").arg(folder.join("sweep")).args(args);
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    sweep(folder, args).output().expect("the program runs")
}

fn json(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    value["runs"].as_array().expect("a list").clone()
}

/// Three values.
const RATES: [&str; 4] = ["--vary", "learn.learning_rate=1e-3,2e-3,0.1", "--set", "seed=4"];

#[test]
fn the_best_variant_comes_first() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let runs = json(&run(place.path(), &[&RATES[..], &["--json"]].concat()));
    let iterations: Vec<u64> = runs.iter().map(|run| run["iteration"].as_u64().expect("a number")).collect();
    assert_eq!(iterations, [4, 4, 4]);
    let kept = |run: &Value| run["kept"]["kept"].as_u64().expect("a number of positions");
    assert!(runs.is_sorted_by(|one, next| kept(one) >= kept(next)), "{runs:?}");
    let text = fs::read_to_string(place.path().join("sweep/2/config.toml")).expect("the config of a run");
    assert!(text.contains("learning_rate = 0.002") && text.contains("seed = 4"), "{text}");
    // The same command has nothing left to do; another one does not touch the folder.
    let again = run(place.path(), &RATES);
    let table = String::from_utf8(again.stdout).expect("UTF-8");
    assert!(table.starts_with("run  iterations") && table.lines().count() == 5, "{table}");
    let other = run(place.path(), &["--vary", "learn.batch=16,32"]);
    let fault = String::from_utf8(other.stderr).expect("UTF-8");
    assert!(!other.status.success() && fault.contains("holds a sweep of other values"), "{fault}");
}

#[test]
fn a_killed_sweep_goes_on_and_ends_the_same() {
    let [whole, killed] = [0, 1].map(|_| tempfile::tempdir().expect("a temporary folder"));
    let expected = json(&run(whole.path(), &[&RATES[..], &["--json"]].concat()));
    for delay in [150, 300, 80] {
        let mut child = sweep(killed.path(), &RATES).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("runs");
        sleep(Duration::from_millis(delay));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
    }
    let found = json(&run(killed.path(), &[&RATES[..], &["--json"]].concat()));
    let of = |runs: &[Value], key: &str| runs.iter().map(|run| run[key].clone()).collect::<Vec<_>>();
    for key in ["variant", "iteration", "kept", "critical", "score"] {
        assert_eq!(of(&found, key), of(&expected, key), "{key}");
    }
}

#[test]
fn faults_are_named_before_anything_is_trained() {
    let place = tempfile::tempdir().expect("a temporary folder");
    for (args, fault) in [
        (&["--vary", "learn.batch=16,none"][..], "learn.batch=none: "),
        (&["--vary", "learn.batch"], "expected section.key=value"),
        (&["--vary", "seed=1,2", "--by", "luck"], "known are kept, critical, ladder, score"),
    ] {
        let output = run(place.path(), args);
        let text = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(!output.status.success() && text.contains(fault), "{args:?}: {text}");
        assert!(!place.path().join("sweep").exists(), "{args:?}");
    }
}
