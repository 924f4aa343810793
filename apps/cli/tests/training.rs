//! Whole training runs: a smoke run that learns, and continuing with changes.

mod warm_starts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use crate::calls::{finish, train};
use crate::metrics::metrics;
use turnstone_models::Weights;
use turnstone_search::Stop;
use turnstone_selfplay::replay::GameId;
use turnstone_selfplay::{GameSettings, SelfPlayCounters, Task};
use turnstone_trainer::config::Config;

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
window = 800
[arena]
every = 3
games = 6
final_games = 6
simulations = 8
opponents = ["random"]
best_games = 4
[run]
iterations = 12
checkpoint_steps = 300
"#;

struct Place {
    folder: tempfile::TempDir,
    config: PathBuf,
}

impl Place {
    fn new() -> Self {
        Self::with(TINY)
    }

    /// [`Place::new`] with `run.overlap`.
    fn overlapping(overlap: bool) -> Self {
        Self::with(&format!("{TINY}overlap = {overlap}\n"))
    }

    fn with(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let config = folder.path().join("tiny.toml");
        fs::write(&config, text).expect("writable");
        Self { folder, config }
    }

    fn run(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&self, run: &Path) -> Child {
        train(&[self.config.to_str().expect("UTF-8"), "--run", run.to_str().expect("UTF-8")])
    }
}

fn resume(run: &Path) -> Child {
    train(&["--resume", run.to_str().expect("UTF-8")])
}

#[test]
fn threads_batches_and_the_cache_change_nothing() {
    let [apart, at_once] = [false, true].map(other_threads);
    assert_ne!(apart, at_once, "iteration 3 has another network");
}

/// Trains with two threads and with three, which makes no difference; returns the checkpoint.
fn other_threads(overlap: bool) -> Vec<u8> {
    let place = Place::overlapping(overlap);
    let (one, other) = (place.run("one"), place.run("other"));
    let (code, text) = finish(place.start(&one));
    assert_eq!(code, Some(0), "{text}");
    let text = fs::read_to_string(one.join("metrics.jsonl")).expect("written");
    assert_eq!(text.lines().any(|line| !line.contains(r#""both_seconds":0.0,"#)), overlap, "{text}");
    let changes =
        ["self_play.threads=3", "self_play.concurrent_games=17", "self_play.cached_positions=0", "learn.threads=1"];
    let config = place.config.to_str().expect("UTF-8");
    let mut args = vec![config, "--run", other.to_str().expect("UTF-8"), "--quiet"];
    changes.iter().for_each(|change| args.extend(["--set", change]));
    let (code, text) = finish(train(&args));
    assert_eq!(code, Some(0), "{text}");
    let read = |run: &Path| fs::read(run.join("latest.safetensors")).expect("written");
    assert!(read(&one) == read(&other), "the networks differ");
    let lines = metrics(&one);
    assert_eq!(lines, metrics(&other));
    // With every match the network is graded in all 1100 positions with a legal move.
    let graded = lines.iter().map(|line| line["grade"]["all"]["positions"].as_u64());
    assert!(graded.eq((1..=12).map(|iteration| (iteration % 3 == 0).then_some(1100))));
    read(&one)
}

#[test]
fn with_overlap_the_network_of_two_iterations_before_plays() {
    let place = Place::with(&TINY.replace("checkpoint_steps = 300", "overlap = true"));
    let run = place.run("run");
    let (config, folder) = (place.config.to_str().expect("UTF-8"), run.to_str().expect("UTF-8"));
    let set =
        ["run.iterations=4", "run.checkpoint_steps=1", "learn.window=100000"].map(|change| ["--set", change]).concat();
    let (code, text) = finish(train(&[&[config, "--run", folder][..], &set].concat()));
    assert_eq!(code, Some(0), "{text}");
    let config = Config::read(&run.join("config.toml"), &turnstone_games::list!(turnstone_selfplay::row))
        .expect("the run's config");
    let game = config.game(&turnstone_games::list!(turnstone_selfplay::row)).expect("a game");
    let id = GameId { name: game.name().to_owned(), version: game.version(), params: game.params() };
    let layout = config.net.layout(&turnstone_agents::shape(game.spec())).expect("a network");
    let steps: Vec<u64> = metrics(&run).iter().map(|line| line["step"].as_u64().expect("a number")).collect();
    let after = |iteration: usize| {
        let path = run.join(format!("checkpoints/step_{:08}.safetensors", steps[iteration - 1]));
        turnstone_models::load(&path).expect("a checkpoint").1
    };
    let first = Weights::random(&layout, config.seed);
    for (iteration, weights) in [(1, first.clone()), (2, first), (3, after(1)), (4, after(2))] {
        let task = Task::new(
            GameSettings::new(&config.search, &config.self_play, config.seed, iteration),
            &config.net,
            &weights,
        );
        let games = game.self_play(&task, &SelfPlayCounters::default(), &Stop::default()).expect("its network");
        let shard = games.expect("nothing stops it").shard.to_bytes(&id);
        let found = fs::read(run.join(format!("replay/{iteration:06}.shard"))).expect("written");
        assert!(found == shard, "iteration {iteration} was played by another network");
    }
}

#[test]
fn games_played_ahead_survive_changes() {
    let place = Place::overlapping(true);
    let run = place.run("run");
    let (config, folder) = (place.config.to_str().expect("UTF-8"), run.to_str().expect("UTF-8"));
    let (code, text) = finish(train(&[config, "--run", folder, "--max-minutes", "0.0001"]));
    assert_eq!(code, Some(0), "{text}");
    assert!(metrics(&run).len() == 1 && run.join("replay/000002.shard").is_file());
    let (code, text) = finish(train(&["--resume", folder, "--max-minutes", "0.0001"]));
    assert!(code == Some(0) && metrics(&run).len() == 2, "{text}");
    // Without overlap from here on, the games that were played ahead are still learned from.
    let ahead = fs::read(run.join("replay/000003.shard")).expect("played ahead");
    let text = fs::read_to_string(run.join("config.toml")).expect("readable");
    fs::write(run.join("config.toml"), text.replace("overlap = true", "overlap = false")).expect("writable");
    let (code, text) = finish(train(&["--resume", folder, "--max-minutes", "0.0001"]));
    assert_eq!(code, Some(0), "{text}");
    assert!(fs::read(run.join("replay/000003.shard")).expect("kept") == ahead);
    assert!(metrics(&run).len() == 3 && !run.join("replay/000004.shard").exists());
    let (code, text) = finish(resume(&run));
    assert_eq!((code, metrics(&run).len()), (Some(0), 12), "{text}");
}

#[test]
fn a_run_climbs_the_ladder_and_meets_its_best() {
    let place = Place::new();
    let changes = ["game.max_plies=100", "arena.ladder_games=2", "arena.every=1", "run.iterations=3"];
    let climbed = |name: &str, threads: &str| {
        let run = place.run(name);
        let config = place.config.to_str().expect("UTF-8");
        let mut args = vec![config, "--run", run.to_str().expect("UTF-8"), "--set", threads];
        changes.iter().for_each(|change| args.extend(["--set", change]));
        let (code, text) = finish(train(&args));
        assert!(code == Some(0) && text.contains("on the ladder: Elo"), "{text}");
        metrics(&run)
    };
    let lines = climbed("one", "self_play.threads=1");
    assert_eq!(lines, climbed("three", "self_play.threads=3"));
    assert!(lines.iter().all(|line| line["ladder"]["elo"].is_number() && line["ladder"]["interval"][0].is_number()));
    assert!(lines[0]["previous_best"].is_null() && lines[1]["previous_best"]["score"].is_number(), "{lines:?}");
    let report = Command::new(env!("CARGO_BIN_EXE_turnstone"))
        .args(["report", place.run("one").to_str().expect("UTF-8"), "--no-grade"])
        .output()
        .expect("the program runs");
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
    let page = fs::read_to_string(place.run("one").join("report.html")).expect("written");
    assert!(page.contains("Elo on the ladder") && page.contains("Score against the best so far"));
    let elsewhere = ["--set", "arena.ladder_games=2"];
    let run = place.run("elsewhere");
    let config = place.config.to_str().expect("UTF-8");
    let (code, text) = finish(train(&[&[config, "--run", run.to_str().expect("UTF-8")][..], &elsewhere].concat()));
    assert!(code == Some(1) && text.contains("arena.ladder_games") && text.contains("not for this game"), "{text}");
}

/// Text of a run of four iterations whose learning rate and simulations change.
fn annealed() -> String {
    let text = TINY.replace("iterations = 12", "iterations = 4").replace("every = 3", "every = 0");
    text.replace("simulations = 8\n[self_play]", "simulations = 4\nfinal_simulations = 8\n[self_play]")
}

#[test]
fn a_finished_run_goes_on_with_its_final_values() {
    let place = Place::with(&annealed());
    let (longer, whole) = (place.run("longer"), place.run("whole"));
    assert_eq!(finish(place.start(&longer)).0, Some(0));
    let first = fs::read(longer.join("config.toml")).expect("readable");
    let folder = longer.to_str().expect("UTF-8");
    let more = ["--resume", folder, "--set", "run.iterations=8", "--max-minutes", "0.0001"];
    let (code, text) = finish(train(&more));
    assert!(code == Some(0) && text.contains(": run.iterations 4 -> 8, run.schedule_iterations 0 -> 4; "), "{text}");
    assert!(text.contains("the run goes on with it at iteration 5"), "{text}");
    assert_eq!(metrics(&longer).len(), 5);
    // The run's own config has the change.
    let (code, text) = finish(resume(&longer));
    assert_eq!(code, Some(0), "{text}");
    let config = place.config.to_str().expect("UTF-8");
    let keys = ["--set", "run.iterations=8", "--set", "run.schedule_iterations=4"];
    let (code, text) = finish(train(&[&[config, "--run", whole.to_str().expect("UTF-8")][..], &keys].concat()));
    assert_eq!(code, Some(0), "{text}");
    for file in ["latest.safetensors", "config.toml", "replay/000008.shard"] {
        let same = fs::read(longer.join(file)).expect("written") == fs::read(whole.join(file)).expect("written");
        assert!(same, "{file} differs");
    }
    let rates: Vec<f64> =
        metrics(&longer).iter().map(|line| line["learning_rate"].as_f64().expect("a number")).collect();
    assert!(rates.len() == 8 && rates[2] > rates[3] && rates[3] > rates[4], "{rates:?}");
    assert_eq!(rates[4..], [2e-4; 4]);
    // Both configs are there, under the checksums of the provenance.
    let lines = fs::read_to_string(longer.join("provenance.jsonl")).expect("readable");
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((lines.len(), &lines[1]["iteration"]), (2, &4.into()));
    let before = longer.join(format!("config-{}.toml", lines[0]["config"].as_str().expect("a checksum")));
    assert_eq!(fs::read(before).expect("kept"), first);
}

#[test]
fn a_config_that_a_run_cannot_continue_with_is_refused() {
    let place = Place::with(&annealed());
    let run = place.run("run");
    assert_eq!(finish(place.start(&run)).0, Some(0));
    let before = fs::read_to_string(run.join("config.toml")).expect("readable");
    for (change, expected) in [
        ("learn.batch=64", "--set: learn.batch cannot change when a run continues, as "),
        ("run.iterations=3", "--set: run.iterations is 3, but 4 are finished already"),
        ("learn.window=0", "learn.window is 0"),
    ] {
        let (code, text) = finish(train(&["--resume", run.to_str().expect("UTF-8"), "--set", change]));
        assert!(code == Some(1) && text.contains(expected) && text.lines().count() == 1, "{change}: {text}");
        assert_eq!(fs::read_to_string(run.join("config.toml")).expect("readable"), before, "{change}");
    }
    // What is edited by hand is refused as what is set.
    fs::write(run.join("config.toml"), before.replace("seed = 5", "seed = 6")).expect("writable");
    let (code, fault) = finish(resume(&run));
    let named = "config.toml: seed cannot change when a run continues, as ";
    assert!(code == Some(1) && fault.contains(named) && fault.lines().count() == 1, "{fault}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_cleanly_and_the_run_goes_on() {
    let place = Place::new();
    let run = place.run("run");
    let child = place.start(&run);
    while !run.join("state.safetensors").exists() {
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(60));
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    let (code, text) = finish(child);
    if signalled.success() && code != Some(0) {
        assert_eq!(code, Some(130), "{text}");
        assert!(text.contains("continue with: turnstone train --resume"), "{text}");
    }
    let (code, text) = finish(resume(&run));
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(metrics(&run).len(), 12);
}

#[test]
fn the_smoke_run_beats_random() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("smoke");
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/smoke.toml");
    let (code, text) = finish(train(&[config, "--run", run.to_str().expect("UTF-8")]));
    assert_eq!(code, Some(0), "{text}");
    let last = metrics(&run).pop().expect("metrics");
    let random = &last["arena"][0];
    assert_eq!(random["opponent"], "random");
    assert!(random["score"].as_f64().expect("a number") >= 0.7, "{random}");
    let events = fs::read_dir(run.join("tensorboard")).expect("readable").next().expect("a file").expect("readable");
    assert!(events.metadata().expect("readable").len() > 1000);
    assert!(run.join("best.safetensors").is_file() && run.join("checkpoints").read_dir().is_ok_and(|d| d.count() > 0));
}

#[test]
fn every_shipped_config_is_sound() {
    let folders = ["/../../configs", "/../../configs/gpu"].map(|folder| env!("CARGO_MANIFEST_DIR").to_owned() + folder);
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("readable"));
    let configs = entries.map(|entry| entry.expect("readable").path());
    let configs: Vec<PathBuf> = configs.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    assert!(configs.len() >= 13);
    for path in configs {
        turnstone_trainer::config::Config::read(&path, &turnstone_games::list!(turnstone_selfplay::row))
            .unwrap_or_else(|fault| panic!("{fault}"));
    }
}
