//! Names of commands and options that are gone, each with what does it now.

use std::ffi::OsString;

use turnstone_env::games::NAMES;

/// A command, or a command with its subcommand and option, and what does it now.
const RETIRED: [(&[&str], &str); 14] = [
    (&["legal"], "`turnstone show GAME --legal` lists legal actions"),
    (&["perft"], "`turnstone show GAME --perft PLIES` counts sequences of plies"),
    (&["search"], "`turnstone analyse GAME --agent alphabeta:depth=8` searches a position"),
    (&["devices"], "`turnstone doctor --devices` lists the processor and the GPUs"),
    (&["match"], "`turnstone arena` plays matches and tournaments"),
    (&["pyro"], "`turnstone-hosts pyro`, a program of its own (apps/hosts), plays in Pyro's world"),
    (&["pyro-server"], "`turnstone-hosts pyro-server`, a program of its own (apps/hosts), serves Pyro's world"),
    (&["reference"], SOURCES),
    (&["rules", "--section"], "`turnstone rules GAME` prints the whole sheet"),
    (&["analyse", "--stats"], "`turnstone analyse GAME --agent alphabeta:depth=8` prints the statistics as well"),
    (&["sweep", "--quiet"], "`turnstone sweep CONFIG --json` prints the result only"),
    (&["report", "--quiet"], "`turnstone report RUN` has one line to say, on standard error"),
    (&["bench", "search", "--hash"], "`turnstone analyse GAME --agent alphabeta:depth=8,hash=256` measures one search"),
    (&["bench", "self-play", "--checkpoint"], "`turnstone bench self-play` measures random weights"),
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

    /// What has ever been retired stays refused.
    #[test]
    fn nothing_is_dropped_from_the_table() {
        let gone: Vec<String> = RETIRED.iter().map(|(words, _)| words.join(" ")).collect();
        let expected = "legal|perft|search|devices|match|pyro|pyro-server|reference|rules --section|analyse --stats|\
            sweep --quiet|report --quiet|bench search --hash|bench self-play --checkpoint";
        assert_eq!(gone.join("|"), expected);
    }

    /// The command that does it now, and its options, exist.
    #[test]
    fn what_is_advised_exists() {
        let program = definition(&Additions::default());
        for (words, instead) in RETIRED {
            let advice = instead.split('`').nth(1).expect("a command in backquotes");
            let mut parts = advice.split(' ');
            if parts.next() != Some("turnstone") {
                assert!(advice.starts_with("turnstone-hosts "), "{words:?}: {advice}");
                continue;
            }
            let mut command = program.find_subcommand(parts.next().expect("a name")).expect(advice);
            for part in parts {
                command = command.find_subcommand(part).unwrap_or(command);
                let is_it = |option: &clap::Arg| option.get_long() == part.strip_prefix("--");
                assert!(!part.starts_with("--") || command.get_arguments().any(is_it), "{advice}: {part}");
            }
        }
    }

    /// An option is refused in its own command and however its value is written, and other commands keep it.
    #[test]
    fn an_option_is_retired_in_its_command_only() {
        let line = |text: &str| refusal(&text.split(' ').map(OsString::from).collect::<Vec<_>>());
        for text in ["turnstone bench search mancala --hash 8", "turnstone bench search --hash=8"] {
            assert!(line(text).expect("refused").starts_with("`bench search --hash` is gone: "), "{text}");
        }
        for text in
            ["turnstone train a.toml --quiet", "turnstone bench self-play --hash 8", "turnstone", "turnstone play"]
        {
            assert_eq!(line(text), None, "{text}");
        }
    }
}
