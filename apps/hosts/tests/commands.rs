//! The functions of the games' sources on the command line.

use std::process::Command;

use super::{HOSTS, output, texts};

fn stdout(args: &[&str]) -> String {
    texts(Command::new(HOSTS).args(args)).0
}

/// The one-line error of a command that must fail.
fn fault(args: &[&str]) -> String {
    let output = output(Command::new(HOSTS).args(args));
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.code() == Some(1) && text.trim_end().lines().count() == 1, "{args:?}: {text}");
    text
}

#[test]
fn the_sources_own_functions() {
    let boards = stdout(&["morris", "generate", "--board", "WxWxxxBBxxxxxxxxxx", "--side", "W", "--phase", "opening"]);
    assert_eq!((boards.lines().count(), boards.lines().nth(2)), (15, Some("WxWxWxxBxxxxxxxxxx")));
    assert_eq!(stdout(&["morris", "neighbors", "1", "--json"]), "[0,3,8]\n");
    assert_eq!(stdout(&["morris", "estimate", "--board", "WWWWxxBBBxxxxxxxxx"]), "1\n");
    assert!(fault(&["morris", "generate", "--board", "WxW"]).contains("18"));
    assert_eq!(stdout(&["mancala", "find-moves", "--json"]), "[\"B2\",\"B3\",\"B4\",\"B5\",\"B6\",\"B7\"]\n");
    assert!(stdout(&["mancala", "update-board", "B5"]).contains("A    0  4  4  4  4  4  5  1"));
    assert_eq!(stdout(&["mu_torere", "valid-moves", "--json"]), "[[0,4],[2,4],[6,4],[8,4]]\n");
    assert!(fault(&["mu_torere", "update-state", "1,4"]).contains("legal: 0,4 2,4 6,4 8,4"));
    let moves = ["konane", "moves", "--moves", "remove(5,4) remove(5,5)"];
    assert_eq!(stdout(&moves), "jump(3,4,5,4)\njump(5,2,5,4)\njump(7,4,5,4)\n");
    let moves = ["morabaraba", "get-effective-cell-moves", "a1", "--moves", "a1", "--json"];
    assert_eq!(stdout(&moves), "[[3,0],[1,1],[0,3]]\n");
    assert_eq!(stdout(&["morabaraba", "coordinates", "a1", "--json"]), "[0,0]\n");
    assert_eq!(stdout(&["morabaraba", "names", "1,1"]), "b2\n");
}
