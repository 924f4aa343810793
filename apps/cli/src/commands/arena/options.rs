//! The options of a match on the command line: those of [`MatchOptions`], with `-` for `_` in their names.

use std::sync::LazyLock;

use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use turnstone_arena::MatchOptions;
use turnstone_base::settings::{Fault, Given, Setting, Settings};

/// The options that are given on the command line.
#[derive(Clone, Debug)]
pub(super) struct OptionArgs(pub(super) MatchOptions);

/// Arguments for the options.
static ARGUMENTS: LazyLock<Vec<Arg>> =
    LazyLock::new(|| MatchOptions::default().settings().iter().map(argument).collect());

fn argument(option: &Setting<'_>) -> Arg {
    let (name, read) = (option.name(), |text: &str| Given::Word(text.to_owned()));
    let checked = move |text: &str| match MatchOptions::default().set(name, &read(text)) {
        Ok(()) => Ok(read(text)),
        Err(Fault::Misfit { expected, .. }) => Err(format!("it must be {expected}")),
        Err(fault) => Err(fault.to_string()),
    };
    // Made once, so that names may stay for as long as the program runs.
    let (long, shown): (&'static str, &'static str) = (name.replace('_', "-").leak(), name.to_uppercase().leak());
    Arg::new(name).long(long).value_name(shown).help(option.help()).value_parser(checked)
}

impl Args for OptionArgs {
    fn augment_args(command: Command) -> Command {
        command.args(&*ARGUMENTS)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OptionArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut options = Self(MatchOptions::default());
        options.update_from_arg_matches(matches).map(|()| options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for option in &mut self.0.settings() {
            if let Some(given) = matches.get_one::<Given>(option.name()) {
                option.set(given).map_err(|fault| Error::raw(ErrorKind::ValueValidation, fault))?;
            }
        }
        Ok(())
    }
}
