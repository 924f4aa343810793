//! A game at the terminal: turns, commands at the prompt, and the record of the game.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rand::Rng;
use serde_json::json;
use turnstone_agents::{PlayableGame, Search, SearchInfo, SearchRequest};
use turnstone_arena::PlayedGame;
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_base::text::{printable, shell_path, shell_word};
use turnstone_env::{Action, AnyState, Side};

use super::adviser::Adviser;
use super::command::{Command, HELP, WORDS};
use super::notation;
use super::prompt::Prompt;
use super::screen::{Screen, move_line};
use super::view::{best_line, coloured, numbered, soft};
use crate::args::param_options;
use crate::commands::rules::how_to_play;
use crate::commands::show::describe;
use crate::output::in_words;
use crate::program_name::as_called;

/// How a game is played.
pub(super) struct Settings {
    /// The specs of the two agents.
    pub(super) names: [String; 2],
    /// The agents as people see them.
    pub(super) shown: [String; 2],
    pub(super) max_moves: Option<usize>,
    pub(super) seed: u64,
    /// Whether nothing is printed while the game runs.
    pub(super) quiet: bool,
}

/// A game in progress.
pub(super) struct Session<'a> {
    game: &'a dyn PlayableGame,
    /// The agents' searches; `None` where a person plays.
    agents: [Option<Box<dyn Search>>; 2],
    /// The random streams of the seats, from which those of games are drawn after moves were taken back.
    rngs: [Stream; 2],
    settings: Settings,
    /// The positions from the start to now, one more than moves.
    positions: Vec<AnyState>,
    moves: Vec<Action>,
    prompt: Prompt,
    screen: Screen,
    adviser: Option<Adviser>,
    /// The side that has resigned.
    resigned: Option<Side>,
}

/// How a person's turn ended.
enum Turn {
    Played(Action),
    TakenBack,
    Resigned,
    Left,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        game: &'a dyn PlayableGame,
        agents: [Option<Box<dyn Search>>; 2],
        settings: Settings,
        start: AnyState,
    ) -> Result<Self> {
        let rngs = [0, 1].map(|seat| stream(settings.seed, Purpose::Play, [seat, 0]));
        let prompt = if agents.iter().any(Option::is_none) { Prompt::new() } else { Prompt::Plain };
        let people = agents.iter().filter(|agent| agent.is_none()).count();
        let screen = Screen::new(settings.quiet, people);
        let (positions, moves) = (vec![start], Vec::new());
        let (adviser, resigned) = (None, None);
        let mut session = Self { game, agents, rngs, settings, positions, moves, prompt, screen, adviser, resigned };
        session.start_agents();
        Ok(session)
    }

    /// Plays the game to its end, or until a person leaves it, and further games if a person at a terminal wants them.
    pub(super) fn run(&mut self) -> Result<()> {
        loop {
            let is_over = self.play_game()?;
            if !self.goes_on(is_over)? {
                return Ok(());
            }
            self.positions.truncate(1);
            (self.moves, self.resigned) = (Vec::new(), None);
            self.start_agents();
        }
    }

    /// Plays a game. Returns false if a person left it.
    fn play_game(&mut self) -> Result<bool> {
        self.greeting().iter().for_each(|line| self.screen.say(line));
        self.show();
        while self.game.outcome(self.state()).is_none()
            && self.settings.max_moves.is_none_or(|most| self.moves.len() < most)
        {
            let mover = self.game.mover(self.state());
            if self.agents[mover.index()].is_some() {
                self.agent_plays(mover)?;
                continue;
            }
            match self.ask(mover)? {
                Turn::Played(action) => self.play(mover, action, None)?,
                Turn::TakenBack => {}
                Turn::Resigned => {
                    self.resigned = Some(mover);
                    self.screen.say(&format!("{mover} resigns: {} has won", mover.other()));
                    return Ok(true);
                }
                Turn::Left => {
                    self.screen.say(&format!(
                        "left after {} moves; to continue: {}",
                        self.moves.len(),
                        self.continuation()
                    ));
                    return Ok(false);
                }
            }
        }
        self.screen.say(&format!("{}{}", describe(self.game, self.state(), true), self.for_the_person()));
        Ok(true)
    }

    /// Saves the game of a person at a terminal, and asks what to do next once it is over. Returns whether to play again.
    fn goes_on(&mut self, is_over: bool) -> Result<bool> {
        if self.moves.is_empty() || !matches!(self.prompt, Prompt::Terminal(_)) {
            return Ok(false);
        }
        let file = match self.save(None) {
            Ok(file) => file,
            Err(error) => {
                self.screen.say(&printable(&format!("{error:#}")));
                return Ok(false);
            }
        };
        self.screen.say(&saved_as(&file));
        let words = ["review", "again", "quit"].map(String::from);
        if !is_over {
            return Ok(false);
        }
        loop {
            let line = self.prompt.line("`review`, `again` or `quit`", &words)?.unwrap_or_default();
            match line.trim().to_lowercase().as_str() {
                "again" | "a" => return Ok(true),
                "review" | "r" => {
                    let program = std::env::current_exe().context("the program")?;
                    std::process::Command::new(program).arg("review").arg(&file).status().context("the review")?;
                }
                "quit" | "q" | "" => return Ok(false),
                other => self.screen.say(&printable(&format!("`{other}` is none of them"))),
            }
        }
    }

    /// The game as it is printed and saved.
    pub(super) fn record(&self) -> PlayedGame {
        let players = self.settings.names.clone();
        let played = PlayedGame::new(self.game, players, &self.positions[0], &self.moves);
        PlayedGame { resigned: self.resigned.map(Side::number), ..played }
    }

    fn state(&self) -> &AnyState {
        self.positions.last().expect("there is a start")
    }

    fn last_move(&self) -> Option<String> {
        let before = self.positions.len().checked_sub(2).map(|place| &self.positions[place])?;
        self.moves.last().map(|&action| self.game.display_text(before, action))
    }

    /// Makes the agents start from the position on the board.
    fn start_agents(&mut self) {
        let state = self.positions.last().expect("there is a start");
        for (agent, rng) in self.agents.iter_mut().zip(&mut self.rngs) {
            if let Some(search) = agent {
                search.new_game(0, state, rng.clone());
                rng.next_u64(); // another choice after moves were taken back
            }
        }
    }

    fn agent_plays(&mut self, mover: Side) -> Result<()> {
        let seat = mover.index();
        let state = self.positions.last().expect("there is a start");
        let search = self.agents[seat].as_mut().expect("this side has an agent");
        let game = self.game;
        let searched = self.screen.thinking(&mover.to_string(), |show| {
            let Some(show) = show else { return search.choose(0, state) };
            let mut report = |info: &SearchInfo| show(best_line(game, state, info));
            search.choose_within(0, state, SearchRequest::default().with_reports(), &mut report)
        });
        let action = searched.with_context(|| format!("{mover}"))?;
        let comment = search.comment(0);
        self.play(mover, action, comment)
    }

    fn play(&mut self, mover: Side, action: Action, comment: Option<String>) -> Result<()> {
        let mut state = self.state().clone();
        let text = self.game.display_text(&state, action);
        self.game.try_play(&mut state, action)?;
        self.agents.iter_mut().flatten().for_each(|search| search.played(0, action));
        self.positions.push(state);
        self.moves.push(action);
        let name = coloured(mover.index(), &mover.to_string());
        let line = move_line(self.moves.len(), mover, &name, &text, comment);
        let over = self.game.outcome(self.state()).is_some();
        let turn = over || self.people() == 0 || self.agents[self.game.mover(self.state()).index()].is_none();
        self.screen.say(&line);
        if turn {
            self.show();
        }
        Ok(())
    }

    /// Who plays what, where a person takes part.
    fn greeting(&self) -> Vec<String> {
        if self.people() == 0 {
            return Vec::new();
        }
        let who = |side: Side| match (&self.agents[side.index()], self.people()) {
            (None, 1) => "you".to_owned(),
            (None, _) => "a person".to_owned(),
            (Some(_), _) => self.settings.shown[side.index()].clone(),
        };
        let mut lines = Side::BOTH.map(|side| format!("{}: {}", self.side(side), who(side))).to_vec();
        lines.extend([soft("type a move, or `help` for the commands"), String::new()]);
        lines
    }

    /// `player 1 (X, dark)`.
    fn side(&self, side: Side) -> String {
        coloured(side.index(), &self.game.side_label(side))
    }

    fn people(&self) -> usize {
        self.agents.iter().filter(|agent| agent.is_none()).count()
    }

    fn show(&self) {
        self.screen.board(&self.game.board(self.state(), None).text());
    }

    /// Says what the adviser would play.
    fn hint(&mut self) -> Result<()> {
        if self.adviser.is_none() {
            self.adviser = Some(Adviser::new(self.game, self.settings.seed)?);
        }
        let state = self.state().clone();
        let adviser = self.adviser.as_mut().expect("it was just made");
        let (advice, name) = (adviser.advise(&state)?, soft(&format!("[{}]", adviser.name())));
        let value = advice.win_draw_loss.map(|p| format!(" ({})", in_words(p))).unwrap_or_default();
        let line: Vec<String> = self.game.line_display(&state, &advice.line).into_iter().skip(1).take(6).collect();
        let line = if line.is_empty() { String::new() } else { format!(", expecting {}", line.join(" ")) };
        let action = self.game.display_text(&state, advice.action);
        self.screen.say(&format!("hint: {action}{value}{line} {name}"));
        Ok(())
    }

    /// Asks a person until the turn is over.
    fn ask(&mut self, mover: Side) -> Result<Turn> {
        let mut words = self.game.legal_display(self.state());
        words.extend(WORDS.map(String::from));
        let turn = if self.people() == 1 { "your move" } else { "the move" };
        let last = self.last_move().map(|text| format!(" after {text}"));
        let prompt = format!("{}, {turn}{}", self.game.side_label(mover), last.unwrap_or_default());
        loop {
            let line = self.prompt.line(&prompt, &words)?;
            let line = line.context("the input ended before the game (`quit` leaves it)")?;
            match Command::read(&line) {
                Err(fault) => self.screen.say(&printable(&fault)),
                Ok(Command::Move(text)) => match notation::find(self.game, self.state(), &text) {
                    Ok(action) => return Ok(Turn::Played(action)),
                    Err(fault) => self.screen.say(&printable(&fault)),
                },
                Ok(Command::Undo) if self.take_back(mover) => return Ok(Turn::TakenBack),
                Ok(Command::Resign) => return Ok(Turn::Resigned),
                Ok(Command::Quit) => return Ok(Turn::Left),
                Ok(command) => self.answer(&command)?,
            }
        }
    }

    /// Answers a command that does not end the turn.
    fn answer(&mut self, command: &Command) -> Result<()> {
        match command {
            Command::Help => self.screen.say(HELP),
            Command::Moves => self.screen.say(&numbered(self.game, self.state())),
            Command::Undo => self.screen.say("you have no move to take back"),
            Command::Hint => self.hint()?,
            Command::Board => self.show(),
            Command::Rules => match how_to_play(self.game) {
                Some(text) => self.screen.say(&text),
                None => self.screen.say(&format!("{} has no sheet of its rules", self.game.name())),
            },
            Command::Save(file) => match self.save(file.as_deref()) {
                Ok(file) => {
                    let more = printable(&format!("to continue from here: {}", self.continuation()));
                    self.screen.say(&format!("{}\n{more}", saved_as(&file)));
                }
                Err(error) => self.screen.say(&printable(&format!("{error:#}"))),
            },
            Command::Resign | Command::Quit | Command::Move(_) => {}
        }
        Ok(())
    }

    /// Takes back plies until the player is to move again; not at all if there is no such ply.
    fn take_back(&mut self, mover: Side) -> bool {
        let own = |i: &usize| {
            let side = self.game.mover(&self.positions[*i]);
            if self.people() == 1 { side == mover } else { self.agents[side.index()].is_none() }
        };
        let Some(ply) = (0..self.moves.len()).rev().find(own) else { return false };
        let taken = self.moves.len() - ply;
        self.positions.truncate(ply + 1);
        self.moves.truncate(ply);
        self.start_agents();
        self.show();
        self.screen.say(&format!("took back {taken} {}", if taken == 1 { "move" } else { "moves" }));
        true
    }

    /// Writes the record of the game to a new file and returns its name.
    fn save(&self, file: Option<&Path>) -> Result<PathBuf> {
        let file = match file {
            Some(file) => file.to_owned(),
            None => self.free_name(),
        };
        let mut place = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&file)
            .with_context(|| format!("cannot save as {}", file.display()))?;
        writeln!(place, "{}", json!(self.record())).with_context(|| format!("cannot save as {}", file.display()))?;
        Ok(file)
    }

    /// `mancala-1.json`, or with the next number that is free.
    fn free_name(&self) -> PathBuf {
        let mut names = (1..).map(|n: u32| PathBuf::from(format!("{}-{n}.json", self.game.name())));
        names.find(|name| !name.exists()).expect("there is a free number")
    }

    /// The command that continues from the position on the board.
    fn continuation(&self) -> String {
        let params = param_options(self.game);
        let [p1, p2] = self.settings.names.each_ref().map(|name| shell_word(name));
        let position = shell_word(&self.game.position_text(self.state()));
        let command = format!("turnstone play {}{params} --p1 {p1} --p2 {p2} --position {position}", self.game.name());
        as_called(&command).into_owned()
    }

    /// The result as seen by the one person at the terminal.
    fn for_the_person(&self) -> String {
        let person = Side::BOTH.into_iter().find(|side| self.agents[side.index()].is_none());
        let (Some(side), Some(outcome), 1) = (person, self.game.outcome(self.state()), self.people()) else {
            return String::new();
        };
        match outcome.winner {
            Some(winner) if winner == side => ": you have won".into(),
            Some(_) => ": you have lost".into(),
            None => String::new(),
        }
    }
}

/// Where a game was saved, and the command that reviews it.
fn saved_as(file: &Path) -> String {
    let review = format!("turnstone review {}", shell_path(file));
    printable(&format!("saved as {}; to review it: {}", file.display(), as_called(&review)))
}
