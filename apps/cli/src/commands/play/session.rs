//! A game at the terminal: turns, commands at the prompt, and the record of the game.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstream::println;
use anyhow::{Context, Result};
use serde_json::json;
use turnstone_agents::sheet::section;
use turnstone_agents::{AgentSpec, PlayableGame, Player};
use turnstone_arena::PlayedGame;
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::{Action, AnyState, Side};

use super::adviser::{Adviser, in_words};
use super::command::{Command, HELP, WORDS};
use super::notation;
use super::prompt::Prompt;
use super::view::{board, coloured, soft};
use crate::args::param_options;
use crate::called::{as_called, quoted};
use crate::commands::show::describe;

/// How a game is played.
pub(super) struct Settings {
    /// The specs of the two agents.
    pub(super) names: [String; 2],
    pub(super) max_moves: Option<usize>,
    pub(super) seed: u64,
    pub(super) adviser: Option<AgentSpec>,
    /// Whether nothing is printed while the game runs.
    pub(super) quiet: bool,
}

/// A game in progress.
pub(super) struct Session<'a> {
    game: &'a dyn PlayableGame,
    /// The agents' players; `None` where a person plays.
    players: [Option<Box<dyn Player>>; 2],
    rngs: [Stream; 2],
    settings: Settings,
    /// The positions from the start to now, one more than moves.
    positions: Vec<AnyState>,
    moves: Vec<Action>,
    prompt: Prompt,
    adviser: Option<Adviser>,
    flipped: bool,
    evaluating: bool,
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
        players: [Option<Box<dyn Player>>; 2],
        settings: Settings,
        start: AnyState,
    ) -> Result<Self> {
        let rngs = [0, 1].map(|seat| stream(settings.seed, Purpose::Play, [seat, 0]));
        let prompt = if players.iter().any(Option::is_none) { Prompt::new() } else { Prompt::Plain };
        let (positions, moves) = (vec![start], Vec::new());
        let (adviser, resigned) = (None, None);
        let mut session = Self {
            game,
            players,
            rngs,
            settings,
            positions,
            moves,
            prompt,
            adviser,
            flipped: false,
            evaluating: false,
            resigned,
        };
        session.start_players();
        Ok(session)
    }

    /// Plays the game to its end, or until a person leaves it.
    pub(super) fn run(&mut self) -> Result<ExitCode> {
        self.greet();
        self.show();
        while self.game.outcome(self.state()).is_none()
            && self.settings.max_moves.is_none_or(|most| self.moves.len() < most)
        {
            let mover = self.game.mover(self.state());
            if self.players[mover.index()].is_some() {
                self.agent_plays(mover)?;
                continue;
            }
            match self.ask(mover)? {
                Turn::Played(action) => self.play(mover, action, None)?,
                Turn::TakenBack => {}
                Turn::Resigned => {
                    self.resigned = Some(mover);
                    self.say(&format!("{mover} resigns: {} has won", mover.other()));
                    return Ok(ExitCode::SUCCESS);
                }
                Turn::Left => {
                    self.say(&format!("left after {} moves; to go on: {}", self.moves.len(), self.continuation()));
                    return Ok(ExitCode::SUCCESS);
                }
            }
        }
        if !self.settings.quiet {
            println!("{}{}", describe(self.game, self.state()), self.for_the_person());
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The game as it is printed and saved.
    pub(super) fn record(&self) -> PlayedGame {
        let outcome = self.game.outcome(self.state());
        PlayedGame {
            game: self.game.name().to_owned(),
            params: self.game.params(),
            players: self.settings.names.clone(),
            start: self.game.position_text(&self.positions[0]),
            moves: self.move_texts(),
            position: self.game.position_text(self.state()),
            outcome: outcome.map(|outcome| outcome.name().to_owned()),
            margin: outcome.map(|outcome| outcome.margin),
            truncated: outcome.is_some_and(|outcome| outcome.truncated),
            resigned: self.resigned.map(Side::number),
        }
    }

    fn state(&self) -> &AnyState {
        self.positions.last().expect("there is a start")
    }

    fn move_texts(&self) -> Vec<String> {
        self.game.line_texts(&self.positions[0], &self.moves)
    }

    fn last_move(&self) -> Option<String> {
        let before = self.positions.len().checked_sub(2).map(|place| &self.positions[place])?;
        self.moves.last().map(|&action| self.game.action_text_in(before, action))
    }

    /// Makes the agents start from the position on the board.
    fn start_players(&mut self) {
        let state = self.positions.last().expect("there is a start");
        for (player, rng) in self.players.iter_mut().zip(&mut self.rngs) {
            if let Some(player) = player {
                player.new_game(state, rng);
            }
        }
    }

    fn agent_plays(&mut self, mover: Side) -> Result<()> {
        let seat = mover.index();
        let state = self.positions.last().expect("there is a start");
        let player = self.players[seat].as_mut().expect("this side has a player");
        let action = player.choose(state, &mut self.rngs[seat]).with_context(|| format!("{mover}"))?;
        let comment = player.comment();
        self.play(mover, action, comment)
    }

    fn play(&mut self, mover: Side, action: Action, comment: Option<String>) -> Result<()> {
        let mut state = self.state().clone();
        let text = self.game.action_text_in(&state, action);
        self.game.try_play(&mut state, action)?;
        self.players.iter_mut().flatten().for_each(|player| player.played(action));
        self.positions.push(state);
        self.moves.push(action);
        if self.settings.quiet {
            return Ok(());
        }
        let comment = comment.map(|comment| soft(&format!("  ({comment}, as {mover} sees it)"))).unwrap_or_default();
        let (number, mover) = (self.moves.len(), coloured(mover.index(), &mover.to_string()));
        println!("{number}. {mover}: {}{comment}", text);
        self.show();
        if self.evaluating && self.game.outcome(self.state()).is_none() {
            self.evaluate()?;
        }
        Ok(())
    }

    fn say(&self, text: &str) {
        if !self.settings.quiet {
            println!("{text}");
        }
    }

    /// Who plays what, where a person takes part.
    fn greet(&self) {
        if self.players.iter().all(Option::is_some) {
            return;
        }
        for side in Side::BOTH {
            let name = &self.settings.names[side.index()];
            let who = match (&self.players[side.index()], self.people()) {
                (None, 1) => "you".to_owned(),
                (None, _) => "a person".to_owned(),
                (Some(_), _) => name.clone(),
            };
            println!("{}: {who}", self.side(side));
        }
        println!("{}\n", soft("type a move, or `help` for the commands"));
    }

    /// `player 1 (X, dark)`.
    fn side(&self, side: Side) -> String {
        let belongings = &self.game.belongings()[side.index()];
        let text = if belongings.is_empty() { side.to_string() } else { format!("{side} ({belongings})") };
        coloured(side.index(), &text)
    }

    fn people(&self) -> usize {
        self.players.iter().filter(|player| player.is_none()).count()
    }

    fn show(&self) {
        if self.settings.quiet {
            return;
        }
        let before = self.positions.len().checked_sub(2).map(|i| &self.positions[i]);
        println!("{}", board(self.game, self.state(), before, self.flipped));
    }

    /// Asks a person until the turn is over.
    fn ask(&mut self, mover: Side) -> Result<Turn> {
        let mut words = self.game.legal_texts(self.state());
        words.extend(WORDS.map(String::from));
        let turn = if self.people() == 1 { "your move" } else { "the move" };
        let last = self.last_move().map(|text| format!(" after {text}"));
        let belongings = &self.game.belongings()[mover.index()];
        let symbol = if belongings.is_empty() { String::new() } else { format!(" ({belongings})") };
        let prompt = format!("{mover}{symbol}, {turn}{}", last.unwrap_or_default());
        loop {
            let line = self.prompt.line(&prompt, &words)?;
            let line = line.context("the input ended before the game (`quit` leaves it)")?;
            match Command::read(&line) {
                Err(fault) => println!("{fault}"),
                Ok(Command::Move(text)) => match notation::find(self.game, self.state(), &text) {
                    Ok(action) => return Ok(Turn::Played(action)),
                    Err(fault) => println!("{fault}"),
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
            Command::Help => println!("{HELP}"),
            Command::Moves => println!("{}", self.numbered()),
            Command::Undo => println!("there is no move of yours to take back"),
            Command::Hint => self.hint()?,
            Command::Eval(on) => {
                self.evaluating = on.unwrap_or(!self.evaluating);
                if self.evaluating { self.evaluate()? } else { println!("evaluations are off") }
            }
            Command::Board => self.show(),
            Command::Flip => {
                self.flipped = !self.flipped;
                self.show();
            }
            Command::Rules => match section(self.game, "Rules") {
                Some(text) => println!("{text}\n{}", as_called(&format!("more: turnstone rules {}", self.game.name()))),
                None => println!("{} comes without a sheet of its rules", self.game.name()),
            },
            Command::Save(file) => match self.save(file.as_deref()) {
                Ok(file) => {
                    let review =
                        as_called(&format!("turnstone review {}", quoted(&file.display().to_string()))).into_owned();
                    println!("saved as {}; to go on from here: {}", file.display(), self.continuation());
                    println!("to review the game: {review}");
                }
                Err(error) => println!("{error:#}"),
            },
            Command::Resign | Command::Quit | Command::Move(_) => {}
        }
        Ok(())
    }

    /// The legal moves with their numbers, in columns.
    fn numbered(&self) -> String {
        let moves = self.game.legal_texts(self.state());
        let items: Vec<String> = moves.iter().zip(1..).map(|(text, n)| format!("#{n} {text}")).collect();
        let width = items.iter().map(|item| item.chars().count()).max().unwrap_or(0) + 2;
        let rows = items.chunks((80 / width).max(1));
        rows.map(|row| row.iter().map(|item| format!("{item:<width$}")).collect::<String>().trim_end().to_owned())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Takes back plies until the player is to move again; not at all if there is no such ply.
    fn take_back(&mut self, mover: Side) -> bool {
        let own = |i: &usize| {
            let side = self.game.mover(&self.positions[*i]);
            if self.people() == 1 { side == mover } else { self.players[side.index()].is_none() }
        };
        let Some(ply) = (0..self.moves.len()).rev().find(own) else { return false };
        let taken = self.moves.len() - ply;
        self.positions.truncate(ply + 1);
        self.moves.truncate(ply);
        self.start_players();
        println!("took back {taken} {}", if taken == 1 { "move" } else { "moves" });
        self.show();
        true
    }

    fn adviser(&mut self) -> Result<&mut Adviser> {
        if self.adviser.is_none() {
            self.adviser = Some(Adviser::new(self.settings.adviser.as_ref(), self.game, self.settings.seed)?);
        }
        Ok(self.adviser.as_mut().expect("it was just made"))
    }

    fn hint(&mut self) -> Result<()> {
        let state = self.state().clone();
        let adviser = self.adviser()?;
        let (advice, name) = (adviser.advise(&state)?, adviser.name().to_owned());
        let value = advice.win_draw_loss.map(|p| format!(" ({})", in_words(p))).unwrap_or_default();
        let line: Vec<String> = self.game.line_texts(&state, &advice.line).into_iter().skip(1).take(6).collect();
        let line = if line.is_empty() { String::new() } else { format!(", expecting {}", line.join(" ")) };
        println!(
            "hint: {}{value}{line}  {}",
            self.game.action_text_in(&state, advice.action),
            soft(&format!("[{name}]"))
        );
        Ok(())
    }

    /// Prints the adviser's probabilities for the player to move.
    fn evaluate(&mut self) -> Result<()> {
        let state = self.state().clone();
        let adviser = self.adviser()?;
        let (advice, name) = (adviser.advise(&state)?, adviser.name().to_owned());
        let mover = self.game.mover(&state);
        match advice.win_draw_loss {
            Some(p) => println!("evaluation for {mover}: {}  {}", in_words(p), soft(&format!("[{name}]"))),
            None => println!("{name} gives no evaluation"),
        }
        Ok(())
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
        let [p1, p2] = &self.settings.names;
        let position = self.game.position_text(self.state());
        let command =
            format!("turnstone play {}{params} --p1 {p1} --p2 {p2} --position \"{position}\"", self.game.name());
        as_called(&command).into_owned()
    }

    /// What the result means for the one person at the terminal.
    fn for_the_person(&self) -> String {
        let person = Side::BOTH.into_iter().find(|side| self.players[side.index()].is_none());
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
