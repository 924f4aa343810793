//! What a person can type at the prompt besides moves.

use std::path::PathBuf;

/// The commands and what they do, as `help` prints them.
pub(super) const HELP: &str =
    "  a move            in any case and in short: b3, 5,4, a1, or its first letters, if only one move begins so
  #2                the second move of the list
  moves             list the legal moves with their numbers
  undo              take back your last move, and the answer to it
  hint              ask the adviser for a move
  board             draw the board again
  help, rules       this list; the rules of this game
  save [FILE]       write the game to a JSON file
  resign            give the game up
  quit              leave
  Tab completes moves and commands, the arrow keys bring back earlier lines.";

/// The words that commands begin with, for completion.
pub(super) const WORDS: [&str; 9] = ["help", "moves", "undo", "hint", "board", "rules", "save", "resign", "quit"];

/// A line that a person has entered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Command {
    Help,
    Moves,
    Undo,
    Hint,
    Board,
    Rules,
    Save(Option<PathBuf>),
    Resign,
    Quit,
    /// Anything else, which should be a move.
    Move(String),
}

impl Command {
    /// The command in a line, in any case; a word of a command with arguments that it does not take is a fault.
    pub(super) fn read(line: &str) -> Result<Self, String> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()));
        let command = match &word.to_lowercase()[..] {
            "save" => return Ok(Self::Save((!rest.is_empty()).then(|| PathBuf::from(rest)))),
            "help" | "h" | "?" => Self::Help,
            "moves" | "legal" => Self::Moves,
            "undo" | "u" => Self::Undo,
            "hint" => Self::Hint,
            "board" | "show" => Self::Board,
            "rules" => Self::Rules,
            "resign" => Self::Resign,
            "quit" | "q" | "exit" => Self::Quit,
            _ => return Ok(Self::Move(line.to_owned())),
        };
        if rest.is_empty() { Ok(command) } else { Err(format!("`{word}` takes no `{rest}`")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        assert_eq!(Command::read(" Help "), Ok(Command::Help));
        assert_eq!(Command::read("save"), Ok(Command::Save(None)));
        assert_eq!(Command::read("save My Game.json"), Ok(Command::Save(Some("My Game.json".into()))));
        assert_eq!(Command::read("remove (5, 4)"), Ok(Command::Move("remove (5, 4)".into())));
        assert_eq!(Command::read("undo 3"), Err("`undo` takes no `3`".into()));
        for word in WORDS {
            assert!(!matches!(Command::read(word), Ok(Command::Move(_)) | Err(_)), "{word}");
            assert!(HELP.contains(word), "{word}");
        }
    }
}
