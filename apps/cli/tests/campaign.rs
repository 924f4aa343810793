//! A run is killed at chosen changes of its files, its writes fail, and bits of its files are flipped: it ends in the
//! same bytes, or damage is reported.
//!
//! `CAMPAIGN=full cargo test --release -p turnstone --test campaign` takes minutes: 200 kills, 200 failed writes and 500
//! flipped bits. Without the variable it is a twentieth of that, and a third of the changes where all are tried.
#![cfg(target_os = "linux")]

#[path = "campaign/exports.rs"]
mod exports;
#[path = "campaign/tournaments.rs"]
mod tournaments;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A run of a second with shards that leave the window, matches, a best checkpoint and thinned checkpoints.
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
concurrent_games = 4
threads = 1
[learn]
batch = 16
samples_per_position = 4
window = 200
threads = 1
[arena]
every = 1
games = 2
final_games = 2
simulations = 2
opponents = ["random"]
[run]
iterations = 5
checkpoint_steps = 20
keep_checkpoints = 1
"#;

struct Campaign {
    folder: tempfile::TempDir,
    config: PathBuf,
    shim: PathBuf,
    /// The run without any fault.
    whole: PathBuf,
    /// Number of changes of files in it.
    changes: u64,
    rng: Xoshiro256PlusPlus,
}

/// A fault of a process.
#[derive(Clone, Copy)]
struct Fault {
    kind: &'static str,
    at: u64,
}

impl Campaign {
    /// A campaign on a run with `run.overlap`.
    fn new(seed: u64, overlap: bool) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        let (config, whole, count) = (path("tiny.toml"), path("whole"), path("count"));
        let shim = compiled_shim(folder.path());
        fs::write(&config, format!("{CONFIG}overlap = {overlap}\n")).expect("writable");
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut campaign = Self { config, shim, whole: whole.clone(), changes: 0, rng, folder };
        let output = campaign.train(&whole, None).env("FAULT_COUNT", &count).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let counted = fs::read_to_string(&count).expect("the shim counts");
        campaign.changes = counted.trim().parse().expect("a number");
        assert!(campaign.changes > 100, "{} changes", campaign.changes);
        campaign
    }

    /// The command that starts the run in a folder, or continues with it.
    fn train(&self, run: &Path, fault: Option<Fault>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnstone"));
        command.arg("train").stdin(Stdio::null());
        match run.join("config.toml").exists() {
            true => command.arg("--resume").arg(run),
            false => command.arg(&self.config).arg("--run").arg(run),
        };
        command.env("LD_PRELOAD", &self.shim).env("FAULT_FOLDER", run);
        if let Some(Fault { kind, at }) = fault {
            command.env("FAULT_KIND", kind).env("FAULT_AT", at.to_string());
        }
        command
    }

    fn finish(&self, run: &Path, fault: Option<Fault>) -> Output {
        self.train(run, fault).output().expect("it runs")
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.rng.next_u64() % below
    }

    fn run(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Differences from the run without faults; a temporary file that is left counts as one.
    fn differences(&self, run: &Path) -> Vec<String> {
        let (expected, found) = (files(&self.whole), files(run));
        let mut differences: Vec<String> =
            found.iter().filter(|file| file.ends_with(".tmp")).map(|file| format!("{file} is left over")).collect();
        // These name processes or times.
        let compared = |file: &&String| {
            !file.starts_with("tensorboard/") && !["lock", "provenance.jsonl"].contains(&file.as_str())
        };
        let expected: Vec<&String> = expected.iter().filter(compared).collect();
        let found: Vec<&String> = found.iter().filter(compared).filter(|file| !file.ends_with(".tmp")).collect();
        if expected != found {
            differences.push(format!("files {found:?} instead of {expected:?}"));
        }
        for file in expected {
            let read = |folder: &Path| fs::read(folder.join(file)).map(|bytes| without_times(file, &bytes)).ok();
            if read(run) != read(&self.whole) {
                differences.push(format!("{file} differs"));
            }
        }
        differences
    }
}

/// The library that brings faults into a process, compiled into a folder.
fn compiled_shim(folder: &Path) -> PathBuf {
    let (shim, source) = (folder.join("shim.so"), concat!(env!("CARGO_MANIFEST_DIR"), "/tests/campaign/shim.c"));
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&shim).arg(source).status();
    assert!(compiled.expect("the C compiler that Rust links with").success());
    shim
}

/// The files in a folder and its subfolders, by relative path.
fn files(folder: &Path) -> Vec<String> {
    fn add(folder: &Path, prefix: &str, files: &mut Vec<String>) {
        for entry in folder.read_dir().expect("readable").map(|entry| entry.expect("readable")) {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                add(&entry.path(), &format!("{name}/"), files);
            } else {
                files.push(name);
            }
        }
    }
    let mut all = Vec::new();
    add(folder, "", &mut all);
    all.sort_unstable();
    all
}

/// The bytes of a file; of metrics without what depends on the clock.
fn without_times(file: &str, bytes: &[u8]) -> Vec<u8> {
    if file != "metrics.jsonl" {
        return bytes.to_vec();
    }
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let timeless = lines.map(|line| {
        let mut line: serde_json::Value = serde_json::from_slice(line).expect("a line of metrics");
        ["timing", "crc"].iter().for_each(|key| drop(line[*key].take()));
        line.to_string()
    });
    timeless.collect::<Vec<_>>().join("\n").into_bytes()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn is_full() -> bool {
    std::env::var_os("CAMPAIGN").is_some_and(|size| size == "full")
}

/// The full number of cases or a twentieth of it.
fn cases(full: u64) -> u64 {
    if is_full() { full } else { full / 20 }
}

/// The changes of files at which something fails, from 1: all of them, or every third and the last.
fn places(changes: u64) -> impl Iterator<Item = u64> {
    (1..=changes).filter(move |at| is_full() || at % 3 == 1 || *at == changes)
}

#[test]
fn killed_runs_end_in_the_same_bytes() {
    [false, true].into_iter().for_each(kill);
}

fn kill(overlap: bool) {
    let mut campaign = Campaign::new(1, overlap);
    let (kills, mut killed, mut runs) = (cases(200), 0, 0);
    while killed < kills {
        runs += 1;
        let run = campaign.run(&format!("killed{runs}"));
        // The first kill of each run walks evenly through all changes, later ones fall anywhere.
        let mut at = 1 + killed * (campaign.changes - 1) / kills;
        for _ in 0..5 {
            let kind = if campaign.draw(2) == 0 { "kill" } else { "torn" };
            let output = campaign.finish(&run, Some(Fault { kind, at }));
            if output.status.signal() != Some(9) {
                assert!(output.status.success(), "run {runs}, {kind} at {at}: {}", text(&output));
                break;
            }
            killed += 1;
            at = 1 + campaign.draw(campaign.changes / 2);
        }
        let output = campaign.finish(&run, None);
        assert!(output.status.success(), "run {runs}: {}", text(&output));
        assert_eq!(campaign.differences(&run), [""; 0], "run {runs}");
        fs::remove_dir_all(&run).expect("it was there");
    }
    println!("overlap {overlap}: {killed} kills in {runs} runs: the same bytes");
}

#[test]
fn failed_writes_are_reported_and_resumed_to_the_same_bytes() {
    [false, true].into_iter().for_each(fail_writes);
}

fn fail_writes(overlap: bool) {
    let mut campaign = Campaign::new(2, overlap);
    let (mut ended, mut tolerated) = (0, 0);
    let errors = cases(200);
    for number in 0..errors {
        let run = campaign.run(&format!("failed{number}"));
        let at = 1 + number * (campaign.changes - 1) / errors;
        let kind = ["ENOSPC", "EIO", "full"][campaign.draw(3) as usize];
        let output = campaign.finish(&run, Some(Fault { kind, at }));
        let said = text(&output);
        assert!(!said.contains("panicked"), "{kind} at {at}: {said}");
        match output.status.code() {
            // TensorBoard's files and the removal of what is superseded may fail.
            Some(0) => tolerated += 1,
            Some(1) => {
                ended += 1;
                assert_eq!(
                    said.lines().filter(|line| line.starts_with("error: ")).count(),
                    1,
                    "{kind} at {at}: {said}"
                );
            }
            code => panic!("{kind} at {at}: {code:?}: {said}"),
        }
        let output = campaign.finish(&run, None);
        assert!(output.status.success(), "{kind} at {at}: {}", text(&output));
        assert_eq!(campaign.differences(&run), [""; 0], "{kind} at {at}: {said}");
        fs::remove_dir_all(&run).expect("it was there");
    }
    println!(
        "{errors} failed writes: {ended} ended the run, {tolerated} were tolerated; all resumed to the same bytes"
    );
}

#[test]
fn event_files_that_cannot_be_written_cost_a_warning() {
    let mut campaign = Campaign::new(4, false);
    let count = campaign.folder.path().join("events");
    let run = campaign.run("counted");
    let events = |run: &Path| run.join("tensorboard");
    let output = campaign.train(&run, None).env("FAULT_FOLDER", events(&run)).env("FAULT_COUNT", &count).output();
    assert!(output.expect("it runs").status.success());
    let changes: u64 = fs::read_to_string(&count).expect("the shim counts").trim().parse().expect("a number");
    assert!(changes >= 2 + 5, "the folder, the file, and a write for each iteration: {changes}");
    for at in places(changes) {
        let run = campaign.run(&format!("events{at}"));
        let kind = ["ENOSPC", "EIO", "full"][campaign.draw(3) as usize];
        let output = campaign.train(&run, Some(Fault { kind, at })).env("FAULT_FOLDER", events(&run)).output();
        let output = output.expect("it runs");
        let said = text(&output);
        assert!(output.status.success() && !said.contains("panicked"), "{kind} at {at}: {said}");
        let warnings: Vec<&str> = said.lines().filter(|line| line.starts_with("warning: ")).collect();
        assert!(warnings.len() == 1 && warnings[0].contains("TensorBoard events are off"), "{kind} at {at}: {said}");
        assert_eq!(campaign.differences(&run), [""; 0], "{kind} at {at}");
        fs::remove_dir_all(&run).expect("it was there");
    }
    println!("{changes} failed writes of event files: one warning each, the same bytes");
}

#[test]
fn a_file_system_without_locks_and_synced_folders_costs_two_warnings() {
    let campaign = Campaign::new(5, false);
    let run = campaign.run("foreign");
    let output = campaign.finish(&run, Some(Fault { kind: "foreign", at: 0 }));
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    let warnings: Vec<&str> = said.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert!(
        warnings.len() == 2 && warnings[0].contains("has no locks") && warnings[1].contains("cannot sync"),
        "{said}"
    );
    assert_eq!(campaign.differences(&run), [""; 0]);
}

/// A run with `--from` that is killed at a change of its start is resumed, or begun again by the same command.
#[test]
fn starts_from_a_checkpoint_are_killed() {
    let campaign = Campaign::new(6, false);
    let from = campaign.whole.join("latest.safetensors");
    // No iteration is played.
    let start = |run: &Path, fault: Option<Fault>| {
        let begins = !run.join("config.toml").exists();
        let mut command = campaign.train(run, fault);
        if begins {
            command.arg("--from").arg(&from);
        }
        command.args(["--max-minutes", "0"]);
        command
    };
    let (sound, count) = (campaign.run("sound"), campaign.folder.path().join("starts"));
    let output = start(&sound, None).env("FAULT_COUNT", &count).output().expect("it runs");
    assert!(output.status.success(), "{}", text(&output));
    let changes: u64 = fs::read_to_string(&count).expect("the shim counts").trim().parse().expect("a number");
    let (mut tried, mut resumed) = (0, 0);
    for (at, kind) in places(changes).flat_map(|at| [(at, "kill"), (at, "torn")]) {
        let run = campaign.run("started");
        let output = start(&run, Some(Fault { kind, at })).output().expect("it runs");
        assert_eq!(output.status.signal(), Some(9), "{kind} at {at}: {}", text(&output));
        tried += 1;
        resumed += u64::from(run.join("config.toml").exists());
        let output = start(&run, None).output().expect("it runs");
        assert!(output.status.success(), "{kind} at {at}: {}", text(&output));
        let [found, expected] = [&run, &sound].map(|run| fs::read(run.join("start.safetensors")).expect("readable"));
        assert!(found == expected, "{kind} at {at}");
        assert!(run.join("state.safetensors").is_file(), "{kind} at {at}");
        fs::remove_dir_all(&run).expect("it was there");
    }
    assert!(resumed > 0 && resumed < tried, "{resumed} of {tried}");
}

#[test]
fn flipped_bits_are_reported() {
    [false, true].into_iter().for_each(flip_bits);
}

fn flip_bits(overlap: bool) {
    let mut campaign = Campaign::new(3, overlap);
    let base = campaign.run("base");
    let at = campaign.changes * 7 / 10;
    let output = campaign.finish(&base, Some(Fault { kind: "kill", at }));
    assert_eq!(output.status.signal(), Some(9), "{}", text(&output));
    let readers = |file: &String| !file.starts_with("tensorboard/") && file != "lock" && !file.ends_with(".tmp");
    let names: Vec<String> = files(&base).into_iter().filter(readers).collect();
    let (mut reported, mut harmless) = (0, 0);
    for number in 0..cases(500) {
        let name = &names[number as usize % names.len()];
        let run = campaign.run("flipped");
        for file in files(&base) {
            let to = run.join(&file);
            fs::create_dir_all(to.parent().expect("a folder")).expect("writable");
            fs::copy(base.join(&file), to).expect("writable");
        }
        let mut bytes = fs::read(run.join(name)).expect("readable");
        let bit = campaign.draw(8 * bytes.len() as u64) as usize;
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(run.join(name), &bytes).expect("writable");
        if name.starts_with("checkpoints/") {
            // No resumed run reads these; a player that loads one reports it.
            let path = Path::new(name);
            let sound =
                turnstone_models::load_bytes(&fs::read(base.join(name)).expect("readable"), path).expect("sound");
            match turnstone_models::load_bytes(&bytes, path) {
                Err(_) => reported += 1,
                Ok(read) => {
                    assert_eq!(read, sound, "bit {bit} of {name}");
                    harmless += 1;
                }
            }
        } else {
            let output = campaign.finish(&run, None);
            let said = text(&output);
            assert!(!said.contains("panicked"), "bit {bit} of {name}: {said}");
            let file = name.rsplit('/').next().expect("a name");
            if said.lines().any(|line| line.contains(file) && !line.starts_with("finished")) {
                reported += 1;
            } else {
                assert!(output.status.success(), "bit {bit} of {name}: {said}");
                assert_eq!(campaign.differences(&run), [""; 0], "bit {bit} of {name}: {said}");
                harmless += 1;
            }
        }
        fs::remove_dir_all(&run).expect("it was there");
    }
    println!(
        "{} flipped bits in {} files: {reported} reported, {harmless} without effect",
        reported + harmless,
        names.len()
    );
    assert!(reported > 4 * harmless);
}
