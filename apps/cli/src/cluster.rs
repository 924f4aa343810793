//! Other machines that play for a command: what a program with clusters is given, and what one without them says.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Arg, ArgMatches, Args, FromArgMatches, Id};
use turnstone_agents::Agent;
use turnstone_arena::Remote;
use turnstone_models::{NetworkConfig, Precision, ResidualMlp};
use turnstone_search::Stop;
use turnstone_selfplay::{SearchConfig, SelfPlayer, TrainableGame};

use crate::added::Command;

/// What a program with clusters adds to the command line.
#[derive(Clone, Copy, Debug)]
pub struct Cluster {
    /// The commands about the machines of a cluster.
    pub commands: fn() -> Vec<Command>,
    /// Adds the options that go with `--cluster` to a command that has it.
    pub with_options: fn(clap::Command) -> clap::Command,
    /// Connects to the cluster at this address, with these options. Fails if the server cannot be reached or refuses, or if
    /// the leader's files cannot be written.
    pub lead: Lead,
}

/// Connects to the cluster at an address, with the options of the command, to play this work until the flag is set.
pub type Lead = fn(&str, &ArgMatches, &Work<'_>, &Stop) -> Result<Box<dyn Leader>>;

/// What a command wants played elsewhere.
pub struct Work<'a> {
    /// The game.
    pub game: &'a dyn TrainableGame,
    /// A network whose evaluations all machines must compute with the same bits.
    pub network: NetworkConfig,
    /// The search that uses it.
    pub search: SearchConfig,
    /// The arithmetic of the network.
    pub precision: Precision,
    /// Folder for the leader's files, from which a later leader continues; `None` if the work ends with its leader.
    pub folder: Option<PathBuf>,
    /// Whether to print nothing but warnings.
    pub quiet: bool,
}

impl<'a> Work<'a> {
    /// Games or answers of agents.
    pub(crate) fn of_agents(game: &'a dyn TrainableGame, agents: &[&Agent]) -> Self {
        let network = agents.iter().find_map(|agent| agent.network()).map(|network| network.info.network.clone());
        Self {
            game,
            network: network.unwrap_or_else(|| ResidualMlp { blocks: 1, width: 32 }.into()),
            search: SearchConfig::default(),
            precision: Precision::F32,
            folder: None,
            quiet: false,
        }
    }
}

/// The machine that runs the command: it hands out the games and collects them.
pub trait Leader: SelfPlayer + Remote {
    /// Whether all machines compute floats with the same bits, as matches need.
    fn has_same_floats(&self) -> bool;

    /// Ends the work for good and removes its files. A leader that is dropped instead can be followed by another.
    fn finish(self: Box<Self>);
}

/// The option `--cluster` of a command, with the options that a [`Cluster`] adds to it.
#[derive(Clone, Debug)]
pub(crate) struct ClusterArgs(ArgMatches);

/// Name of the option.
const OPTION: &str = "cluster";

/// The heading of a cluster's commands in the program's help.
pub(crate) const GROUP: &str = "Many machines";

impl Args for ClusterArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.arg(
            Arg::new(OPTION)
                .long(OPTION)
                .value_name("URL")
                .help_heading("Cluster")
                .help("NATS server whose workers play the games (see `turnstone worker`); the result is the same")
                .hide(true),
        )
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ClusterArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = matches.clone();
        Ok(())
    }
}

impl ClusterArgs {
    /// The cluster that the command line names, if it names one.
    ///
    /// # Errors
    /// The program has no clusters.
    pub(crate) fn named(&self, cluster: Option<Cluster>) -> Result<Option<Named<'_>>> {
        match (self.0.get_one::<String>(OPTION), cluster) {
            (None, _) => Ok(None),
            (Some(url), Some(cluster)) => Ok(Some(Named { cluster, url, options: &self.0 })),
            (Some(_), None) => bail!("{ABSENT}"),
        }
    }
}

/// A cluster that the command line names.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    cluster: Cluster,
    url: &'a str,
    options: &'a ArgMatches,
}

impl Named<'_> {
    /// Connects to the cluster.
    ///
    /// # Errors
    /// The server cannot be reached or refuses, or the leader's files cannot be written.
    pub(crate) fn lead(&self, work: &Work<'_>, stop: &Stop) -> Result<Box<dyn Leader>> {
        (self.cluster.lead)(self.url, self.options, work, stop)
    }
}

/// The commands of a program's cluster. A program without clusters understands them to say how to get one that has them.
pub(crate) fn commands(cluster: Option<Cluster>) -> Vec<Command> {
    cluster.map_or_else(absent_commands, |cluster| (cluster.commands)())
}

/// Shows `--cluster` and adds the options that go with it, for a command that has it in a program with clusters.
pub(crate) fn with_options(command: clap::Command, cluster: Option<Cluster>) -> clap::Command {
    match cluster {
        Some(cluster) if command.get_arguments().any(|option| option.get_id() == OPTION) => {
            // The options come from a type whose description would replace the command's.
            let about = command.get_about().cloned().unwrap_or_default();
            let own: Vec<Id> = command.get_arguments().map(|option| option.get_id().clone()).collect();
            let command = (cluster.with_options)(command.mut_arg(OPTION, |option| option.hide(false))).about(about);
            // Without a cluster they would have no effect. What excludes a cluster would lift what they require.
            let excluding =
                |option: &&Arg| command.get_arg_conflicts_with(option).iter().any(|one| one.get_id() == OPTION);
            let excluded: Vec<Id> =
                command.get_arguments().filter(excluding).map(|option| option.get_id().clone()).collect();
            command.mut_args(|option| {
                let is_own = own.contains(option.get_id());
                if is_own { option } else { option.requires(OPTION).conflicts_with_all(excluded.clone()) }
            })
        }
        _ => command,
    }
}

const ABSENT: &str =
    "this build cannot use a cluster; releases can, and `cargo build --release --features cluster` builds one";

fn absent_commands() -> Vec<Command> {
    let anything = Arg::new("rest").num_args(0..).trailing_var_arg(true).allow_hyphen_values(true).hide(true);
    let definition = clap::Command::new("worker").alias("cluster").hide(true).disable_help_flag(true).arg(anything);
    vec![Command { group: GROUP, definition, run: |_, _| bail!("{ABSENT}") }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Call, definition};
    use crate::help::Additions;

    #[test]
    fn a_program_without_clusters_says_how_to_get_them() {
        let (games, additions) = (turnstone_games::list!(turnstone_selfplay::row), Additions::default());
        for line in [
            "turnstone worker nats://host --quiet",
            "turnstone cluster status nats://host",
            "turnstone train nowhere.toml --cluster nats://host",
            "turnstone arena konane random random --cluster nats://host",
            "turnstone grade mu_torere --agent random --cluster nats://host",
        ] {
            let arguments: Vec<_> = line.split(' ').map(Into::into).collect();
            let call = Call::from_arguments(&arguments, &additions).map_err(|error| error.to_string());
            let fault = call.expect(line).run(&games, &additions).expect_err(line);
            assert_eq!(format!("{fault:#}"), ABSENT, "{line}");
        }
    }

    #[test]
    fn the_options_of_a_cluster_are_those_of_the_commands_that_lead() {
        let share = |command: clap::Command| {
            command.arg(Arg::new("share").long("share").requires(OPTION)).about("The options of a cluster")
        };
        let lead = |_: &str, _: &ArgMatches, _: &Work<'_>, _: &Stop| bail!("it is not called");
        let cluster = Cluster { commands: Vec::new, with_options: share, lead };
        let options = |name: &str, cluster: Option<Cluster>| {
            let program = definition(&Additions { cluster, ..Additions::default() });
            let command = program.find_subcommand(name).expect("a command of the program");
            let shown = command.get_arguments().filter(|option| !option.is_hide_set());
            shown.filter(|option| [OPTION, "share"].contains(&option.get_id().as_str())).count()
        };
        for name in ["train", "arena", "grade"] {
            assert_eq!((options(name, None), options(name, Some(cluster))), (0, 2), "{name}");
        }
        assert_eq!(options("play", Some(cluster)), 0);
        let about = |name: &str, cluster: Option<Cluster>| {
            let program = definition(&Additions { cluster, ..Additions::default() });
            program.find_subcommand(name).and_then(clap::Command::get_about).map(ToString::to_string)
        };
        for name in ["train", "arena", "grade"] {
            assert_eq!(about(name, Some(cluster)), about(name, None), "{name}");
        }
    }
}
