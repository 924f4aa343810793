//! The commands in groups, as `turnstone --help` lists them, and the game in the examples of their own help.

use std::fmt::Write;

use clap::Command;

/// The groups with the names of their commands.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Start here", &["games", "rules", "play", "train", "report"]),
    ("Play", &["agents", "show", "analyse", "review", "engine", "serve"]),
    ("Many machines", &["worker", "cluster"]),
    ("Measure", &["arena", "grade", "certify", "solve", "doctor", "sweep", "bench"]),
    ("Develop", &["export", "completions", "man"]),
];

/// The program's definition with grouped help. Where an example has a game's name in braces, a program with a game of
/// its own names that one.
pub(crate) fn with_help(program: Command, game: Option<&str>) -> Command {
    let mut template = String::from("{about}\n\n{usage-heading} {usage}\n\n");
    template += &groups(&program);
    template += "Options:\n{options}\n\nMore about a command: turnstone <command> --help";
    program.help_template(template).mut_subcommands(|command| {
        let Some(help) = command.get_after_help().map(ToString::to_string) else { return command };
        command.after_help(with_game(&help, game))
    })
}

/// A text with a game in place of those in braces.
fn with_game(text: &str, game: Option<&str>) -> String {
    let parts = text.split(['{', '}']).enumerate();
    parts.map(|(i, part)| if i % 2 == 1 { game.unwrap_or(part) } else { part }).collect()
}

/// The groups as text, a line for each command.
fn groups(program: &Command) -> String {
    let visible: Vec<&Command> = program.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    let width = visible.iter().map(|command| command.get_name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let commands: Vec<_> = visible.iter().filter(|command| names.contains(&command.get_name())).collect();
        if commands.is_empty() {
            continue;
        }
        writeln!(text, "{heading}:").expect("writing to a string cannot fail");
        for command in commands {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            writeln!(text, "  {:<width$}  {about}", command.get_name()).expect("writing to a string cannot fail");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::definition;
    use crate::pages_tests::commands;

    #[test]
    fn every_command_is_in_a_group_and_has_two_examples_that_parse() {
        let program = definition(None);
        for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
            let line = format!("\n  {} ", command.get_name());
            assert!(groups(&program).contains(&line), "`{}` is in no group of the help", command.get_name());
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = help.lines().filter(|line| line.starts_with("  turnstone ")).collect();
            assert!(examples.len() >= 2, "`{}` has no two examples: {help}", command.get_name());
            for line in examples {
                let words = commands(&line.replace("~/", "/home/")).swap_remove(0);
                let parsed = definition(None).try_get_matches_from(words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.err().map(|e| e.to_string()).unwrap_or_default());
            }
        }
    }

    #[test]
    fn help_fits_a_terminal_of_80_columns() {
        let program = definition(None);
        let fits = |name: &str, text: String| {
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{name}: {line}");
            }
        };
        fits("turnstone", program.clone().term_width(80).render_help().to_string());
        for command in program.get_subcommands() {
            let mut narrow = command.clone().term_width(80);
            fits(command.get_name(), narrow.render_help().to_string());
            fits(command.get_name(), narrow.render_long_help().to_string());
            // An example is a command to copy: none is broken into two lines.
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            help.lines()
                .filter(|line| line.starts_with("  "))
                .for_each(|line| fits(command.get_name(), line.to_owned()));
        }
    }

    #[test]
    fn examples_name_the_game_that_was_added() {
        let help = |game, name: &str| {
            let program = definition(game);
            program.find_subcommand(name).and_then(Command::get_after_help).map(ToString::to_string).unwrap_or_default()
        };
        assert!(help(None, "show").contains("  turnstone show mancala --perft 6\n"), "{}", help(None, "show"));
        let own = help(Some("mine"), "show");
        assert!(own.contains("  turnstone show mine --perft 6\n      the number of sequences of six plies"), "{own}");
        assert!(own.contains("  turnstone show mancala --moves"), "{own}");
    }
}
