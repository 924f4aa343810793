//! Full games of the adapters that start `turnstone engine`, in stand-ins for the programs that the games come from. The
//! stand-ins are written from those programs' interfaces. `apps/hosts/tests` has the other hosts.
//!
//! They need `python3` (its standard library) and fail without it.

#![cfg(unix)]

mod maic_2022;
mod notebook;
mod open_spiel;

use std::process::{Command, Output, Stdio};

const TURNSTONE: &str = env!("CARGO_BIN_EXE_turnstone");
const HOSTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../hosts");
const FRONTENDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// A Python program of an adapter.
fn python(script: &str, args: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command.arg(format!("{HOSTS}/{script}")).args(args).stdin(Stdio::null());
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("TURNSTONE", TURNSTONE).env_remove("TURNSTONE_AGENT");
    command
}

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
