//! Specs of players that are other programs: `engine:<options>:<command line>`.

use std::time::Duration;

use turnstone_base::settings;

settings! {
    /// Another program, over the Universal Game Interface: `engine:<options>:<command line>`.
    #[derive(Clone, Debug)]
    pub struct EngineSpec {
        /// Program and its arguments, separated by spaces; single or double quotes group words.
        pub command: String;
        /// Time per move.
        pub time: Option<Duration>;
        /// Positions or simulations per move.
        pub nodes: Option<u32> = None, 1..=u32::MAX;
        /// Plies to look ahead.
        pub depth: Option<u32> = None, 1..=1000;
        /// Time that an answer may take beyond the time for the move.
        pub patience: Duration = Duration::from_secs(60);
    }
}

impl EngineSpec {
    /// Splits what follows `engine:` into options and command line: `nodes=5:COMMAND`, `:COMMAND` or `COMMAND` alone, which
    /// may contain colons.
    pub(crate) fn split(text: &str) -> (&str, &str) {
        let is_option = |part: &str| {
            part.split_once('=').is_some_and(|(key, _)| !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase()))
        };
        match text.split_once(':') {
            Some((options, command)) if options.is_empty() || options.split(',').all(is_option) => (options, command),
            None if !text.is_empty() && text.split(',').all(is_option) => (text, ""),
            _ => ("", text),
        }
    }

    /// The `go` command, and the time limit of its answer; `clock` is the remaining time for the game.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn go(&self, clock: Option<Duration>) -> (String, Duration) {
        let mut go = "go".to_owned();
        let mut add = |name: &str, number: Option<u128>| {
            if let Some(number) = number {
                go.push_str(&format!(" {name} {number}"));
            }
        };
        let clock = clock.filter(|_| self.time.is_none());
        let left = clock.map(|clock| clock.as_millis().max(1));
        add("movetime", self.time.map(|time| time.as_millis()));
        add("nodes", self.nodes.map(u128::from));
        add("depth", self.depth.map(u128::from));
        add("p1time", left);
        add("p2time", left);
        add("p1inc", left.map(|_| 0));
        add("p2inc", left.map(|_| 0));
        (go, self.patience + self.time.or(clock).unwrap_or_default())
    }
}

/// Splits a command line at white space outside quotes. Not by a library of shell words: those read a backslash as an
/// escape, which would break the paths of Windows, and `#` as a comment.
pub(crate) fn words(command: &str) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let (mut quote, mut in_word) = (None, false);
    for letter in command.chars() {
        if quote == Some(letter) {
            quote = None;
        } else if quote.is_none() && (letter == '"' || letter == '\'') {
            quote = Some(letter);
            if !in_word {
                words.push(String::new());
            }
            in_word = true;
        } else if quote.is_none() && letter.is_whitespace() {
            in_word = false;
        } else {
            if !in_word {
                words.push(String::new());
            }
            in_word = true;
            words.last_mut().expect("a word has been begun").push(letter);
        }
    }
    if quote.is_some() { Err("a quote has no end".to_owned()) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_as_a_shell_would() {
        assert_eq!(
            words(r#" a  "b c" 'd "e' f"g h"i "" "#),
            Ok(["a", "b c", "d \"e", "fg hi", ""].map(String::from).to_vec())
        );
        assert!(words("a 'b").is_err());
    }
}
