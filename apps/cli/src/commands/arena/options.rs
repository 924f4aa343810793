//! The options of a match on the command line: those of [`MATCH_OPTIONS`], with `-` for `_` in their names.

use std::sync::LazyLock;

use clap::builder::PossibleValuesParser;
use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use turnstone_arena::{MATCH_OPTIONS, MatchOption, MatchOptions, OptionValues};

/// Names of the options on the command line.
static NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| MATCH_OPTIONS.iter().map(|option| option.name.replace('_', "-")).collect());

/// The options that are given on the command line.
#[derive(Clone, Debug)]
pub(super) struct OptionArgs(pub(super) MatchOptions);

impl Args for OptionArgs {
    fn augment_args(command: Command) -> Command {
        command.args(MATCH_OPTIONS.iter().zip(NAMES.iter()).map(|(option, name)| argument(option, name)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn argument(option: &'static MatchOption, name: &'static str) -> Arg {
    let argument = Arg::new(option.name).long(name).help(option.help.trim());
    match option.values {
        OptionValues::Words(words) => argument.value_name("WORD").value_parser(PossibleValuesParser::new(words)),
        OptionValues::Text(kind) => argument.value_name(kind).value_parser(|text: &str| -> Result<String, String> {
            option.set(&mut MatchOptions::default(), text).map(|()| text.to_owned())
        }),
    }
}

impl FromArgMatches for OptionArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut options = Self(MatchOptions::default());
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for option in &MATCH_OPTIONS {
            if let Some(text) = matches.get_one::<String>(option.name) {
                option.set(&mut self.0, text).map_err(|fault| Error::raw(ErrorKind::ValueValidation, fault))?;
            }
        }
        Ok(())
    }
}
