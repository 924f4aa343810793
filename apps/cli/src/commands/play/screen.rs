//! Where a game is shown: text wrapped to the terminal's width, and what a search reports while it runs.

use anstream::println;
use turnstone_base::terminal::Reporter;
use turnstone_env::Side;

use super::view::soft;
use crate::output::fitted;

/// The screen of a game.
pub(super) struct Screen {
    /// Whether nothing is shown.
    quiet: bool,
    /// Whether people may wait for an agent.
    waiting: bool,
}

impl Screen {
    pub(super) fn new(quiet: bool, people: usize) -> Self {
        Self { quiet, waiting: people == 1 && !quiet }
    }

    /// Prints lines, wrapped to the width of the terminal.
    pub(super) fn say(&self, text: &str) {
        if !self.quiet {
            println!("{}", fitted(text));
        }
    }

    /// Shows a board.
    pub(super) fn board(&self, board: &str) {
        if !self.quiet {
            println!("{board}");
        }
    }

    /// Runs an agent's search, while which a terminal shows the time and what the search reports as a line.
    pub(super) fn thinking<T>(&self, who: &str, search: impl FnOnce(Option<&mut dyn FnMut(String)>) -> T) -> T {
        let clock = Reporter::new(!self.waiting).clock(&format!("{who} thinks"));
        if clock.is_hidden() {
            return search(None);
        }
        let found = search(Some(&mut |line| clock.set_message(line)));
        clock.finish_and_clear();
        found
    }
}

/// `1. player 1: b3`, and what the agent says of it.
pub(super) fn move_line(number: usize, side: Side, name: &str, text: &str, comment: Option<String>) -> String {
    let comment = comment.map(|comment| soft(&format!("  ({comment}, as {side} sees it)"))).unwrap_or_default();
    format!("{number}. {name}: {text}{comment}")
}
