//! Which program wrote a file: the version on the command line, in checkpoints, run folders and tournaments.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// A run of one iteration.
pub(crate) const TINY: &str = r#"
seed = 5
[game]
name = "mu_torere"
max_plies = 30
[net]
kind = "residual_mlp"
blocks = 1
width = 8
[search]
simulations = 4
[self_play]
games_per_iteration = 4
concurrent_games = 4
[learn]
batch = 16
[arena]
every = 0
final_games = 2
simulations = 2
opponents = ["random"]
[run]
iterations = 1
"#;

/// Standard output and standard error of a command that must succeed.
fn run(folder: &Path, args: &[&str]) -> (String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_turnstone")).args(args).current_dir(folder).output().expect("it runs");
    let [out, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    assert!(output.status.success(), "{args:?}: {errors}");
    (out, errors)
}

/// What `turnstone --version` prints.
fn program(folder: &Path) -> String {
    run(folder, &["--version"]).0.trim().to_owned()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Replaces a text in a file that contains it once, and the checksums of its lines.
fn replace(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("readable");
    assert_eq!(text.matches(from).count(), 1, "{from} in {text}");
    let sealed_again = |line: &str| match line.rsplit_once(",\"crc\":") {
        Some((fields, _)) => turnstone_base::checksum::seal_line(&format!("{fields}}}")) + "\n",
        None => format!("{line}\n"),
    };
    fs::write(path, text.replace(from, to).lines().map(sealed_again).collect::<String>()).expect("writable");
}

#[test]
fn the_version_names_the_commit() {
    let version = program(Path::new("."));
    let name = concat!("turnstone ", env!("CARGO_PKG_VERSION"), " (");
    let commit =
        version.strip_prefix(name).and_then(|rest| rest.strip_suffix(')')).unwrap_or_else(|| panic!("{version}"));
    let (hash, date) = commit.split_once(' ').unwrap_or((commit, "")); // packages know no date
    let hash = hash.strip_suffix('+').unwrap_or(hash);
    let is_hash = hash.len() >= 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_date = date.len() == 10 && date.split('-').map(str::len).eq([4, 2, 2]);
    assert!(hash == "unknown" || is_hash && (date.is_empty() || is_date), "{version}");
    // The tests of a checkout know its commit.
    let head = Command::new("git").args(["log", "-1", "--format=%H", "--", "."]).output();
    if head.is_ok_and(|head| head.status.success() && !head.stdout.is_empty()) {
        assert!(is_hash && is_date, "{version}");
    }
}

#[test]
fn runs_and_checkpoints_name_the_programs_that_trained_them() {
    let place = tempfile::tempdir().expect("a folder");
    let (program, folder) = (program(place.path()), place.path().join("run"));
    fs::write(place.path().join("tiny.toml"), TINY).expect("writable");
    run(place.path(), &["train", "tiny.toml", "--run", "run", "--quiet"]);
    let bytes = fs::read(folder.join("latest.safetensors")).expect("a checkpoint");
    let (length, rest) = bytes.split_first_chunk::<8>().expect("a length");
    let header: Value = serde_json::from_slice(&rest[..u64::from_le_bytes(*length) as usize]).expect("JSON");
    assert_eq!(header["__metadata__"]["turnstone.created_by"], *program);
    let checksum = |text: &str| format!("{:08x}", crc32fast::hash(text.as_bytes()));
    assert!(header["__metadata__"]["config"].as_str().is_some_and(|checksum| checksum.len() == 8), "{header}");
    let provenance = folder.join("provenance.jsonl");
    let [first] = &lines(&provenance)[..] else { panic!("{:?}", lines(&provenance)) };
    assert_eq!((&first["iteration"], &first["program"]), (&0.into(), &program.as_str().into()));
    assert_eq!(first["config"], checksum(TINY));
    // A finished run stays as it is. One that is continued with another program or config says so.
    run(place.path(), &["train", "--resume", "run", "--quiet"]);
    assert_eq!(lines(&provenance).len(), 1);
    replace(&provenance, &program, "turnstone 0.0.9");
    replace(&folder.join("config.toml"), "iterations = 1", "iterations = 2");
    let (_, notes) = run(place.path(), &["train", "--resume", "run"]);
    assert!(notes.starts_with("resuming mu_torere in run after iteration 1 of 2\n"), "{notes}");
    assert!(notes.contains("config.toml: run.iterations 1 -> 2; the run goes on with it at iteration 2"), "{notes}");
    assert!(notes.contains(&format!("the run was last trained by turnstone 0.0.9; this is {program}")), "{notes}");
    let all = lines(&provenance);
    assert_eq!((all.len(), &all[0]["program"], &all[1]["program"]), (2, &"turnstone 0.0.9".into(), &program.into()));
    assert_eq!(
        (&all[1]["iteration"], &all[1]["config"]),
        (&1.into(), &checksum(&TINY.replace("iterations = 1", "iterations = 2")).into())
    );
}

/// Only the last line of the provenance knows of a GPU, so that this needs none.
#[test]
fn a_run_that_goes_on_with_other_devices_says_so() {
    let place = tempfile::tempdir().expect("a folder");
    fs::write(place.path().join("tiny.toml"), TINY).expect("writable");
    run(place.path(), &["train", "tiny.toml", "--run", "run", "--quiet"]);
    let provenance = place.path().join("run/provenance.jsonl");
    let [mut last] = lines(&provenance).try_into().expect("one line");
    last.as_object_mut().expect("an object").remove("crc");
    last["devices"] = "gpu:1 and cpu".into();
    fs::write(&provenance, turnstone_base::checksum::seal_line(&last.to_string()) + "\n").expect("writable");
    replace(&place.path().join("run/config.toml"), "iterations = 1", "iterations = 2");
    let (_, notes) = run(place.path(), &["train", "--resume", "run"]);
    let expected = "self-play and learning were last on gpu:1 and cpu and continue on cpu and cpu: from here on the result \
                    may differ";
    assert!(notes.contains(expected), "{notes}");
    let all = lines(&provenance);
    assert_eq!((all.len(), &all[0]["devices"], all[1].get("devices")), (2, &"gpu:1 and cpu".into(), None));
    replace(&place.path().join("run/config.toml"), "iterations = 2", "iterations = 3");
    let (_, notes) = run(place.path(), &["train", "--resume", "run"]);
    assert!(!notes.contains("were last on"), "{notes}");
}

#[test]
fn tournaments_name_the_program_and_go_on_with_another() {
    let place = tempfile::tempdir().expect("a folder");
    let program = program(place.path());
    let args = ["arena", "mu_torere", "random", "alphabeta:depth=1", "--games", "4", "--out", "games"];
    run(place.path(), &args);
    let journal = place.path().join("games/games.jsonl");
    assert_eq!(lines(&journal)[0]["program"], *program);
    let played = lines(&journal).split_off(1);
    replace(&journal, &program, "turnstone 0.0.9");
    run(place.path(), &[&args[..], &["--resume"]].concat());
    assert_eq!(
        (lines(&journal)[0]["program"].as_str(), lines(&journal).split_off(1)),
        (Some("turnstone 0.0.9"), played)
    );
    let other = ["arena", "mu_torere", "random", "alphabeta:depth=2", "--games", "4", "--out", "games", "--resume"];
    let refused = Command::new(env!("CARGO_BIN_EXE_turnstone")).args(other).current_dir(place.path()).output();
    let errors = String::from_utf8(refused.expect("it runs").stderr).expect("UTF-8");
    assert!(errors.contains("other agents"), "{errors}");
}
