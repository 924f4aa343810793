//! Lines from a person: with editing, history and completion at a terminal, plain from anywhere else.

use std::io::{self, IsTerminal, Write};

use crate::output::print_text;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use turnstone_base::line_io::Lines;

/// Where lines come from.
pub(super) enum Prompt {
    Terminal(Box<Editor<Words, MemHistory>>),
    Plain,
}

impl Prompt {
    /// A prompt with editing if both ends are a terminal.
    pub(super) fn new() -> Self {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Self::Plain;
        }
        let config = Config::builder().auto_add_history(true).completion_type(CompletionType::List).build();
        let history = MemHistory::with_config(&config);
        match Editor::with_history(config, history) {
            Ok(editor) => Self::Terminal(Box::new(editor)),
            Err(_) => Self::Plain,
        }
    }

    /// Shows the prompt and reads a line; `None` at the end of the input. At a terminal Ctrl-D and Ctrl-C mean `quit`, and
    /// `words` are what Tab completes.
    pub(super) fn line(&mut self, prompt: &str, words: &[String]) -> io::Result<Option<String>> {
        match self {
            Self::Terminal(editor) => {
                editor.set_helper(Some(Words(words.to_vec())));
                match editor.readline(&format!("{prompt}: ")) {
                    Ok(line) => Ok(Some(line)),
                    Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(Some("quit".to_owned())),
                    Err(ReadlineError::Io(error)) => Err(error),
                    Err(error) => Err(io::Error::other(error)),
                }
            }
            Self::Plain => loop {
                print!("{prompt}: ");
                let _ = io::stdout().flush(); // the next line that is printed finds the same fault
                match Lines::new(io::stdin().lock()).read()? {
                    None => return Ok(None),
                    Some(Ok(line)) => return Ok(Some(line.to_owned())),
                    Some(Err(fault)) => print_text(&fault.to_string()),
                }
            },
        }
    }
}

/// Completions of Tab: moves and commands.
pub(super) struct Words(Vec<String>);

impl Words {
    /// Where the text before the cursor begins, and the words that begin like it in any case.
    fn begun(&self, text: &str) -> (usize, Vec<String>) {
        let begun = text.trim_start();
        let words = self.0.iter().filter(|word| word.to_lowercase().starts_with(&begun.to_lowercase()));
        (text.len() - begun.len(), words.cloned().collect())
    }
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.begun(&line[..cursor]))
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl Validator for Words {}

impl Helper for Words {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_complete_what_is_before_the_cursor() {
        let words = Words(["B3", "B4", "remove(5,4)", "remove(5,5)", "resign"].map(String::from).to_vec());
        let complete = |line: &str| words.begun(line);
        assert_eq!(complete(" rem"), (1, vec!["remove(5,4)".to_owned(), "remove(5,5)".to_owned()]));
        assert_eq!(complete("RES"), (0, vec!["resign".to_owned()]));
        assert_eq!(complete("b").1.len(), 2);
        assert_eq!(complete("x").1.len(), 0);
        assert_eq!(complete("").1.len(), 5);
    }
}
