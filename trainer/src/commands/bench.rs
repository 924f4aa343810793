//! `turnstone bench`: how fast the parts are on this machine.

mod env;
mod search;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

#[derive(Args, Debug)]
pub(crate) struct Bench {
    #[command(subcommand)]
    part: Part,
}

#[derive(Subcommand, Debug)]
enum Part {
    /// Random playouts and batched environments of each game
    Env(env::Env),
    /// Alpha-beta from the start of each game, with and without a table
    Search(search::Search),
}

impl Bench {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        match &self.part {
            Part::Env(part) => part.run(),
            Part::Search(part) => part.run(),
        }
    }
}
