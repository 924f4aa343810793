//! The client: asks whose move it is, reads the board, plays and says `done`; at the end it says `disconnect`.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;
use turnstone_env::games::{Konane, konane};
use turnstone_env::{Action, AnyState, Error as GameError, Game, Side};

use super::pickle::{self, PickleError, Value};
use super::world::SIZE;
use super::{SIDES, letter};
use turnstone_agents::streams::Stream;
use turnstone_agents::{Player, PlayerFault};

/// How long to wait for a world that does not listen yet.
const STARTING: Duration = Duration::from_secs(10);

/// How long to wait for an answer.
const ANSWER: Duration = Duration::from_secs(30);

/// How long to wait before connecting again to a world that has closed the connection, and how often in succession.
const RECONNECTING: Duration = Duration::from_millis(100);
const MOST_RECONNECTIONS: u32 = 3;

/// Answers that a world may send as plain text, as Pyro's does after `done`. Neither is the start of a pickle.
const PLAIN_ANSWERS: [&str; 2] = ["ok", "error"];

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

impl PyroError {
    /// Whether the world has closed the connection. Pyro's does so with all its players when one of them breaks off.
    fn is_lost_connection(&self) -> bool {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
        let is_lost = |kind| matches!(kind, BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof);
        matches!(self, Self::Connection { error, .. } if is_lost(error.kind()))
    }
}

/// A connection to a world as one of its players. Dropping it leaves the world and the other player as they are.
pub struct Client {
    stream: TcpStream,
    host: String,
    port: u16,
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

/// The game that is on, as far as this player had a part in it.
#[derive(Default)]
struct Progress {
    /// Moves that the player completed.
    moves: usize,
    /// A move that the world may or may not have taken.
    pending: Option<Pending>,
}

/// A move between its command and the answer to `done`.
struct Pending {
    /// The board after it.
    board: String,
    /// Whether it wins.
    wins: bool,
}

/// What one round of requests led to.
enum Step {
    /// It is the other player's move.
    Waited,
    /// The player has moved, or asked for a new game.
    Moved,
    /// A game is over.
    Ended(Played),
}

impl Progress {
    /// Counts the pending move; how the game ended if that was the last one.
    fn complete(&mut self) -> Option<Played> {
        let pending = self.pending.take()?;
        self.moves += 1;
        pending.wins.then(|| self.end(true))
    }

    fn end(&mut self, won: bool) -> Played {
        Played { won, moves: std::mem::take(&mut self.moves) }
    }
}

impl Drop for Client {
    /// Says `disconnect`, without which Pyro's world would close the other player's connection too.
    fn drop(&mut self) {
        let _ = self.stream.write_all(b"disconnect");
    }
}

impl Client {
    /// Connects to a player's port and asks which player that is. A world that is just starting is waited for.
    ///
    /// # Errors
    /// Nothing listens there, or it is no Konane world.
    pub fn connect(host: &str, port: u16) -> Result<Self, PyroError> {
        let start = Instant::now();
        loop {
            match Self::connect_once(host, port) {
                Err(PyroError::Connection { error, .. })
                    if error.kind() == io::ErrorKind::ConnectionRefused && start.elapsed() < STARTING =>
                {
                    thread::sleep(RECONNECTING);
                }
                other => return other,
            }
        }
    }

    fn connect_once(host: &str, port: u16) -> Result<Self, PyroError> {
        let ready = TcpStream::connect((host, port)).and_then(|stream| {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(ANSWER))?;
            Ok(stream)
        });
        let stream = ready.map_err(|error| PyroError::Connection { address: format!("{host}:{port}"), error })?;
        let mut client = Self { stream, host: host.to_owned(), port, player: 0 };
        client.player = client.ask_player(&format!("connectionNum:{port}"))?;
        Ok(client)
    }

    /// Whose stones the player has.
    #[must_use]
    pub fn side(&self) -> Side {
        SIDES[self.player]
    }

    /// Plays until this number of games is over or `stop` is set, and calls `report` after each game. A game that is lost
    /// is followed by a `reset`; after one that is won, the loser or a person has to ask for the next. A finished game that
    /// this player had no part in is reset.
    ///
    /// # Errors
    /// The world has gone, or does not keep to the protocol or the rules, or the agent fails.
    pub fn play(
        &mut self,
        player: &mut dyn Player,
        rng: &mut Stream,
        games: u32,
        poll: Duration,
        stop: &AtomicBool,
        mut report: impl FnMut(Played),
    ) -> Result<(), PyroError> {
        let game = Konane::default();
        let (mut played, mut progress, mut reconnections) = (0, Progress::default(), 0);
        while played < games && !stop.load(Ordering::Relaxed) {
            match self.step(&game, &mut progress, player, rng) {
                Ok(Step::Waited) => thread::sleep(poll),
                Ok(Step::Moved) => {}
                Ok(Step::Ended(game)) => {
                    report(game);
                    played += 1;
                }
                Err(error) if error.is_lost_connection() && reconnections < MOST_RECONNECTIONS => {
                    reconnections += 1;
                    thread::sleep(RECONNECTING);
                    *self = Self::connect_once(&self.host, self.port).map_err(|_| error)?;
                    continue;
                }
                Err(error) => return Err(error),
            }
            reconnections = 0;
        }
        Ok(())
    }

    /// Makes the player's next move, if it is on the move.
    fn step(
        &mut self,
        game: &Konane,
        progress: &mut Progress,
        player: &mut dyn Player,
        rng: &mut Stream,
    ) -> Result<Step, PyroError> {
        if self.ask_player("whosMove")? != self.player {
            return Ok(progress.complete().map_or(Step::Waited, Step::Ended)); // the answer to `done` was lost
        }
        let board = self.board()?;
        if progress.pending.as_ref().is_none_or(|pending| pending.board != board) {
            let state = position(game, &board, self.side())?;
            if board.matches('.').count() <= 1 {
                progress.moves = 0; // a new game, even if the last one was not finished
            }
            if game.outcome(&state).is_some() {
                if progress.moves > 0 {
                    return Ok(Step::Ended(progress.end(false)));
                }
                self.command("reset")?;
                return Ok(Step::Moved);
            }
            if progress.moves == 0 {
                player.new_game(&AnyState::new(state), rng);
            }
            let action = player.choose(&AnyState::new(state), rng)?;
            progress.pending = Some(Pending::new(game, state, action));
            self.command(&game.action_text(action))?;
        }
        self.command("done")?;
        Ok(progress.complete().map_or(Step::Moved, Step::Ended))
    }

    /// Reads the board, in the game's notation without the mover.
    fn board(&mut self) -> Result<String, PyroError> {
        let answer = self.ask("board")?;
        let cells = cells(&answer).ok_or_else(|| {
            let expected = "eight columns of eight cells 'X', 'O' or ''";
            PyroError::Answer { request: "board".to_owned(), answer: shortened(&answer), expected }
        })?;
        let row = |x: usize| (0..SIZE).map(|y| cells[x][y]).collect::<String>();
        let rows: Vec<String> = (0..SIZE).rev().map(row).collect();
        Ok(rows.join("/"))
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
        let address = format!("{}:{}", self.host, self.port);
        let gone = |error| PyroError::Connection { address: address.clone(), error };
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
            let answer = bytes.trim_ascii();
            if answer.is_empty() && bytes.len() > pickle::MAX_BYTES {
                return Err(PyroError::Pickle { request: request.to_owned(), error: PickleError::TooLong });
            }
            if let Some(word) = PLAIN_ANSWERS.iter().find(|word| word.as_bytes().starts_with(answer)) {
                if answer.len() == word.len() {
                    return Ok(Value::from(*word));
                }
                continue;
            }
            // Whatever follows the value in the same bytes belongs to no request and is dropped.
            match pickle::read(answer) {
                Ok(Some((value, _))) => return Ok(value),
                Ok(None) => {}
                Err(error) => return Err(PyroError::Pickle { request: request.to_owned(), error }),
            }
        }
    }
}

impl Pending {
    fn new(game: &Konane, mut state: konane::State, action: Action) -> Self {
        game.play(&mut state, action);
        let text = game.position_text(&state);
        let board = text.split(' ').next().expect("a position begins with its board").to_owned();
        Self { board, wins: game.outcome(&state).is_some() }
    }
}

/// Parses the position with this board and this side to move.
fn position(game: &Konane, board: &str, mover: Side) -> Result<konane::State, PyroError> {
    game.parse_position(&format!("{board} {}", letter(mover))).map_err(PyroError::Board)
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
