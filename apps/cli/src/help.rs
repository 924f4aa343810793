//! The commands in groups, as `turnstone --help` lists them, and the game in the examples of their own help.

use std::fmt::Write;

use clap::Command;

use crate::extensions::Command as Added;

/// Stands where a group has the commands that are added to it.
const ADDED: &str = "";

/// The groups with the names of their commands. A command that is in none comes under a last heading.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Start here", &["games", "rules", "play", "train", "report", ADDED]),
    ("Play", &["agents", "show", "analyse", "review", "engine", "serve", ADDED]),
    ("Many machines", &["worker", "cluster", ADDED]),
    ("Measure", &["arena", "grade", "certify", "solve", "doctor", "sweep", "bench", ADDED]),
    ("Develop", &["export", ADDED, "completions", "man"]),
];

/// A program's additions to the built-in commands and games.
#[derive(Clone, Debug, Default)]
pub(crate) struct Additions {
    pub(crate) commands: Vec<Added>,
    /// The first game that was added, which the examples in the help name.
    pub(crate) game: Option<&'static str>,
}

/// The program's definition with grouped help. Where an example has a game's name in braces, a program with a game of
/// its own names that one.
pub(crate) fn with_help(program: Command, additions: &Additions) -> Command {
    let mut template = String::from("{about}\n\n{usage-heading} {usage}\n\n");
    template += &groups(&program, &additions.commands);
    template += "Options:\n{options}\n\nMore about a command: turnstone <command> --help";
    program.help_template(template).mut_subcommands(|command| {
        let Some(help) = command.get_after_help().map(ToString::to_string) else { return command };
        command.after_help(with_game(&help, additions.game))
    })
}

/// A text with a game in place of those in braces.
fn with_game(text: &str, game: Option<&str>) -> String {
    let parts = text.split(['{', '}']).enumerate();
    parts.map(|(i, part)| if i % 2 == 1 { game.unwrap_or(part) } else { part }).collect()
}

/// The groups as text, a line for each command.
fn groups(program: &Command, added: &[Added]) -> String {
    let visible: Vec<&Command> = program.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    let width = visible.iter().map(|command| command.get_name().len()).max().unwrap_or(0);
    let mut groups = grouped(added);
    let is_grouped = |name: &str| groups.iter().any(|(_, names)| names.contains(&name));
    let rest = visible.iter().map(|command| command.get_name()).filter(|name| !is_grouped(name)).collect();
    groups.push(("More", rest));
    let mut text = String::new();
    for (heading, names) in groups {
        let named = |name: &str| visible.iter().find(|command| command.get_name() == name);
        let commands: Vec<_> = names.into_iter().filter_map(named).collect();
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

/// The groups with the commands that are added to them, and those that only added commands have.
fn grouped(added: &[Added]) -> Vec<(&str, Vec<&str>)> {
    let of = |group: &str| -> Vec<&str> {
        added.iter().filter(|command| command.group == group).map(|command| command.definition.get_name()).collect()
    };
    let filled = |(group, names): (&'static str, &'static [&'static str])| {
        let names = names.iter().flat_map(|&name| if name == ADDED { of(group) } else { vec![name] });
        (group, names.collect())
    };
    let mut groups: Vec<(&str, Vec<&str>)> = GROUPS.into_iter().map(filled).collect();
    for command in added {
        if !groups.iter().any(|(group, _)| *group == command.group) {
            groups.push((command.group, of(command.group)));
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::definition;
    use crate::pages_tests::commands;
    use crate::program::Program;

    #[test]
    fn every_command_is_in_a_group_and_has_two_examples_that_parse() {
        let added = Additions::default();
        let program = definition(&added);
        assert!(!groups(&program, &added.commands).contains("More:"), "a command is in no group of the help");
        for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = help.lines().filter(|line| line.starts_with("  turnstone ")).collect();
            assert!(examples.len() >= 2, "`{}` has no two examples: {help}", command.get_name());
            for line in examples {
                let words = commands(&line.replace("~/", "/home/")).swap_remove(0);
                let parsed = definition(&added).try_get_matches_from(words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.err().map(|e| e.to_string()).unwrap_or_default());
            }
        }
    }

    #[test]
    fn help_fits_a_terminal_of_80_columns() {
        let program = definition(&Program::new().additions);
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
    fn added_commands_stand_in_their_groups() {
        let command = |name: &'static str, group| Added {
            group,
            definition: Command::new(name).about("Mine"),
            run: |_, _| Ok(std::process::ExitCode::SUCCESS),
        };
        let commands = vec![command("first", "Play"), command("second", "Develop"), command("third", "Mine")];
        let added = Additions { commands, ..Additions::default() };
        let groups = groups(&definition(&added), &added.commands);
        for part in [
            "  serve        ",
            "\n  first        Mine\n\n",
            "\n  second       Mine\n  completions  ",
            "\n\nMine:\n  third        Mine\n",
        ] {
            assert!(groups.contains(part), "{part:?} in\n{groups}");
        }
    }
    #[test]
    fn examples_name_the_game_that_was_added() {
        let help = |game, name: &str| {
            let program = definition(&Additions { game, ..Additions::default() });
            program.find_subcommand(name).and_then(Command::get_after_help).map(ToString::to_string).unwrap_or_default()
        };
        assert!(help(None, "show").contains("  turnstone show mancala --perft 6\n"), "{}", help(None, "show"));
        let own = help(Some("mine"), "show");
        assert!(own.contains("  turnstone show mine --perft 6\n      the number of sequences of six plies"), "{own}");
        assert!(own.contains("  turnstone show mancala --moves"), "{own}");
    }
}
