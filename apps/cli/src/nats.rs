//! Clusters over NATS: the commands `worker` and `cluster`, and the options of the commands that lead.

mod options;
mod worker;
mod status;

use clap::{Args, FromArgMatches};

use self::options::{LeaderArgs, lead};
use self::status::StatusOfCluster;
use self::worker::Worker;
use crate::added::Command;
use crate::cluster::{Cluster, GROUP};

/// Clusters over NATS, for [`Program::with_cluster`](crate::Program::with_cluster).
pub const NATS: Cluster = Cluster { commands, with_options: LeaderArgs::augment_args, lead };

fn commands() -> Vec<Command> {
    let worker = Worker::augment_args(clap::Command::new("worker"));
    let cluster = StatusOfCluster::augment_args(clap::Command::new("cluster"));
    vec![
        Command {
            group: GROUP,
            definition: worker.about("Play games of self-play and matches for leaders on other machines"),
            run: |matches, host| Worker::from_arg_matches(matches)?.run(host.games()),
        },
        Command {
            group: GROUP,
            definition: cluster.about("Show the runs and workers of a cluster"),
            run: |matches, _| StatusOfCluster::from_arg_matches(matches)?.run(),
        },
    ]
}
