//! `turnstone worker`: plays for the leaders of a cluster.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use turnstone_base::machine::cores;
use turnstone_cluster::{WorkerSettings, work};
use turnstone_selfplay::Games;

use super::options::{CredentialArgs, notes};
use crate::called::PROGRAM;
use crate::signals::stop_on_signals;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone worker nats://leader:4222
      play for every run of the server, on all cores
  turnstone worker nats://leader:4222 --threads 2 --name desk
      on two threads, under a name")]
pub(super) struct Worker {
    /// NATS server of the cluster, e.g. nats://leader:4222
    url: String,
    /// Name of the worker, of letters, digits, - and _ [default: that of the machine, with random digits]
    #[arg(long)]
    name: Option<String>,
    /// Number of threads [default: one per core]
    #[arg(long)]
    threads: Option<usize>,
    #[command(flatten)]
    credentials: CredentialArgs,
    /// Print nothing but warnings and errors
    #[arg(long)]
    quiet: bool,
}

impl Worker {
    pub(super) fn run(&self, games: &Games) -> Result<ExitCode> {
        let stop = stop_on_signals()?;
        let settings = WorkerSettings {
            program: PROGRAM.to_owned(),
            server: self.credentials.server(&self.url),
            name: self.name.clone(),
            threads: self.threads.unwrap_or_else(cores),
        };
        work(&settings, games, &notes(self.quiet), stop)?;
        Ok(ExitCode::SUCCESS)
    }
}
