//! Names of commands and options that are gone, each with what does it now.

use std::ffi::OsString;

use turnstone_env::games::NAMES;

/// A command, or a command and its option, and what does it now.
const RETIRED: [(&[&str], &str); 8] = [
    (&["legal"], "`turnstone show GAME --legal` lists legal actions"),
    (&["perft"], "`turnstone show GAME --perft PLIES` counts sequences of plies"),
    (&["search"], "`turnstone analyse GAME --agent alphabeta:depth=8` searches a position"),
    (&["devices"], "`turnstone doctor --devices` lists the processor and the GPUs"),
    (&["match"], "`turnstone arena` plays matches and tournaments"),
    (&["pyro"], "`turnstone-hosts pyro`, a program of its own (apps/hosts), plays in Pyro's world"),
    (&["pyro-server"], "`turnstone-hosts pyro-server`, a program of its own (apps/hosts), serves Pyro's world"),
    (&["reference"], SOURCES),
];

/// What replaces `reference`, and the commands that had the names of the built-in games.
const SOURCES: &str =
    "`turnstone-hosts GAME`, a program of its own (apps/hosts), calls the functions of a game's source";

/// The line that refuses a command or an option that is gone and names what does it now. The first argument is the
/// program's name.
pub(crate) fn refusal(arguments: &[OsString]) -> Option<String> {
    let command = arguments.get(1)?.to_str()?;
    let given = |option: &str| {
        let is_it = |argument: &str| argument.split('=').next() == Some(option);
        arguments.iter().filter_map(|argument| argument.to_str()).any(is_it)
    };
    let is_meant = |words: &[&str]| words[0] == command && words[1..].iter().all(|option| given(option));
    let line = |gone: &str, instead: &str| format!("`{gone}` is gone: {instead}");
    if let Some((words, instead)) = RETIRED.iter().find(|(words, _)| is_meant(words)) {
        return Some(line(&words.join(" "), instead));
    }
    NAMES.contains(&command).then(|| line(command, SOURCES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::definition;
    use crate::help::Additions;
    use crate::usage::advised;

    /// Each retired name is refused in one line that names what does it now.
    #[test]
    fn retired_names_are_refused_with_what_does_it_now() {
        let games = NAMES.iter().map(|game| (std::slice::from_ref(game), SOURCES));
        for (words, instead) in RETIRED.into_iter().chain(games) {
            let arguments: Vec<OsString> = ["turnstone"].iter().chain(words).map(OsString::from).collect();
            let program = definition(&Additions::default());
            let error = program.clone().try_get_matches_from(&arguments).expect_err("a retired name");
            let error = advised(error, &arguments, &program);
            let expected = format!("error: `{}` is gone: {instead}\n", words.join(" "));
            assert_eq!((error.to_string(), error.exit_code()), (expected, 2));
        }
    }
}
