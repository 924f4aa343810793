//! The notebook's `Game` package: games against a random agent and itself, with and without its rule of repetition.

use std::process::Command;

use super::{HOSTS, TURNSTONE, output, python, texts};

fn notebook(args: &[&str]) -> Command {
    let mut command = python("notebook/stub/notebook.py", args);
    command.env("PYTHONPATH", format!("{HOSTS}/notebook"));
    command
}

/// Against itself no game ends before the package's limit of moves, which it counts as 3.
#[test]
fn twenty_games() {
    let (games, complaints) = texts(&mut notebook(&["20"]));
    assert_eq!((games.as_str(), complaints.as_str()), ("won 20 of 20\n3 3 3 3\n", ""));
}

/// Where a repetition loses, every game is decided, and the agent wins from both seats against one that does not know.
#[test]
fn twenty_games_where_a_repetition_loses() {
    let (games, complaints) = texts(&mut notebook(&["20", "repeated"]));
    assert_eq!(complaints, "");
    let lines: Vec<&str> = games.lines().collect();
    let decided =
        |line: &str| line.split(' ').count() == 4 && line.split(' ').all(|winner| ["1", "2"].contains(&winner));
    assert!(lines.len() == 3 && lines[0] == "won 20 of 20" && decided(lines[1]), "{games}");
    assert_eq!(lines[2], "1 1 2 2", "{games}");
}

/// The moves left by the search for repetitions, in games written down as graphs.
#[test]
fn repetitions_are_avoided_and_forced() {
    let program = r#"
from turnstone_agent import Graph, best_without_repetition

class Graphs:
    """Boards are digits; whoever has no edge has lost."""
    def __init__(self, edges):
        self.edges = edges
    def valid_moves(self, state, player):
        return [[state[0], end] for end in self.edges[state[0]]]
    def update_state(self, state, player, move):
        return [move[1]] * 9
    def win_status(self, state, player):
        return None if self.edges[state[0]] else "win"

def ends(edges, start, seen):
    boards = {player: {str(digit) * 9 for digit in digits} for player, digits in seen.items()}
    moves = best_without_repetition(Graph(Graphs(edges)), [start] * 9, 1, boards)
    return sorted(end for _, end in moves)

print(ends({0: [1, 2], 1: [3], 2: [4], 3: [0], 4: [5], 5: [4]}, 0, {1: [], 2: [1]}))       # 1 repeats
print(ends({0: [1, 2], 1: [3], 2: [4], 3: [5, 6], 4: [5], 5: [6], 6: [5]}, 0, {1: [3], 2: []}))  # after 1, 3 repeats
print(ends({0: [1, 2], 1: [3], 2: [4], 3: [], 4: [5], 5: [4]}, 0, {1: [], 2: [2]}))        # both lose, 2 at once
print(ends({0: [1, 2], 1: [], 2: [1]}, 0, {1: [], 2: [1, 2]}))                             # a win is none the less one
"#;
    let (stub, agent) = (format!("{HOSTS}/notebook/stub"), format!("{HOSTS}/notebook"));
    let mut command = Command::new("python3");
    command.args(["-c", program]).env("PYTHONPATH", format!("{stub}:{agent}")).env("PYTHONDONTWRITEBYTECODE", "1");
    assert_eq!(texts(&mut command).0, "[2]\n[1]\n[1]\n[1]\n");
}

#[test]
fn a_missing_program_or_agent_is_named() {
    for (program, agent, complaint) in [
        ("/no/program", "az:pretrained", "TURNSTONE names the program '/no/program': No such file or directory"),
        (TURNSTONE, "az:nowhere", "with TURNSTONE_AGENT='az:nowhere': the engine has ended with status 1"),
    ] {
        let output = output(notebook(&["2"]).env("TURNSTONE", program).env("TURNSTONE_AGENT", agent));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && errors.trim_end().ends_with(complaint), "{errors}");
    }
}
