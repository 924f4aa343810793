//! The commands that the built-in games bring to a program.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{ArgMatches, Args, FromArgMatches};
use turnstone_agents::CommandHost;
use turnstone_env::Game;
use turnstone_env::games::{Konane, Mancala, Morabaraba, Morris, MuTorere};

use crate::functions::Functions;
use crate::konane::pyro::commands::{Pyro, PyroServer};
use crate::{konane, mancala, morabaraba, morris, mu_torere};

/// What runs a command whose arguments are parsed.
pub type Run = fn(&ArgMatches, &dyn CommandHost) -> Result<ExitCode>;

/// A command of a program.
#[derive(Clone, Debug)]
pub struct Command {
    /// The heading under which the program's help lists it.
    pub group: &'static str,
    /// Name, arguments and help.
    pub definition: clap::Command,
    /// What runs it.
    pub run: Run,
}

/// All commands of the built-in games.
#[must_use]
pub fn commands() -> Vec<Command> {
    let mut commands = vec![reference()];
    // The names by which these were called before they had a command of their own.
    let hidden = |source: &Source| Command { group: "", definition: source.definition().hide(true), run: source.run };
    commands.extend(SOURCES.iter().map(hidden));
    commands.extend([pyro(), pyro_server()]);
    commands
}

fn reference() -> Command {
    let definition = clap::Command::new("reference")
        .about("The functions and programs of the games' sources")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(SOURCES.iter().map(Source::definition))
        .after_help(
            "\
Examples:
  turnstone reference morris neighbors 1
      a function of the handout
  turnstone reference konane moves --moves \"remove(5,4) remove(5,5)\"
      Pyro's move generator",
        );
    let run: Run = |matches, host| {
        let (name, matches) = matches.subcommand().context("no source is named")?;
        let source = SOURCES.iter().find(|source| source.name == name).context("no such source")?;
        (source.run)(matches, host)
    };
    Command { group: "Develop", definition, run }
}

fn pyro() -> Command {
    let definition =
        Pyro::augment_args(clap::Command::new("pyro")).about("Play in Pyro's Konane world over TCP").after_help(
            "\
Examples:
  turnstone pyro --agent az:pretrained
      join a world on this machine
  turnstone pyro --agent alphabeta:depth=4 --host 192.0.2.7 --games 10
      ten games in one elsewhere",
        );
    Command { group: "Play", definition, run: |matches, host| Pyro::from_arg_matches(matches)?.run(host) }
}

fn pyro_server() -> Command {
    let definition = PyroServer::augment_args(clap::Command::new("pyro-server"))
        .about("Serve Pyro's Konane world for two players over TCP")
        .after_help(
            "\
Examples:
  turnstone pyro-server
      a world for two players
  turnstone pyro-server --host 0.0.0.0 --first-player X
      for other machines too, X begins",
        );
    Command { group: "Play", definition, run: |matches, host| PyroServer::from_arg_matches(matches)?.run(host) }
}

/// The functions of a game's source as a command.
struct Source {
    name: &'static str,
    about: &'static str,
    augment: fn(clap::Command) -> clap::Command,
    run: Run,
}

const SOURCES: [Source; 5] = [
    Source::of::<MuTorere, mu_torere::command::MuTorere>("Mu Torere: the notebook's own functions"),
    Source::of::<Mancala, mancala::command::Mancala>("Mancala: the assignment's own functions"),
    Source::of::<Morris, morris::command::Morris>("Morris: the handout's own generators and estimates"),
    Source::of::<Konane, konane::command::Konane>("Konane: Pyro's own move generator"),
    Source::of::<Morabaraba, morabaraba::command::Morabaraba>("Morabaraba: the contest's own query functions"),
];

impl Source {
    const fn of<G: Game, F: Functions>(about: &'static str) -> Self {
        let run: Run = |matches, _| F::from_arg_matches(matches)?.run();
        Self { name: G::NAME, about, augment: F::augment_args, run }
    }

    fn definition(&self) -> clap::Command {
        (self.augment)(clap::Command::new(self.name)).about(self.about)
    }
}
