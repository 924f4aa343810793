//! A session with one setup: answers commands until the input ends or an option changes the game or agent.

use std::io::BufRead;

use anyhow::Result;
use turnstone_agents::PlayableGame;
use turnstone_env::{Action, Side};

use super::info::complaint;
use super::protocol::{Command, Go, parse};
use super::search_thread::{Line, SearchThread};
use super::setup::Setup;
use crate::output::Output;
use turnstone_agents::line_io::Lines;

/// How a session ended.
pub(super) enum Next {
    /// The input has ended.
    End,
    /// The setup has changed.
    Change(Setup),
}

pub(super) struct Session<'a> {
    game: &'a dyn PlayableGame,
    setup: &'a Setup,
    output: &'a Output,
    line: Line,
    search: SearchThread,
}

impl<'a> Session<'a> {
    /// Creates the session and starts its search thread.
    ///
    /// # Errors
    /// The agent cannot play the game, or no thread can be started.
    pub(super) fn new(game: &'a dyn PlayableGame, setup: &'a Setup, output: &'a Output) -> Result<Self> {
        let player = setup.agent_for(game)?.player(game)?;
        let search = SearchThread::start(setup.game.clone(), player, setup.seed, output.clone())?;
        Ok(Self { game, setup, output, line: Line::new(game.start()), search })
    }

    /// Answers commands until the session ends.
    ///
    /// # Errors
    /// The search thread has failed.
    pub(super) fn run(mut self, lines: &mut Lines<impl BufRead>) -> Result<Next> {
        // An error while reading counts as the end of the input.
        while let Ok(Some(line)) = lines.read() {
            let command = line.map_err(|fault| fault.to_string()).and_then(parse);
            match command {
                Ok(None) => {}
                Ok(Some(Command::Quit)) => break,
                Ok(Some(Command::SetOption { name, value })) => {
                    if let Some(changed) = self.set_option(name, value)? {
                        self.search.end();
                        return Ok(Next::Change(changed));
                    }
                }
                Ok(Some(command)) => self.answer(&command)?,
                Err(fault) => self.complain(&fault),
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
            Command::Position { start, moves } => match self.read_position(*start, moves) {
                Ok(line) => self.line = line,
                Err(error) => self.complain(&error.to_string()),
            },
            Command::NewGame if self.is_free()? => {
                self.search.new_game()?;
                self.line = Line::new(self.game.start());
            }
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

    fn go(&mut self, go: &Go) -> Result<()> {
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
            "legal" => {
                let text = |&action: &Action| game.action_text(action);
                game.legal_actions(state).iter().map(text).collect::<Vec<_>>().join(" ")
            }
            _ => return self.complain(&format!("unknown query `{}`", turnstone_env::shortened(what))),
        };
        self.output.line(format!("response {response}").trim_end());
    }

    /// Prints an error in one line.
    fn complain(&self, fault: &str) {
        self.output.line(&complaint(fault));
    }
}
