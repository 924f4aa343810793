//! People at the prompt of `play`: whole games through a pseudo-terminal, and what happens without a terminal.

use std::io::Write;
use std::process::Stdio;

use turnstone_agents::{SearchSettings, checkpoint_info};
use turnstone_models::{NetworkConfig, ResidualMlp, Weights, save};

use super::calls::{command, fault, stdout, turnstone};

/// Output, errors and exit code of a game whose input is no terminal.
fn piped(args: &[&str], input: &str) -> (String, String, Option<i32>) {
    let mut command = command(args);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[test]
fn leaving_is_no_error_but_a_short_input_is() {
    let game = ["play", "mancala", "--p2", "random"];
    let (out, err, code) = piped(&game, "b2\nQUIT\n");
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("1. player 1: B2") && !out.contains('\x1b'), "{out}");
    assert!(out.contains("to continue: turnstone play mancala --p1 human --p2 random --position '"), "{out}");
    let (_, err, code) = piped(&game, "b2\n");
    assert_eq!((code, err.trim_end().lines().count()), (Some(1), 1), "{err}");
    assert!(err.contains("the input ended before the game"), "{err}");
}

#[test]
fn a_game_is_saved_and_given_up() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("game.json");
    let shown = file.display();
    let game = ["play", "konane", "--param", "size=6", "--p2", "random", "--seed", "4"];
    let (out, _, code) = piped(&game, &format!("remove(3,4)\nsave {shown}\nsave {shown}\nresign\n"));
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains(&format!("saved as {shown}")) && out.contains("--param size=6"), "{out}");
    assert!(out.contains(&format!("cannot save as {shown}")), "nothing is overwritten: {out}");
    assert!(out.contains("player 1 resigns: player 2 has won"), "{out}");
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).expect("the file")).expect("JSON");
    assert_eq!((&record["game"], &record["moves"][0]), (&"konane".into(), &"remove(3,4)".into()));
    assert_eq!(record["moves"].as_array().map(Vec::len), Some(2));
}

/// Every command that takes a position takes it from a game that `play` has saved and from a match.
#[test]
fn positions_come_from_saved_games() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (game, moves) = (path("game.json"), path("moves.txt"));
    let konane = ["play", "konane", "--param", "size=6", "--p1", "random", "--p2", "random", "--json"];
    std::fs::write(&game, stdout(&konane)).expect("writable");
    let record: serde_json::Value = serde_json::from_str(&stdout(&konane)).expect("JSON");
    let played: Vec<&str> =
        record["moves"].as_array().expect("moves").iter().filter_map(|text| text.as_str()).collect();
    let shown = |args: &[&str]| stdout(&[&["show", "--json"], args].concat());
    let (ply, six) = (["--ply", "3"], ["konane", "--param", "size=6"]);
    let expected = shown(&[&six[..], &["--svg", "--moves", &played[..3].join(" ")]].concat());
    assert_eq!(shown(&[&["--svg", "--from", &game][..], &ply].concat()), expected, "the last move is marked too");
    let further = ["--svg", "--from", &game, "--ply", "2", "--moves", played[2]];
    assert_eq!(shown(&further), expected);
    assert_eq!(shown(&[&six[..], &["--svg", "--from", &game], &ply].concat()), expected);
    let last: serde_json::Value = serde_json::from_str(&shown(&["--from", &game])).expect("JSON");
    assert_eq!(last["position"], record["position"]);
    std::fs::write(&moves, format!("# of a book\n{}\n{}\n", played[0], played.join(" "))).expect("writable");
    let of_moves = [&six[..], &["--svg", "--from", &moves, "--number", "1"], &ply].concat();
    assert_eq!(shown(&of_moves), expected);

    let found = stdout(&["analyse", "--from", &game, "--ply", "3", "--agent", "alphabeta:depth=2", "--json"]);
    let position = serde_json::from_str::<serde_json::Value>(&expected).expect("JSON")["position"].clone();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&found).expect("JSON")["position"], position);
    let on = ["play", "--from", &game, "--ply", "3", "--p1", "random", "--p2", "random", "--json", "--max-moves", "1"];
    assert_eq!(serde_json::from_str::<serde_json::Value>(&stdout(&on)).expect("JSON")["start"], position);
    let solved = stdout(&["solve", "--from", &game, "--ply", "12"]);
    assert!(solved.contains("won for player"), "{solved}");

    let cup = path("cup");
    stdout(&["arena", "mu_torere", "random", "random", "--games", "2", "--out", &cup]);
    let journal = format!("{cup}/games.jsonl");
    assert!(shown(&["--from", &journal, "--number", "1", "--ply", "2"]).contains("position"));
    assert!(fault(&["show", "--from", &journal]).contains("it has 2 games, 0 to 1: choose one with --number"));
    let cut = path("cut.json");
    std::fs::write(&cut, &record.to_string()[..70]).expect("writable");
    let beyond = (played.len() + 1).to_string();
    let illegal = path("illegal.json");
    std::fs::write(&illegal, record.to_string().replace(played[2], played[0])).expect("writable");
    for (args, expected) in [
        (&["show", "--from", "none.json"][..], "none.json: No such file"),
        (&["show", "--from", &cut], "cut.json: the file is cut off"),
        (&["show", "--from", &illegal], "illegal.json: move 3: illegal action"),
        (&["show", "--from", &moves, "--number", "0"], "moves.txt: it has moves only: name the game"),
        (&["show", "mancala", "--from", &game], "game.json: it is a game of konane, not of mancala"),
        (&["show", "konane", "--param", "size=8", "--from", &game], "game.json: it was played with "),
        (&["show", "--from", &game, "--ply", "999"], "there is no position after 999 plies: the game has "),
        (&["show", "--from", &game, "--ply", &beyond], "there is no position after "),
        (&["show", "--ply", "3", "mancala"], "--from"),
        (&["show", "--from", &game, "--position", "x"], "cannot be used with"),
        (&["show"], "<GAME"),
    ] {
        assert!(fault(args).contains(expected), "{args:?}: {}", fault(args));
    }
}

#[test]
fn a_position_between_two_people_goes_back_ply_by_ply() {
    let (out, _, code) = piped(&["play", "mu_torere"], "0,4\nundo\nundo\nrules\nmoves\nquit\n");
    assert_eq!(code, Some(0));
    for line in ["took back 1 move", "you have no move to take back", "Each player has four stones", "#4 8-4"] {
        assert!(out.contains(line), "{line}: {out}");
    }
    let (out, _, _) = piped(&["play", "mu_torere"], "quit\n");
    assert!(out.contains("player 1 (●, dark)") && out.contains("player 2 (○, light)"), "{out}");
}

#[test]
fn rules_are_printed_for_a_terminal() {
    let lesson = String::from_utf8(turnstone(&["rules", "mancala"]).stdout).expect("UTF-8");
    assert!(lesson.starts_with("1. On your turn") && lesson.contains("after B4:\n"), "{lesson}");
    assert!(lesson.lines().all(|line| line.chars().count() <= 80) && !lesson.contains("<!--"), "{lesson}");
    let output = turnstone(&["rules", "mancala", "--full"]);
    let sheet = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(sheet.starts_with("# Mancala") && sheet.contains("## Notation"), "{sheet}");
    assert!(!sheet.contains("<img") && !sheet.contains("](../"), "{sheet}");
}

#[test]
fn elsewhere_than_at_a_terminal_there_is_a_board_per_turn() {
    let (out, err, _) = piped(&["play", "mancala", "--p2", "level:1"], "b3\nquit\n");
    assert_eq!(err, "", "{out}");
    assert!(out.contains("player 2 (A, above): level 1, Elo "), "{out}");
    let boards = out.matches("\nA ").count();
    let moves = out.lines().filter(|line| line.contains(". player ") || line.contains(": 1. player")).count();
    assert!(moves >= 2 && boards == 2, "{boards} boards, {moves} moves: {out}");
}

/// A checkpoint of Mancala with three stones in each pit.
fn three_stones(path: &std::path::Path) {
    let params = turnstone_env::Params::new().with("stones", 3);
    let game = turnstone_games::built_in().make("mancala", &params).expect("a game");
    let network = NetworkConfig::from(ResidualMlp { blocks: 1, width: 8 });
    let info = checkpoint_info(&*game, &network, &SearchSettings::default(), 1);
    let weights = Weights::random(&network.layout(&info.shape).expect("a valid network"), 1);
    save(path, &info, &weights).expect("it is writable");
}

#[test]
fn a_checkpoint_brings_its_game_s_parameters() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("three.safetensors");
    three_stones(&path);
    let agent = format!("az:{},sims=1", path.display());
    let output = turnstone(&["play", "mancala", "--p1", &agent, "--p2", "random", "--json"]);
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(record["params"]["stones"], "3");
    let note = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(note, format!("note: the game is that of {agent}: --param stones=3\n"));
    let result = stdout(&["arena", "mancala", "random", &agent, "--games", "2", "--json"]);
    let result: serde_json::Value = serde_json::from_str(&result).expect("JSON");
    assert_eq!(result["record"]["params"]["stones"], "3");
    let graded = turnstone(&["grade", "mancala", "--agent", &agent]).stderr;
    let graded = String::from_utf8(graded).expect("UTF-8");
    assert!(graded.contains("error: mancala with these parameters comes without exact values"), "{graded}");
    // Another value that is asked for is named, not taken.
    for command in [["play", "--p1"], ["grade", "--agent"]] {
        let fault = fault(&[command[0], "mancala", command[1], &agent, "--param", "stones=5"]);
        assert!(fault.contains("the checkpoint is for `mancala` with stones=3, not 5"), "{fault}");
    }
}

#[cfg(unix)]
mod terminal {
    use std::path::Path;

    use rexpect::reader::Options;
    use rexpect::session::{PtySession, spawn_with_options};

    use super::*;

    /// A game at a terminal of its own. `plain` drops escape sequences from what is read.
    fn at_a_terminal(args: &[&str], plain: bool, variables: &[(&str, &str)]) -> PtySession {
        in_folder(Path::new("."), args, plain, variables)
    }

    /// The same in a folder, where the game is saved.
    fn in_folder(folder: &Path, args: &[&str], plain: bool, variables: &[(&str, &str)]) -> PtySession {
        let mut command = command(args);
        command.current_dir(folder);
        command.stdin(Stdio::inherit()); // the terminal's
        command.env("TERM", "xterm").env_remove("NO_COLOR").envs(variables.iter().copied());
        let options = Options::new().timeout_ms(Some(120_000)).strip_ansi_escape_codes(plain);
        spawn_with_options(command, options).expect("a pseudo-terminal")
    }

    /// Plays as player 1 against random moves: help, a wrong entry, a hint, a move taken back, and then the adviser's
    /// moves until the game is won.
    fn play_to_win(game: &str, wrong: &str) {
        let (args, folder) = (["play", game, "--p2", "random", "--seed", "1"], tempfile::tempdir());
        let folder = folder.expect("a temporary folder");
        let mut at = in_folder(folder.path(), &args, true, &[]);
        let fail = |what: &str, error: rexpect::error::Error| -> String { panic!("{game}, {what}: {error}") };
        at.exp_string("your move").unwrap_or_else(|e| fail("the first prompt", e));
        for (entry, answer) in [("help", "take back your last move"), ("moves", "#1 "), (wrong, "illegal action")] {
            at.send_line(entry).expect("it reads");
            at.exp_string(answer).unwrap_or_else(|e| fail(entry, e));
        }
        let mut taken_back = false;
        for turn in 0..300 {
            at.send_line("hint").expect("it reads");
            let (_, hint) = at.exp_regex(r"hint: \S+").unwrap_or_else(|e| (String::new(), fail("hint", e)));
            let action = hint.trim_start_matches("hint: ").to_owned();
            // In any case.
            at.send_line(&action.to_uppercase()).expect("it reads");
            let played = format!("player 1: {action}");
            at.exp_string(&played).unwrap_or_else(|e| fail(&action, e));
            let (_, next) = at
                .exp_regex("you have won|you have lost|draw|your move")
                .unwrap_or_else(|e| (String::new(), fail(&format!("after move {turn}"), e)));
            if next != "your move" {
                assert_eq!(next, "you have won", "{game}");
                at.exp_string(&format!("saved as {game}-1.json")).unwrap_or_else(|e| fail("saved", e));
                at.send_line("quit").expect("it reads");
                at.exp_eof().expect("the end");
                assert!(taken_back, "the game was long enough");
                return;
            }
            if !taken_back {
                taken_back = true;
                at.send_line("undo").expect("it reads");
                at.exp_regex("took back [0-9]+ move").unwrap_or_else(|e| (String::new(), fail("undo", e)));
                at.exp_string("your move").unwrap_or_else(|e| fail("after undo", e));
            }
        }
        panic!("{game} does not end");
    }

    #[test]
    fn a_person_wins_every_game() {
        let wrong = [
            ("mu_torere", "1,4"),
            ("mancala", "A3"),
            ("morris", "a0-g0"),
            ("konane", "jump(3,4,5,4)"),
            ("morabaraba", "xa1"),
        ];
        std::thread::scope(|scope| {
            for (game, wrong) in wrong {
                scope.spawn(move || play_to_win(game, wrong));
            }
        });
    }

    #[test]
    fn a_game_is_saved_reviewed_and_played_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let args = ["play", "mu_torere", "--param", "max_plies=1", "--p2", "random"];
        let mut at = in_folder(folder.path(), &args, true, &[]);
        for (entry, answer) in [
            ("0,4", "saved as mu_torere-1.json; to review it: turnstone review mu_torere-1.json"),
            ("x", "`x` is none of them"),
            ("review", "player 1"),
            ("again", "your move"),
            ("0,4", "saved as mu_torere-2.json"),
        ] {
            at.send_line(entry).expect("it reads");
            at.exp_string(answer).unwrap_or_else(|error| panic!("{entry}: {error}"));
        }
        at.send_line("quit").expect("it reads");
        at.exp_eof().expect("the end");
        let [first, second] = [1, 2].map(|n| std::fs::read(folder.path().join(format!("mu_torere-{n}.json"))));
        assert_eq!(first.expect("the first game"), second.expect("the second game"));
    }

    /// What a terminal of this width shows up to the prompt after help.
    fn shown(columns: u32) -> String {
        let program = env!("CARGO_BIN_EXE_turnstone");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!("stty cols {columns} rows 40; exec {program} play mancala --p2 level:1")]);
        command.stdin(Stdio::inherit()).env("TERM", "xterm").env_remove("NO_COLOR");
        let options = Options::new().timeout_ms(Some(120_000));
        let mut at = spawn_with_options(command, options).expect("a pseudo-terminal");
        at.exp_string("your move").expect("a prompt");
        at.send_line("help").expect("it reads");
        let shown = at.exp_string("your move").expect("a prompt");
        at.send_line("quit").expect("it reads");
        at.exp_eof().expect("the end");
        shown
    }

    #[test]
    fn text_is_wrapped_to_the_width_of_the_terminal() {
        for columns in [50, 90] {
            let text = anstream::adapter::strip_str(&shown(columns)).to_string();
            let help = text.split("a move  ").nth(1).expect("the help").split("player 1").next().expect("its end");
            let longest = help.lines().map(|line| line.trim_end().chars().count()).max().expect("lines");
            assert!(longest <= columns as usize, "{longest} of {columns}: {help}");
            assert_eq!(help.lines().count() > 16, columns == 50, "{help}");
        }
    }

    /// Results of a grade and of a doctor are wrapped, with the text of a column below itself.
    #[test]
    fn results_are_wrapped_too() {
        let program = env!("CARGO_BIN_EXE_turnstone");
        let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/mu_torere.toml");
        for (args, within) in [
            ("grade mu_torere --agent az:pretrained,sims=0".to_owned(), "calibration"),
            (format!("doctor {config} --seconds 1"), "\r\n                "),
        ] {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", &format!("stty cols 60 rows 40; exec {program} {args}")]);
            command.stdin(Stdio::inherit()).env("TERM", "xterm");
            let options = Options::new().timeout_ms(Some(120_000));
            let mut at = spawn_with_options(command, options).expect("a pseudo-terminal");
            let text = at.exp_eof().expect("the end");
            let longest =
                text.lines().map(|line| line.trim_end().rsplit('\r').next().unwrap_or_default().chars().count()).max();
            assert!(longest.is_some_and(|longest| longest <= 60) && text.contains(within), "{text}");
        }
    }

    #[test]
    fn colours_only_where_they_are_wanted() {
        let coloured = "\x1b[1m\x1b[33mplayer 2";
        let shown = |variables: &[(&str, &str)]| {
            let mut at = at_a_terminal(&["play", "mancala", "--p2", "random"], false, variables);
            let shown = at.exp_string("your move").expect("a prompt");
            at.send_line("quit").expect("it reads");
            at.exp_eof().expect("the end");
            shown
        };
        assert!(shown(&[]).contains(coloured), "{:?}", shown(&[]));
        assert!(!shown(&[("NO_COLOR", "1")]).contains(coloured));
    }

    #[test]
    fn the_line_is_edited_completed_and_remembered() {
        let mut at = at_a_terminal(&["play", "mancala", "--p2", "random"], true, &[]);
        at.exp_string("your move").expect("a prompt");
        // The arrow left, backspace, Ctrl-E, Tab, and the arrow up for the line before.
        at.send("hxl\x1b[D\x7fe\x05\t\n").expect("it reads");
        at.exp_string("take back your last move").expect("help was completed");
        at.exp_string("your move").expect("a prompt");
        at.send("\x1b[A\n").expect("it reads");
        at.exp_string("take back your last move").expect("the line before came back");
        at.exp_string("your move").expect("a prompt");
        at.send_line("quit").expect("it reads");
        at.exp_string("left after 0 moves").expect("it leaves");
        at.exp_eof().expect("the end");
    }

    #[test]
    fn lines_that_are_pasted_or_typed_ahead_are_all_read() {
        let mut at = at_a_terminal(&["play", "mu_torere"], true, &[]);
        at.exp_string("the move: ").expect("a prompt");
        at.send("0,4\nundo\nundo\nquit\n").expect("it reads");
        at.flush().expect("it reads");
        for answer in ["took back 1 move", "you have no move to take back", "left after 0 moves"] {
            at.exp_string(answer).expect(answer);
        }
        at.exp_eof().expect("the end");
    }

    /// Ctrl-D and Ctrl-C leave the game, in the middle of a line too for Ctrl-C.
    #[test]
    fn control_characters_leave() {
        for keys in ["\x04", "\x03", "he\x03"] {
            let mut at = at_a_terminal(&["play", "mancala", "--p2", "random"], true, &[]);
            at.exp_string("your move").expect("a prompt");
            at.send(keys).expect("it reads");
            at.flush().expect("it reads");
            at.exp_string("left after 0 moves").expect("it leaves");
            at.exp_eof().expect("the end");
        }
    }
}
