//! Faults around a run: full disks, removed folders, damaged files, two processes at once. Each ends in one line of
//! error, and valid files are kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

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

fn train(args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnstone"));
    command.arg("train").args(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program runs")
}

fn resume(run: &Path) -> (Option<i32>, String) {
    finish(train(&["--resume", text(run)]))
}

/// Exit code and stderr.
fn finish(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().expect("the program ends");
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
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

#[cfg(unix)]
#[test]
fn a_full_disk_stops_the_run_where_it_stood() {
    let place = Place::new();
    let (whole, full) = (place.copy("whole", 6), place.copy("full", 6));
    assert_eq!(resume(&whole).0, Some(0));
    let state = fs::read(full.join("state.safetensors")).expect("readable");
    let metrics = fs::read(full.join("metrics.jsonl")).expect("readable");
    let turnstone = env!("CARGO_BIN_EXE_turnstone");
    // Limits on the length of files in blocks of 512 bytes, so that different files fail.
    let mut failed = Vec::new();
    for blocks in [0, 8, 20, 40, 60, 80] {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec '{turnstone}' train --resume '{}'", text(&full));
        let child = Command::new("sh").args(["-c", &script]).stderr(Stdio::piped()).spawn().expect("sh runs");
        let (code, output) = finish(child);
        if code == Some(0) {
            break; // every file is shorter
        }
        assert!(warnings(&output).len() <= 1, "only TensorBoard warns, once: {output}");
        let line = error((code, output));
        assert!(line.contains("File too large") && line.contains("the run stands at iteration 4 as before"), "{line}");
        assert!(line.contains("go on with: turnstone train --resume"), "{line}");
        failed.push(line);
        assert!(fs::read(full.join("state.safetensors")).expect("readable") == state);
        assert!(fs::read(full.join("metrics.jsonl")).expect("readable") == metrics);
    }
    assert!(failed.len() >= 3, "{failed:#?}");
    let (code, output) = resume(&full);
    assert_eq!(code, Some(0), "{output}");
    assert!(same_result(&whole, &full));
}

#[test]
fn a_folder_that_vanishes_is_not_made_again() {
    let place = Place::new();
    for replaced in [false, true] {
        let run = place.copy(&format!("vanishing{replaced}"), 100_000);
        let child = train(&["--resume", text(&run)]);
        wait_for(&run.join("replay/000006.shard"));
        let away = run.with_extension("away");
        fs::rename(&run, &away).expect("it can be moved");
        if replaced {
            fs::create_dir_all(run.join("replay")).expect("writable");
        }
        let line = error(finish(child));
        assert!(line.contains("was removed or replaced while the run was going on"), "{line}");
        assert!(run.exists() == replaced && !run.join("state.safetensors").exists());
        assert!(away.join("state.safetensors").is_file());
    }
}

#[test]
fn one_process_at_a_time() {
    let place = Place::new();
    let run = place.copy("busy", 100_000);
    let mut child = train(&["--resume", text(&run)]);
    wait_for(&run.join("replay/000005.shard"));
    let line = error(resume(&run));
    assert!(line.contains(&format!("is in use: process {} is writing in it", child.id())), "{line}");
    let config = place.folder.path().join("tiny.toml");
    let line = error(finish(train(&[text(&config), "--run", text(&run), "--overwrite"])));
    assert!(line.contains("is in use"), "{line}");
    // The lock of a killed process is released.
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let (code, output) = finish(train(&["--resume", text(&run), "--max-minutes", "0.001"]));
    assert_eq!(code, Some(0), "{output}");
    let (code, output) = finish(train(&[text(&config), "--run", text(&run), "--overwrite"]));
    assert_eq!(code, Some(0), "{output}");
    assert!(same_result(&run, &place.run) && !run.join("replay/000005.shard").exists());
}

#[test]
fn damaged_shards_are_named_and_left_out_only_if_asked() {
    let place = Place::new();
    let run = place.copy("damaged", 6);
    fs::remove_file(run.join("replay/000001.shard")).expect("it was there");
    change(&run.join("replay/000002.shard"), |bytes| bytes.truncate(bytes.len() / 2));
    let line = error(resume(&run));
    assert!(line.contains("000001.shard") && line.contains("--leave-out-damaged"), "{line}");
    let (code, output) = finish(train(&["--resume", text(&run), "--leave-out-damaged"]));
    assert!(code == Some(0) && warnings(&output).len() == 2, "{output}");
    // Once left out, they are not needed again.
    let longer = fs::read_to_string(run.join("config.toml")).expect("readable");
    fs::write(run.join("config.toml"), longer.replace("iterations = 6", "iterations = 7")).expect("writable");
    let (code, output) = resume(&run);
    assert!(code == Some(0) && warnings(&output).is_empty(), "{output}");
}

#[test]
fn damaged_checkpoints_are_made_anew_or_named() {
    let place = Place::new();
    let (whole, run) = (place.copy("whole", 6), place.copy("damaged", 6));
    assert_eq!(resume(&whole).0, Some(0));
    for file in ["latest.safetensors", "best.safetensors"] {
        change(&run.join(file), |bytes| bytes.truncate(bytes.len() / 2));
    }
    fs::write(run.join("replay/.000005.shard.99.0.tmp"), "half").expect("writable");
    let (code, output) = resume(&run);
    let warnings = warnings(&output);
    assert!(code == Some(0) && warnings.len() == 2, "{output}");
    assert!(warnings[0].contains("latest.safetensors") && warnings[0].contains("written anew"), "{output}");
    // If the state is that of the best checkpoint, the checkpoint is written again from it.
    let way_out = ["next match", "written anew"].iter().any(|way| warnings[1].contains(way));
    assert!(warnings[1].contains("best.safetensors") && way_out, "{output}");
    assert!(!run.join("replay/.000005.shard.99.0.tmp").exists());
    for file in ["state.safetensors", "latest.safetensors"] {
        let read = |run: &Path| fs::read(run.join(file)).expect("readable");
        // The state contains the best score, which starts again after the damage.
        assert!(file == "state.safetensors" || read(&run) == read(&whole), "{file}");
    }

    change(&run.join("state.safetensors"), |bytes| bytes.truncate(bytes.len() / 2));
    let line = error(resume(&run));
    assert!(line.contains("state.safetensors") && line.contains("cannot go on"), "{line}");
    fs::remove_file(run.join("state.safetensors")).expect("it was there");
    let line = error(resume(&run));
    assert!(line.contains("state.safetensors") && line.contains("cannot go on"), "{line}");
}

#[test]
fn a_run_that_had_not_begun_begins() {
    let place = Place::new();
    let run = place.folder.path().join("begun");
    fs::create_dir(&run).expect("writable");
    fs::write(run.join("config.toml"), TINY).expect("writable");
    let (code, output) = resume(&run);
    assert_eq!(code, Some(0), "{output}");
    assert!(same_result(&run, &place.run));
}

#[test]
fn metrics_are_cut_to_whole_lines() {
    let place = Place::new();
    let run = place.copy("copy", 5);
    change(&run.join("metrics.jsonl"), |bytes| bytes.extend_from_slice(b"{\"iteration\":5,\"step\":\xff"));
    let (code, output) = resume(&run);
    assert!(code == Some(0) && warnings(&output).is_empty(), "{output}");
    let text = fs::read_to_string(run.join("metrics.jsonl")).expect("UTF-8");
    let numbers: Vec<u64> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["iteration"].as_u64().expect("one"))
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
}

#[test]
fn training_goes_on_without_tensorboard() {
    let place = Place::new();
    let run = place.copy("copy", 5);
    fs::write(run.join("tensorboard"), "a file where the folder should be").expect("writable");
    let (code, output) = resume(&run);
    assert!(code == Some(0) && output.contains("finished"), "{output}");
    let warnings = warnings(&output);
    assert!(warnings.len() == 1 && warnings[0].contains("TensorBoard events are off"), "{output}");
}

#[test]
fn a_loss_that_is_no_number_says_where_the_run_stands() {
    let place = Place::new();
    let run = place.copy("copy", 5);
    // The weights are last in the file; the averages, which are used for play, are unchanged.
    change(&run.join("state.safetensors"), |bytes| {
        // A forged file has no checksum.
        let name = b"turnstone.checksum";
        let at = bytes.windows(name.len()).position(|window| window == name).expect("it has a checksum");
        bytes[at..at + name.len()].copy_from_slice(b"turnstone.checksux");
        let end = bytes.len();
        for (i, number) in bytes[end - 800..].chunks_exact_mut(4).enumerate() {
            number.copy_from_slice(&[3e38f32, -3e38][i % 2].to_le_bytes());
        }
    });
    let line = error(resume(&run));
    assert!(line.contains("at step") && line.contains("the run stands at iteration 4 as before"), "{line}");
    assert!(line.contains("lower learn.learning_rate in"), "{line}");
}

#[test]
fn numbered_checkpoints_are_thinned_alike_after_a_resume() {
    let place = Place::new();
    let numbered = |run: &Path| {
        let entries = run.join("checkpoints").read_dir().expect("readable");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("readable").file_name()).collect();
        names.sort();
        names
    };
    let all = numbered(&place.run);
    let few = |name: &str| {
        let run = place.copy(name, 14);
        let config = fs::read_to_string(run.join("config.toml")).expect("readable");
        fs::write(run.join("config.toml"), format!("{config}keep_checkpoints = 2\n")).expect("writable");
        run
    };
    let (whole, stopped) = (few("whole"), few("stopped"));
    assert_eq!(resume(&whole).0, Some(0));
    while finish(train(&["--resume", text(&stopped), "--max-minutes", "0.0005"])).1.contains("stopped after") {}
    assert_eq!(numbered(&whole), numbered(&stopped));
    assert!(numbered(&whole).len() < all.len() + 10 && numbered(&whole)[0] == all[0], "{:?}", numbered(&whole));
}

/// Bits are flipped all over the files of a run: none is passed over, and what can be made anew comes out as it was.
#[test]
fn flipped_bits_are_noticed() {
    let place = Place::new();
    let whole = place.copy("whole", 5);
    assert_eq!(resume(&whole).0, Some(0));
    let flip = |path: &Path, share: f64| {
        change(path, |bytes| {
            let at = ((bytes.len() - 1) as f64 * share) as usize;
            bytes[at] ^= 1 << (at % 5); // never a space between fields into another
        });
    };
    for (i, share) in [0.3, 0.5, 0.7, 0.9, 1.0].into_iter().enumerate() {
        let run = place.copy(&format!("state{i}"), 5);
        flip(&run.join("state.safetensors"), share);
        let line = error(resume(&run));
        assert!(line.contains("state.safetensors: its checksum does not fit its contents"), "{share}: {line}");
        for (file, advice) in [("latest.safetensors", "written anew"), ("best.safetensors", "")] {
            let run = place.copy(&format!("{file}{i}"), 5);
            flip(&run.join(file), 0.6 + share / 4.0);
            let agent = format!("az:{},sims=1", text(&run.join(file)));
            let grade = ["grade", "mu_torere", "--param", "max_plies=30", "--agent", &agent];
            let graded = Command::new(env!("CARGO_BIN_EXE_turnstone")).args(grade).output().expect("it runs");
            let fault = String::from_utf8(graded.stderr).expect("UTF-8");
            assert!(!graded.status.success() && fault.contains("checksum does not fit"), "{fault}");
            let (code, output) = resume(&run);
            assert!(code == Some(0) && warnings(&output)[0].contains(file), "{output}");
            assert!(output.contains(advice), "{output}");
            if file == "latest.safetensors" {
                assert!(same_result(&run, &whole), "{share}");
            }
        }
        let run = place.copy(&format!("metrics{i}"), 5);
        change(&run.join("metrics.jsonl"), |bytes| {
            let digits: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).collect();
            let at = digits[((digits.len() - 1) as f64 * share) as usize];
            bytes[at] = if bytes[at] == b'9' { b'1' } else { bytes[at] + 1 };
        });
        let report = ["report", text(&run), "--no-grade"];
        let report = Command::new(env!("CARGO_BIN_EXE_turnstone")).args(report).output().expect("it runs");
        let fault = String::from_utf8(report.stderr).expect("UTF-8");
        assert!(!report.status.success() && fault.contains("metrics.jsonl: line "), "{fault}");
        let (code, output) = resume(&run);
        let warnings = warnings(&output);
        assert!(code == Some(0) && warnings.len() == 1 && warnings[0].contains("metrics.jsonl: line "), "{output}");
        assert!(same_result(&run, &whole));
    }
}

#[test]
fn what_an_interruption_leaves_is_removed() {
    let place = Place::new();
    let (whole, run) = (place.copy("whole", 5), place.copy("copy", 5));
    assert_eq!(resume(&whole).0, Some(0));
    fs::create_dir(run.join("tensorboard")).expect("writable");
    let strangers =
        ["tensorboard/.4711.tmp", ".state.safetensors.99.0.tmp", "replay/000000.shard"].map(|name| run.join(name));
    strangers.iter().for_each(|path| fs::write(path, "half").expect("writable"));
    fs::write(run.join(".mine.tmp"), "somebody's").expect("writable");
    fs::remove_dir_all(run.join("checkpoints")).expect("it was there");
    let (code, output) = resume(&run);
    assert_eq!(code, Some(0), "{output}");
    assert!(strangers.iter().all(|path| !path.exists()) && run.join(".mine.tmp").exists());
    assert!(same_result(&run, &whole));
}

#[test]
fn a_config_that_is_refused_leaves_no_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (config, run) = (folder.path().join("tiny.toml"), folder.path().join("run"));
    // There is no ladder for these parameters, which is known only once the game is looked at.
    fs::write(&config, TINY.replace("final_games = 4", "final_games = 4\nladder_games = 4")).expect("writable");
    let line = error(finish(train(&[text(&config), "--run", text(&run)])));
    assert!(line.contains("ladder"), "{line}");
    assert!(!run.exists());
    fs::write(&config, TINY).expect("writable");
    let (code, output) = finish(train(&[text(&config), "--run", text(&run)]));
    assert_eq!(code, Some(0), "{output}");
}

/// TOML has no greater integers, so a run of a greater seed could not be resumed.
#[test]
fn the_greatest_seed_comes_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (config, run) = (folder.path().join("tiny.toml"), folder.path().join("run"));
    fs::write(&config, TINY).expect("writable");
    let (code, output) = finish(train(&[text(&config), "--run", text(&run), "--seed", "9223372036854775808"]));
    assert!(code == Some(2) && output.lines().next().expect("a line").contains("--seed"), "{output}");
    assert!(!run.exists());
    let greatest = i64::MAX.to_string();
    let (code, output) =
        finish(train(&[text(&config), "--run", text(&run), "--seed", &greatest, "--max-minutes", "0.00001"]));
    assert_eq!(code, Some(0), "{output}");
    let (code, output) = resume(&run);
    assert_eq!(code, Some(0), "{output}");
}

/// A full disk behind standard output is one line, a reader that has gone is none, and stderr never ends a run.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_ends_in_one_line_at_most() {
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").expect("it is there"));
    let turnstone = || Command::new(env!("CARGO_BIN_EXE_turnstone"));
    for args in [
        &["games"][..],
        &["show", "mancala"],
        &["legal", "mancala", "--json"],
        &["arena", "mu_torere", "random", "random", "--games", "2"],
    ] {
        let child = turnstone().args(args).stdout(full()).stderr(Stdio::piped()).spawn().expect("it runs");
        let (code, text) = finish(child);
        assert!(code == Some(1) && text.lines().count() == 1, "{args:?}: {code:?}: {text}");
        assert!(text.starts_with("error: standard output: No space left on device"), "{text}");
    }
    let place = Place::new();
    let run = place.copy("copy", 5);
    let child = turnstone().args(["train", "--resume", text(&run)]).stdout(full()).stderr(full()).spawn();
    assert_eq!(child.expect("it runs").wait().expect("it ends").code(), Some(0));
    let run = place.copy("closed", 5);
    let mut child = train(&["--resume", text(&run)]);
    drop(child.stderr.take()); // as after `2>&1 | head -1`
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let status = turnstone().args(["games", "--bad"]).stdout(full()).stderr(full()).status().expect("it runs");
    assert_eq!(status.code(), Some(2));
}

/// What cannot be a config, a list of positions or a ladder is refused before it is read.
#[cfg(target_os = "linux")]
#[test]
fn devices_and_pipes_are_no_files() {
    for args in [
        &["train", "/dev/zero", "--run", "/nowhere/run"][..],
        &["grade", "mu_torere", "--agent", "random", "--positions", "/dev/zero"],
        &["arena", "mu_torere", "random", "--ladder", "--ladder-file", "/dev/zero", "--games", "2"],
        &["analyse", "mu_torere", "--agent", "az:/dev/zero"],
    ] {
        let child = Command::new(env!("CARGO_BIN_EXE_turnstone"))
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let line = error(finish(child));
        assert!(line.contains("/dev/zero") && line.contains("is not a regular file"), "{args:?}: {line}");
    }
}

/// What a checkpoint says of itself goes to a terminal.
#[test]
fn metadata_is_shown_escaped_and_bounded() {
    use turnstone_models::{CheckpointInfo, CheckpointParams, NetworkConfig, Shape, Weights, save};
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.safetensors");
    let (network, shape) = (NetworkConfig::ResidualMlp { blocks: 1, width: 4 }, Shape::flat(3, 2));
    let weights = Weights::random(&network.layout(&shape).expect("valid"), 1);
    let game = format!("\u{1b}[31m\r{}", "x".repeat(1 << 20));
    let info = CheckpointInfo::new(&game, 1, CheckpointParams::new(), network, shape, 0);
    save(&path, &info, &weights).expect("writable");
    let agent = format!("az:{}", text(&path));
    for args in [&["arena", "mu_torere", &agent, "random", "--games", "2"][..], &["analyse", "--agent", &agent]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnstone"));
        let child = command.args(args).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it runs");
        let line = error(finish(child));
        assert!(line.contains("\\u{1b}[31m\\r") && line.len() < 3000 && !line.contains('\u{1b}'), "{line}");
    }
}

/// Finite weights of absurd size give outputs that are not numbers.
#[test]
fn networks_with_outputs_that_are_not_finite_are_refused() {
    use turnstone_models::{NamedTensor, Weights, load, save};
    let place = Place::new();
    let path = place.run.join("latest.safetensors");
    let (info, weights) = load(&path).expect("sound");
    let huge = |tensor: &NamedTensor| NamedTensor { data: vec![3e38; tensor.data.len()], ..tensor.clone() };
    let layout = info.network.layout(&info.shape).expect("valid");
    let huge = Weights::new(&layout, weights.tensors().iter().map(huge).collect()).expect("finite");
    let forged = place.folder.path().join("huge.safetensors");
    save(&forged, &info, &huge).expect("writable");
    let agent = format!("az:{}", text(&forged));
    for command in ["grade", "analyse"] {
        let args = [command, "mu_torere", "--param", "max_plies=30", "--agent", &agent];
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnstone"));
        let child = command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let line = error(finish(child.spawn().expect("it runs")));
        assert!(line.contains("huge.safetensors") && line.contains("not finite"), "{line}");
    }
}
