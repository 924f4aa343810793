//! The handout's Morris programs: output, errors, and games from board file to board file.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use turnstone_env::Side;
use turnstone_hosts::morris::{Board, Phase, generate};

use super::{FOLDER, HOSTS, output, texts};

/// Runs one of the handout's programs by its name and returns the board, the count and the estimate that it prints.
fn handout(name: &str, input: &Path, result: &Path, depth: u32) -> (String, u64, i32) {
    let mut command = Command::new(format!("{FOLDER}/handout/{name}"));
    command.env("TURNSTONE_HOSTS", HOSTS).args([input, result]).arg(depth.to_string());
    let (printed, _) = texts(&mut command);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 3, "{printed}");
    let part = |line: usize, before: &str, after: &str| {
        let rest = lines[line].strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        rest.unwrap_or_else(|| panic!("{printed}")).to_owned()
    };
    let board = part(0, "Board Position: ", "");
    assert_eq!(fs::read_to_string(result).expect("the output file"), format!("{board}\n"));
    let evaluated = part(1, "Positions evaluated by static estimation: ", ".").parse().expect("a number");
    (board, evaluated, part(2, "MINIMAX estimate: ", ".").parse().expect("a number"))
}

#[test]
fn the_handouts_programs_print_what_they_did() {
    let folder = tempfile::tempdir().expect("a folder");
    let [input, result] = ["in.txt", "out.txt"].map(|name| folder.path().join(name));
    fs::write(&input, "xxxxxxxxxxxxxxxxxx").expect("a file");
    let first = ("Wxxxxxxxxxxxxxxxxx".to_owned(), 18 * 17, 0);
    assert_eq!(handout("minimax-opening", &input, &result, 2), first);
    for (board, phase, name) in [
        ("WxWxxxBBxxBWxBxxWx", Phase::Opening, "opening"),
        ("WxWxxWBBxxBWxBWxWB", Phase::MidgameEndgame, "game"),
        ("WxWxxxBBBxBWxBxBxx", Phase::MidgameEndgame, "game"), // White hops
    ] {
        fs::write(&input, format!("{board}\n")).expect("a file");
        let run = |method: &str, depth| handout(&format!("{method}-{name}"), &input, &result, depth);
        let board: Board = board.parse().expect("a board");
        let replies =
            generate(&board, Side::First, phase).into_iter().map(|next| generate(&next, Side::Second, phase).len());
        assert_eq!(run("minimax", 2).1, replies.sum::<usize>() as u64);
        for depth in 1..=3 {
            let (minimax, alphabeta) = (run("minimax", depth), run("ab", depth));
            assert_eq!((&minimax.0, minimax.2), (&alphabeta.0, alphabeta.2));
            assert!(alphabeta.1 < minimax.1 || depth == 1);
            fs::write(&input, board.swapped().to_string()).expect("a file");
            let black = handout(&format!("ab-{name}-black"), &input, &result, depth);
            let turned = black.0.parse::<Board>().expect("a board").swapped().to_string();
            assert_eq!((turned, black.1, black.2), alphabeta);
            fs::write(&input, board.to_string()).expect("a file");
        }
    }
}

#[test]
fn the_handouts_programs_name_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let [input, result] = ["in.txt", "out.txt"].map(|name| folder.path().join(name).display().to_string());
    let fault = |depth: &str| {
        let output = output(Command::new(HOSTS).args(["morris", "minimax-game", &input, &result, depth]));
        assert!(!output.status.success());
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    assert!(fault("2").contains("in.txt"));
    for wrong in ["WxW", "", "WxWxxxBBBxBWxBxBxy"] {
        fs::write(&input, wrong).expect("a file");
        assert!(fault("2").contains("in.txt"), "{wrong}");
    }
    fs::write(&input, vec![b'x'; 5000]).expect("a file");
    assert!(fault("2").contains("18 letters"));
    assert!(fault("0").contains("DEPTH") && fault("-1").contains("-1"));
    assert!(!Path::new(&result).exists());
}

/// Games from the first placements until a side has lost or a board repeats. Each board is passed on as a file.
#[test]
fn the_handouts_programs_twenty_games() {
    thread::scope(|scope| {
        // The programs spend more time waiting for the disk than searching.
        for thread in 0..4 {
            scope.spawn(move || (0..5).for_each(|game| handout_game(4 * game + thread)));
        }
    });
}

fn handout_game(number: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let files = ["a.txt", "b.txt"].map(|name| folder.path().join(name));
    // Every game begins with its own placements.
    let places = [number % 18, (number * 5 + 1) % 18];
    let letter = |point| places.iter().position(|&place| place == point).map_or('x', |side| ['W', 'B'][side]);
    let mut board: Board = (0..18).map(letter).collect::<String>().parse().expect("a board");
    let mut seen = HashSet::new();
    fs::write(&files[0], board.to_string()).expect("a file");
    for ply in 2.. {
        let (phase, name) = if ply < 16 { (Phase::Opening, "opening") } else { (Phase::MidgameEndgame, "game") };
        let (side, black) = if ply % 2 == 0 { (Side::First, "") } else { (Side::Second, "-black") };
        if !seen.insert((board, phase, side)) {
            return;
        }
        let method = ["minimax", "ab"][(number + ply / 2) % 2];
        let legal = generate(&board, side, phase);
        let is_lost = phase == Phase::MidgameEndgame && Side::BOTH.iter().any(|&side| board.count(side) <= 2);
        let depth = 1 + (number + ply) as u32 % 2;
        let (input, result) = (&files[ply % 2], &files[1 - ply % 2]);
        let (next, ..) = handout(&format!("{method}-{name}{black}"), input, result, depth);
        let next: Board = next.parse().expect("a board");
        if is_lost || legal.is_empty() {
            assert_eq!(next, board, "the game is over");
            return;
        }
        assert!(legal.contains(&next), "{method}-{name}{black}: {board} -> {next}");
        board = next;
    }
}
