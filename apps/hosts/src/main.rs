//! The `turnstone-hosts` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    turnstone_hosts::run(std::env::args_os())
}
