//! Commands of the program: output formats, exit codes, and one line of error for every fault.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use turnstone_models::{Instructions, IntegerInstructions};

use super::calls::{fault, stdout, turnstone};

fn smoke_config() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/smoke.toml").to_owned()
}

#[test]
fn perft_prints_the_count_on_its_last_line() {
    assert_eq!(stdout(&["show", "mu_torere", "--perft", "12"]), "5072\n");
    assert_eq!(stdout(&["show", "mancala", "--perft", "6"]), "23169\n");
    assert_eq!(stdout(&["show", "mancala", "--perft", "2", "--divide"]).lines().last(), Some("35"));
    assert_eq!(stdout(&["show", "mancala", "--perft", "1", "--param", "pits=3", "--moves", "B2"]), "3\n");
}

#[test]
fn perft_and_show_print_json() {
    let json = |args: &[&str]| serde_json::from_str::<Value>(&stdout(&[args, &["--json"]].concat())).expect("JSON");
    let start = "4,4,4,4,4,4/0 4,4,4,4,4,4/0 1";
    let counted = json(&["show", "mancala", "--perft", "6"]);
    assert_eq!(counted, json!({ "position": start, "depth": 6, "count": 23169 }));
    let divided = json(&["show", "mancala", "--perft", "2", "--divide"]);
    let below = divided["divide"].as_object().expect("counts by action");
    assert_eq!((below.len(), below.values().filter_map(Value::as_u64).sum::<u64>()), (6, 35));
    assert_eq!(divided["count"], 35);
    assert_eq!(json(&["show", "mancala", "--perft", "0", "--divide"])["count"], 1);

    let moves = ["mancala", "--moves", "B5 A3"];
    let mut shown = json(&[&["show"], &moves[..]].concat());
    let drawing = shown.as_object_mut().and_then(|object| object.remove("drawing")).expect("a drawing");
    assert_eq!(shown, json(&[&["show", "--legal"], &moves[..]].concat()));
    let printed = stdout(&[&["show"], &moves[..]].concat());
    assert!(printed.starts_with(drawing.as_str().expect("text")), "{drawing}");
    let svg = &json(&[&["show", "--svg"], &moves[..]].concat())["drawing"];
    assert_eq!(*svg, stdout(&[&["show", "--svg"], &moves[..]].concat()));
}

/// The values of the parameters stand below one another, and no line is longer than a terminal.
#[test]
fn games_are_listed_in_columns() {
    for args in [&["games"][..], &["games", "konane"]] {
        let listed = stdout(args);
        assert!(listed.lines().all(|line| line.chars().count() <= 80), "{listed}");
        // A parameter's line is `  name=value  text`, and its further lines begin below the text.
        let starts = listed.lines().filter(|line| line.starts_with("  ")).map(|line| {
            let set = line.trim_start().split(' ').next().filter(|word| line.starts_with("  ") && word.contains('='));
            let after = set.filter(|_| !line.starts_with("   ")).map_or(0, |set| 2 + set.len());
            after + line[after..].find(|letter| letter != ' ').expect("text")
        });
        let starts: std::collections::BTreeSet<usize> = starts.collect();
        assert_eq!(starts.len(), 1, "{listed}");
    }
}

/// An option that would change nothing beside the others is refused before anything is done.
#[test]
fn options_without_effect_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().to_str().expect("UTF-8");
    let smoke = smoke_config();
    for (args, named) in [
        (&["train", "--resume", run, "--run", "elsewhere"][..], "--run has no effect"),
        (&["train", &smoke, "--allow-engines"], "--resume"),
        (&["arena", "mu_torere", "random", "random", "--threads", "2", "--cluster", "nats://host"], "--threads"),
        (&["arena", "mu_torere", "random", "random", "--games", "2", "--out-of-time", "lose"], "needs a clock"),
        (&["grade", "mu_torere", "--agent", "random", "--tables", run], "--sample"),
        (&["grade", "mu_torere", "--sample", "2", "--save", "set.txt", "--json"], "--agent"),
        (&["review", "game.json", "--tables", run], "--exact"),
        (&["report", "a", "b", "--no-grade"], "--no-grade"),
        (&["arena", "mu_torere", "random", "random", "--threads", "2", "--ack-wait", "5"], "--ack-wait"),
        // Where an option excludes the one that another requires.
        (&["train", &smoke, "--run", run, "--overwrite", "--allow-engines"], "--allow-engines"),
        (&["train", &smoke, "--run", run, "--from", run, "--allow-engines"], "--allow-engines"),
        (&["grade", "mu_torere", "--agent", "random", "--positions", &smoke, "--critical"], "--critical"),
        (&["grade", "mu_torere", "--agent", "random", "--positions", &smoke, "--phase", "endgame"], "--phase"),
        (&["grade", "mu_torere", "--agent", "random", "--positions", &smoke, "--starts", run], "--starts"),
        (&["grade", "mu_torere", "--agent", "random", "--positions", &smoke, "--save", run], "--save"),
        (&["grade", "mu_torere", "--agent", "random", "--positions", &smoke, "--tables", run], "--tables"),
        (&["show", "mu_torere", "--position", "121202121 1 0", "--ply", "2"], "--ply"),
        (&["play", "mu_torere", "--position", "121202121 1 0", "--number", "2"], "--number"),
        (&["show", "mu_torere", "--perft", "2", "--stdin"], "--stdin"),
        (&["show", "mu_torere", "--svg", "--divide"], "--divide"),
        (
            &["arena", "mu_torere", "random", "mcts:sims=1", "--ladder-build", run, "--ladder-file", run],
            "--ladder-file",
        ),
        (&["arena", "mu_torere", "random", "random", "--format", "gauntlet", "--ladder-file", run], "--ladder-file"),
        (&["sweep", &smoke, "--vary", "seed=1,2", "--set", "seed=3", "--out", run], "--set seed has no effect"),
        (&["sweep", &smoke, "--vary", "seed=1,2", "--vary", "seed=3", "--out", run], "seed varies already"),
        (&["doctor", "--devices", "--set", "seed=1"], "--set"),
        (&["doctor", "--devices", "--seconds", "1"], "--seconds"),
        (&["doctor", "--devices", "--device", "cpu"], "--device"),
        (&["doctor", "--devices", "--allow-engines"], "--allow-engines"),
        (&["analyse", "mancala", "--moves", "B4", "--agent", "alphabeta:depth=2", "--threads", "2"], "--threads"),
        (&["solve", "mancala", "--tables-only", "--nodes", "5"], "--nodes"),
        (&["solve", "mancala", "--tables-only", "--moves", "B4"], "--moves"),
        (&["solve", "mu_torere", "--nodes", "5"], "--nodes has no effect on mu_torere"),
        (&["solve", "morris", "--time", "5s", "--out", run], "--time has no effect on morris"),
        (&["solve", "konane", "--endgames", "5"], "--endgames has no effect on konane"),
        (&["solve", "morabaraba", "--nodes", "5", "--out", run], "--nodes has no effect on morabaraba"),
    ] {
        let line = fault(args);
        assert!(line.contains(named), "{args:?}: {line}");
    }
    assert_eq!(folder.path().read_dir().expect("readable").count(), 0, "nothing was written");
}

/// Outputs that cannot be written are refused before the work, which would take far longer than this test.
#[test]
fn outputs_are_checked_before_the_work() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    fs::write(path("file"), "a file").expect("writable");
    fs::write(path("game.txt"), "B4 B3\n").expect("writable");
    let (missing, below_file) = (path("none/out"), path("file/out"));
    let slow = "alphabeta:depth=30";
    for out in [&missing, &below_file, &path("")] {
        for args in [
            &["grade", "mancala", "--sample", "1000000000", "--save", out][..],
            &["review", &path("game.txt"), "mancala", "--agent", slow, "--html", out],
        ] {
            let line = fault(args);
            assert!(line.contains(out.as_str()), "{args:?}: {line}");
        }
    }
    for args in [
        &["arena", "konane", "random", slow, "--ladder-build", &missing][..],
        &["arena", "konane", "random", slow, "--ladder-build", &path("file")],
        &["arena", "konane", "random", slow, "--opening-filter", slow, "--opening-bound", "1", "--out", &below_file],
        &["arena", "konane", "random", slow, "--opening-filter", slow, "--opening-bound", "1", "--out", &path("")],
        &["solve", "mancala", "--tables-only", "--endgames", "40", "--out", &below_file],
        &["solve", "morris", "--out", &below_file],
        &["solve", "morabaraba", "--endgames", "9", "--out", &below_file],
    ] {
        let line = fault(args);
        assert!(line.contains(folder.path().to_str().expect("UTF-8")), "{args:?}: {line}");
    }
    assert_eq!(folder.path().read_dir().expect("readable").count(), 2, "nothing was left");
}

#[test]
fn legal_answers_in_json() {
    let answer: Value =
        serde_json::from_str(&stdout(&["show", "mancala", "--legal", "--moves", "B5 A3", "--json"])).expect("JSON");
    let expected = json!({
        "position": "5,5,4,0,5,5/1 5,0,4,4,4,5/1 1",
        "mover": 1,
        "legal": ["B2", "B3", "B4", "B6", "B7"],
        "outcome": null,
        "truncated": false,
    });
    assert_eq!(answer, expected);
    let over = ["show", "mu_torere", "--legal", "--param", "max_plies=1", "--moves", "0,4", "--json"];
    let answer: Value = serde_json::from_str(&stdout(&over)).expect("JSON");
    assert_eq!((&answer["outcome"], &answer["truncated"]), (&json!("draw"), &json!(true)));
    assert_eq!(answer["legal"], json!([]));
}

#[test]
fn legal_answers_every_line_of_its_input() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_turnstone"))
        .args(["show", "mancala", "--legal", "--stdin", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(b"B5 A3\n\nB9\nB5 B5\n\xff\xfe\x00\nB5").expect("the program reads");
    drop(input);
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.status.success());
    let answers: Vec<Value> = String::from_utf8(output.stdout)
        .expect("UTF-8")
        .lines()
        .map(|line| serde_json::from_str(line).expect("one JSON object per line"))
        .collect();
    assert_eq!(answers.len(), 6);
    assert_eq!(answers[1]["position"], "4,4,4,4,4,4/0 4,4,4,4,4,4/0 1");
    for wrong in [2, 3, 4] {
        assert!(answers[wrong]["error"].is_string(), "{}", answers[wrong]);
    }
    assert_eq!(answers[5]["mover"], 2);
}

#[test]
fn mancala_is_played_as_by_an_independent_program() {
    let play = |extra: &[&str]| {
        let args = ["play", "mancala", "--p1", "alphabeta:depth=5", "--p2", "alphabeta:depth=5", "--json"];
        let record: Value = serde_json::from_str(&stdout(&[&args[..], extra].concat())).expect("JSON");
        record
    };
    // Its moves: plain minimax with the source's evaluation, ties to the lower pit.
    let record = play(&["--max-moves", "15"]);
    assert_eq!(record["moves"], json!("B4 B7 A6 A7 B6 A6 B7 B3 A3 B3 A2 B7 B6 B4 B3".split(' ').collect::<Vec<_>>()));
    assert_eq!(record["position"], "6,0,0,9,1,2/18 0,0,0,9,0,0/3 2");
    let record = play(&["--max-moves", "15", "--param", "first_player=2"]);
    assert_eq!(record["moves"], json!("A2 B3 B2 A3 B4 A2 A6 A2 A3 B5 A7 A2 A4 B6 A6".split(' ').collect::<Vec<_>>()));
    let printed =
        stdout(&["play", "mancala", "--p1", "alphabeta:depth=5", "--p2", "alphabeta:depth=5", "--max-moves", "15"]);
    let states: Vec<&str> = printed.split("\n\n").collect();
    assert_eq!(states.len(), 17, "the start, a state after each move, and the position at the end");
    assert!(states[15].starts_with("15. player 1: B3"));
    let table = "      2  3  4  5  6  7\nA  3  0  0  0  9  0  0      player 2\nB     6  0  0  9  1  2 18  player 1";
    assert!(states[15].contains(table), "{}", states[15]);
    let record = play(&["--position", "0,0,0,0,0,1/20 1,0,0,0,0,3/23 1"]);
    assert!(record["outcome"].is_string());
}

#[test]
fn one_position_is_analysed_by_a_network() {
    let agent = "az:pretrained,sims=8";
    let answers = stdout(&["analyse", "mu_torere", "--moves", "0,4", "--agent", agent]);
    let answer: Value = serde_json::from_str(&answers).expect("one answer");
    let moves: Vec<&Value> = answer["moveInfos"].as_array().expect("a list").iter().map(|info| &info["move"]).collect();
    assert_eq!((answer["player"].as_u64(), moves.len()), (Some(2), 2), "{answer}");
    assert!(answer["rootInfo"]["visits"].as_u64() > Some(0), "{answer}");
}

#[test]
fn boards_are_drawn_as_svg() {
    for (game, action) in
        [("mu_torere", "0,4"), ("mancala", "B5"), ("morris", "a0"), ("konane", "remove(5,4)"), ("morabaraba", "a1")]
    {
        let svg = stdout(&["show", game, "--moves", action, "--svg"]);
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && svg.contains("<title>"), "{svg}");
        assert!(!svg.contains("monospace"), "{game} has a drawing of its own");
    }
}

#[test]
fn search_prints_the_action_and_the_work() {
    let search = |agent: &str| -> Value {
        let args = ["analyse", "mancala", "--moves", "B5", "--agent", agent, "--json"];
        serde_json::from_str(&stdout(&args)).expect("JSON")
    };
    let [minimax, breadth] = ["minimax:depth=5", "breadthfirst:depth=5"].map(search);
    for agent in ["alphabeta:depth=5", "alphabeta:depth=5,hash=1", "alphabeta:depth=5,nodes=1000000"] {
        let found = search(agent);
        assert_eq!((&found["action"], &found["score"]), (&minimax["action"], &minimax["score"]), "{agent}");
        assert_eq!((&found["depth"], &found["static"]), (&json!(5), &json!(1)), "{agent}");
        assert!(found["evaluated"].as_u64() < minimax["evaluated"].as_u64(), "{agent}");
        assert!(found["cutoffs"].as_u64() > Some(0) && found["branching"].as_f64() > Some(1.0), "{agent}");
    }
    for figure in ["action", "score", "line", "evaluated", "nodes", "expanded", "branching"] {
        assert_eq!(minimax[figure], breadth[figure], "{figure}");
    }
    assert!(search("alphabeta:nodes=2000")["nodes"].as_u64() <= Some(2000));
    assert!(search("bestfirst:nodes=50")["line"].as_array().is_some_and(|line| !line.is_empty()));
    let text = stdout(&["analyse", "mancala", "--agent", "alphabeta:depth=4"]);
    for label in ["best action   B7\n", "score", "line", "evaluated", "nodes/s", "store_difference"] {
        assert!(text.contains(label), "{text}");
    }
    let over = ["analyse", "mu_torere", "--param", "max_plies=1", "--moves", "0,4", "--agent", "alphabeta:time=1s"];
    assert!(stdout(&over).contains("the game is over"));
    assert!(fault(&["analyse", "mancala", "--agent", "random"]).contains("shows the searches of networks"));
    assert!(fault(&["analyse", "konane", "--agent", "exact"]).contains("`solve` shows exact values"));
    assert!(fault(&["analyse", "mancala", "--agent", "minimax:heuristic=magic"]).contains("no heuristic `magic`"));
}

#[test]
fn bench_search_measures_with_and_without_a_table() {
    let rows: Value =
        serde_json::from_str(&stdout(&["bench", "search", "mancala", "--depth", "6", "--json"])).expect("JSON");
    let [plain, table] = &rows.as_array().expect("rows")[..] else { panic!("{rows}") };
    assert_eq!((&plain["hash"], &table["hash"]), (&json!(0), &json!(64)));
    assert_eq!((&plain["action"], &plain["score"]), (&table["action"], &table["score"]));
    assert!(plain["nodes_per_second"].as_f64() > Some(0.0));
}

#[test]
fn bench_limits_the_instructions_of_the_network() {
    let named = |set: &str, limit: &[&str]| -> Value {
        let command = ["bench", "inference", "mu_torere", "--batch", "1", "--seconds", "0", "--json", "--set", set];
        let rows: Value = serde_json::from_str(&stdout(&[&command, limit].concat())).expect("JSON");
        rows[0]["instructions"].clone()
    };
    for (set, best) in [
        ("self_play.precision=\"f32\"", format!("{:?}", Instructions::best())),
        ("self_play.precision=\"i8\"", format!("{:?}", IntegerInstructions::best())),
    ] {
        assert_eq!(named(set, &[]), json!(best));
        assert_eq!(named(set, &["--instructions", "portable"]), json!("Portable"));
        if Instructions::Avx2.is_available() {
            assert_eq!(named(set, &["--instructions", "avx2"]), json!("Avx2"));
        }
    }
    let learner =
        ["bench", "learner", "mu_torere", "--threads", "1", "--seconds", "0", "--json", "--instructions", "portable"];
    let rows: Value = serde_json::from_str(&stdout(&learner)).expect("JSON");
    assert_eq!(rows[0]["instructions"], json!("Portable"));
    let bench = |name| fault(&["bench", "self-play", "mu_torere", "--instructions", name]);
    assert!(bench("sse").contains("avx512, avx2, neon, simd128 or portable, not `sse`"), "{}", bench("sse"));
    let missing = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
    assert!(bench(missing).contains("this processor has no"), "{}", bench(missing));
}

#[test]
fn the_same_seed_plays_the_same_games() {
    let game = |seed: &str| stdout(&["play", "mancala", "--p1", "random", "--p2", "mcts:sims=50", "--seed", seed]);
    assert_eq!(game("3"), game("3"));
    assert_ne!(game("3"), game("4"));
}

#[test]
fn solve_counts_small_games_and_writes_tables() {
    let counts = stdout(&["solve", "mu_torere"]);
    assert!(counts.starts_with("reachable positions             1180\n"), "{counts}");
    assert!(counts.ends_with("mu_torere: the start is a draw\n"), "{counts}");

    let folder = tempfile::tempdir().expect("a temporary folder");
    let tables = folder.path().join("tables").display().to_string();
    let solve = ["solve", "morris", "--param", "pieces=3", "--out", &tables];
    let solved = turnstone(&solve);
    let (out, progress) = (String::from_utf8_lossy(&solved.stdout), String::from_utf8_lossy(&solved.stderr));
    assert!(out.ends_with("morris-pieces3.table: the start is a draw\n"), "{out}{progress}");
    for line in ["million positions", " with ", " will have ", "midgame-3-3 ", "opening-6 ", "solved in"] {
        assert!(progress.contains(line), "{progress}");
    }
    assert!(String::from_utf8_lossy(&turnstone(&solve).stderr).contains("is complete"));
    // A truncated table is reported and built again.
    let table = Path::new(&tables).join("morris-pieces3.table");
    let whole = fs::read(&table).expect("readable");
    fs::write(&table, &whole[..whole.len() / 2]).expect("writable");
    let rebuilt = turnstone(&solve);
    let progress = String::from_utf8_lossy(&rebuilt.stderr);
    assert!(progress.contains("; rebuild it with `turnstone solve morris`"), "{progress}");
    assert_eq!(fs::read(&table).expect("readable"), whole);
    let below_a_file = format!("{}/tables", table.display());
    assert!(fault(&["solve", "morris", "--out", &below_a_file]).contains("morris-pieces3.table/tables"));
}

#[test]
fn solve_finds_positions_by_search() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tables = folder.path().display().to_string();
    let mancala = ["solve", "mancala", "--param", "stones=2", "--endgames", "6", "--out", &tables];
    for _ in 0..2 {
        let solved = stdout(&mancala); // builds the table, then maps it
        assert_eq!(solved, "2,2,2,2,2,2/0 2,2,2,2,2,2/0 1: margin +10, won for player 1\n");
    }
    let unsolved = turnstone(&[&mancala[..], &["--nodes", "5"]].concat());
    let said = String::from_utf8_lossy(&unsolved.stderr);
    assert!(unsolved.status.code() == Some(1) && said.contains("not solved within --nodes and --time"), "{said}");
    let mut only = turnstone(&[&mancala[..], &["--tables-only"]].concat());
    assert!(only.status.success() && only.stdout.is_empty(), "{}", String::from_utf8_lossy(&only.stdout));
    only = turnstone(&["solve", "konane", "--tables-only"]);
    assert!(only.status.success() && String::from_utf8_lossy(&only.stderr).contains("konane has no tables to build"));
    let grown = ["solve", "mancala", "--param", "stones=2", "--endgames", "8", "--out", &tables, "--time", "1m"];
    let notes = turnstone(&grown).stderr;
    assert!(String::from_utf8_lossy(&notes).contains("at most 8 stones"), "{}", String::from_utf8_lossy(&notes));
    let konane = stdout(&["solve", "konane", "--param", "size=4"]);
    assert_eq!(konane, "XOXO/OXOX/XOXO/OXOX X: won for player 2\n");
    assert!(fault(&["solve", "konane", "--param", "size=10"]).contains("boards up to 8 x 8 are solved"));
    let position = "BB.B.................WWW B 0 0 - 0 0 - -";
    let morabaraba = stdout(&["solve", "morabaraba", "--out", &tables, "--position", position]);
    assert!(morabaraba.contains(&format!("{position}: won for player 1\n")), "{morabaraba}");
    assert!(morabaraba.contains("3 against 3\n") && !morabaraba.contains("4 against"), "{morabaraba}");
    assert!(fault(&["solve", "morabaraba", "--endgames", "10"]).contains("from 6 to 9 cows"));
    assert!(fault(&["solve", "mu_torere", "--moves", "0,4"]).contains("is solved whole"));
}

#[test]
fn pretrained_agents_play_by_name() {
    let random = ["arena", "mu_torere", "az:pretrained,sims=32", "random", "--games", "40", "--json"];
    let answer: Value = serde_json::from_str(&stdout(&random)).expect("JSON");
    assert!(answer["summary"]["agents"][0]["score"].as_f64() >= Some(0.7), "{answer}");
    assert_eq!(answer["record"]["agents"][0], "az:pretrained,sims=32");
    let folder = tempfile::tempdir().expect("a temporary folder"); // shows that the program contains the agent
    let played = Command::new(env!("CARGO_BIN_EXE_turnstone"))
        .args(["play", "mu_torere", "--p1", "az:pretrained", "--p2", "random", "--json"])
        .current_dir(&folder)
        .output()
        .expect("the program runs");
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    let other = ["play", "mu_torere", "--param", "max_plies=50", "--p1", "az:pretrained", "--p2", "random"];
    assert!(
        fault(&other).contains("az:pretrained: the checkpoint is for `mu_torere` with max_plies=100, not 50"),
        "{}",
        fault(&other)
    );
}

#[test]
fn faults_of_games_positions_and_agents() {
    assert!(fault(&["show", "mancla", "--perft", "1"]).contains("did you mean `mancala`"));
    assert!(fault(&["show", "mancala", "--param", "stone=3"]).contains("did you mean `stones`"));
    assert!(fault(&["show", "mancala", "--position", "4,4,4,4,4,4/0 4,4,4,4,4,4/1 1"]).contains("48 stones"));
    assert!(
        fault(&["show", "mu_torere", "--legal", "--moves", "0,4 0,4"]).contains("illegal action `0-4`; legal: 1-0 3-0")
    );
    assert!(fault(&["play", "mancala", "--p1", "alphabeta:dept=3"]).contains("did you mean `depth`"));
    assert!(fault(&["play", "mancala", "--p1", "az:/nowhere.safetensors"]).contains("/nowhere.safetensors"));
    assert!(fault(&["arena", "mancala", "human", "random"]).contains("a person cannot play a match"));
}

#[test]
fn faults_of_configs_and_run_folders() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let smoke = fs::read_to_string(smoke_config()).expect("readable");
    let config = |name: &str, from: &str, to: &str| {
        assert!(smoke.contains(from), "{from}");
        fs::write(path(name), smoke.replace(from, to)).expect("writable");
        path(name)
    };
    let run = path("run");
    let train = |config: &str| fault(&["train", config, "--run", &run]);
    assert!(
        train(&config("a.toml", "batch = ", "bach = "))
            .contains("unknown key `learn.bach` (did you mean `learn.batch`?)")
    );
    assert!(train(&path("missing.toml")).contains("missing.toml"));
    assert!(!Path::new(&run).exists(), "a bad config leaves no run folder behind");
    // Root can write to every folder, so this one lies below a file.
    let below_a_file = format!("{}/run", path("a.toml"));
    assert!(fault(&["train", &smoke_config(), "--run", &below_a_file]).contains("a.toml/run"));

    fs::create_dir(&run).expect("writable");
    fs::write(path("run/precious.txt"), "data").expect("writable");
    assert!(train(&smoke_config()).contains("--overwrite"));
    assert!(fault(&["train", &smoke_config(), "--run", &run, "--overwrite"]).contains("holds no run"));
    assert!(fault(&["train", "--resume", &run]).contains("holds no run"));
    assert_eq!(fs::read_to_string(path("run/precious.txt")).expect("still there"), "data");
}

/// A fault of an option names the key or the option, and says what would be right.
#[test]
fn faults_of_options_advise_what_works() {
    let (smoke, folder) = (smoke_config(), tempfile::tempdir().expect("a temporary folder"));
    let run = folder.path().join("run").display().to_string();
    let train = |extra: &[&str]| fault(&[&["train", &smoke, "--run", &run], extra].concat());
    let negative = train(&["--set", "learn.batch=-5"]);
    assert!(
        negative.ends_with("with --set: learn.batch is -5, but must be a whole number from 1 to 65536\n"),
        "{negative}"
    );
    let line = fault(&["arena", "mancala", "random", "random", "--seed", "-1"]);
    assert!(line.starts_with("error: invalid value '-1' for '--seed <SEED>'") && !line.contains("-- -1"), "{line}");
    assert!(line.contains("must be a whole number from 0"), "{line}");
    let unknown = train(&["--iterations", "5"]);
    assert!(unknown.contains("'--set run.iterations=5'") && !unknown.contains("-- --iterations"), "{unknown}");
    assert!(train(&["--learning-rate=0.01"]).contains("'--set learn.learning_rate=0.01'"));
    assert!(train(&["--threads", "2"]).contains("'--set learn.threads=2' or '--set self_play.threads=2'"));
    assert!(!fault(&["play", "mancala", "--iterations", "5"]).contains("--set"));
    assert!(!Path::new(&run).exists());
}

#[test]
fn doctor_examines_configs_and_writes_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let doctor = |config: &str, extra: &[&str]| {
        let args = [&["doctor", config, "--seconds", "1"], extra].concat();
        Command::new(env!("CARGO_BIN_EXE_turnstone"))
            .args(args)
            .current_dir(&folder)
            .output()
            .expect("the program runs")
    };
    for name in ["smoke", "mu_torere", "mancala"] {
        let output = doctor(&smoke_config().replace("smoke", name), &["--json"]);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
        let diagnosis: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let checks = diagnosis["checks"].as_array().expect("a list");
        assert!(checks.iter().all(|check| check["level"] != "FAIL") && checks.len() == 8, "{name}: {diagnosis}");
        let positive = |value: &Value| value.as_f64() > Some(0.0);
        assert!(positive(&diagnosis["plan"]["self_play_seconds"]), "{diagnosis}");
        assert!(positive(&diagnosis["measured"]["seconds_per_step"]), "{diagnosis}");
    }
    let text = String::from_utf8(doctor(&smoke_config(), &[]).stdout).expect("UTF-8");
    assert_eq!(text.lines().filter(|line| line.starts_with("ok   ") || line.starts_with("warn ")).count(), 8, "{text}");
    assert_eq!(fs::read_dir(&folder).expect("readable").count(), 0, "doctor wrote something");

    let smoke = fs::read_to_string(smoke_config()).expect("readable");
    let config = folder.path().join("bad.toml").display().to_string();
    for (from, to, line) in [
        ("batch = 128", "bach = 128", "did you mean `learn.batch`?"),
        ("\"random\"", "\"az:/nowhere.safetensors\"", "FAIL opponents  /nowhere.safetensors"),
        ("batch = 128", "batch = 8192\nsamples_per_position = 0.2", "FAIL learn"),
    ] {
        fs::write(&config, smoke.replace(from, to)).expect("writable");
        let output = doctor(&config, &[]);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(output.status.code() == Some(1) && text.contains(line), "{text}");
    }
    assert!(!doctor("missing.toml", &[]).status.success());
}
