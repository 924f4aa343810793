//! Clusters over NATS: the commands `worker` and `cluster`, and the options of the commands that lead.

mod options;
mod worker;
mod status;

use clap::{Args, FromArgMatches};

use self::options::{LeaderArgs, lead};
use self::status::StatusOfCluster;
use self::worker::Worker;
use crate::cluster::{Cluster, Command};

/// Clusters over NATS, for [`Program::with_cluster`](crate::Program::with_cluster).
pub const NATS: Cluster = Cluster { commands, with_options: LeaderArgs::augment_args, lead };

fn commands() -> Vec<Command> {
    let worker =
        clap::Command::new("worker").about("Play games of self-play and matches for leaders on other machines");
    let cluster = clap::Command::new("cluster").about("Look at the runs and workers of a cluster");
    vec![
        Command {
            definition: Worker::augment_args(worker),
            run: |matches, games| Worker::from_arg_matches(matches)?.run(games),
        },
        Command {
            definition: StatusOfCluster::augment_args(cluster),
            run: |matches, _| StatusOfCluster::from_arg_matches(matches)?.run(),
        },
    ]
}
