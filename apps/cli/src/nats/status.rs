//! `turnstone cluster`: the runs, workers and queues at the server of a cluster.

use std::process::ExitCode;
use std::time::Duration;

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
    /// Seconds to listen for heartbeats, which come every second
    #[arg(long, default_value_t = 2.5, value_parser = seconds)]
    listen: f64,
    #[command(flatten)]
    credentials: CredentialArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|seconds| (0.1..=600.0).contains(seconds))
        .ok_or_else(|| "must be from 0.1 to 600".to_owned())
}

impl StatusOfCluster {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let Command::Status(args) = &self.command;
        let status = status(&args.credentials.server(&args.url), Duration::from_secs_f64(args.listen))?;
        if args.json {
            print_json(&serde_json::to_string(&status)?);
        } else {
            print(&status);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print(status: &Status) {
    println!("{:<28} {:<14} {:>9} {:>9} {:>7} {:>7}  stage", "run", "game", "items", "missing", "queued", "played");
    for (name, run) in &status.runs {
        let queue = status.queues.get(name);
        let [queued, played] = queue.map_or([0, 0], |queue| [queue.waiting, queue.played]);
        let ([items, missing], stage) = (run.items, if run.stage.is_empty() { "-" } else { &run.stage });
        let (game, stage) = (&run.game, one_line(stage, "..."));
        print_text(&format!("{name:<28} {game:<14} {items:>9} {missing:>9} {queued:>7} {played:>7}  {stage}"));
    }
    if status.runs.is_empty() {
        println!("(no leader announces a run)");
    }
    let head = ("worker", "threads", "items", "held", "unsent", "pos/s");
    println!("\n{:<28} {:>7} {:>9} {:>9} {:>7} {:>7}  plays for", head.0, head.1, head.2, head.3, head.4, head.5);
    for beat in status.workers.values() {
        let (worker, threads, held, unsent) = (&beat.worker, beat.threads, beat.held, beat.unsent);
        let (items, rate) = (beat.done[0], beat.rate);
        let runs = if beat.runs.is_empty() { "-".to_owned() } else { beat.runs.join(" ") };
        print_text(&format!("{worker:<28} {threads:>7} {items:>9} {held:>9} {unsent:>7} {rate:>7.0}  {runs}"));
        for (run, why) in &beat.refusals {
            print_text(&format!("  not for {run}: {}", one_line(why, "...")));
        }
    }
    if status.workers.is_empty() {
        println!("(no worker)");
    }
    let lost = status.queues.keys().filter(|name| !status.runs.contains_key(*name));
    for name in lost {
        let name = one_line(name, "...");
        println!(
            "\n{name} has a queue but no leader: a run can be resumed with --cluster, other queues expire after 3 days"
        );
    }
    println!();
    for (name, stored) in &status.streams {
        print_text(&format!("{name:<20} {:>9} messages {:>9.1} MB", stored.messages, stored.bytes as f64 / 1e6));
    }
}
