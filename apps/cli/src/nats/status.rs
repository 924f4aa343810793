//! `turnstone cluster`: the runs, workers and queues at the server of a cluster.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use turnstone_cluster::status;

use super::options::CredentialArgs;
use crate::output::{print_json, print_text};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone cluster status nats://leader:4222
      runs, workers, rates and queues
  turnstone cluster status nats://leader:4222 --json
      for a script")]
pub(super) struct StatusOfCluster {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Runs, workers, rates and queues
    Status(StatusArgs),
}

#[derive(Args, Debug)]
struct StatusArgs {
    /// NATS server of the cluster, e.g. nats://leader:4222
    url: String,
    #[command(flatten)]
    credentials: CredentialArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl StatusOfCluster {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let Command::Status(args) = &self.command;
        let status = status(&args.credentials.server(&args.url))?;
        if args.json {
            print_json(&serde_json::to_string(&status)?);
        } else {
            print_text(status.to_string().trim_end());
        }
        Ok(ExitCode::SUCCESS)
    }
}
