//! Faults of a command line: as clap reports them, with advice where clap has none or leads astray.

use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use turnstone_trainer::config::Config;

/// Lets every option take a negative number, so that its own range refuses it. Otherwise clap takes `-1` for an option.
pub(crate) fn with_negative_numbers(command: Command) -> Command {
    let takes_value = |argument: &clap::Arg| !argument.is_positional() && argument.get_action().takes_values();
    command
        .mut_args(|argument| if takes_value(&argument) { argument.allow_negative_numbers(true) } else { argument })
        .mut_subcommands(with_negative_numbers)
}

/// The fault of a command line of this program, with advice.
pub(crate) fn advised(mut error: Error, arguments: &[OsString], program: &Command) -> Error {
    match error.kind() {
        ErrorKind::UnknownArgument => {
            if let Some(tip) = text(&error, ContextKind::InvalidArg).and_then(|name| setting(name, arguments, program))
            {
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
            }
            error
        }
        ErrorKind::ValueValidation => match whole_number(&error) {
            Some(fault) => Error::raw(ErrorKind::ValueValidation, fault).with_cmd(program),
            None => error,
        },
        _ => error,
    }
}

fn text(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}

/// How an option that a command does not have is set as a key of the config, if it is one.
fn setting(option: &str, arguments: &[OsString], program: &Command) -> Option<String> {
    let named = arguments.iter().skip(1).find_map(|argument| program.find_subcommand(argument))?;
    let settable = |command: &Command| command.get_arguments().any(|argument| argument.get_id() == "set");
    if !settable(named) && !named.get_subcommands().any(settable) {
        return None;
    }
    let value = arguments.iter().enumerate().find_map(|(i, argument)| {
        let rest = argument.to_str()?.strip_prefix(option)?;
        rest.strip_prefix('=').or_else(|| arguments.get(i + 1)?.to_str().filter(|_| rest.is_empty()))
    });
    let value = value.unwrap_or("VALUE");
    let keys = Config::keys_named(&option.trim_start_matches('-').replace('-', "_"));
    let ways: Vec<String> = keys.iter().map(|key| format!("'--set {key}={value}'")).collect();
    (!ways.is_empty()).then(|| format!("a key of the config is set with {}", ways.join(" or ")))
}

/// What is wrong with a value that should be a whole number.
fn whole_number(error: &Error) -> Option<String> {
    let fault = match error.source()?.downcast_ref::<ParseIntError>()?.kind() {
        IntErrorKind::PosOverflow => "it is too large",
        IntErrorKind::NegOverflow => "it is too small",
        _ => "it must be a whole number from 0",
    };
    let [value, argument] = [ContextKind::InvalidValue, ContextKind::InvalidArg].map(|kind| text(error, kind));
    Some(format!("invalid value '{}' for '{}': {fault}\n", value?, argument?))
}
