//! `turnstone arena`: results do not depend on the number of threads or on interruptions; faults of files and options.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::calls;

fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnstone"));
    command.arg("arena").args(args).stdin(Stdio::null());
    command
}

fn arena(args: &[&str]) -> Output {
    program(args).output().expect("the program runs")
}

fn stdout(args: &[&str]) -> String {
    calls::stdout(&[&["arena"], args].concat())
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(&[args, &["--json"]].concat())).expect("JSON")
}

/// The one-line error of a command that must fail.
fn fault(args: &[&str]) -> String {
    let output = arena(args);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!((output.status.code(), text.trim_end().lines().count()), (Some(1), 1), "{args:?}: {text}");
    text
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// A short tournament with random play, searches and exact values.
const CUP: [&str; 9] =
    ["mu_torere", "mcts:sims=20", "random", "exact:x,error=0.3", "alphabeta:depth=3", "--games", "6", "--seed", "4"];

const RESULTS: [&str; 2] = ["result.json", "report.html"];

/// The files of a finished tournament, which are the same however often it was interrupted, on any number of threads.
const FILES: [&str; 3] = ["games.jsonl", RESULTS[0], RESULTS[1]];

/// The files of a finished tournament in a new folder.
struct Whole {
    folder: tempfile::TempDir,
    out: PathBuf,
}

impl Whole {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let out = folder.path().join("whole");
        stdout(&[&CUP[..], &["--out", text(&out), "--threads", "3"]].concat());
        Self { folder, out }
    }

    fn journal(&self) -> Vec<u8> {
        fs::read(self.out.join("games.jsonl")).expect("written")
    }

    /// A folder with only this journal.
    fn with(&self, name: &str, journal: &[u8]) -> PathBuf {
        let out = self.folder.path().join(name);
        fs::create_dir(&out).expect("new");
        fs::write(out.join("games.jsonl"), journal).expect("writable");
        out
    }

    fn same(&self, out: &Path) {
        same(&FILES, &self.out, out);
    }
}

fn same(files: &[&str], one: &Path, other: &Path) {
    for file in files {
        let read = |folder: &Path| fs::read(folder.join(file)).expect("written");
        assert!(read(one) == read(other), "{file} differs");
    }
}

#[test]
fn the_journal_ends_in_the_order_of_the_schedule() {
    let whole = Whole::new();
    for threads in ["1", "2", "5"] {
        let out = whole.folder.path().join(threads);
        stdout(&[&CUP[..], &["--out", text(&out), "--threads", threads]].concat());
        whole.same(&out);
    }
    let journal = String::from_utf8(whole.journal()).expect("UTF-8");
    let number = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["number"].as_u64();
    let numbers: Vec<Option<u64>> = journal.lines().skip(1).map(number).collect();
    assert_eq!(numbers, (0..36).map(Some).collect::<Vec<_>>());
    // The games in any order lead to the same file, and a finished tournament is left as it is.
    let mut lines: Vec<&str> = journal.lines().collect();
    lines[1..].reverse();
    let reversed = whole.with("reversed", (lines[..30].join("\n") + "\n").as_bytes());
    for out in [&reversed, &whole.out] {
        stdout(&[&CUP[..], &["--out", text(out), "--resume"]].concat());
        whole.same(&reversed);
    }
    // So does a sequential test, whatever other threads have played beyond its end.
    let args = ["mancala", "alphabeta:depth=3", "random", "--sprt", "elo0=0,elo1=100", "--out"];
    let [one, three] = ["1", "3"].map(|threads| {
        let out = whole.folder.path().join(format!("sprt{threads}"));
        stdout(&[&args[..], &[text(&out), "--threads", threads]].concat());
        out
    });
    same(&FILES, &one, &three);
    let result: Value =
        serde_json::from_str(&fs::read_to_string(one.join("result.json")).expect("written")).expect("JSON");
    let games = result["record"]["games"].as_array().expect("games").len();
    assert!((10..400).contains(&games), "{games}");
    let note = &result["record"]["notes"][0];
    assert!(note.as_str().is_some_and(|note| note.contains("sequential test")), "{note}");
    assert_eq!(result["summary"]["sprt"]["decision"], "accept_h1");
}

#[test]
fn a_journal_that_is_cut_anywhere_leads_to_the_same_result() {
    let whole = Whole::new();
    let journal = whole.journal();
    let header = journal.iter().position(|&byte| byte == b'\n').expect("a line");
    // Cut before, in and after the header, and in games of every kind.
    for (i, cut) in [0, 7, header, header + 1, header + 60, 2 * journal.len() / 3, journal.len() - 1].iter().enumerate()
    {
        let out = whole.with(&format!("cut{i}"), &journal[..*cut]);
        stdout(&[&CUP[..], &["--out", text(&out), "--resume", "--threads", "2"]].concat());
        whole.same(&out);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_cleanly() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("out");
    let args = ["mancala", "mcts:sims=300", "mcts:sims=300", "--games", "2000", "--out", text(&out)];
    let child = program(&args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it runs");
    while fs::read_to_string(out.join("games.jsonl")).map_or(0, |text| text.lines().count()) < 2 {
        sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs").success());
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.code() == Some(130) && text.contains("--resume"), "{text}");
    assert!(!out.join("result.json").exists());
}

#[test]
fn nothing_is_overwritten_or_mixed() {
    let whole = Whole::new();
    let with = |out: &Path, extra: &[&str]| fault(&[&CUP[..], &["--out", text(out)], extra].concat());
    assert!(with(&whole.out, &[]).contains("exists already: give --resume"));
    assert!(
        with(&whole.folder.path().join("nowhere"), &["--resume"])
            .contains("does not exist, so there is nothing to resume")
    );
    let other = with(&whole.out, &["--resume", "--clock", "9s"]);
    assert!(other.contains("games.jsonl") && other.contains("other settings"), "{other}");
    let damaged = String::from_utf8(whole.journal()).expect("UTF-8").replacen("\"result\":", "\"resul\":", 1);
    let damaged = whole.with("damaged", damaged.as_bytes());
    assert!(with(&damaged, &["--resume"]).contains("games.jsonl: line 2"), "{}", with(&damaged, &["--resume"]));
    let begun = whole.folder.path().join("begun");
    fs::create_dir(&begun).expect("new");
    fs::write(begun.join(".games.jsonl.99.0.tmp"), "half a header").expect("writable");
    stdout(&[&CUP[..], &["--out", text(&begun), "--resume"]].concat());
    whole.same(&begun);
    fs::create_dir(whole.folder.path().join("other")).expect("new");
    fs::write(whole.folder.path().join("other/letter.txt"), "dear").expect("writable");
    assert!(with(&whole.folder.path().join("other"), &["--resume"]).contains("holds no tournament"));
    let strange = whole.with("strange", b"something else\n");
    assert!(with(&strange, &["--resume"]).contains("games.jsonl: line 1"));
    // Resuming a finished tournament plays nothing.
    stdout(&[&CUP[..], &["--out", text(&whole.out), "--resume"]].concat());
}

/// A journal notices every changed line.
#[test]
fn a_changed_journal_is_refused() {
    let whole = Whole::new();
    let journal = String::from_utf8(whole.journal()).expect("UTF-8");
    let sealed_again = |line: &str| {
        let fields = line.rsplit_once(",\"crc\":").expect("each line has a checksum").0;
        turnstone_base::checksum::seal_line(&format!("{fields}}}")) + "\n"
    };
    let resume = |name: &str, text: &str| {
        let out = whole.with(name, text.as_bytes());
        [&CUP[..], &["--out", out.to_str().expect("UTF-8"), "--resume"]]
            .concat()
            .iter()
            .map(|&a| a.to_owned())
            .collect()
    };
    let run = |args: Vec<String>| fault(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let [won, lost] = ["\"result\":1", "\"result\":-1"];
    let turned = if journal.contains(won) { journal.replacen(won, lost, 1) } else { journal.replacen(lost, won, 1) };
    let turned = run(resume("turned", &turned));
    assert!(
        turned.contains("games.jsonl: line ") && turned.contains("checksum is missing or does not fit"),
        "{turned}"
    );
    let bare = run(resume("bare", &journal.replacen(",\"crc\":\"", ",\"src\":\"", 1)));
    assert!(bare.contains("games.jsonl: line 1: its checksum is missing"), "{bare}");
    let other = journal.replacen("\"turnstone_arena\":1", "\"turnstone_arena\":2", 1);
    let other = run(resume("other", &other.lines().map(sealed_again).collect::<String>()));
    assert!(other.contains("games.jsonl: its format is version 2, this program reads 1"), "{other}");
}

#[test]
fn games_of_too_few_openings_are_not_repeated() {
    let output =
        arena(&["mu_torere", "alphabeta:depth=2", "alphabeta:depth=3", "--openings", "1", "--games", "50", "--json"]);
    let note = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(note.trim_end(), "only 4 different openings: 8 games of each meeting in place of 50");
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(result["record"]["games"].as_array().map(Vec::len), Some(8));
}

#[test]
fn a_file_holds_a_tournament() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cup = folder.path().join("cup.toml");
    let lines = "[game]\nname = \"konane\"\nsize = 6\n[arena]\nagents = [\"random\", \"alphabeta:depth=1\", \"alphabeta:depth=2\"]\n\
                 format = \"gauntlet\"\ngames = 4\nclock = \"20s\"\n";
    fs::write(&cup, lines).expect("writable");
    let result = json(&[text(&cup)]);
    assert_eq!(result["record"]["games"].as_array().map(Vec::len), Some(8), "the first against two others");
    let two = json(&[text(&cup), "random", "alphabeta:depth=1", "--format", "round-robin"]);
    assert_eq!(two["record"]["agents"].as_array().map(Vec::len), Some(2), "the command line comes first");
}

#[test]
fn clocks_end_the_time_of_slow_players() {
    let slow = ["mancala", "mcts:sims=20000", "random", "--games", "2", "--clock", "30ms"];
    let lost = json(&[&slow[..], &["--out-of-time", "lose"]].concat());
    for game in lost["record"]["games"].as_array().expect("games") {
        assert_eq!((&game["ending"], &game["incidents"][0]["agent"]), (&"out_of_time".into(), &0.into()), "{game}");
    }
    let random = json(&slow);
    for game in random["record"]["games"].as_array().expect("games") {
        assert_eq!(
            (&game["ending"], &game["incidents"][0]["kind"]),
            (&"rules".into(), &"out_of_time".into()),
            "{game}"
        );
    }
    let timely = ["mancala", "mcts:time=30s", "alphabeta:time=30s", "--games", "2", "--clock", "2s"];
    let result = json(&timely);
    assert!(!result.to_string().contains("out_of_time\",\"what"), "players that mind their clock keep to it");
}

#[test]
fn a_ladder_rates_an_agent_and_one_is_built() {
    let rated = json(&["mu_torere", "random", "--ladder", "--games", "20"]);
    let rating = &rated["ladder"];
    assert!(rating["elo"].as_f64().expect("a number").abs() < 150.0, "{rating}");
    assert!(rating["interval"][0].as_f64() < rating["elo"].as_f64());
    assert!(fault(&["mancala", "random", "random", "--ladder"]).contains("one agent"));
    assert!(fault(&["mancala", "random", "--ladder", "--param", "stones=3"]).contains("not for this game"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("ladder.toml");
    let build = ["mu_torere", "random", "alphabeta:depth=2", "--games", "10", "--ladder-build", text(&file)];
    stdout(&build);
    let built = fs::read_to_string(&file).expect("written");
    assert!(
        built.starts_with("# turnstone arena mu_torere") && built.contains("agent = \"random\"\nelo = 0.0"),
        "{built}"
    );
    assert!(fault(&build).contains("exists already"));
    let climb = |agent: &str| {
        let output = arena(&["mu_torere", agent, "--ladder", "--ladder-file", text(&file), "--games", "10", "--json"]);
        let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let names = result["record"]["agents"].as_array().expect("agents").clone();
        let games = result["record"]["games"].as_array().map(Vec::len);
        (String::from_utf8(output.stderr).expect("UTF-8"), names, games)
    };
    let (note, names, games) = climb("random");
    assert!(note.starts_with("random is a rung itself, with Elo 0: it plays the others"), "{note}");
    assert_eq!((names, games), (vec!["random".into(), "alphabeta:depth=2".into()], Some(10)), "no agent comes twice");
    let (note, names, games) = climb("mcts:sims=10");
    assert!(note.is_empty() && names.len() == 3 && games == Some(20), "{note}");
    fs::write(&file, built.split("\n[[rungs]]").take(2).collect::<Vec<_>>().join("\n[[rungs]]")).expect("writable");
    let only = fault(&["mu_torere", "random", "--ladder", "--ladder-file", text(&file)]);
    assert!(only.contains("`random` is the only rung"), "{only}");
}

#[test]
fn lines_say_how_a_match_goes_and_what_its_moves_take() {
    let said = |args: &[&str]| String::from_utf8(arena(args).stderr).expect("UTF-8");
    let args = ["mancala", "mcts:sims=10", "random", "--games", "20", "--sprt", "elo0=0,elo1=500,alpha=1e-6,beta=1e-6"];
    let text = said(&args);
    let lines: Vec<&str> = text.lines().collect();
    let (course, efforts) = lines.split_at(9);
    for (line, games) in course.iter().zip((2..).step_by(2)) {
        let is_so = line.starts_with(&format!("{games} of 20 games: A ")) && line.contains(" %, LLR ");
        assert!(is_so && line.ends_with(" [-13.82, 13.82]"), "{text}");
    }
    let nodes = |line: &str| line.split(' ').nth(4).and_then(|nodes| nodes.parse::<u32>().ok());
    assert!(
        efforts[0].starts_with("A: ") && nodes(efforts[0]).is_some_and(|nodes| (5..=10).contains(&nodes)),
        "{text}"
    );
    assert!(efforts[1].starts_with("B: ") && efforts[1].ends_with(" ms and 0 nodes per move"), "{text}");
    assert_eq!((efforts.len(), said(&[&args[..], &["--json"]].concat())), (2, String::new()));
    let cup = said(&["mu_torere", "random", "alphabeta:depth=2", "exact", "--games", "2"]);
    assert!(cup.contains("random ") && cup.contains("\nalphabeta:depth=2: "), "{cup}");
}

#[test]
fn an_odd_number_of_games_is_made_even_with_a_note() {
    let output = arena(&["mu_torere", "random", "random", "--games", "3", "--json"]);
    let note = String::from_utf8(output.stderr).expect("UTF-8");
    let expected = "each opening is played from both sides: 4 games of each meeting in place of 3";
    assert_eq!(note.trim_end(), expected);
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(result["record"]["games"].as_array().map(Vec::len), Some(4));
}

#[test]
fn faults_of_the_command_line() {
    assert!(fault(&["mancala", "random"]).contains("at least two agents"));
    assert!(fault(&["mancala", "random", "random", "random", "--sprt", "0,10"]).contains("for two agents, not 3"));
    assert!(fault(&["nowhere.toml"]).contains("nowhere.toml"));
    assert!(fault(&["mancala", "random", "random", "--opening-filter", "mcts"]).contains("--opening-bound"));
}

#[cfg(unix)]
#[test]
fn an_engine_that_fails_loses_its_games_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = |name: &str, go: &str| {
        let script = folder.path().join(name);
        let lines = format!(
            "while read line; do case \"$line\" in\nugi) echo ugiok;;\nisready) echo readyok;;\ngo*) {go};;\nquit) exit;;\nesac; done\n"
        );
        fs::write(&script, lines).expect("writable");
        format!("engine::sh {}", text(&script))
    };
    let [crashing, cheating] = [engine("crash.sh", "exit 3"), engine("cheat.sh", "echo bestmove 9,9")];
    let agents = ["mu_torere", &crashing, &cheating, "random", "--games", "4", "--threads", "2"];
    let out = folder.path().join("out");
    let lost = json(&[&agents[..], &["--out", text(&out)]].concat());
    let standings = &lost["summary"]["agents"];
    assert_eq!(
        (&standings[0]["faults"]["crash"], &standings[1]["faults"]["illegal_move"]),
        (&6.into(), &6.into()),
        "{standings}"
    );
    assert_eq!(standings[2]["score"], 1.0, "{standings}");
    assert_eq!(fs::read_to_string(out.join("games.jsonl")).expect("written").lines().count(), 13);
    assert!(fault(&["mu_torere", "engine::/no/such/program", "random"]).contains("/no/such/program"));
}
