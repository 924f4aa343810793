//! Other programs as players, over the Universal Game Interface: `engine:<options>:<command line>`.

mod process;

use std::fmt;
use std::time::Duration;

use turnstone_env::{Action, Game, shortened, try_play};

use self::process::Process;
use super::options::{Options, time_text};
use super::thinking::{Thinking, Thought};
use super::{Player, PlayerFault};
use crate::streams::Stream;

/// How long an answer may take beyond the time that the engine was given, where the spec does not say.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program and what it may spend on a move.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EngineSpec {
    /// The program and its arguments, separated by spaces; parts in single or double quotes are one.
    pub command: String,
    /// Time for a move.
    pub time: Option<Duration>,
    /// Positions or simulations for a move.
    pub nodes: Option<u32>,
    /// Plies to look ahead.
    pub depth: Option<u32>,
    /// How long an answer may take beyond the time given.
    pub patience: Duration,
}

impl EngineSpec {
    pub(super) fn parse(command: &str, options: &mut Options) -> Result<Self, String> {
        if words(command)?.is_empty() {
            return Err("name a program: engine:nodes=100:<command line>, or engine::<command line>".to_owned());
        }
        Ok(Self {
            command: command.to_owned(),
            time: options.time("time")?,
            nodes: options.number("nodes", 1..=u32::MAX)?,
            depth: options.number("depth", 1..=1000)?,
            patience: options.time("patience")?.unwrap_or(PATIENCE),
        })
    }

    /// The command that asks for a move, and how long the answer may take.
    fn go(&self, clock: Option<Duration>) -> (String, Duration) {
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

impl fmt::Display for EngineSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let patience = (self.patience != PATIENCE).then_some(self.patience);
        let options = [
            ("time", self.time.map(time_text)),
            ("nodes", self.nodes.map(|nodes| nodes.to_string())),
            ("depth", self.depth.map(|depth| depth.to_string())),
            ("patience", patience.map(time_text)),
        ];
        let options: Vec<String> =
            options.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value?))).collect();
        write!(f, "engine:{}:{}", options.join(","), self.command)
    }
}

/// The words of a command line: separated by white space, together where they stand in quotes.
fn words(command: &str) -> Result<Vec<String>, String> {
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

/// A player that is another program. It is started anew after every fault.
pub(super) struct External<G: Game> {
    spec: EngineSpec,
    process: Option<Process>,
    /// Where the game began, the moves since, and where it stands.
    start: G::State,
    moves: Vec<Action>,
    state: G::State,
    clock: Option<Duration>,
}

impl<G: Game> External<G> {
    /// Starts the program.
    ///
    /// # Errors
    /// It cannot be started, or does not speak the protocol.
    pub(super) fn new(game: &G, spec: &EngineSpec) -> Result<Self, PlayerFault> {
        let (start, spec) = (game.start(), spec.clone());
        let mut player = Self { spec, process: None, start, moves: Vec::new(), state: start, clock: None };
        player.process(game)?;
        Ok(player)
    }

    /// The running program, started if need be.
    fn process(&mut self, game: &G) -> Result<&mut Process, PlayerFault> {
        if self.process.is_none() {
            let words = words(&self.spec.command).map_err(PlayerFault::Crashed)?;
            let mut process = Process::start(&words)?;
            let mut options = process.introduce(self.spec.patience)?;
            if options.iter().any(|option| option == "Game") {
                process.send(format!("setoption name Game value {}", G::NAME));
                options = process.introduce(self.spec.patience)?; // now with the game's own
            }
            for (name, value) in game.params().iter().filter(|(name, _)| options.iter().any(|option| option == name)) {
                process.send(format!("setoption name {name} value {value}"));
            }
            process.get_ready(self.spec.patience)?;
            self.process = Some(process);
        }
        Ok(self.process.as_mut().expect("it has been started"))
    }

    fn position(&self, game: &G) -> String {
        let mut line = match self.start == game.start() {
            true => "position startpos".to_owned(),
            false => format!("position fen {}", game.position_text(&self.start)),
        };
        for (i, &action) in self.moves.iter().enumerate() {
            line.push_str(if i == 0 { " moves " } else { " " });
            line.push_str(&game.action_text(action));
        }
        line
    }

    fn ask(&mut self, game: &G) -> Result<String, PlayerFault> {
        let (position, (go, patience)) = (self.position(game), self.spec.go(self.clock));
        let process = self.process(game)?;
        process.send(position);
        process.send(go);
        process.best_move(patience)
    }
}

impl<G: Game> Player<G> for External<G> {
    fn new_game(&mut self, game: &G, state: &G::State, _: &mut Stream) {
        (self.start, self.state, self.clock) = (*state, *state, None);
        self.moves.clear();
        let patience = self.spec.patience;
        let begun = self.process(game).and_then(|process| {
            process.send("uginewgame".to_owned());
            process.get_ready(patience)
        });
        if begun.is_err() {
            self.process = None; // the next choice starts it anew, or says why not
        }
    }

    fn clock(&mut self, remaining: Duration) {
        self.clock = Some(remaining);
    }

    fn think(
        &mut self,
        game: &G,
        state: &G::State,
        thinking: &mut Thinking<'_>,
        _: &mut Stream,
    ) -> Result<Action, PlayerFault> {
        if self.state != *state {
            (self.start, self.state) = (*state, *state);
            self.moves.clear();
        }
        let text = self.ask(game).inspect_err(|_| self.process = None)?;
        let illegal = |_| PlayerFault::IllegalMove(shortened(&text));
        let action = game.parse_action(&text).map_err(illegal)?;
        try_play(game, &mut state.clone(), action).map_err(illegal)?;
        thinking.tell(|| Thought { depth: 0, nodes: 0, verdict: None, line: vec![action] });
        Ok(action)
    }

    fn played(&mut self, game: &G, action: Action) {
        game.play(&mut self.state, action);
        self.moves.push(action);
    }
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
