//! The client: polls whose move it is, reads the board, sends its move and `done`.

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

/// Time to wait for a world that is not listening yet.
const STARTING: Duration = Duration::from_secs(10);

/// Time to wait for an answer.
const ANSWER: Duration = Duration::from_secs(30);

/// Error that ends the games with a world.
#[derive(Debug, Error)]
pub enum PyroError {
    /// The connection failed or was closed.
    #[error("{address}: {error}")]
    Connection {
        /// Host and port of the world.
        address: String,
        /// Error of the system.
        error: io::Error,
    },
    /// The answer is not a pickle of plain data.
    #[error("the answer to `{request}` cannot be read: {error}")]
    Pickle {
        /// The request.
        request: String,
        /// Fault of the answer.
        error: PickleError,
    },
    /// The answer is not one that the protocol allows.
    #[error("the answer to `{request}` is {answer}, not {expected}")]
    Answer {
        /// The request.
        request: String,
        /// The answer, shortened.
        answer: String,
        /// Description of the allowed answers.
        expected: &'static str,
    },
    /// The world's board is not a position of the game.
    #[error("the world's board: {0}")]
    Board(GameError),
    /// The agent failed.
    #[error("the agent: {0}")]
    Agent(#[from] PlayerFault),
}

/// A connection to a world as one of its players.
pub struct Client {
    stream: TcpStream,
    address: String,
    player: usize,
}

/// Result of one game for the player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Played {
    /// Whether the player won.
    pub won: bool,
    /// Number of moves that the player made.
    pub moves: usize,
}

impl Client {
    /// Connects to a player's port and asks which player that is. Waits up to ten seconds for a world to start.
    ///
    /// # Errors
    /// The connection is refused, or the answer is not that of a Konane world.
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

    /// Returns the player's side.
    #[must_use]
    pub fn side(&self) -> Side {
        SIDES[self.player]
    }

    /// Plays `games` games and calls `report` after each. After a lost game the client sends `reset`; after a won game
    /// it waits for the opponent or a person to do so.
    ///
    /// # Errors
    /// The connection is lost, the world violates the protocol or the rules, or the agent fails.
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
                moves = 0; // a new game, even if the last one was not finished
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

    /// Reads the position, in which this player is to move.
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

    /// Sends a command and expects `ok`.
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
            // Bytes after the value answer no request and are dropped.
            match pickle::read(&bytes) {
                Ok(Some((value, _))) => return Ok(value),
                Ok(None) => {}
                Err(error) => return Err(PyroError::Pickle { request: request.to_owned(), error }),
            }
        }
    }
}

/// The cells of a board, `X`, `O` or `.`, indexed by x and y from 0.
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

/// Formats a value for an error message, at most 60 characters.
fn shortened(value: &Value) -> String {
    let text = match value {
        Value::Text(text) => format!("'{}'", text.escape_debug()),
        other => format!("{other:?}"),
    };
    if text.chars().count() <= 60 { text } else { text.chars().take(57).chain("...".chars()).collect() }
}
