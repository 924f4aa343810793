//! `turnstone cluster`: the runs, workers and queues at the server of a cluster.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use turnstone_cluster::{Status, status};

use super::options::CredentialArgs;
use crate::output::{one_line, print_json, print_text};

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
            print(&status);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints a status in lines of 80 columns.
fn print(status: &Status) {
    for (name, queue) in &status.runs {
        let (waiting, in_work, idle) = (queue.waiting, queue.in_work, queue.idle);
        let name = one_line(name, "...");
        let Some(leader) = &queue.leader else {
            print_text(&format!("{name}: no leader (resume the run with --cluster; it expires after 3 days)"));
            print_text(&format!("  jobs: {waiting} waiting, {in_work} in work"));
            continue;
        };
        let [done, again, failed] = leader.jobs;
        let stage = if leader.stage.is_empty() { "learning" } else { &leader.stage };
        print_text(&format!("{name}: {stage}, {} of {} items", leader.items[0], leader.items[1]));
        print_text(&format!(
            "  jobs: {waiting} waiting, {in_work} in work, {done} done, {again} redelivered, {failed} failed"
        ));
        print_text(&format!("  {:<40} {:>7} {:>10} {:>12}", "worker", "threads", "items", "items/s"));
        for (worker, of) in &leader.workers {
            let worker = one_line(worker, "...");
            print_text(&format!("  {worker:<40} {:>7} {:>10} {:>12.1}", of.threads, of.items, of.rate));
        }
        if idle > 0 {
            println!("  {idle} workers have nothing to do");
        }
    }
    if status.runs.is_empty() {
        println!("(no run)");
    }
    println!();
    for (name, [messages, bytes]) in &status.streams {
        print_text(&format!("{name:<20} {messages:>9} messages {:>9.1} MB", *bytes as f64 / 1e6));
    }
}
