//! What comes from outside is bounded and checked: output that cannot be written, devices, threads, memory, programs.

use super::*;

/// TOML has no greater integers, so a run of a greater seed could not be resumed.
#[test]
fn the_greatest_seed_comes_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (config, run) = (folder.path().join("tiny.toml"), folder.path().join("run"));
    fs::write(&config, TINY).expect("writable");
    let seeded = |seed: &str| {
        finish(train(&[
            text(&config),
            "--run",
            text(&run),
            "--set",
            &format!("seed={seed}"),
            "--max-minutes",
            "0.00001",
        ]))
    };
    let (code, output) = seeded("9223372036854775808");
    assert!(code == Some(2) && output.lines().next().expect("a line").contains("seed="), "{output}");
    assert!(!run.exists());
    let (code, output) = seeded(&i64::MAX.to_string());
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
        &["show", "mancala", "--legal", "--json"],
        &["arena", "mu_torere", "random", "random", "--games", "2"],
        &["--help"],
        &["--version"],
        &["train", "--help"],
        &["help", "arena"],
        &["completions", "bash"],
        &["man"],
    ] {
        let child = turnstone().args(args).stdout(full()).stderr(Stdio::piped()).spawn().expect("it runs");
        let (code, text) = finish(child);
        // A match says on stderr how it goes.
        let faults: Vec<&str> = text.lines().filter(|line| line.contains("error")).collect();
        assert!(code == Some(1) && faults.len() == 1, "{args:?}: {code:?}: {text}");
        assert!(args[0] == "arena" || text.lines().count() == 1, "{args:?}: {text}");
        assert!(faults[0].starts_with("error: standard output: No space left on device"), "{text}");
    }
    let mut read = turnstone().arg("--help").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    drop(read.stdout.take()); // as after `| head -0`
    let (code, text_of_it) = finish(read);
    assert!(code == Some(141) && text_of_it.is_empty(), "{code:?}: {text_of_it}");
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

/// The one line that a command without input fails with.
fn error_of(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnstone"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    error(finish(command.spawn().expect("it runs")))
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
        let line = error_of(args);
        assert!(line.contains("/dev/zero") && line.contains("is not a regular file"), "{args:?}: {line}");
    }
    let doctor = Command::new(env!("CARGO_BIN_EXE_turnstone")).args(["doctor", "/dev/zero"]).output().expect("it runs");
    let report = String::from_utf8_lossy(&doctor.stdout);
    assert!(report.starts_with("FAIL") && report.contains("/dev/zero: is not a regular file"), "{report}");
    assert_eq!(doctor.status.code(), Some(1));
}

/// A checkpoint's metadata goes to a terminal.
#[test]
fn metadata_is_shown_escaped_and_bounded() {
    use turnstone_models::{CheckpointInfo, CheckpointParams, NetworkConfig, ResidualMlp, Shape, Weights, save};
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.safetensors");
    let (network, shape) = (NetworkConfig::from(ResidualMlp { blocks: 1, width: 4 }), Shape::flat(3, 2));
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

/// Names in saved games, lines at a prompt and arguments may have been written by others: none of them moves the cursor or
/// turns text around, on standard output as little as on standard error.
#[test]
fn texts_of_others_are_escaped_wherever_they_are_printed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("game.json");
    let said = |args: &[&str], input: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnstone"));
        command
            .args(args)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        std::io::Write::write_all(&mut child.stdin.take().expect("piped"), input.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{args:?}: {}", text.escape_debug());
        text
    };
    let name = "\u{1b}[31m\u{202e}X\u{9b}2J\u{7}";
    let game = said(&["play", "mancala", "--p1", "random", "--p2", "random", "--json"], "");
    let mut game: serde_json::Value = serde_json::from_str(&game).expect("JSON");
    game["players"] = serde_json::json!([name, name]);
    fs::write(&path, game.to_string()).expect("writable");
    let (text, agent) = ("\\u{1b}[31m\\u{202e}X\\u{9b}2J\\u{7}", "mcts:sims=2");
    let review = said(&["review", "game.json", "--agent", agent], "");
    assert!(review.contains(text), "{review}");
    let review = said(&["review", "game.json", "--agent", agent, "--json"], "");
    let review: serde_json::Value = serde_json::from_str(&review).expect("JSON");
    assert_eq!(review["players"][0], name, "the same text for programs");
    let played =
        said(&["play", "mancala", "--p2", "random"], &format!("{name}\nsave none/{name}\nsave {name}\nquit\n"));
    assert!(played.matches(text).count() >= 3, "{played}");
    assert!(said(&["show", "mancala", "--legal", "--stdin"], &format!("{name}\n")).contains("error"));
    for args in [&["play", "mancala", "--p1", name][..], &["show", "mancala", "--moves", name], &[name]] {
        assert!(said(args, "").contains("\\u{202e}X"), "{args:?}");
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

/// A run folder may be somebody else's, so the programs in its config are not started without being allowed.
#[cfg(unix)]
#[test]
fn engines_in_a_config_are_not_started_unasked() {
    let place = Place::new();
    let run = place.copy("copy", 5);
    let started = place.folder.path().join("started");
    let engine = format!("engine:nodes=1:touch {}", text(&started));
    let config = run.join("config.toml");
    let changed = fs::read_to_string(&config).expect("readable").replace("\"random\"", &format!("\"{engine}\""));
    fs::write(&config, changed).expect("writable");
    // Where the folder tells what trained the run, other opponents are refused anyway.
    fs::remove_file(run.join("provenance.jsonl")).expect("it was there");
    let line = error(resume(&run));
    assert!(line.contains("arena.opponents: `engine:") && line.contains("--allow-engines"), "{line}");
    assert!(!started.exists());
    let doctor = |extra: &[&str]| {
        let args = [&["doctor", text(&config), "--seconds", "0.2"], extra].concat();
        let output = Command::new(env!("CARGO_BIN_EXE_turnstone")).args(args).output().expect("it runs");
        String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8")
    };
    let report = doctor(&[]);
    assert!(report.contains("starts a program, which was not done") && !started.exists(), "{report}");
    let report = doctor(&["--allow-engines"]);
    assert!(report.contains("starting the program of `engine:") && started.exists(), "{report}");
    fs::remove_file(&started).expect("it was there");
    // The last match starts it; as it is no engine, the run says so.
    finish(train(&["--resume", text(&run), "--allow-engines"]));
    assert!(started.exists());
}

/// A thread that cannot be started is an error of one line, not a program that hangs.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_that_cannot_be_started_is_an_error() {
    let child = Command::new(env!("CARGO_BIN_EXE_turnstone"))
        .args(["engine", "mu_torere", "--agent", "random"])
        .env("RUST_MIN_STACK", (1_u64 << 46).to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let line = error(finish(child));
    assert!(line.contains("cannot start a thread"), "{line}");
}

/// A table larger than the memory is refused before it is allocated.
#[cfg(target_os = "linux")]
#[test]
fn tables_beyond_the_memory_are_refused() {
    let args = &["play", "mu_torere", "--p1", "alphabeta:depth=2,hash=65536", "--p2", "random"];
    let memory = fs::read_to_string("/proc/meminfo").expect("readable");
    let kibibytes: u64 = memory.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number");
    if kibibytes < 80 << 20 {
        let line = error_of(args);
        assert!(line.contains("hash=65536") && line.contains("MiB of memory"), "{line}");
    }
    for threads in ["0", "257", "1000"] {
        let mut analyse = Command::new(env!("CARGO_BIN_EXE_turnstone"));
        let output = analyse.args(["analyse", "mu_torere", "--threads", threads]).output().expect("it runs");
        let fault = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(output.status.code() == Some(2) && fault.contains("must be 1 to 256"), "{fault}");
    }
}
