//! `turnstone engine`: whole games, stopping and ending, and arbitrary input.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::{built_in, names};
use turnstone_env::{DynGame, Params, Side};

use super::talk::{PATIENCE, Talk};

fn engine(game: &str, agent: &str) -> Talk {
    Talk::start(&["engine", game, "--agent", agent])
}

#[test]
fn a_stop_is_answered_at_once_by_every_search() {
    for (game, agent) in [
        ("konane", "minimax:depth=30"),
        ("mancala", "alphabeta:depth=60"),
        ("morabaraba", "alphabeta:depth=40,hash=64"),
        ("morris", "alphabeta:time=1000m"),
        ("morabaraba", "breadthfirst:depth=20"),
        ("morris", "bestfirst:nodes=2000000"),
        ("konane", "mcts:sims=10000000"),
        ("mu_torere", "az:pretrained,sims=10000000"),
    ] {
        let mut talk = engine(game, agent);
        talk.say("isready");
        talk.hear_of("readyok");
        for go in ["go", "go infinite", "go nodes 1000000000", "go depth 100"] {
            talk.say("position startpos");
            talk.say(go);
            thread::sleep(Duration::from_millis(30));
            let start = Instant::now();
            talk.say("stop");
            talk.hear_of("bestmove ");
            assert!(start.elapsed() < Duration::from_secs(2), "{game} {agent}: {go}: {:?}", start.elapsed());
        }
        assert!(talk.end().1.success());
    }
}

#[test]
fn the_end_of_input_ends_a_search_and_the_program() {
    for agent in ["alphabeta:depth=60", "mcts:sims=10000000", "minimax:depth=60"] {
        let mut talk = engine("mancala", agent);
        talk.say("position startpos moves B5");
        talk.send(b"go infinite");
        let start = Instant::now();
        let (said, status) = talk.end();
        assert!(status.success() && start.elapsed() < Duration::from_secs(5));
        assert!(said.last().is_some_and(|line| line.starts_with("bestmove A")), "{said:?}");
    }
}

#[test]
fn a_reader_that_has_gone_ends_the_program() {
    for command in [["engine", "mancala"], ["analyse", "mu_torere"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_turnstone"))
            .args(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        drop(child.stdout.take());
        let mut input = child.stdin.take().expect("piped");
        _ = std::io::Write::write_all(&mut input, b"isready\n");
        let deadline = Instant::now() + PATIENCE;
        while child.try_wait().expect("a child").is_none() {
            assert!(Instant::now() < deadline, "the program continues though nobody reads");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

const WORDS: &str = "ugi|isready|uginewgame|stop|go|position|startpos|fen|moves|query|setoption|name|value|Game|Agent|Seed|\
    stones|p1turn|gameover|result|legal|movetime|nodes|depth|infinite|p1time|p2inc|1|20|-3|99999999999999999999|B5|A3|e5|\0|é|\t|\
    \u{1F600}|mancala|konane|random|alphabeta:depth=3|mcts:sims=20|az:nowhere|engine::cat|human|4,4,4,4,4,4/0 4,4,4,4,4,4/0 1|\
    121202121 1 0|info string error: x|bestmove|{\"id\":\"a\"}";
const WHOLE: &str = "position startpos|position startpos moves B5 A3|position fen 0,0,0,0,0,0/24 1,0,0,0,0,0/23 1|go|stop|\
    go nodes 50|go movetime 3|go depth 2|go infinite|moves B5|setoption name Game value morris|\
    setoption name Agent value mcts:sims=10|setoption name Game value mu_torere|uginewgame|query fen|\
    setoption name Agent value az:pretrained,sims=5|query legal|setoption name Seed value 7";

/// A random line: a command, an invalid command, or noise.
fn line(rng: &mut impl Rng) -> Vec<u8> {
    match rng.random_range(0..10) {
        0 => (0..rng.random_range(0..200)).map(|_| rng.random::<u8>()).collect(),
        1..=4 => one_of(rng, WHOLE).into(),
        5 => vec![b'x'; rng.random_range(0..100_000)],
        _ => {
            let words: Vec<&str> = (0..rng.random_range(1..8)).map(|_| one_of(rng, WORDS)).collect();
            words.join(" ").into_bytes()
        }
    }
}

/// One of the texts between the bars.
fn one_of(rng: &mut impl Rng, texts: &'static str) -> &'static str {
    let texts: Vec<&str> = texts.split('|').collect();
    texts[rng.random_range(0..texts.len())]
}

#[test]
fn nothing_that_comes_down_the_pipe_kills_or_hangs_the_engine() {
    for seed in 0..24 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let game = names()[seed as usize % names().len()];
        let mut talk = engine(game, "mcts:sims=50");
        for _ in 0..60 {
            let mut line = line(&mut rng);
            // Some lines in pieces; without `quit`, which would end the program too soon.
            line.push(b'\n');
            let cut = rng.random_range(0..line.len());
            talk.send(&line[..cut]);
            talk.send(&line[cut..]);
        }
        if seed == 0 {
            talk.send(&vec![b'y'; 5 << 20]);
        }
        talk.send(b"\nstop\nisready\n");
        talk.hear_of("readyok");
        talk.say("setoption name Agent value random");
        talk.say("position startpos");
        talk.say("go");
        talk.hear_of("bestmove ");
        talk.send(&line(&mut rng));
        assert!(talk.end().1.success(), "seed {seed}");
    }
}

#[test]
fn every_fault_is_one_line_and_changes_nothing() {
    let mut talk = engine("mancala", "alphabeta:depth=2");
    for (said, heard) in [
        ("hello", "unknown command `hello`"),
        ("position startpos moves A2", "illegal action `A2`; legal: B2 B3 B4 B5 B6 B7"),
        ("position fen x", "position `x`: "),
        ("position", "position startpos [moves ...], or position fen <position> [moves ...]"),
        ("go depth none", "go depth: expected a whole number from 0"),
        ("query score", "unknown query `score`"),
        ("setoption name Game value chess", "unknown game `chess`"),
        ("setoption name stones value 100", "mancala: parameter `stones` = `100`"),
        ("setoption name Agent value alphabeta:dept=3", "agent `alphabeta:dept=3`: unknown key `dept`"),
        ("setoption name Agent value human", "agent `human`: a person can only `play`"),
        ("setoption name Hash value 64", "unknown option `Hash`"),
        ("setoption name Game", "setoption name <name> value <value>"),
    ] {
        talk.say(said);
        let answer = talk.hear();
        assert!(answer.starts_with(&format!("info string error: {heard}")), "{said}: {answer}");
    }
    talk.say("query fen");
    assert_eq!(talk.hear(), "response 4,4,4,4,4,4/0 4,4,4,4,4,4/0 1");
    talk.say("position startpos");
    talk.say("go infinite");
    talk.say("go");
    talk.hear_of("info string error: a search is under way");
    talk.say("stop");
    talk.say("go depth 1");
    talk.hear_of("bestmove ");
    talk.hear_of("bestmove ");
}

/// Whoever asks for a position that is refused, or says what cannot be read, is given no move of another position.
#[test]
fn no_search_of_a_position_that_was_not_taken_over() {
    const UNKNOWN: &str = "info string error: the position is unknown since a line was refused";
    let mut talk = engine("mancala", "alphabeta:depth=2");
    let faults: [&[u8]; 7] = [
        b"position startpos moves A2\n",
        b"position fen x\n",
        b"position\n",
        b"moves Z9\n",
        b"moves\n",
        b"position startpos moves B2 \xff\n",
        &[b"position startpos moves B2".as_slice(), &b" B2".repeat(400_000), b"\n"].concat(),
    ];
    for fault in faults {
        for then in ["isready", "moves B3", "setoption name Seed value 2", "stop"] {
            for good in ["position startpos moves B5", "uginewgame"] {
                talk.send(fault);
                talk.hear_of("info string error: ");
                talk.say(then);
                if then == "moves B3" {
                    talk.hear_of(UNKNOWN);
                }
                talk.say("go");
                talk.hear_of(UNKNOWN);
                let place = fault.escape_ascii().take(40).collect::<Vec<_>>();
                assert_eq!(talk.hear(), "bestmove none", "{} {then}", String::from_utf8_lossy(&place));
                talk.say(good);
                talk.say("go");
                let first = talk.hear();
                assert!(first.starts_with("info depth "), "{good}: {first}");
                talk.hear_of(if good == "uginewgame" { "bestmove B" } else { "bestmove A" });
            }
        }
    }
    // A new game that is refused is not what the next search is of.
    talk.say("go infinite");
    talk.say("uginewgame");
    talk.hear_of("info string error: a search is under way");
    talk.say("stop");
    talk.hear_of("bestmove B");
    talk.say("go");
    talk.hear_of(UNKNOWN);
    assert_eq!(talk.hear(), "bestmove none");
}

#[test]
fn moves_are_played_after_the_position() {
    let mut talk = engine("mancala", "alphabeta:depth=2");
    for (said, fen) in [
        ("moves B4", "4,4,0,5,5,5/1 4,4,4,4,4,4/0 1"),
        ("moves B2 A3", "1,6,1,6,6,5/1 5,0,4,4,4,4/1 1"),
        ("position fen 0,0,0,0,0,1/24 1,0,0,0,0,0/22 2", "0,0,0,0,0,1/24 1,0,0,0,0,0/22 2"),
        ("moves A2", "0,0,0,0,0,0/25 0,0,0,0,0,0/23 2"),
        ("position startpos moves B4 B2", "0,5,1,6,6,5/1 4,4,4,4,4,4/0 2"),
    ] {
        talk.say(said);
        assert_eq!(answer(&mut talk, "query fen"), format!("response {fen}"), "{said}");
    }
    // All moves of a line are played, or none.
    assert!(answer(&mut talk, "moves A3 B5 A2 A2").starts_with("info string error: illegal action `A2`"));
    assert_eq!(answer(&mut talk, "query fen"), "response 0,5,1,6,6,5/1 4,4,4,4,4,4/0 2");
    talk.say("isready surely");
    assert_eq!(talk.hear(), "info string error: ignored: `surely`");
    assert_eq!(talk.hear(), "readyok");
}

/// How a match runner tells the engines the position.
#[derive(Clone, Copy, PartialEq)]
enum Runner {
    /// With all moves from the start before each search, as the protocol has it.
    AllMoves,
    /// With the start once a game and then every move to both engines, as cutergames does; the first engine is its judge.
    EachMove,
}

/// Plays a game between two engines. Every move is checked against the rules, and both engines report the result.
fn full_game(game: &dyn DynGame, engines: &mut [Talk; 2], runner: Runner) {
    let mut state = game.start();
    let mut moves: Vec<String> = Vec::new();
    match runner {
        Runner::AllMoves => engines.iter_mut().for_each(|engine| engine.say("uginewgame")),
        Runner::EachMove => engines.iter_mut().for_each(|engine| engine.say("position startpos")),
    }
    let position = |moves: &[String]| {
        if moves.is_empty() {
            "position startpos".to_owned()
        } else {
            format!("position startpos moves {}", moves.join(" "))
        }
    };
    while game.outcome(&state).is_none() {
        if runner == Runner::EachMove {
            assert_eq!(answer(&mut engines[0], "query gameover"), "response false");
            let first = game.mover(&state) == Side::First;
            assert_eq!(answer(&mut engines[0], "query p1turn"), format!("response {first}"));
        }
        let engine = &mut engines[game.mover(&state).index()];
        if runner == Runner::AllMoves {
            engine.say(&position(&moves));
        }
        engine.say("go");
        let text = engine.hear_of("bestmove ")["bestmove ".len()..].to_owned();
        game.play_text(&mut state, &text).unwrap_or_else(|error| panic!("{}: {moves:?}: {error}", game.name()));
        if runner == Runner::EachMove {
            engines.iter_mut().for_each(|engine| engine.say(&format!("moves {text}")));
        }
        moves.push(text);
    }
    let expected = match game.outcome(&state).map(|outcome| outcome.value()) {
        Some(1) => "response p1win",
        Some(0) => "response draw",
        _ => "response p2win",
    };
    for engine in engines {
        if runner == Runner::AllMoves {
            engine.say(&position(&moves));
        }
        assert_eq!(answer(engine, "query result"), expected);
        assert_eq!(answer(engine, "query fen"), format!("response {}", game.position_text(&state)));
    }
}

fn answer(engine: &mut Talk, query: &str) -> String {
    engine.say(query);
    engine.hear()
}

#[test]
fn twenty_games_of_every_game_are_played_over_the_protocol() {
    play_games(Runner::AllMoves);
}

#[test]
fn twenty_games_of_every_game_are_played_move_by_move() {
    play_games(Runner::EachMove);
}

fn play_games(runner: Runner) {
    thread::scope(|scope| {
        for name in names() {
            scope.spawn(move || {
                let game = built_in().make(name, &Params::new()).expect("a game");
                let mut engines = [engine(name, "mcts:sims=12"), engine(name, "alphabeta:depth=2")];
                for number in 0..20 {
                    if number == 10 {
                        engines.reverse();
                    }
                    full_game(&*game, &mut engines, runner);
                }
                for engine in engines {
                    assert!(engine.end().1.success());
                }
            });
        }
    });
}
