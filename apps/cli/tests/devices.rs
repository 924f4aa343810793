//! The list of devices, and errors about GPUs that a build or a machine lacks.

use serde_json::Value;
use turnstone_models::{DeviceError, gpus};

use super::calls::turnstone;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("UTF-8")
}

/// Why `gpu:99` cannot be used: the program and its tests are one build.
fn absence() -> &'static str {
    match gpus() {
        Err(DeviceError::NotBuilt) => "this program is built for the processor only: for GPUs build it with",
        Ok(gpus) if gpus.is_empty() => "no GPU is found: install its driver",
        _ => "there is no gpu:99",
    }
}

fn config() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/gpu/konane_8x8.toml").to_owned()
}

#[test]
fn the_list_begins_with_the_processor() {
    let shown = text(turnstone(&["doctor", "--devices"]).stdout);
    assert!(shown.starts_with("cpu    ") && shown.lines().count() > 1, "{shown}");
    assert!(gpus().is_ok() || shown.lines().last().is_some_and(|line| line.contains("--features wgpu")), "{shown}");
    let list: Value = serde_json::from_slice(&turnstone(&["doctor", "--devices", "--json"]).stdout).expect("JSON");
    assert_eq!((&list[0]["device"], list[0]["cores"].as_u64() > Some(0)), (&"cpu".into(), true));
    assert_eq!(list.as_array().map(Vec::len), Some(1 + gpus().map_or(0, |gpus| gpus.len())));
}

#[test]
fn a_run_on_a_missing_gpu_is_refused_before_there_is_a_folder() {
    let place = tempfile::tempdir().expect("a folder");
    let run = place.path().join("run");
    let config = config();
    let command = |device| ["train", &config, "--run", run.to_str().expect("UTF-8"), "--device", device];
    let refused = turnstone(&command("gpu:99"));
    let line = text(refused.stderr);
    assert_eq!((refused.status.code(), line.trim_end().lines().count()), (Some(1), 1), "{line}");
    assert!(line.contains("self_play.device: ") && line.contains(absence()), "{line}");
    assert!(!run.exists());
    let refused = turnstone(&command("cuda"));
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(refused.stderr).contains("must be cpu, gpu or gpu:1 and the like, not `cuda`"));
}

#[test]
fn an_opponent_on_a_missing_gpu_is_refused_before_there_is_a_folder() {
    let place = tempfile::tempdir().expect("a folder");
    let (config, run) = (place.path().join("tiny.toml"), place.path().join("run"));
    let opponent = "az:pretrained,sims=2,device=gpu:99";
    let text_of = format!(
        "[game]\nname = \"mancala\"\n[arena]\nopponents = [\"{opponent}\"]\n[run]\niterations = 1\n\
         [self_play]\nthreads = 1\ngames_per_iteration = 2\nconcurrent_games = 2\n[learn]\nbatch = 8\n"
    );
    std::fs::write(&config, text_of).expect("writable");
    let config = config.to_str().expect("UTF-8");
    let refused = turnstone(&["train", config, "--run", run.to_str().expect("UTF-8")]);
    let line = text(refused.stderr);
    assert_eq!((refused.status.code(), line.trim_end().lines().count()), (Some(1), 1), "{line}");
    assert!(line.contains(&format!("arena.opponents: agent `{opponent}`: {}", absence())), "{line}");
    assert!(!run.exists());
    let examined = text(turnstone(&["doctor", config, "--seconds", "0.1"]).stdout);
    let found = examined.lines().find(|line| line.starts_with("FAIL opponents")).expect(&examined);
    assert!(found.contains(absence()), "{found}");
}

#[test]
fn the_doctor_names_a_missing_gpu() {
    let examined = turnstone(&["doctor", &config(), "--seconds", "0.1", "--device", "gpu:99"]);
    let shown = text(examined.stdout);
    assert_eq!(examined.status.code(), Some(1), "{shown}");
    let found = shown.lines().find(|line| line.starts_with("FAIL devices")).expect(&shown);
    assert!(found.contains("learning on gpu:99") && found.contains(absence()), "{found}");
}
