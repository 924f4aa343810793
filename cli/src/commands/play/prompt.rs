//! Lines from a person: with editing, history and completion at a terminal, plain from anywhere else.

use std::io::{self, IsTerminal, Write};

use dialoguer::console::Term;
use dialoguer::{BasicHistory, Completion, Input};
use turnstone_agents::line_io::Lines;

/// Where lines come from.
pub(super) enum Prompt {
    Terminal(BasicHistory),
    Plain,
}

impl Prompt {
    pub(super) fn new() -> Self {
        if io::stdin().is_terminal() && io::stdout().is_terminal() {
            Self::Terminal(BasicHistory::new().max_entries(500).no_duplicates(true))
        } else {
            Self::Plain
        }
    }

    /// Shows the prompt and reads a line; `None` at the end of the input. `words` are what Tab completes.
    pub(super) fn line(&mut self, prompt: &str, words: &[String]) -> io::Result<Option<String>> {
        match self {
            Self::Terminal(history) => {
                let words = Words(words);
                let input = Input::<String>::new().with_prompt(prompt).allow_empty(true);
                let input = input.history_with(history).completion_with(&words);
                input.interact_text_on(&Term::stdout()).map(Some).map_err(|dialoguer::Error::IO(error)| error)
            }
            Self::Plain => loop {
                print!("{prompt}: ");
                let _ = io::stdout().flush(); // the next line that is printed finds the same fault
                match Lines::new(io::stdin().lock()).read()? {
                    None => return Ok(None),
                    Some(Ok(line)) => return Ok(Some(line.to_owned())),
                    Some(Err(fault)) => println!("{fault}"),
                }
            },
        }
    }
}

/// What Tab completes: moves and commands.
struct Words<'a>(&'a [String]);

impl Completion for Words<'_> {
    /// What all words that begin so have in common; nothing if no word does.
    fn get(&self, input: &str) -> Option<String> {
        let begun = input.trim_start().to_lowercase();
        let mut words = self.0.iter().filter(|word| word.to_lowercase().starts_with(&begun));
        let mut common = words.next()?.clone();
        for word in words {
            let same = common.chars().zip(word.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
            common.truncate(same);
        }
        (common.len() > begun.len()).then_some(common)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_goes_as_far_as_it_is_clear() {
        let words = ["B3", "B4", "remove(5,4)", "remove(5,5)", "resign"].map(String::from);
        let complete = |line: &str| Words(&words).get(line);
        assert_eq!(complete(" rem").as_deref(), Some("remove(5,"));
        assert_eq!(complete("RES").as_deref(), Some("resign"));
        assert_eq!(complete("r").as_deref(), Some("re"));
        assert_eq!(complete("B"), None);
        assert_eq!(complete("x"), None);
    }
}
