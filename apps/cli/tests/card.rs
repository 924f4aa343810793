//! `turnstone card`: the cards of the agents that come with the program, and of runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

/// A run of one iteration, with two pairs of games at its end.
fn tiny() -> String {
    crate::provenance::TINY.trim_start().replace("final_games = 2", "final_games = 4")
}

/// Exit code, standard output and standard error of a command.
fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_turnstone")).args(args).current_dir(folder).output().expect("it runs");
    let [out, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    (output.status.code().expect("no signal"), out, errors)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The games with a trained agent.
fn games() -> Vec<String> {
    let folders =
        fs::read_dir(root().join("games/src")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let trained = folders.filter(|folder| folder.join("agent.safetensors").is_file());
    let mut games: Vec<_> =
        trained.map(|folder| folder.file_name().expect("a name").to_string_lossy().into_owned()).collect();
    games.sort();
    assert!(games.len() >= 5, "{games:?}");
    games
}

#[test]
fn shipped_agents_have_the_cards_that_the_command_writes() {
    for game in games() {
        let [agent, config, results, card] = [
            format!("games/src/{game}/agent.safetensors"),
            format!("configs/{game}.toml"),
            format!("games/src/{game}/results.toml"),
            format!("games/src/{game}/card.md"),
        ];
        let arguments = ["card", &agent, "--config", &config, "--results", &results, "--license", "mit"];
        let (code, text, errors) = run(&root(), &arguments);
        assert_eq!(code, 0, "{errors}");
        let committed = fs::read_to_string(root().join(&card)).unwrap_or_default();
        assert!(text == committed, "{card} is not the agent's: turnstone {} --out {card}", arguments.join(" "));
    }
}

/// The results of a card are those of the table for readers.
#[test]
fn results_are_those_of_the_page() {
    let page = fs::read_to_string(root().join("docs/results.md")).expect("a page");
    for game in games() {
        let path = root().join(format!("games/src/{game}/results.toml"));
        let file: toml::Table = fs::read_to_string(&path).expect("results").parse().expect("TOML");
        for result in file["results"].as_array().expect("a list") {
            let (how, value) =
                (result["how"].as_str().expect("a command"), result["value"].as_float().expect("a number"));
            let text = if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") };
            // All of Mu Torere's positions are counted, not given as a share.
            let text = if value == 100.0 { "1100 of 1100".to_owned() } else { text };
            let command = how.replace(",sims=0", ",sims=64");
            let rows: Vec<&str> = page.lines().filter(|line| line.contains(&format!("`{command}"))).collect();
            assert!(rows.iter().any(|row| row.contains(&text)), "{}: {how}: {text} is not in {rows:?}", path.display());
        }
    }
}

#[test]
fn a_run_has_a_card() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path();
    fs::write(folder.join("tiny.toml"), tiny()).expect("writable");
    assert_eq!(run(folder, &["train", "tiny.toml", "--run", "run", "--quiet"]).0, 0);
    let (code, text, errors) = run(folder, &["card", "run", "--license", "apache-2.0"]);
    assert_eq!(code, 0, "{errors}");
    let bytes = fs::read(folder.join("run/latest.safetensors")).expect("a checkpoint");
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let program = run(folder, &["--version"]).1;
    let config = format!("{:08x}", crc32fast::hash(tiny().as_bytes()));
    for part in [
        "---\nlibrary_name: turnstone\n".to_owned(),
        "license: \"apache-2.0\"\n".to_owned(),
        "\n---\n\n# Mu Torere: ".to_owned(),
        format!("`{digest}`"),
        format!("{} bytes", bytes.len()),
        format!("| 0 | {} | `{config}` | processor | random weights |\n", program.trim()),
        "max_plies = 30".to_owned(),
        "Seed 5, 1 iterations planned; 1 done with 4 games of self-play, ".to_owned(),
        format!("```toml\n{}```\n", tiny()),
    ] {
        assert!(text.contains(&part), "no {part} in {text}");
    }
    let line = text.lines().find(|line| line.starts_with("| random, 4 games | score | ")).expect("the match");
    let metrics = fs::read_to_string(folder.join("run/metrics.jsonl")).expect("metrics");
    let metrics: serde_json::Value = serde_json::from_str(metrics.lines().last().expect("a line")).expect("JSON");
    let result = &metrics["arena"][0];
    let percent = |value: &serde_json::Value| format!("{:.1}", 100.0 * value.as_f64().expect("a number"));
    let interval = [&result["score_interval"][0], &result["score_interval"][1]].map(percent).join(", ");
    assert!(
        line.contains(&format!(" {} % [{interval}] | `iteration 1 of the run` |", percent(&result["score"]))),
        "{line}"
    );
    // A file is the same, and a checkpoint without its run has neither config nor matches.
    let (_, printed, _) = run(folder, &["card", "run", "--license", "apache-2.0", "--out", "card.md"]);
    assert_eq!((printed.as_str(), fs::read_to_string(folder.join("card.md")).expect("a card")), ("", text));
    let (code, alone, _) = run(folder, &["card", "run/latest.safetensors"]);
    assert!(code == 0 && alone.contains("Not measured.") && alone.contains("The config of the run is not known."));
    assert!(alone.contains(&digest) && !alone.contains("license:") && !alone.contains("model-index"));
}

#[test]
fn faults_are_named_in_a_line() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path();
    let agent = root().join("games/src/mu_torere/agent.safetensors");
    let agent = agent.to_str().expect("UTF-8");
    fs::create_dir(folder.join("empty")).expect("writable");
    fs::create_dir(folder.join("new")).expect("writable");
    fs::write(folder.join("new/config.toml"), tiny()).expect("writable");
    fs::write(folder.join("mancala.toml"), "[game]\nname = \"mancala\"\n").expect("writable");
    let result = |value: &str, interval: &str, unit: &str| {
        format!(
            "[[results]]\nagainst = \"a\"\nmeasure = \"b\"\nvalue = {value}\ninterval = {interval}\nunit = \"{unit}\"\nhow = \"c\"\n"
        )
    };
    for (name, text) in [
        ("unit.toml", result("1.0", "[0.0, 2.0]", "percent")),
        ("outside.toml", result("3.0", "[0.0, 2.0]", "%")),
        ("share.toml", result("101.0", "[0.0, 200.0]", "%")),
        ("nan.toml", result("nan", "[0.0, 2.0]", "Elo")),
        ("key.toml", result("1.0", "[0.0, 2.0]", "%") + "author = \"d\"\n"),
        ("no.toml", "results = 1".to_owned()),
    ] {
        fs::write(folder.join(name), text).expect("writable");
    }
    let results = |file: &'static str| vec!["card", agent, "--results", file];
    for (arguments, fault) in [
        (vec!["card", "nothing"], "nothing"),
        (vec!["card", "empty"], "empty holds no run"),
        (vec!["card", "new"], "new has no checkpoint yet"),
        (vec!["card", "new", "--config", "mancala.toml"], "leave out --config"),
        (vec!["card", agent, "--config", "mancala.toml"], "for the game `mu_torere`, not `mancala`"),
        (vec!["card", agent, "--config", "missing.toml"], "missing.toml"),
        (vec!["card", agent, "--out", "missing/card.md"], "missing/card.md"),
        (results("missing.toml"), "missing.toml"),
        (results("unit.toml"), "unit.toml: result 1: unit is `percent`, but must be `%` or `Elo`"),
        (results("outside.toml"), "the interval does not contain the value 3"),
        (results("share.toml"), "value is 101"),
        (results("nan.toml"), "value is NaN"),
        (results("key.toml"), "unknown field `author`"),
        (results("no.toml"), "no.toml: "),
    ] {
        let (code, out, errors) = run(folder, &arguments);
        assert!(code == 1 && out.is_empty(), "{arguments:?}: {out}");
        assert!(errors.starts_with("error: ") && errors.lines().count() == 1 && errors.contains(fault), "{errors}");
    }
}
