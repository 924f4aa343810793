//! Files written by the previous version: every command reads them, and runs and tournaments continue from them.
//! `before/README.md` lists them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/before");

/// The checkpoints, each with its game as arguments.
const CHECKPOINTS: [(&str, &[&str]); 3] = [
    ("mlp", &["mu_torere", "--param", "max_plies=30"]),
    ("exported", &["mu_torere", "--param", "max_plies=30"]),
    ("graph", &["konane", "--param", "size=4"]),
];

/// A copy of the files, which is the program's working directory.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("a temporary folder"));
        copy(Path::new(FILES), place.0.path());
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("UTF-8")
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Standard output and standard error of a command that must succeed.
    fn run_with(&self, args: &[&str], input: &str) -> (String, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_turnstone"))
            .args(args)
            .current_dir(&self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        // A program that does not read its input may have ended already.
        let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("the program ends");
        let [out, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
        assert!(output.status.success(), "{args:?}: {errors}");
        (out, errors)
    }

    /// The one line of a command that must fail.
    fn fault(&self, args: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnstone"));
        let output = command.args(args).current_dir(&self.0).stdin(Stdio::null()).output().expect("the program runs");
        let line = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(!output.status.success() && line.trim_end().lines().count() == 1, "{args:?}: {line}");
        line
    }

    fn run(&self, args: &[&str]) -> String {
        self.run_with(args, "").0
    }

    fn run_json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.run(&[args, &["--json"]].concat())).expect("JSON")
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let path = entry.expect("readable").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("writable");
        }
    }
}

/// Header and tensors of a safetensors file, without the metadata.
fn tensors(bytes: &[u8]) -> (Value, &[u8]) {
    let (length, rest) = bytes.split_first_chunk::<8>().expect("a length");
    let (header, data) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let mut header: Value = serde_json::from_slice(header).expect("JSON");
    header.as_object_mut().expect("an object").remove("__metadata__").expect("metadata");
    (header, data)
}

/// Whether everything in `old` is in `new`, which may have more. Numbers may differ slightly.
fn keeps(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            old.iter().all(|(key, value)| new.get(key).is_some_and(|new| keeps(value, new)))
        }
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| keeps(old, new))
        }
        (Value::Number(old), Value::Number(new)) => {
            let [old, new] = [old, new].map(|number| number.as_f64().expect("a number"));
            (old - new).abs() <= 1e-4 * old.abs().max(1.0)
        }
        _ => old == new,
    }
}

/// The instruction set that the learner's bits depend on, if there are expected files of the previous version for it.
fn instructions() -> Option<&'static str> {
    #[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
    {
        let fused = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        Some(match (is_x86_feature_detected!("avx512f"), fused) {
            (true, _) => "avx512",
            (false, true) => "avx2",
            (false, false) => "portable",
        })
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
    None
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_network() {
    let place = Place::new();
    let begun = place.text("plain/interrupted/metrics.jsonl");
    assert_eq!(place.run_with(&["train", "--resume", "plain/interrupted", "--quiet"], "").1, "");
    ends_as_before(&place, &begun);
}

/// A run that was begun with `--set` has all keys of its version in its config.
#[test]
fn a_run_with_all_keys_of_its_version_goes_on_to_the_same_network() {
    let place = Place::new();
    let (begun, mut config) =
        (place.text("plain/interrupted/metrics.jsonl"), place.text("plain/interrupted/config.toml"));
    for (section, keys) in [
        ("[self_play]\n", "archived_starts = 0.0\nfull_search_share = 1.0\nfast_simulations = 16\n"),
        ("[learn]\n", "backend = \"kernels\"\nvalue_weight = 1.0\nmargin_weight = 0.0\nplies_left_weight = 0.0\n"),
        ("[arena]\n", "search = \"gumbel\"\n"),
    ] {
        config = config.replace(section, &format!("{section}{keys}"));
    }
    fs::write(place.path("plain/interrupted/config.toml"), config).expect("writable");
    let notes = place.run_with(&["train", "--resume", "plain/interrupted", "--quiet"], "").1;
    let note = "note: plain/interrupted/config.toml: arena.search is arena.method now; removed since, without effect: \
                self_play.archived_starts, self_play.full_search_share, self_play.fast_simulations, learn.backend, \
                learn.value_weight, learn.margin_weight, learn.plies_left_weight\n";
    assert_eq!(notes, note);
    ends_as_before(&place, &begun);
}

/// Checks that the interrupted run has gone on to the end to which its own version came.
fn ends_as_before(place: &Place, begun: &str) {
    let ended = place.text("plain/interrupted/metrics.jsonl");
    assert!(ended.starts_with(begun) && ended.lines().count() == 4, "{ended}");
    if let Some(set) = instructions() {
        let (expected, found) = (
            place.bytes(&format!("plain/expected/resumed.{set}.safetensors")),
            place.bytes("plain/interrupted/latest.safetensors"),
        );
        assert!(tensors(&expected) == tensors(&found), "with {set} the run continues to another network");
    }
}

#[test]
fn a_finished_run_is_finished_and_reported() {
    let place = Place::new();
    let files = ["latest.safetensors", "best.safetensors", "state.safetensors", "metrics.jsonl", "config.toml"];
    let read = || files.map(|file| place.bytes(&format!("plain/finished/{file}")));
    let before = read();
    place.run(&["train", "--resume", "plain/finished", "--quiet"]);
    assert!(before == read(), "a finished run was changed");
    // Reports and matches also of a run that can no longer be trained.
    place.run(&["report", "finished", "--simulations", "4"]);
    let page = place.text("finished/report.html");
    assert!(page.contains("Score against the best so far") && page.contains("step 97"), "{} bytes", page.len());
    let network = ["arena", "mu_torere", "--param", "max_plies=30", "az:finished,sims=8", "random", "--games", "4"];
    assert_eq!(place.run_json(&network)["record"]["games"].as_array().map(Vec::len), Some(4));
}

/// What version 0.1.0 had and this one has not: each is refused in one line, and nothing is written.
#[test]
fn what_was_removed_says_so() {
    let place = Place::new();
    let archive = "self_play.archived_starts is 0.3, but was removed after version 0.1.0, as games from archived positions \
                   brought no gain: leave it out";
    for (args, file) in [(["train", "run.toml"], "run.toml"), (["train", "--resume=interrupted"], "config.toml")] {
        let line = place.fault(&args);
        assert!(line.contains(&format!("{file}: {archive}")), "{line}");
    }
    let share = "run.toml with --set: self_play.full_search_share is 0.5, but was removed after version 0.1.0";
    let line = place.fault(&["train", "plain/run.toml", "--set", "self_play.full_search_share=0.5"]);
    assert!(line.contains(share), "{line}");
    // Without the keys the run's state still has the layer of what it learned.
    let config = place.text("interrupted/config.toml");
    let kept = |line: &&str| !line.starts_with("archived_starts") && !line.starts_with("plies_left_weight");
    let config: String = config.lines().filter(kept).flat_map(|line| [line, "\n"]).collect();
    fs::write(place.path("interrupted/config.toml"), config).expect("writable");
    let (state, line) =
        (place.bytes("interrupted/state.safetensors"), place.fault(&["train", "--resume=interrupted", "--quiet"]));
    assert!(
        line.contains("state.safetensors: its network has a layer of auxiliary targets, which were removed"),
        "{line}"
    );
    assert!(state == place.bytes("interrupted/state.safetensors"));

    let mixer = "`mixer` was removed after version 0.1.0, as it learned too slowly; the kinds are residual_mlp, residual_graph, \
                 residual_conv";
    let line = place.fault(&["train", "mixer.toml"]);
    assert!(line.contains("mixer.toml: ") && line.contains(&format!("net.kind: {mixer}")), "{line}");
    for args in [
        &["analyse", "--agent", "az:mixer.safetensors"][..],
        &[
            "play",
            "mancala",
            "--param",
            "pits=3",
            "--param",
            "stones=2",
            "--p1",
            "az:mixer.safetensors",
            "--p2",
            "random",
        ],
        &["export", "mixer.safetensors", "--format", "onnx", "--out", "mixer.onnx"],
    ] {
        let line = place.fault(args);
        assert!(line.contains("mixer.safetensors: ") && line.contains(mixer), "{line}");
    }
    assert!(!place.path("runs").exists() && !place.path("mixer.onnx").exists());
}

#[test]
fn checkpoints_say_what_they_said() {
    let place = Place::new();
    for (name, game) in CHECKPOINTS {
        let file = format!("{name}.safetensors");
        let agent = format!("az:{file},sims=8");
        let query = "{\"id\": \"start\", \"simulations\": 16}\n";
        let answer = place.run_with(&["analyse", "--agent", &format!("az:{file}")], query).0;
        let (old, new) = (place.json(&format!("expected/{name}.json")), answer.parse().expect("JSON"));
        assert!(keeps(&old, &new), "{name}: {new}, where {old} is expected");
        let played = place.run_json(&[&["play"], game, &["--p1", &agent, "--p2", "random"]].concat());
        assert!(played["moves"].as_array().is_some_and(|moves| !moves.is_empty()), "{played}");
        let games = place.run_json(&[&["arena"], game, &[&agent, "random", "--games", "4"]].concat());
        assert_eq!(games["record"]["games"].as_array().map(Vec::len), Some(4));
        for (format, to) in [("safetensors", "again.safetensors"), ("onnx", "again.onnx"), ("bundle", "again")] {
            place.run(&["export", &file, "--format", format, "--out", to, "--overwrite"]);
            assert!(place.path(to).exists(), "{name} as {format}");
        }
        if name == "mlp" {
            let (old, new) = (place.bytes("exported.safetensors"), place.bytes("again.safetensors"));
            assert!(tensors(&old) == tensors(&new), "{name} is exported with other tensors");
        }
    }
    let grade = ["grade", "mu_torere", "--param", "max_plies=30", "--agent", "az:mlp.safetensors,sims=1"];
    let (old, new) = (place.json("expected/grade.json"), place.run_json(&grade));
    assert!(keeps(&old, &new), "{new}, where {old} is expected");
}

#[test]
fn tournaments_go_on_to_the_same_result() {
    let place = Place::new();
    for folder in ["tournament", "cut"] {
        let agents = ["random", "alphabeta:depth=2", "mcts:sims=16"];
        let settings = ["--param", "stones=2", "--games", "8", "--resume", "--out", folder];
        place.run(&[&["arena", "mancala"], &agents[..], &settings[..]].concat());
        let read = |file: &str| fs::read_to_string(Path::new(FILES).join("tournament").join(file)).expect("readable");
        // The journal has the games in the order in which the threads ended them.
        let games = |text: &str| {
            let mut games: Vec<_> = text.lines().skip(1).map(str::to_owned).collect();
            games.sort_by_key(|game| game.parse::<Value>().expect("JSON")["number"].as_u64());
            games
        };
        assert_eq!(games(&place.text(&format!("{folder}/games.jsonl"))), games(&read("games.jsonl")), "{folder}");
        assert_eq!(place.text(&format!("{folder}/games.csv")), read("games.csv"), "{folder}");
        let (old, new) = (read("result.json").parse().expect("JSON"), place.json(&format!("{folder}/result.json")));
        assert!(keeps(&old, &new), "{folder}: {new}, where {old} is expected");
    }
}

#[test]
fn tables_truth_sets_and_ladders_are_used() {
    let place = Place::new();
    let morris = ["morris", "--param", "pieces=3"];
    let mancala = ["mancala", "--param", "stones=2", "--endgames", "6"];
    for (game, name) in [
        (&morris[..], "tables/morris-pieces3.table"),
        (&mancala[..], "tables/mancala-empty_capturetrue-end_rulemover_cannot_move-pits6.table"),
    ] {
        let before = place.bytes(name);
        let (_, notes) = place.run_with(&[&["solve"], game, &["--out", "tables"]].concat(), "");
        assert!(notes.contains(name) && !notes.contains("rebuild"), "{notes}");
        assert!(before == place.bytes(name), "{name} was written anew");
    }
    let grade = |extra: &[&str]| {
        let answer = place.run_json(&[&["grade"], &morris[..], &["--agent", "exact"], extra].concat());
        let [positions, kept] = ["positions", "kept"].map(|figure| answer["grade"]["all"][figure].as_u64());
        assert!(positions == Some(20) && kept == positions, "an agent with the table keeps every value: {answer}");
    };
    grade(&["--positions", "truth.json"]);
    grade(&["--sample", "20"]);
    let ladder =
        ["arena", "mu_torere", "alphabeta:depth=3", "--ladder", "--ladder-file", "ladder.toml", "--games", "4"];
    let answer = place.run_json(&ladder);
    let rung = &answer["summary"]["agents"].as_array().expect("a list")[2];
    assert_eq!((&rung["agent"], &rung["rating"]), (&"alphabeta:depth=2".into(), &487.0.into()), "{answer}");
}

#[test]
fn configs_mean_the_same() {
    let place = Place::new();
    // Without the keys that were removed.
    let kept = |line: &&str| {
        let removed = ["archived_starts", "full_search_share", "fast_simulations"];
        let learned = ["value_weight", "margin_weight", "plies_left_weight"];
        !removed.iter().chain(&learned).any(|key| line.starts_with(key))
    };
    let all_keys: String = place.text("all_keys.toml").lines().filter(kept).flat_map(|line| [line, "\n"]).collect();
    fs::write(place.path("all_keys.toml"), all_keys).expect("writable");
    for config in ["all_keys", "graph", "plain/run"] {
        let (file, run) = (format!("{config}.toml"), format!("{config}_again"));
        let diagnosis = place.run_json(&["doctor", &file, "--seconds", "0.2"]);
        let checks = diagnosis["checks"].as_array().expect("a list");
        assert!(checks.iter().all(|check| check["level"] != "FAIL"), "{config}: {diagnosis}");
        place.run(&["train", &file, "--run", &run, "--quiet"]);
        if config == "plain/run" && instructions() == Some("avx512") {
            // Apart from metadata.
            let [old, new] =
                ["plain/finished", &run].map(|folder| place.bytes(&format!("{folder}/latest.safetensors")));
            assert!(tensors(&old) == tensors(&new), "{config} is trained to another network");
            for file in ["replay/000002.shard", "replay/000003.shard", "replay/000004.shard"] {
                let [old, new] = ["plain/finished", &run].map(|folder| place.bytes(&format!("{folder}/{file}")));
                assert!(old == new, "{file} has other games");
            }
            let [old, new] = ["plain/finished", &run].map(|folder| place.bytes(&format!("{folder}/state.safetensors")));
            assert!(tensors(&old) == tensors(&new), "another state");
        }
    }
}
