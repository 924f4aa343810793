//! The commands in groups, as `turnstone --help` lists them, and two examples for each command's own help.

use std::fmt::Write;

use clap::Command;
use turnstone_games::Command as Added;

/// Stands where a group has the commands that are added to it.
const ADDED: &str = "";

/// The groups with the names of their commands. A command that is in none comes under a last heading.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Start here", &["games", "rules", "play", "train", "report", ADDED]),
    ("Play", &["show", "legal", "engine", "analyse", "serve", ADDED]),
    ("Many machines", &["worker", "cluster", ADDED]),
    ("Measure", &["arena", "grade", "search", "solve", "doctor", "sweep", "devices", "bench", "perft", ADDED]),
    ("Develop", &["export", ADDED, "completions", "man"]),
];

/// Two command lines for each command, each with what it does. Added commands have theirs in their own definition.
const EXAMPLES: &[(&str, [(&str, &str); 2])] = &[
    (
        "games",
        [
            ("turnstone games", "all games with their parameters"),
            ("turnstone games konane --json", "one game for a script"),
        ],
    ),
    (
        "rules",
        [
            ("turnstone rules mancala", "the whole sheet"),
            ("turnstone rules konane --section Notation", "one section of it"),
        ],
    ),
    (
        "show",
        [
            ("turnstone show mancala --moves \"B5 A3\"", "the board after two moves"),
            ("turnstone show morabaraba --moves \"a1 a7 a4\" --svg > board.svg", "as a picture"),
        ],
    ),
    (
        "legal",
        [
            ("turnstone legal konane --moves \"remove(5,4)\"", "what the second player can remove"),
            ("turnstone legal mancala --json", "for a script"),
        ],
    ),
    (
        "perft",
        [
            ("turnstone perft mancala --depth 6", "sequences of six plies"),
            ("turnstone perft konane --depth 3 --divide", "counted for every first move"),
        ],
    ),
    (
        "search",
        [
            ("turnstone search morris --agent alphabeta:depth=5", "the best move and its line"),
            ("turnstone search mancala --agent alphabeta:time=1s --stats", "with nodes, cutoffs and time"),
        ],
    ),
    (
        "play",
        [
            ("turnstone play mancala --p2 az:pretrained", "against the agent that comes with the program"),
            ("turnstone play morris --p1 alphabeta:depth=4 --p2 human", "let alpha-beta begin"),
        ],
    ),
    (
        "engine",
        [
            ("turnstone engine mancala --agent az:pretrained", "answer commands on standard input"),
            ("turnstone engine konane --agent alphabeta:depth=6 --param size=6", "another agent on a smaller board"),
        ],
    ),
    (
        "analyse",
        [
            ("turnstone analyse mancala --agent az:pretrained,sims=400 < queries.jsonl", "a file of questions"),
            ("turnstone analyse --agent az:runs/mancala,sims=100", "questions about a run's own game"),
        ],
    ),
    (
        "devices",
        [
            ("turnstone devices", "the processor and the GPUs, with their names for configs and specs"),
            ("turnstone devices --json", "for a script"),
        ],
    ),
    (
        "doctor",
        [
            ("turnstone doctor configs/mancala.toml", "mistakes, memory, disk and time of a run"),
            ("turnstone doctor configs/konane.toml --set game.size=6", "of a changed config"),
        ],
    ),
    (
        "train",
        [
            ("turnstone train configs/mu_torere.toml", "twenty seconds to perfect play"),
            (
                "turnstone train configs/mancala.toml --set run.iterations=20 --run runs/short",
                "a shorter run elsewhere",
            ),
        ],
    ),
    (
        "worker",
        [
            ("turnstone worker nats://leader:4222", "play for every run of the server, on all cores"),
            ("turnstone worker nats://leader:4222 --threads 2 --name desk", "on two threads, under a name"),
        ],
    ),
    (
        "cluster",
        [
            ("turnstone cluster status nats://leader:4222", "runs, workers, rates and queues"),
            ("turnstone cluster status nats://leader:4222 --json", "for a script"),
        ],
    ),
    (
        "sweep",
        [
            (
                "turnstone sweep configs/mancala.toml --set run.iterations=20 --vary learn.learning_rate=1e-3,2e-3,4e-3",
                "three short runs",
            ),
            (
                "turnstone sweep configs/morris.toml --vary net.blocks=2,3,4 --vary net.channels=32,48,64 --halve 3",
                "nine variants, of which three and at last one are trained for longer",
            ),
        ],
    ),
    (
        "report",
        [
            ("turnstone report runs/mancala", "a page about one run"),
            ("turnstone report runs/a runs/b", "two runs on one page"),
        ],
    ),
    (
        "export",
        [
            ("turnstone export runs/mancala --format onnx --out mancala.onnx", "a network for onnxruntime"),
            ("turnstone export az:pretrained --game mancala --format bundle --out mancala", "the agent in Python"),
        ],
    ),
    (
        "arena",
        [
            ("turnstone arena mancala alphabeta:depth=6 mcts:sims=500 --games 100", "a match"),
            ("turnstone arena mancala alphabeta:depth=5 --ladder", "an agent's Elo"),
        ],
    ),
    (
        "grade",
        [
            ("turnstone grade mu_torere --agent az:pretrained", "every reachable position"),
            ("turnstone grade mancala --agent alphabeta:depth=8", "positions with known values"),
        ],
    ),
    (
        "solve",
        [
            ("turnstone solve mu_torere", "a small game at once"),
            ("turnstone solve morris", "tables for `exact:tables`"),
        ],
    ),
    (
        "bench",
        [
            ("turnstone bench env", "moves per second of the rules"),
            ("turnstone bench self-play", "positions per second of training"),
        ],
    ),
    (
        "serve",
        [
            ("turnstone serve", "the page to play on, on this machine"),
            ("turnstone serve --runs runs --port 8080", "with the runs of this folder"),
        ],
    ),
    (
        "completions",
        [
            ("turnstone completions bash > ~/.local/share/bash-completion/completions/turnstone", "for bash"),
            ("turnstone completions fish > ~/.config/fish/completions/turnstone.fish", "for fish"),
        ],
    ),
    (
        "man",
        [
            ("turnstone man --out ~/.local/share/man/man1", "install a page for every command"),
            ("turnstone man | man -l -", "read the program's page"),
        ],
    ),
];

/// The program's definition with grouped help and examples.
pub(crate) fn with_help(program: Command, added: &[Added]) -> Command {
    let mut template = String::from("{about}\n\n{usage-heading} {usage}\n\n");
    template += &groups(&program, added);
    template += "Options:\n{options}\n\nMore about a command: turnstone <command> --help";
    EXAMPLES.iter().fold(program.help_template(template), |program, (name, examples)| {
        // By name: `find_subcommand` also finds aliases, which `mut_subcommand` does not know.
        if program.get_subcommands().all(|command| command.get_name() != *name) {
            return program;
        }
        program.mut_subcommand(name, |command| {
            let more = command.get_after_help().map(|text| format!("\n\n{text}")).unwrap_or_default();
            command.after_help(section(examples) + &more)
        })
    })
}

fn section(examples: &[(&str, &str)]) -> String {
    let lines = examples.iter().map(|(line, what)| format!("  {line}\n      {what}"));
    format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n"))
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

    #[test]
    fn every_command_is_in_a_group_and_has_two_examples_that_parse() {
        let added = turnstone_games::commands();
        let program = definition(&added);
        assert!(!groups(&program, &added).contains("More:"), "a command is in no group of the help");
        for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = help.lines().filter(|line| line.starts_with("  turnstone ")).collect();
            assert_eq!(examples.len(), 2, "`{}` has no two examples: {help}", command.get_name());
            for line in examples {
                let line = line.split(['>', '<', '|']).next().expect("a command line").replace("~/", "/home/");
                // Quoted arguments are the odd parts.
                let words = line.split('"').enumerate().flat_map(|(i, part)| match i % 2 {
                    0 => part.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
                    _ => vec![part.to_owned()],
                });
                let parsed = definition(&added).try_get_matches_from(words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.err().map(|e| e.to_string()).unwrap_or_default());
            }
        }
    }

    #[test]
    fn added_commands_stand_in_their_groups() {
        let command = |name: &'static str, group| Added {
            group,
            definition: Command::new(name).about("Mine"),
            run: |_, _| Ok(std::process::ExitCode::SUCCESS),
        };
        let added = [command("first", "Play"), command("second", "Develop"), command("third", "Mine")];
        let groups = groups(&definition(&added), &added);
        for part in [
            "  serve        ",
            "\n  first        Mine\n\n",
            "\n  second       Mine\n  completions  ",
            "\n\nMine:\n  third        Mine\n",
        ] {
            assert!(groups.contains(part), "{part:?} in\n{groups}");
        }
    }
}
