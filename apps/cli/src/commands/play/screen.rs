//! Where a game is shown: one board, drawn in place on a terminal that can, and text wrapped to the terminal's width.

use std::io::{Write, stdout};

use anstream::println;
use turnstone_base::terminal::{Reporter, moves_cursor, terminal_size};
use turnstone_env::{DynGame, Side};

use super::view::soft;
use crate::output::wrapped;

/// Rows that a prompt and its answers have below a board.
const BELOW: usize = 8;

/// Cursor to the upper left corner, and everything from there erased.
const CLEAR: &str = "\x1b[H\x1b[J";

/// The screen of a game.
pub(super) struct Screen {
    /// Whether nothing is shown.
    quiet: bool,
    /// Whether people may wait for an agent.
    waiting: bool,
    /// Whether a board takes the place of the one before.
    in_place: bool,
    /// Whether the screen has a board.
    begun: bool,
}

impl Screen {
    /// The screen of a game whose board has this many rows. Without people every board stays, so that the game can be read
    /// afterwards.
    pub(super) fn new(quiet: bool, people: usize, rows: usize) -> Self {
        let fits = terminal_size().is_some_and(|[_, height]| height >= rows + BELOW);
        Self { quiet, waiting: people == 1 && !quiet, in_place: people > 0 && fits && moves_cursor(), begun: false }
    }

    /// Whether a board takes the place of the one before.
    pub(super) fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Prints lines, wrapped to the width of the terminal.
    pub(super) fn say(&self, text: &str) {
        if !self.quiet {
            println!("{}", fitted(text));
        }
    }

    /// Shows a board under some lines.
    pub(super) fn board(&mut self, above: &[String], board: &str) {
        if self.quiet {
            return;
        }
        if self.in_place {
            // What was there before the game stays above it, where the terminal scrolls back to.
            let room = if self.begun { 0 } else { terminal_size().map_or(0, |[_, height]| height) };
            let _ = write!(stdout(), "{}{CLEAR}", "\n".repeat(room)); // the next line that is printed finds the same fault
            self.begun = true;
            above.iter().for_each(|line| self.say(line));
        }
        println!("{board}");
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

/// A text as the terminal has room for it.
pub(super) fn fitted(text: &str) -> String {
    terminal_size().map_or_else(|| text.to_owned(), |[width, _]| wrapped(text, width))
}

/// `1. player 1: b3`, and what the agent says of it.
pub(super) fn move_line(number: usize, side: Side, name: &str, text: &str, comment: Option<String>) -> String {
    let comment = comment.map(|comment| soft(&format!("  ({comment}, as {side} sees it)"))).unwrap_or_default();
    format!("{number}. {name}: {text}{comment}")
}

/// Rows of a board's drawing.
pub(super) fn rows(game: &dyn DynGame) -> usize {
    game.draw(&game.start()).lines().count()
}
