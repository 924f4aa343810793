//! Pyro's Konane world: `pyro` in a stand-in for Pyro's world, a stand-in for its player on `pyro-server`, and faults.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use turnstone_hosts::pyro::pickle::{self, Value};

use super::{FOLDER, HOSTS, output, texts};

/// A process that is killed at the end of the test.
struct Running(Child);

impl Running {
    /// Starts a program whose first line of output says where it is, and reads that line.
    fn with_line(command: &mut Command) -> (Self, String, BufReader<ChildStdout>) {
        let child = command.stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error} (these tests need python3)"));
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        out.read_line(&mut line).expect("a line");
        (Self(child), line, out)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A stand-in's program in Python.
fn python(script: &str, args: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command.arg(format!("{FOLDER}/pyro/stub/{script}")).args(args).stdin(Stdio::null());
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn pyro(agent: &str, port: u16, games: u32) -> Command {
    let mut command = Command::new(HOSTS);
    command.args(["pyro", "--agent", agent, "--poll", "1"]);
    command.args(["--port", &port.to_string(), "--games", &games.to_string()]);
    command
}

fn our_server(args: &[&str]) -> (Running, [u16; 2], BufReader<ChildStdout>) {
    let mut command = Command::new(HOSTS);
    command.args(["pyro-server", "--port", "0"]).args(args).stderr(Stdio::null());
    let (server, line, out) = Running::with_line(&mut command);
    let ports = line.trim().split(", ").map(|part| part.rsplit(':').next().expect("a port").parse().expect("a port"));
    let ports: Vec<u16> = ports.collect();
    (server, [ports[0], ports[1]], out)
}

/// Two `pyro` players in the stand-in's world, with the test as the referee.
#[test]
fn pyros_world_twenty_games() {
    let (mut world, line, mut out) = Running::with_line(&mut python("world.py", &["20"]));
    let ports: Vec<u16> = line.split_whitespace().map(|port| port.parse().expect("a port")).collect();
    let players = [("alphabeta:depth=2", ports[0]), ("mcts:sims=20", ports[1])];
    let results = thread::scope(|scope| {
        let play = |(agent, port)| scope.spawn(move || texts(&mut pyro(agent, port, 20)).0);
        players.map(play).map(|player| player.join().expect("a player"))
    });
    let mut games = String::new();
    out.read_to_string(&mut games).expect("the world's lines");
    assert!(world.0.wait().expect("it ends").success(), "{games}");
    assert_eq!(games.lines().count(), 20, "{games}");
    let won = results.map(|lines| lines.matches(" won, ").count());
    assert_eq!(won[0] + won[1], 20);
}

/// A player whose opponent leaves after each game; leaving without `disconnect` closes every player's connection.
#[test]
fn an_opponents_leaving_is_survived() {
    let (mut world, line, mut out) = Running::with_line(&mut python("world.py", &["4"]));
    let ports: Vec<u16> = line.split_whitespace().map(|port| port.parse().expect("a port")).collect();
    let (stays, leaves) = thread::scope(|scope| {
        let stays = scope.spawn(|| texts(&mut pyro("alphabeta:depth=2", ports[0], 4)).0);
        let leaves: Vec<String> = (0..4)
            .map(|game| {
                let (lines, _) = texts(&mut pyro("random", ports[1], 1));
                if game < 3 {
                    let mut rude = TcpStream::connect(("127.0.0.1", ports[1])).expect("it listens");
                    rude.write_all(b"properties").expect("sent");
                    assert!(rude.read(&mut [0; 256]).expect("an answer") > 0);
                }
                lines
            })
            .collect();
        (stays.join().expect("a player"), leaves.concat())
    });
    let mut games = String::new();
    out.read_to_string(&mut games).expect("the world's lines");
    assert!(world.0.wait().expect("it ends").success(), "{games}");
    let count = |lines: &str, result: &str| lines.matches(result).count();
    assert_eq!(count(&stays, " won, ") + count(&leaves, " won, "), 4, "{stays}{leaves}");
    assert_eq!(count(&stays, " lost, ") + count(&leaves, " lost, "), 4, "{stays}{leaves}");
}

/// A move is made exactly once, whether the connection is lost before or after its `done` is executed.
#[test]
fn a_move_cut_off_is_completed() {
    let ok = || Value::from("ok").pickled();
    for is_carried_out in [false, true] {
        let mut script = vec![
            ("connectionNum", vec![Value::Int(1).pickled()]),
            ("whosMove", vec![Value::Int(1).pickled()]),
            ("board", vec![board(|_, _| false)]),
            ("whosMove", vec![Value::Int(1).pickled()]),
            ("board", vec![board(|_, _| false)]),
            ("remove(", vec![ok()]),
            ("done", vec![]), // the connection is closed
            ("connectionNum", vec![Value::Int(1).pickled()]),
            ("whosMove", vec![Value::Int(i64::from(!is_carried_out)).pickled()]),
        ];
        if !is_carried_out {
            script.push(("board", vec![])); // without the removed stone
            script.push(("done", vec![b"o".to_vec(), b"k".to_vec()]));
        }
        script.push(("whosMove", vec![Value::Int(1).pickled()]));
        script.push(("board", vec![lost_board()]));
        script.push(("disconnect", vec![]));
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let world = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a player");
            let mut removed = (0, 0);
            for (request, mut answer) in script {
                let mut bytes = [0; 256];
                let length = stream.read(&mut bytes).expect("a request");
                let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
                assert!(text.starts_with(request), "{text} instead of {request}");
                if let Some((x, y)) =
                    text.strip_prefix("remove(").and_then(|cell| cell.strip_suffix(')')?.split_once(','))
                {
                    removed = (x.parse().expect("a row"), y.parse().expect("a column"));
                }
                match (request, answer.is_empty()) {
                    ("board", true) => answer.push(board(|x, y| (x, y) == removed)),
                    ("done", true) => {
                        stream.shutdown(Shutdown::Both).expect("it is open");
                        stream = listener.accept().expect("the player again").0;
                    }
                    _ => {}
                }
                for part in answer {
                    stream.write_all(&part).expect("sent");
                    thread::sleep(Duration::from_millis(20));
                }
            }
        });
        let (lines, _) = texts(&mut pyro("alphabeta:depth=1", port, 1));
        assert!(lines.ends_with("game 1: X lost, 1 moves\n"), "{lines}");
        world.join().expect("the world");
    }
}

/// Answers requests that must come in this order. Returns the port.
fn scripted_world(script: Vec<(&'static str, Vec<u8>)>) -> (u16, thread::JoinHandle<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let world = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a player");
        for (i, (request, answer)) in script.into_iter().enumerate() {
            let mut bytes = [0; 256];
            let length = stream.read(&mut bytes).expect("a request");
            let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
            assert!(text.starts_with(request), "request {i}: {text} instead of {request}");
            stream.write_all(&answer).expect("sent");
        }
    });
    (port, world)
}

/// What X asks for in a turn on this board, up to its move, and the answers.
fn turn(board: &[u8], command: &'static str) -> Vec<(&'static str, Vec<u8>)> {
    let looks = ["whosMove", "board", "whosMove", "board"];
    let answer = |request| if request == "board" { board.to_vec() } else { Value::Int(1).pickled() };
    let mut script: Vec<_> = looks.into_iter().map(|request| (request, answer(request))).collect();
    script.extend([(command, Value::from("ok").pickled()), ("done", b"ok".to_vec())]);
    script
}

/// A world whose *Reset!* is pressed while the player thinks of its first or second move: the move is not played in the new
/// game, in which X or O begins, and the moves are counted from there.
#[test]
fn a_reset_while_the_player_thinks() {
    let number = |player| Value::Int(player).pickled();
    let full = board(|_, _| false);
    let by_o = board(|x, y| (x, y) == (4, 4));
    let by_both = board(|x, y| [(4, 5), (5, 5)].contains(&(x, y)));
    let x_begins = [vec![("whosMove", number(1)), ("board", full.clone())], turn(&full, "remove(")].concat();
    let o_begins = [vec![("whosMove", number(0)), ("whosMove", number(0))], turn(&by_o, "remove(")].concat();
    let first = vec![("whosMove", number(1)), ("board", full.clone())];
    let second = [turn(&full, "remove("), vec![("whosMove", number(1)), ("board", by_both)]].concat();
    for (thinking, after) in [(&first, &o_begins), (&second, &o_begins), (&second, &x_begins)] {
        let mut script = vec![("connectionNum", number(1))];
        script.extend([thinking.clone(), after.clone()].concat());
        script.extend([("whosMove", number(1)), ("board", lost_board()), ("disconnect", vec![])]);
        let (port, world) = scripted_world(script);
        let (lines, _) = texts(&mut pyro("alphabeta:depth=1", port, 1));
        world.join().expect("the world");
        assert!(lines.ends_with("game 1: X lost, 1 moves\n"), "{lines}");
    }
}

/// A game that is reset where the player sees neither its end nor the first moves of the next one.
#[test]
fn moves_are_counted_in_one_game() {
    let number = || Value::Int(1).pickled();
    let early = board(|x, y| [(4, 5), (5, 5)].contains(&(x, y)));
    let late = board(|x, y| y == 5 || (x, y) == (4, 4));
    let mut script = vec![("connectionNum", number())];
    script.extend([turn(&early, "jump("), turn(&late, "jump("), turn(&early, "jump(")].concat());
    script.extend([("whosMove", number()), ("board", lost_board()), ("disconnect", vec![])]);
    let (port, world) = scripted_world(script);
    let (lines, _) = texts(&mut pyro("alphabeta:depth=1", port, 1));
    world.join().expect("the world");
    assert!(lines.ends_with("game 1: X lost, 1 moves\n"), "{lines}");
}

/// A pickled board with all stones except on these cells.
fn board(is_empty: impl Fn(usize, usize) -> bool) -> Vec<u8> {
    let stone = |x: usize, y: usize| if x % 2 == y % 2 { "O" } else { "X" };
    let cell = |x, y| Value::from(if is_empty(x, y) { "" } else { stone(x, y) });
    Value::List((1..=8).map(|x| Value::List((1..=8).map(|y| cell(x, y)).collect())).collect()).pickled()
}

/// A pickled board on which neither side can jump.
fn lost_board() -> Vec<u8> {
    board(|x, y| ![(1, 1), (8, 1)].contains(&(x, y)))
}

/// A player that uses Python's `pickle` against `pyro` on `pyro-server`.
#[test]
fn our_world_twenty_games() {
    let (_server, [o, x], _out) = our_server(&[]);
    let mut player = python("player.py", &[&o.to_string()]);
    let _player = Running(player.spawn().expect("python3 (these tests need it)"));
    let (lines, _) = texts(&mut pyro("alphabeta:depth=2", x, 20));
    assert_eq!(lines.matches("game ").count(), 20, "{lines}");
    assert!(lines.matches(" won, ").count() >= 18, "{lines}");
}

#[test]
fn our_world_survives_whoever_connects() {
    let (_server, [o, x], _out) = our_server(&["--first-player", "X"]);
    let ask = |stream: &mut TcpStream, request: &[u8]| {
        stream.write_all(request).expect("sent");
        let mut bytes = Vec::new();
        loop {
            let mut chunk = [0; 1024];
            let length = stream.read(&mut chunk).expect("an answer");
            assert!(length > 0, "the connection is closed");
            bytes.extend(&chunk[..length]);
            if bytes == b"ok" {
                return Value::from("not pickled");
            }
            if let Some((value, _)) = pickle::read(&bytes).expect("a pickle") {
                return value;
            }
        }
    };
    let connect = |port| TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let [mut light, mut dark] = [connect(o), connect(x)];
    for garbage in [&b"\0\xff\xfe"[..], b"GET / HTTP/1.1\r\n\r\n", b"jump(99999999999999999999,1,2,3)", &[b'j'; 5000]] {
        assert_eq!(ask(&mut light, garbage), Value::from("error"));
        light = connect(o);
    }
    assert_eq!(ask(&mut dark, b"done"), Value::from("error"));
    assert_eq!(ask(&mut light, b"remove(4,4)"), Value::from("error"), "it is X's move");
    dark.write_all(b"remove(").expect("sent");
    assert_eq!(ask(&mut light, b"whosMove"), Value::Int(1), "half a request holds nobody up");
    assert_eq!(ask(&mut dark, b"5,4)"), Value::from("ok"));
    // Who says `end` is answered, who says `disconnect` is not; the others stay.
    for (word, answer) in [("end", "S'ok'\n."), ("disconnect", "")] {
        let (mut guest, mut bytes) = (connect(o), Vec::new());
        guest.write_all(word.as_bytes()).expect("sent");
        guest.read_to_end(&mut bytes).expect("the end");
        assert_eq!(bytes, answer.as_bytes(), "{word}");
    }
    // More connections than allowed: further ones are closed, and games in progress continue.
    let _crowd: Vec<TcpStream> = (0..100).map(|_| connect(o)).collect();
    assert_eq!(ask(&mut dark, b"done"), Value::from("not pickled"));
    assert_eq!(ask(&mut light, b"whosMove"), Value::Int(0));
    // A program whose moves are all refused is disconnected.
    let refused = (0..1000).take_while(|_| {
        let mut byte = [0; 64];
        dark.write_all(b"done").is_ok() && dark.read(&mut byte).is_ok_and(|length| length > 0)
    });
    assert!(refused.count() < 1000);
}

/// Faults of a world end in one line of error.
#[test]
fn a_world_that_is_none_is_refused() {
    let function = b"cos\nsystem\n(S'true'\ntR.".to_vec();
    let cases = [
        (vec![function.clone()], "opcode `c` is none of plain data"),
        (vec![vec![b'('; 70_000]], "nested too deep"),
        (vec![b"S'hello'\n.".to_vec()], "is 'hello', not 0 or 1"),
        (vec![b"I0\n.".to_vec(), b"I0\n.".to_vec(), b"(l(la.".to_vec()], "not eight columns of eight cells"),
        (vec![b"I0\n.".to_vec(), b"I0\n.".to_vec(), python_board("S")], "the world's board: position"),
        (vec![b"I0\n.".to_vec()], "has closed the connection"),
        (vec![b"ok".to_vec()], "is 'ok', not 0 or 1"),
        (vec![vec![b' '; 70_000]], "longer than 16384 bytes"),
        (refusing_world(), "is 'error', not 'ok'"),
    ];
    for (answers, complaint) in cases {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let world = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a player");
            for answer in answers {
                let _ = stream.read(&mut [0; 256]);
                let _ = stream.write_all(&answer);
            }
            let _ = stream.read(&mut [0; 256]);
        });
        let output = output(&mut pyro("random", port, 1));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(complaint) && text.lines().count() == 1, "{complaint}: {text}");
        world.join().expect("the world");
    }
}

/// The answers of a world that refuses X's first move.
fn refusing_world() -> Vec<Vec<u8>> {
    let (player, full) = (b"I1\n.".to_vec(), board(|_, _| false));
    vec![player.clone(), player.clone(), full.clone(), player, full, b"error ".to_vec()]
}

/// A pickled board with X on every cell, including those of O.
fn python_board(opcode: &str) -> Vec<u8> {
    let quote = if opcode == "S" { "'" } else { "" };
    let column = format!("(l{}", format!("{opcode}{quote}X{quote}\na").repeat(8));
    format!("(l{}.", format!("{column}a").repeat(8)).into_bytes()
}

#[test]
fn pickles_of_python_are_read() {
    let program = r#"
import pickle, sys
for value in ["X", "it's \"both\"\n\\ \x00\xff \u20ac \U0001f600", 0, -7, 2**62, True, False, None, [], (), ["ok", ["", "X", "X"]],
              (1, ("a",), [None]), [["X" if x % 2 else "O" for x in range(8)] for y in range(8)]]:
    print(pickle.dumps(value, 0).hex())
"#;
    let (lines, _) = texts(Command::new("python3").args(["-c", program]));
    let text = |s: &str| Value::from(s);
    let column = Value::List((0..8).map(|x| text(if x % 2 == 0 { "O" } else { "X" })).collect());
    let expected = [
        text("X"),
        text("it's \"both\"\n\\ \0\u{ff} \u{20ac} \u{1f600}"),
        Value::Int(0),
        Value::Int(-7),
        Value::Int(1 << 62),
        Value::Bool(true),
        Value::Bool(false),
        Value::None,
        Value::List(vec![]),
        Value::Tuple(vec![]),
        Value::List(vec![text("ok"), Value::List(vec![text(""), text("X"), text("X")])]),
        Value::Tuple(vec![Value::Int(1), Value::Tuple(vec![text("a")]), Value::List(vec![Value::None])]),
        Value::List(vec![column; 8]),
    ];
    assert_eq!(lines.lines().count(), expected.len());
    for (line, expected) in lines.lines().zip(expected) {
        let byte = |i: usize| u8::from_str_radix(&line[2 * i..2 * i + 2], 16).expect("hex");
        let bytes: Vec<u8> = (0..line.len() / 2).map(byte).collect();
        assert_eq!(pickle::read(&bytes), Ok(Some((expected, bytes.len()))), "{}", bytes.escape_ascii());
    }
}

/// Connections that begin a request and do not end it make room for others after ten seconds.
#[test]
fn unfinished_requests_do_not_lock_the_world() {
    let (_server, [port, _], _out) = our_server(&[]);
    let connect = |request: &[u8]| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it accepts");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        stream.write_all(request).expect("it is there");
        stream
    };
    let mut waiting: Vec<_> = [&b"whos"[..], b"  \n", b"jump(1,"].into_iter().cycle().take(32).map(connect).collect();
    let begun = std::time::Instant::now();
    for stream in &mut waiting {
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() && begun.elapsed() < Duration::from_secs(50), "{answer:?}");
    }
    let mut answer = [0; 1];
    connect(b"whosMove").read_exact(&mut answer).expect("there is room again");
}

/// A connection for which no thread can be started is closed, and the server continues.
#[cfg(target_os = "linux")]
#[test]
fn a_connection_without_a_thread_is_closed() {
    // Room for the stacks of both listeners, and for none of a connection.
    let mut server = Command::new("sh");
    server
        .args(["-c", "ulimit -v 5900000 && exec \"$0\" pyro-server --port 0", HOSTS])
        .env("RUST_MIN_STACK", (2_u64 << 30).to_string())
        .stderr(Stdio::null());
    let (mut server, line, _out) = Running::with_line(&mut server);
    let port: u16 = line.trim().rsplit(':').next().expect("a port").parse().expect("a port");
    let status = format!("/proc/{}/status", server.0.id());
    while !fs::read_to_string(&status).expect("it runs").contains("Threads:\t3\n") {
        thread::sleep(Duration::from_millis(10)); // until both listeners have their threads
    }
    for attempt in 0..3 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it still accepts");
        let _ = stream.write_all(b"whosMove");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty(), "connection {attempt} was served: the test leaves too much memory");
        assert!(server.0.try_wait().expect("it can be asked").is_none(), "the server has ended");
    }
}
