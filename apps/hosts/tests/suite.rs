//! All tests of the hosts in one program.

mod sources;
mod morris;
mod morabaraba;
mod text;
mod commands;
#[cfg(unix)]
mod handout;
#[cfg(unix)]
mod pyro;

use std::process::{Command, Output};

const HOSTS: &str = env!("CARGO_BIN_EXE_turnstone-hosts");
const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error} (these tests need python3)"))
}

/// Standard output and standard error of a command that must succeed.
fn texts(command: &mut Command) -> (String, String) {
    let output = output(command);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    (out, err)
}
