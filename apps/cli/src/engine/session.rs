//! A session with one setup: answers commands until the input ends or an option changes the game or agent.

use std::io::BufRead;

use anyhow::Result;
use turnstone_agents::PlayableGame;
use turnstone_base::line_io::Lines;
use turnstone_env::Side;

use super::info::complaint;
use super::protocol::{Command, Go, changes_position, parse, surplus};
use super::search_thread::{Line, SearchThread};
use super::setup::Setup;
use crate::output::Output;

/// The fault of a command that needs a position after one that was refused.
const REFUSED_BEFORE: &str = "the position is unknown since a line was refused: send it again with `position`";

/// How a session ended.
pub(super) enum Next {
    /// The input has ended.
    End,
    /// The setup has changed. The flag is that of the session's position.
    Change(Box<Setup>, bool),
}

pub(super) struct Session<'a> {
    game: &'a dyn PlayableGame,
    setup: &'a Setup,
    output: &'a Output,
    line: Line,
    /// Whether `line` is the position that the client last asked for, and not one before a command that was refused.
    is_current: bool,
    search: SearchThread,
}

impl<'a> Session<'a> {
    /// Creates the session at the start of the game, and starts its search thread. With `is_current` false the client
    /// is still to ask for a position again.
    ///
    /// # Errors
    /// The agent cannot play the game, or no thread can be started.
    pub(super) fn new(
        game: &'a dyn PlayableGame,
        setup: &'a Setup,
        is_current: bool,
        output: &'a Output,
    ) -> Result<Self> {
        let search = SearchThread::start(setup.game.clone(), setup.search(game)?, setup.seed, output.clone())?;
        Ok(Self { game, setup, output, line: Line::new(game.start()), is_current, search })
    }

    /// Answers commands until the session ends.
    ///
    /// # Errors
    /// The search thread has failed.
    pub(super) fn run(mut self, lines: &mut Lines<impl BufRead>) -> Result<Next> {
        // An error while reading counts as the end of the input.
        while let Ok(Some(line)) = lines.read() {
            // What cannot be read may have been a position.
            let changes_position = line.map_or(true, changes_position);
            if let Some(words) = line.ok().and_then(surplus) {
                self.complain(&format!("ignored: `{}`", turnstone_env::shortened(words)));
            }
            let command = line.map_err(|fault| fault.to_string()).and_then(parse);
            match command {
                Ok(None) => {}
                Ok(Some(Command::Quit)) => break,
                Ok(Some(Command::SetOption { name, value })) => {
                    if let Some(changed) = self.set_option(name, value)? {
                        self.search.end();
                        return Ok(Next::Change(Box::new(changed), self.is_current));
                    }
                }
                Ok(Some(command)) => self.answer(&command)?,
                Err(fault) => {
                    self.is_current &= !changes_position;
                    self.complain(&fault);
                }
            }
        }
        self.search.end();
        Ok(Next::End)
    }

    fn answer(&mut self, command: &Command<'_>) -> Result<()> {
        match command {
            Command::Ugi => self.introduce(),
            Command::IsReady => self.output.line("readyok"),
            Command::Stop => self.search.stop(),
            Command::Query(what) => self.query(what),
            Command::Position { start, moves } => self.take_over(self.read_position(*start, moves)),
            Command::Moves(moves) if self.is_current => self.take_over(self.play_on(moves)),
            Command::Moves(_) => self.complain(REFUSED_BEFORE),
            Command::NewGame => self.new_game()?,
            Command::Go(go) if self.is_free()? => self.go(go)?,
            _ => {}
        }
        Ok(())
    }

    fn introduce(&self) {
        self.output.line(concat!("id name Turnstone ", env!("CARGO_PKG_VERSION")));
        self.output.line(concat!("id author ", env!("CARGO_PKG_AUTHORS")));
        for option in self.setup.options() {
            self.output.line(&option);
        }
        self.output.line("ugiok");
    }

    /// Returns the setup with an option changed; prints an error if that is not possible.
    fn set_option(&mut self, name: &str, value: &str) -> Result<Option<Setup>> {
        if !self.is_free()? {
            return Ok(None);
        }
        let changed = self.setup.with(name, value);
        if let Err(error) = &changed {
            self.complain(&format!("{error:#}"));
        }
        Ok(changed.ok())
    }

    /// Whether no search is running; prints an error if one is.
    fn is_free(&mut self) -> Result<bool> {
        let free = self.search.is_idle()?;
        if !free {
            self.complain("a search is under way: stop it first");
        }
        Ok(free)
    }

    fn read_position(&self, start: Option<&str>, moves: &str) -> Result<Line, turnstone_env::Error> {
        let start = start.map_or_else(|| Ok(self.game.start()), |text| self.game.parse_position(text))?;
        let mut line = Line::new(start);
        line.moves = self.game.play_text(&mut line.state, moves)?;
        Ok(line)
    }

    /// The current position after more moves.
    fn play_on(&self, moves: &str) -> Result<Line, turnstone_env::Error> {
        let mut line = self.line.clone();
        line.moves.extend(self.game.play_text(&mut line.state, moves)?);
        Ok(line)
    }

    /// Makes a position the current one, or prints why it is refused.
    fn take_over(&mut self, line: Result<Line, turnstone_env::Error>) {
        self.is_current = line.is_ok();
        match line {
            Ok(line) => self.line = line,
            Err(error) => self.complain(&error.to_string()),
        }
    }

    fn new_game(&mut self) -> Result<()> {
        self.is_current = self.is_free()?;
        if self.is_current {
            self.search.new_game()?;
            self.line = Line::new(self.game.start());
        }
        Ok(())
    }

    /// Starts a search. Where there is nothing to search it says why and answers with no move, so that no client waits.
    fn go(&mut self, go: &Go) -> Result<()> {
        if !self.is_current {
            self.complain(REFUSED_BEFORE);
            self.output.line("bestmove none");
            return Ok(());
        }
        if self.game.outcome(&self.line.state).is_some() {
            self.complain("the game is over");
            self.output.line("bestmove none");
            return Ok(());
        }
        self.search.search(&self.line, go.limits(self.game.mover(&self.line.state)))
    }

    fn query(&self, what: &str) {
        let (game, state) = (self.game, &self.line.state);
        let outcome = game.outcome(state);
        let response = match what {
            "p1turn" => (game.mover(state) == Side::First).to_string(),
            "gameover" => outcome.is_some().to_string(),
            "result" => match outcome.map(|outcome| outcome.value()) {
                None => "none",
                Some(1) => "p1win",
                Some(0) => "draw",
                Some(_) => "p2win",
            }
            .to_owned(),
            "fen" => game.position_text(state),
            "legal" => game.legal_texts(state).join(" "),
            _ => return self.complain(&format!("unknown query `{}`", turnstone_env::shortened(what))),
        };
        self.output.line(format!("response {response}").trim_end());
    }

    /// Prints an error in one line.
    fn complain(&self, fault: &str) {
        self.output.line(&complaint(fault));
    }
}
