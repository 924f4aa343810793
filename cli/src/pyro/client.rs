//! The client: asks whose move it is, reads the board, plays and says `done`.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;
use turnstone_env::games::Konane;
use turnstone_env::{AnyState, Error as GameError, Game, Side};

use super::pickle::{self, PickleError, Value};
use super::world::SIZE;
use super::{SIDES, letter};
use turnstone_agents::streams::Stream;
use turnstone_agents::{Player, PlayerFault};

/// How long to wait for a world that does not listen yet.
const STARTING: Duration = Duration::from_secs(10);

/// How long to wait for an answer.
const ANSWER: Duration = Duration::from_secs(30);

/// Why a game with the world cannot go on.
#[derive(Debug, Error)]
pub enum PyroError {
    /// No world, or no longer.
    #[error("{address}: {error}")]
    Connection {
        /// Where the world is.
        address: String,
        /// What the system reports.
        error: io::Error,
    },
    /// The world sent bytes that are no plain data.
    #[error("the answer to `{request}` is not read: {error}")]
    Pickle {
        /// What was asked.
        request: String,
        /// What is wrong with the answer.
        error: PickleError,
    },
    /// The world sent something else than the protocol has there.
    #[error("the answer to `{request}` is {answer}, not {expected}")]
    Answer {
        /// What was asked.
        request: String,
        /// What came.
        answer: String,
        /// What the protocol has there.
        expected: &'static str,
    },
    /// The world's board is no position of the game.
    #[error("the world's board: {0}")]
    Board(GameError),
    /// The agent has no move to give.
    #[error("the agent: {0}")]
    Agent(#[from] PlayerFault),
}

/// A connection to a world as one of its players.
pub struct Client {
    stream: TcpStream,
    address: String,
    player: usize,
}

/// How one game ended for the player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Played {
    /// Whether the player won.
    pub won: bool,
    /// Moves that the player made.
    pub moves: usize,
}

impl Client {
    /// Connects to a player's port and asks which player that is. A world that is just starting is waited for.
    ///
    /// # Errors
    /// Nothing listens there, or it is no Konane world.
    pub fn connect(host: &str, port: u16) -> Result<Self, PyroError> {
        let address = format!("{host}:{port}");
        let start = Instant::now();
        let connected = loop {
            match TcpStream::connect((host, port)) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && start.elapsed() < STARTING => {
                    thread::sleep(Duration::from_millis(100));
                }
                other => break other,
            }
        };
        let ready = connected.and_then(|stream| {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(ANSWER))?;
            Ok(stream)
        });
        let stream = ready.map_err(|error| PyroError::Connection { address: address.clone(), error })?;
        let mut client = Self { stream, address, player: 0 };
        client.player = client.ask_player(&format!("connectionNum:{port}"))?;
        Ok(client)
    }

    /// Whose stones the player has.
    #[must_use]
    pub fn side(&self) -> Side {
        SIDES[self.player]
    }

    /// Plays until so many games are over, and calls `report` after each. A game that is lost is followed by a `reset`;
    /// after one that is won, the loser or a person has to ask for the next.
    ///
    /// # Errors
    /// The world has gone, or does not keep to the protocol or the rules, or the agent fails.
    pub fn play(
        &mut self,
        player: &mut dyn Player,
        rng: &mut Stream,
        games: u32,
        poll: Duration,
        mut report: impl FnMut(Played),
    ) -> Result<(), PyroError> {
        let game = Konane::default();
        let (mut played, mut moves) = (0, 0);
        while played < games {
            if self.ask_player("whosMove")? != self.player {
                thread::sleep(poll);
                continue;
            }
            let mut state = self.board(&game)?;
            let gaps = game.position_text(&state).matches('.').count();
            if gaps <= 1 {
                moves = 0; // a new game, also where somebody broke off the last one
            }
            if moves == 0 {
                player.new_game(&AnyState::new(state), rng);
            }
            let lost = game.outcome(&state).is_some();
            if !lost {
                let action = player.choose(&AnyState::new(state), rng)?;
                self.command(&game.action_text(action))?;
                self.command("done")?;
                game.play(&mut state, action);
                moves += 1;
            }
            if lost || game.outcome(&state).is_some() {
                report(Played { won: !lost, moves });
                (played, moves) = (played + 1, 0);
                if lost && played < games {
                    self.command("reset")?;
                }
            }
        }
        Ok(())
    }

    /// The position, which is this player's to move.
    fn board(&mut self, game: &Konane) -> Result<<Konane as Game>::State, PyroError> {
        let answer = self.ask("board")?;
        let cells = cells(&answer).ok_or_else(|| {
            let expected = "eight columns of eight cells 'X', 'O' or ''";
            PyroError::Answer { request: "board".to_owned(), answer: shortened(&answer), expected }
        })?;
        let row = |x: usize| (0..SIZE).map(|y| cells[x][y]).collect::<String>();
        let rows: Vec<String> = (0..SIZE).rev().map(row).collect();
        game.parse_position(&format!("{} {}", rows.join("/"), letter(self.side()))).map_err(PyroError::Board)
    }

    /// Has the world do something.
    fn command(&mut self, request: &str) -> Result<(), PyroError> {
        match self.ask(request)? {
            Value::Text(text) if text == "ok" => Ok(()),
            other => {
                Err(PyroError::Answer { request: request.to_owned(), answer: shortened(&other), expected: "'ok'" })
            }
        }
    }

    fn ask_player(&mut self, request: &str) -> Result<usize, PyroError> {
        match self.ask(request)? {
            Value::Int(0) | Value::Bool(false) => Ok(0),
            Value::Int(1) | Value::Bool(true) => Ok(1),
            other => {
                let (request, answer) = (request.to_owned(), shortened(&other));
                Err(PyroError::Answer { request, answer, expected: "0 or 1" })
            }
        }
    }

    fn ask(&mut self, request: &str) -> Result<Value, PyroError> {
        let gone = |error| PyroError::Connection { address: self.address.clone(), error };
        self.stream.write_all(request.as_bytes()).map_err(gone)?;
        let mut bytes = Vec::new();
        loop {
            let mut chunk = [0; 4096];
            let length = match self.stream.read(&mut chunk) {
                Ok(0) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the world has closed the connection")),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    let fault = format!("no answer to `{request}` within {} s", ANSWER.as_secs());
                    Err(io::Error::new(io::ErrorKind::TimedOut, fault))
                }
                other => other,
            };
            bytes.extend(&chunk[..length.map_err(gone)?]);
            // Whatever follows the value in the same bytes belongs to no request and is dropped.
            match pickle::read(&bytes) {
                Ok(Some((value, _))) => return Ok(value),
                Ok(None) => {}
                Err(error) => return Err(PyroError::Pickle { request: request.to_owned(), error }),
            }
        }
    }
}

/// The cells of a board, `X`, `O` or `.`, by x and y from 0.
fn cells(board: &Value) -> Option<[[char; SIZE]; SIZE]> {
    let elements = |value: &Value| match value {
        Value::List(elements) | Value::Tuple(elements) => <[Value; SIZE]>::try_from(elements.clone()).ok(),
        _ => None,
    };
    let mut cells = [['.'; SIZE]; SIZE];
    for (column, out) in elements(board)?.iter().zip(&mut cells) {
        for (cell, out) in elements(column)?.iter().zip(out) {
            *out = match cell {
                Value::Text(text) if text == "X" => 'X',
                Value::Text(text) if text == "O" => 'O',
                Value::Text(text) if text.is_empty() => '.',
                _ => return None,
            };
        }
    }
    Some(cells)
}

/// A value for a message of one line.
fn shortened(value: &Value) -> String {
    let text = match value {
        Value::Text(text) => format!("'{}'", text.escape_debug()),
        other => format!("{other:?}"),
    };
    if text.chars().count() <= 60 { text } else { text.chars().take(57).chain("...".chars()).collect() }
}
