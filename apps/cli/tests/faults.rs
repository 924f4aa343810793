//! Faults around a run: full disks, removed folders, damaged files, two processes at once. Each ends in one line of
//! error, and valid files are kept.

mod runs;
mod damage;
mod limits;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::calls::{finish, train};

const TINY: &str = r#"
seed = 5
[game]
name = "mu_torere"
max_plies = 30
[net]
kind = "residual_mlp"
blocks = 1
width = 16
[search]
simulations = 8
[self_play]
games_per_iteration = 24
concurrent_games = 6
threads = 2
[learn]
batch = 32
samples_per_position = 8
window = 100000
[arena]
every = 2
games = 4
final_games = 4
simulations = 8
opponents = ["random"]
[run]
iterations = 4
checkpoint_steps = 100
"#;

/// A finished run of four iterations, and copies of it.
struct Place {
    folder: tempfile::TempDir,
    run: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (config, run) = (folder.path().join("tiny.toml"), folder.path().join("run"));
        fs::write(&config, TINY).expect("writable");
        let (code, text) = finish(train(&[text(&config), "--run", text(&run)]));
        assert_eq!(code, Some(0), "{text}");
        Self { folder, run }
    }

    /// A copy of the run after four iterations, with a config of this many.
    fn copy(&self, name: &str, iterations: u64) -> PathBuf {
        let copy = self.folder.path().join(name);
        for part in ["", "replay", "checkpoints"] {
            fs::create_dir(copy.join(part)).expect("a new folder");
            for entry in self.run.join(part).read_dir().expect("readable") {
                let entry = entry.expect("readable").path();
                if entry.is_file() {
                    fs::copy(&entry, copy.join(part).join(entry.file_name().expect("a file"))).expect("writable");
                }
            }
        }
        let config = fs::read_to_string(copy.join("config.toml")).expect("readable");
        let longer = config.replace("iterations = 4", &format!("iterations = {iterations}"));
        fs::write(copy.join("config.toml"), longer).expect("writable");
        copy
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn resume(run: &Path) -> (Option<i32>, String) {
    finish(train(&["--resume", text(run)]))
}

/// The error of a run: checks for exit code 1 and one line `error: ...`, the last of the output.
fn error((code, text): (Option<i32>, String)) -> String {
    let errors = text.lines().filter(|line| line.starts_with("error: ")).count();
    assert!(code == Some(1) && errors == 1 && !text.contains("panicked"), "{code:?}: {text}");
    text.lines().last().filter(|line| line.starts_with("error: ")).expect("the error comes last").to_owned()
}

fn warnings(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("warning: ")).collect()
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("readable");
    change(&mut bytes);
    fs::write(path, bytes).expect("writable");
}

fn wait_for(path: &Path) {
    for _ in 0..30_000 {
        if path.exists() {
            return;
        }
        sleep(Duration::from_millis(2));
    }
    panic!("{} has not come in a minute", path.display());
}

const FILES: [&str; 3] = ["state.safetensors", "latest.safetensors", "best.safetensors"];

fn same_result(a: &Path, b: &Path) -> bool {
    FILES.iter().all(|file| fs::read(a.join(file)).expect("readable") == fs::read(b.join(file)).expect("readable"))
}
