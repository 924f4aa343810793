//! The client: polls whose move it is, reads the board, sends its move and `done`, and finally `disconnect`.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use thiserror::Error;
use turnstone_agents::search::Stop;
use turnstone_base::streams::Stream;
use turnstone_env::games::{Konane, konane};
use turnstone_env::{Action, AnyState, Error as GameError, Notation, Rules, Side};

use super::pickle::{self, PickleError, Value};
use super::world::SIZE;
use super::{SIDES, letter};
use turnstone_agents::{PlayerFault, Search};

/// Time to wait for a world that is not listening yet.
const STARTING: Duration = Duration::from_secs(10);

/// Time to wait for an answer.
const ANSWER: Duration = Duration::from_secs(30);

/// Time to wait before reconnecting to a world that has closed the connection, and the maximum number of reconnections
/// in succession.
const RECONNECTING: Duration = Duration::from_millis(100);
const MOST_RECONNECTIONS: u32 = 3;

/// Answers that a world may send as plain text, as Pyro's does after `done`. Neither is the start of a pickle.
const PLAIN_ANSWERS: [&str; 2] = ["ok", "error"];

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

impl PyroError {
    fn is_refused(&self) -> bool {
        matches!(self, Self::Connection { error, .. } if error.kind() == io::ErrorKind::ConnectionRefused)
    }

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

/// Result of one game for the player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Played {
    /// Whether the player won.
    pub won: bool,
    /// Number of moves that the player made.
    pub moves: usize,
}

/// This player's part in the current game.
#[derive(Default)]
struct Progress {
    /// Number of completed moves of the player.
    moves: usize,
    /// Number of gaps on the board after the last of them. A game only ever makes more.
    gaps: usize,
    /// A move that the world may or may not have executed.
    pending: Option<Pending>,
}

/// A move whose `done` has not been answered yet.
struct Pending {
    /// The board after the move.
    board: String,
    /// Whether the move wins.
    wins: bool,
}

/// Result of one round of requests.
enum Step {
    /// It is the other player's move.
    Waited,
    /// The player has moved or requested a new game, or the world has changed in between.
    Moved,
    /// A game is over.
    Ended(Played),
}

impl Progress {
    /// Counts the pending move as completed. Returns the result of the game if the move wins.
    fn complete(&mut self) -> Option<Played> {
        let pending = self.pending.take()?;
        self.moves += 1;
        self.gaps = gaps(&pending.board);
        pending.wins.then(|| self.end(true))
    }

    /// Takes note of the board on which the player is to move. The number of gaps tells apart a game that continues, in
    /// which the opponent has made at least one since the player's last move, and a new one: a game may be reset before
    /// its end.
    fn see(&mut self, board: &str) {
        match self.pending.take() {
            Some(pending) if pending.board == board => self.pending = Some(pending),
            Some(pending) if gaps(&pending.board) < gaps(board) => {
                (self.moves, self.gaps) = (self.moves + 1, gaps(&pending.board)); // the opponent has answered it
            }
            _ if gaps(board) <= self.gaps => *self = Self::default(),
            _ => {}
        }
    }

    fn end(&mut self, won: bool) -> Played {
        let moves = self.moves;
        *self = Self::default();
        Played { won, moves }
    }
}

impl Drop for Client {
    /// Sends `disconnect`, without which Pyro's world closes the other player's connection too.
    fn drop(&mut self) {
        let _ = self.stream.write_all(b"disconnect");
    }
}

impl Client {
    /// Connects to a player's port and asks which player that is. Tries for up to ten seconds while the world has not
    /// started, or closes the connection because another player has just broken off.
    ///
    /// # Errors
    /// The connection is refused, or the answer is not that of a Konane world.
    pub fn connect(host: &str, port: u16) -> Result<Self, PyroError> {
        let start = Instant::now();
        loop {
            match Self::connect_once(host, port) {
                Err(error) if (error.is_refused() || error.is_lost_connection()) && start.elapsed() < STARTING => {
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

    /// Returns the player's side.
    #[must_use]
    pub fn side(&self) -> Side {
        SIDES[self.player]
    }

    /// Plays until `games` games are over or `stop` is raised, and calls `report` after each game. After a lost game the
    /// client sends `reset`; after a won game it waits for the opponent or a person to do so. A finished game in which
    /// this player has not moved is reset.
    ///
    /// # Errors
    /// The world has gone, or does not keep to the protocol or the rules, or the agent fails.
    pub fn play(
        &mut self,
        search: &mut dyn Search,
        rng: &Stream,
        games: u32,
        poll: Duration,
        stop: &Stop,
        mut report: impl FnMut(Played),
    ) -> Result<(), PyroError> {
        let (game, mut rng) = (Konane::default(), rng.clone());
        let (mut played, mut progress, mut reconnections) = (0, Progress::default(), 0);
        while played < games && !stop.is_raised() {
            match self.step(&game, &mut progress, search, &mut rng) {
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

    /// Makes a move if the player is on the move.
    fn step(
        &mut self,
        game: &Konane,
        progress: &mut Progress,
        search: &mut dyn Search,
        rng: &mut Stream,
    ) -> Result<Step, PyroError> {
        if self.ask_player("whosMove")? != self.player {
            return Ok(progress.complete().map_or(Step::Waited, Step::Ended)); // the answer to `done` was lost
        }
        let board = self.board()?;
        progress.see(&board);
        if progress.pending.is_none() {
            let state = position(game, &board, self.side())?;
            if game.outcome(&state).is_some() {
                if progress.moves > 0 {
                    return Ok(Step::Ended(progress.end(false)));
                }
                self.command("reset")?;
                return Ok(Step::Moved);
            }
            if progress.moves == 0 {
                let random = Stream::seed_from_u64(rng.random());
                search.new_game(0, &AnyState::new(state), random);
            }
            let action = search.choose(0, &AnyState::new(state))?;
            // A world that was reset while the player thought would take the move for one of the new game.
            if self.ask_player("whosMove")? != self.player || self.board()? != board {
                return Ok(Step::Moved);
            }
            progress.pending = Some(Pending::new(game, state, action));
            self.command(&game.action_text(&state, action))?;
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
            // Bytes after the value answer no request and are dropped.
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

/// Number of empty cells of a board.
fn gaps(board: &str) -> usize {
    board.matches('.').count()
}

/// Parses the position with this board and this side to move.
fn position(game: &Konane, board: &str, mover: Side) -> Result<konane::State, PyroError> {
    game.parse_position(&format!("{board} {}", letter(mover))).map_err(PyroError::Board)
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
