//! `turnstone export`: files and errors. `export.py` checks what the exported networks compute.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use turnstone_games::built_in;
use turnstone_models::load;

fn export(checkpoint: &str, format: &str, out: &Path, more: &[&str]) -> Output {
    let out = out.to_str().expect("UTF-8");
    Command::new(env!("CARGO_BIN_EXE_turnstone"))
        .args(["export", checkpoint, "--format", format, "--out", out])
        .args(more)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs")
}

fn done(checkpoint: &str, format: &str, out: &Path, more: &[&str]) -> String {
    let output = export(checkpoint, format, out, more);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The one line of a command that must fail.
fn fault(checkpoint: &str, format: &str, out: &Path, more: &[&str]) -> String {
    let output = export(checkpoint, format, out, more);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    text
}

const SHIPPED: [&str; 2] = ["--game", "mu_torere"];

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("it is there")).expect("JSON")
}

fn sha256(path: &Path) -> String {
    Sha256::digest(fs::read(path).expect("it is there")).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_manifest_says_what_feeds_the_network() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("mancala");
    let printed = done("pretrained", "onnx", &out, &["--game", "mancala"]);
    for name in ["manifest.json", "model.onnx", "README.md", "RULES.md"] {
        assert!(out.join(name).is_file() && printed.contains(name), "{name}");
    }
    let manifest = read_json(&out.join("manifest.json"));
    assert_eq!(manifest["game"]["name"], "mancala");
    assert_eq!(manifest["game"]["params"]["stones"], "4");
    assert_eq!(manifest["observation"]["shape"], json!([17, 2, 6]));
    assert_eq!(manifest["observation"]["planes"][14]["per"], "board");
    assert_eq!(manifest["actions"]["texts"][0], "B2");
    assert_eq!(manifest["actions"]["turned"][0], 11);
    assert_eq!(manifest["actions"]["blocks"][0]["name"], "SOW");
    assert_eq!(manifest["policy"]["of"], "mover");
    assert_eq!(manifest["value"]["classes"], json!(["win", "draw", "loss"]));
    let onnx = &manifest["onnx"];
    assert_eq!(onnx["inputs"], json!({ "observation": ["batch", 17, 2, 6] }));
    assert_eq!(onnx["outputs"], json!({ "policy_logits": ["batch", 12], "value_logits": ["batch", 3] }));
    let digest = sha256(&out.join("model.onnx"));
    assert_eq!(onnx["sha256"], digest);

    let readme = fs::read_to_string(out.join("README.md")).expect("UTF-8");
    for part in ["---\nlibrary_name: turnstone\n", "# Mancala: ", &digest, "stones = 4", "The run is not known."] {
        assert!(readme.contains(part), "no {part} in {readme}");
    }
    assert!(fs::read_to_string(out.join("RULES.md")).expect("UTF-8").contains("## Observation"));
}

#[test]
fn the_readme_tells_of_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let (run, config) = (folder.path().join("run"), folder.path().join("tiny.toml"));
    let tiny = crate::provenance::TINY.trim_start().replace("final_games = 2", "final_games = 4");
    fs::write(&config, &tiny).expect("writable");
    let mut train = Command::new(env!("CARGO_BIN_EXE_turnstone"));
    let trained = train.args(["train", "--quiet", "--run"]).args([&run, &config]).output().expect("it runs");
    assert!(trained.status.success(), "{}", String::from_utf8_lossy(&trained.stderr));
    let out = folder.path().join("out");
    done(run.to_str().expect("UTF-8"), "onnx", &out, &[]);
    let readme = fs::read_to_string(out.join("README.md")).expect("UTF-8");
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).expect("metrics");
    let metrics: Value = serde_json::from_str(metrics.lines().last().expect("a line")).expect("JSON");
    let result = &metrics["arena"][0];
    let percent = |value: &Value| format!("{:.1}", 100.0 * value.as_f64().expect("a number"));
    let interval = [&result["score_interval"][0], &result["score_interval"][1]].map(percent).join(", ");
    for part in [
        "max_plies = 30".to_owned(),
        format!("| random, 4 games | score | {} % [{interval}] | 1 |\n", percent(&result["score"])),
        "Seed 5, 1 iterations planned; 1 done with 4 games of self-play, ".to_owned(),
        format!(" | `{:08x}` | processor | random weights |\n", crc32fast::hash(tiny.as_bytes())),
        format!("```toml\n{tiny}```\n"),
    ] {
        assert!(readme.contains(&part), "no {part} in {readme}");
    }
}

#[test]
fn the_checksums_of_the_shipped_agents_are_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    let page = fs::read_to_string(root.join("AGENTS.md")).expect("a page");
    for game in built_in().names() {
        let digest = sha256(&root.join(format!("src/{game}/agent.safetensors")));
        assert!(page.lines().any(|line| line.contains(game) && line.contains(&digest)), "{game}: {digest}");
    }
}

#[test]
fn nothing_is_overwritten_unasked() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("home")).expect("the folder is new");
    fs::write(path("home/letter"), "mine").expect("it is writable");
    fs::write(path("home/manifest.json"), "{}").expect("it is writable");
    let overwrite = [&SHIPPED[..], &["--overwrite"]].concat();
    assert!(fault("pretrained", "onnx", &path("home"), &SHIPPED).contains("exists already"));
    assert!(fault("pretrained", "onnx", &path("home"), &overwrite).contains("holds no export of this format"));
    assert!(path("home/letter").is_file());
    done("pretrained", "onnx", &path("export"), &SHIPPED);
    done("pretrained", "onnx", &path("export"), &overwrite);
    assert_eq!(fs::read_dir(folder.path()).expect("it is readable").count(), 2, "nothing is left behind");
}

#[test]
fn faults_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("x");
    assert!(fault("absent.safetensors", "onnx", &out, &[]).contains("absent.safetensors"));
    assert!(fault("pretrained", "onnx", &out, &["--game", "checkers"]).contains("unknown game `checkers`"));
    assert!(fault("pretrained", "onnx", &folder.path().join("no/x"), &SHIPPED).contains("no/x"));
    let search = export("az:pretrained,sims=9", "onnx", &out, &SHIPPED);
    let said = String::from_utf8_lossy(&search.stderr);
    assert!(search.status.code() == Some(2) && said.contains("leave out `sims=9` after `pretrained`"), "{said}");
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../games/src/mu_torere/agent.safetensors");
    let other = fault(shipped, "onnx", &out, &["--game", "mancala"]);
    assert!(other.contains("the checkpoint is for the game `mu_torere`, not `mancala`"), "{other}");
    assert_eq!(export("pretrained", "onnx", &out, &[]).status.code(), Some(2), "a game must be named");
    assert_eq!(fs::read_dir(folder.path()).expect("it is readable").count(), 0);
}

#[test]
fn a_page_is_one_file_and_a_folder_that_is_none_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page");
    let printed = done("az:pretrained", "page", &page, &SHIPPED);
    for name in ["index.html", "agent.safetensors", "README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(page.join(name).is_file() && printed.contains(name), "{name}");
    }
    let html = fs::read_to_string(page.join("index.html")).expect("UTF-8");
    let step = load(&page.join("agent.safetensors")).expect("a checkpoint").0.step;
    assert!(html.contains(&format!("data-file=\"agents/mu_torere-{step}.safetensors\"")), "the agent is inside");
    done("az:pretrained", "page", &page, &[&SHIPPED[..], &["--overwrite"]].concat());

    let home = folder.path().join("home");
    fs::create_dir(&home).expect("the folder is new");
    fs::write(home.join("index.html"), "mine").expect("it is writable");
    let overwrite = [&SHIPPED[..], &["--overwrite"]].concat();
    let refused = fault("az:pretrained", "page", &home, &overwrite);
    assert!(refused.contains("holds no export of this format"), "{refused}");
    let other = [&SHIPPED[..], &["--page", home.to_str().expect("UTF-8")]].concat();
    let refused = fault("az:pretrained", "page", &folder.path().join("x"), &other);
    assert!(refused.contains("is missing"), "{refused}");
    let refused = fault("az:pretrained", "onnx", &folder.path().join("x"), &other);
    assert!(refused.contains("--page is for --format page"), "{refused}");
}
