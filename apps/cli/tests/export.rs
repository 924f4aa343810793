//! `turnstone export`: files and errors. `export.py` checks what the exported networks compute.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use turnstone::export::{Existing, Format};
use turnstone_agents::{GameFiles, LoadedNetwork, Playable, SearchSettings, checkpoint_info};
use turnstone_env::Erased;
use turnstone_env::games::Mancala;
use turnstone_games::built_in;
use turnstone_models::{Neighbourhood, NetworkConfig, ResidualGraph, Weights, load, save};

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

#[test]
fn a_safetensors_export_is_still_a_checkpoint_and_says_all_about_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let game = Mancala::default();
    let network = NetworkConfig::from(ResidualGraph {
        blocks: 2,
        channels: 4,
        reach: 1,
        neighbourhood: Neighbourhood::Lines,
        ..Default::default()
    });
    let info = checkpoint_info(&Erased::new(game), &network, &SearchSettings::default(), 77);
    let weights = Weights::random(&network.layout(&info.shape).expect("a valid network"), 1);
    let run = folder.path().join("run");
    fs::create_dir(&run).expect("the folder is new");
    save(&run.join("latest.safetensors"), &info, &weights).expect("it is writable");

    let out = folder.path().join("mancala.safetensors");
    let printed = done(run.to_str().expect("UTF-8"), "safetensors", &out, &[]);
    assert!(printed.contains("mancala.safetensors ("), "{printed}");
    let (found, same) = load(&out).expect("it is a checkpoint");
    assert_eq!((found.step, same), (77, weights));
    let part = |key: &str| serde_json::from_str::<Value>(&found.extra[key]).expect("JSON");
    assert_eq!(part("actions")["texts"][0], "B2");
    assert_eq!(part("actions")["turned"][0], 11);
    assert_eq!(part("actions")["blocks"][0]["name"], "SOW");
    assert_eq!(part("observation")["shape"], serde_json::json!([17, 2, 6]));
    assert_eq!(part("observation")["planes"][14]["per"], "board");
    assert_eq!(part("game")["params"]["stones"], "4");
    let steps = part("forward")["steps"].as_array().expect("a list").len();
    assert!(steps > 20, "{steps}");

    // Exporting an export gives the same file.
    let again = folder.path().join("again.safetensors");
    done(out.to_str().expect("UTF-8"), "safetensors", &again, &[]);
    assert_eq!(fs::read(&out).expect("it is there"), fs::read(&again).expect("it is there"));
}

#[test]
fn onnx_has_its_description_beside_it_and_a_bundle_has_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let onnx = folder.path().join("net.onnx");
    done("pretrained", "onnx", &onnx, &SHIPPED);
    let sidecar = read_json(&folder.path().join("net.json"));
    assert_eq!((&sidecar["onnx"]["file"], &sidecar["game"]["name"]), (&"net.onnx".into(), &"mu_torere".into()));
    assert_eq!(sidecar["symmetries"].as_array().map(Vec::len), Some(16));

    let bundle = folder.path().join("bundle");
    let printed = done("pretrained", "bundle", &bundle, &SHIPPED);
    for name in
        ["manifest.json", "model.onnx", "model.safetensors", "rules.py", "example.py", "README.md", "LICENSE-MIT"]
    {
        assert!(bundle.join(name).is_file() && printed.contains(name), "{name}");
    }
    let manifest = read_json(&bundle.join("manifest.json"));
    assert_eq!(manifest["actions"], sidecar["actions"]);
    assert!(load(&bundle.join("model.safetensors")).is_ok());
}

#[test]
fn nothing_is_overwritten_unasked() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("net.json"), "mine").expect("it is writable");
    let refused = fault("pretrained", "onnx", &path("net.onnx"), &SHIPPED);
    assert!(refused.contains("net.json exists already: give --overwrite"), "{refused}");
    assert!(!path("net.onnx").exists());
    done("pretrained", "onnx", &path("net.onnx"), &[&SHIPPED[..], &["--overwrite"]].concat());
    assert_ne!(fs::read(path("net.json")).expect("it is there"), b"mine");

    fs::create_dir(path("home")).expect("the folder is new");
    fs::write(path("home/letter"), "mine").expect("it is writable");
    fs::write(path("home/manifest.json"), "{}").expect("it is writable");
    let overwrite = [&SHIPPED[..], &["--overwrite"]].concat();
    assert!(fault("pretrained", "bundle", &path("home"), &SHIPPED).contains("exists already"));
    assert!(fault("pretrained", "bundle", &path("home"), &overwrite).contains("holds no export of this format"));
    assert!(fault("pretrained", "onnx", &path("home"), &overwrite).contains("is a folder"));
    assert!(path("home/letter").is_file());
    done("pretrained", "bundle", &path("bundle"), &SHIPPED);
    done("pretrained", "bundle", &path("bundle"), &overwrite);
    assert_eq!(fs::read_dir(folder.path()).expect("it is readable").count(), 4, "nothing is left behind");
}

#[test]
fn faults_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("x.onnx");
    assert!(fault("absent.safetensors", "onnx", &out, &[]).contains("absent.safetensors"));
    assert!(fault("pretrained", "onnx", &out, &["--game", "checkers"]).contains("unknown game `checkers`"));
    assert!(fault("pretrained", "onnx", &folder.path().join("no/x.onnx"), &SHIPPED).contains("no/x.onnx"));
    assert!(fault("pretrained", "onnx", &folder.path().join("x.json"), &SHIPPED).contains("takes the name with .json"));
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
    for name in ["index.html", "agent.safetensors", "LICENSE-MIT", "LICENSE-APACHE"] {
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

#[test]
fn every_game_has_its_rules_in_python() {
    for game in built_in().defaults() {
        let (name, spec) = (game.name(), game.spec());
        let [("rules.py", text), ..] = game.files().python_rules else {
            panic!("there are no rules of {name} in Python")
        };
        for plane in spec.scalars.iter().chain(&spec.point_planes).filter(|plane| !plane.starts_with("at least ")) {
            assert!(text.contains(plane.as_str()), "{name} lacks `{plane}`");
        }
    }
}

/// A custom game, with rules in Python and without.
struct Own<const WITH_RULES: bool>;

impl<const WITH_RULES: bool> Playable for Own<WITH_RULES> {
    type Game = Mancala;

    fn files() -> GameFiles {
        let python_rules: &[_] = if WITH_RULES { &[("rules.py", "# mine\n"), ("board.py", "")] } else { &[] };
        GameFiles { python_rules, ..GameFiles::default() }
    }
}

#[test]
fn a_bundle_has_the_rules_that_its_game_names() {
    fn bundle<K: Playable<Game = Mancala>>(out: &Path) -> Result<(), String> {
        let game = Erased::knowing::<K>(Mancala::default());
        let shipped = built_in().make("mancala", &Default::default()).expect("it is built in").files().pretrained;
        let network = LoadedNetwork::pretrained("mancala", shipped).expect("it is compiled in");
        let files = turnstone::export::export(&game, network, Format::Bundle, out, Existing::Keep);
        files.map(|_| ()).map_err(|error| error.to_string())
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("own");
    bundle::<Own<true>>(&out).expect("it has rules");
    assert_eq!(fs::read_to_string(out.join("rules.py")).expect("it is there"), "# mine\n");
    assert!(out.join("board.py").is_file() && out.join("example.py").is_file());
    let refused = bundle::<Own<false>>(&folder.path().join("none")).expect_err("it has none");
    assert_eq!(refused, "there are no rules of `mancala` in Python: export it as onnx");
}
