//! The server: two ports, one world, consecutive games.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use rand::RngExt;
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::Side;

use super::pickle::Value;
use super::request::{LONGEST, Received, Request, receive};
use super::world::World;
use super::{SIDES, letter};

/// Maximum number of connections at a time; further ones are closed immediately.
const MOST_CONNECTIONS: usize = 32;

/// Time between two requests after which a connection is closed: a person may be thinking.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// Time from the first byte of a request to its last one, and from connecting to the first request.
const UNFINISHED: Duration = Duration::from_secs(10);

/// Time to send an answer after which a connection is closed.
const STALLED: Duration = Duration::from_secs(10);

/// Number of refused moves without a legal one after which a connection is closed.
const MOST_REFUSALS: u32 = 200;

/// The side that removes the first stone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum FirstPlayer {
    /// X, the second port.
    #[value(name = "X", alias = "x")]
    X,
    /// O, the first port.
    #[value(name = "O", alias = "o")]
    O,
    /// Either, at random in every game.
    Random,
}

/// A world that listens on two ports.
pub struct Server {
    listeners: [TcpListener; 2],
    ports: [u16; 2],
}

/// The world, and the settings of its games.
struct Table {
    world: World,
    first: FirstPlayer,
    seed: u64,
    games: u64,
}

impl Server {
    /// Listens on `port` and the next one; with 0 the system chooses both.
    ///
    /// # Errors
    /// An error of the system, e.g. if a port is in use.
    pub fn bind(host: &str, port: u16) -> io::Result<Self> {
        let second = match port {
            0 => 0,
            u16::MAX => return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no port after it")),
            port => port + 1,
        };
        let listeners = [TcpListener::bind((host, port))?, TcpListener::bind((host, second))?];
        let ports = [listeners[0].local_addr()?.port(), listeners[1].local_addr()?.port()];
        Ok(Self { listeners, ports })
    }

    /// Returns the ports of O and X.
    #[must_use]
    pub fn ports(&self) -> [u16; 2] {
        self.ports
    }

    /// Serves until the process ends. Prints moves to standard output, and passes refused ones and faults to `note`.
    ///
    /// # Errors
    /// The threads that accept connections cannot be started.
    pub fn run(self, first: FirstPlayer, seed: u64, note: impl Fn(&str) + Sync) -> io::Result<()> {
        let table = Mutex::new(Table::new(first, seed));
        let (connections, closing) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            for (player, listener) in self.listeners.iter().enumerate() {
                let (table, connections, closing, ports, note) = (&table, &connections, &closing, self.ports, &note);
                let accept = move || {
                    for connection in listener.incoming().take_while(|_| !closing.load(Ordering::SeqCst)) {
                        let Ok(stream) = connection else {
                            thread::sleep(Duration::from_millis(100)); // out of descriptors, for instance
                            continue;
                        };
                        if connections.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
                            connections.fetch_sub(1, Ordering::SeqCst);
                            continue;
                        }
                        let talk = move || {
                            // A broken connection is treated as one that was closed.
                            let _ = serve(stream, SIDES[player], ports, table, note);
                            connections.fetch_sub(1, Ordering::SeqCst);
                        };
                        // Without a thread, the connection is closed; later ones may find one.
                        if let Err(error) = thread::Builder::new().spawn_scoped(scope, talk) {
                            connections.fetch_sub(1, Ordering::SeqCst);
                            note(&format!("a connection was closed: cannot start a thread: {error}"));
                        }
                    }
                };
                if let Err(error) = thread::Builder::new().spawn_scoped(scope, accept) {
                    // The other listener's thread may run already, and would keep this function from returning. It waits for
                    // a connection.
                    closing.store(true, Ordering::SeqCst);
                    let _ = TcpStream::connect(self.listeners[0].local_addr()?);
                    return Err(error);
                }
            }
            Ok(())
        })
    }
}

/// Answers the requests of one connection until it is closed.
fn serve(
    mut stream: TcpStream,
    side: Side,
    ports: [u16; 2],
    table: &Mutex<Table>,
    note: &impl Fn(&str),
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(STALLED))?;
    let mut buffer = Vec::new();
    let mut refusals = 0;
    let mut deadline = Some(Instant::now() + UNFINISHED);
    while refusals < MOST_REFUSALS {
        let answer = match receive(&buffer, ports) {
            Received::Request(Request::Disconnect, _) => break,
            Received::Request(Request::Leave, _) => {
                stream.write_all(&Value::from("ok").pickled())?;
                break;
            }
            Received::Request(request, length) => {
                buffer.drain(..length);
                deadline = None;
                let is_done = request == Request::Done;
                match lock(table).answer(request, side, &mut refusals, note) {
                    Value::Text(text) if is_done && text == "ok" => text.into_bytes(), // not pickled, as in Pyro's world
                    answer => answer.pickled(),
                }
            }
            Received::Unknown => {
                buffer.clear();
                deadline = None;
                Value::from("error").pickled()
            }
            Received::Partly => {
                let blank = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                buffer.drain(..blank);
                if !buffer.is_empty() {
                    deadline = deadline.or_else(|| Some(Instant::now() + UNFINISHED));
                }
                let left = deadline.map_or(IDLE, |deadline| deadline.saturating_duration_since(Instant::now()));
                if left.is_zero() {
                    break;
                }
                stream.set_read_timeout(Some(left))?;
                let mut chunk = [0; LONGEST];
                let length = stream.read(&mut chunk)?;
                if length == 0 {
                    break;
                }
                buffer.extend(&chunk[..length]);
                continue;
            }
        };
        stream.write_all(&answer)?;
    }
    Ok(())
}

/// Locks the table, even if a thread panicked while holding it: every request leaves it consistent.
fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Table {
    fn new(first: FirstPlayer, seed: u64) -> Self {
        let mut table = Self { world: World::new(Side::First), first, seed, games: 0 };
        table.reset();
        table
    }

    fn reset(&mut self) {
        self.games += 1;
        let first = match self.first {
            FirstPlayer::X => Side::First,
            FirstPlayer::O => Side::Second,
            FirstPlayer::Random => {
                SIDES[usize::from(stream(self.seed, Purpose::Toss, [self.games, 0]).random_bool(0.5))]
            }
        };
        println!("game {}: {} to begin", self.games, letter(first));
        self.world = World::new(first);
    }

    /// Answers a request of this side. `refusals` counts its refused moves since the last legal one.
    fn answer(&mut self, request: Request, side: Side, refusals: &mut u32, note: &impl Fn(&str)) -> Value {
        let number = |player: usize| Value::Int(player as i64);
        let done = match request {
            Request::ConnectionNumber(player) => return player.map_or_else(|| Value::from("error"), number),
            Request::WhosMove => return number(SIDES.iter().position(|&s| s == self.world.mover()).unwrap_or(0)),
            Request::Board => return self.world.board(),
            Request::Names(names) => return Value::List(names.iter().map(|&name| Value::from(name)).collect()),
            Request::Disconnect | Request::Leave => return Value::from("ok"),
            Request::Reset => {
                self.reset();
                Ok(())
            }
            Request::Play(command) => {
                self.world.play(side, &command).map_err(|fault| format!("{} {command}: {fault}", letter(side)))
            }
            Request::Done => match self.world.done(side) {
                Ok(completed) => {
                    println!("{completed}");
                    Ok(())
                }
                Err(fault) => Err(format!("{} done: {fault}", letter(side))),
            },
        };
        match done {
            Ok(()) => {
                *refusals = 0;
                Value::from("ok")
            }
            Err(fault) => {
                *refusals += 1;
                note(&format!("refused: {fault}"));
                Value::from("error")
            }
        }
    }
}
