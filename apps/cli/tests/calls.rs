//! Calls of the program, and what they print.

use std::process::{Child, Command, Output, Stdio};

/// The program with these arguments and no input.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnstone"));
    command.args(args).stdin(Stdio::null());
    command
}

pub(crate) fn turnstone(args: &[&str]) -> Output {
    command(args).output().expect("the program runs")
}

/// What a command that must succeed prints.
pub(crate) fn stdout(args: &[&str]) -> String {
    let output = turnstone(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The error of a command that must fail: one line, or what clap prints about a command line.
pub(crate) fn fault(args: &[&str]) -> String {
    let output = turnstone(args);
    assert!(matches!(output.status.code(), Some(1 | 2)), "{args:?} ended with {}", output.status);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!text.contains("panicked"), "{args:?}: {text}");
    assert!(output.status.code() == Some(2) || text.trim_end().lines().count() == 1, "{args:?}: {text}");
    text
}

/// `turnstone train`, started.
pub(crate) fn train(args: &[&str]) -> Child {
    command(&["train"]).args(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program runs")
}

/// Exit code and stderr.
pub(crate) fn finish(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().expect("the program ends");
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}
