//! Commands of the Universal Game Interface (UGI), as specified by kz04px.

use std::time::Duration;

use turnstone_env::Side;
use turnstone_search::classic::{Limits, MAX_DEPTH};

/// Reserve on a clock for sending the answer.
const LAG: Duration = Duration::from_millis(10);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Command<'a> {
    Ugi,
    IsReady,
    SetOption {
        name: &'a str,
        value: &'a str,
    },
    NewGame,
    Position {
        start: Option<&'a str>,
        moves: &'a str,
    },
    /// Moves played after the current position. Not part of UGI, but cutergames has no other way to tell them.
    Moves(&'a str),
    Go(Go),
    Stop,
    Query(&'a str),
    Quit,
}

/// Limits of a search. Without any, the agent's own budget applies.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Go {
    movetime: Option<Duration>,
    nodes: Option<u64>,
    depth: Option<u32>,
    infinite: bool,
    /// Remaining time of each player.
    clocks: [Option<Duration>; 2],
    /// Time that each player gains with every move.
    increments: [Duration; 2],
}

impl Go {
    /// Returns the limits for a search by `mover`, or `None` if none are given.
    pub(super) fn limits(&self, mover: Side) -> Option<Limits> {
        if *self == Self::default() {
            return None;
        }
        let clock = self.clocks[mover.index()].map(|left| share(left, self.increments[mover.index()]));
        let time = self.movetime.into_iter().chain(clock.and_then(|clock| clock.time)).min();
        let begin = clock.and_then(|clock| clock.begin).map(|begin| begin.min(time.unwrap_or(begin)));
        Some(Limits { depth: self.depth, nodes: self.nodes, time, begin })
    }
}

/// Time limits for one move: a share of the remaining time as without increments, plus 3/4 of the increment, at most
/// 9/10 of the remaining time.
fn share(left: Duration, increment: Duration) -> Limits {
    let left = left.saturating_sub(LAG).max(Duration::from_millis(1));
    let share = Limits::share_of(left);
    let more = |time: Option<Duration>| time.map(|time| (time + increment * 3 / 4).min(left * 9 / 10));
    Limits { time: more(share.time), begin: more(share.begin), ..share }
}

/// Parses a command. Returns `None` for a blank line.
///
/// # Errors
/// The fault of the line.
pub(super) fn parse(line: &str) -> Result<Option<Command<'_>>, String> {
    let (word, rest) = first_word(line);
    let command = match word {
        "" => return Ok(None),
        "ugi" => Command::Ugi,
        "isready" => Command::IsReady,
        "uginewgame" => Command::NewGame,
        "stop" => Command::Stop,
        "quit" => Command::Quit,
        "setoption" => set_option(rest)?,
        "position" => position(rest)?,
        "moves" if !rest.is_empty() => Command::Moves(rest),
        "moves" => return Err("moves <move> [<move> ...]".to_owned()),
        "query" => Command::Query(rest),
        "go" => Command::Go(go(rest)?),
        _ => return Err(format!("unknown command `{}`", turnstone_env::shortened(word))),
    };
    Ok(Some(command))
}

/// Whether a line would change the position if its arguments were sound.
pub(super) fn changes_position(line: &str) -> bool {
    matches!(first_word(line).0, "position" | "moves" | "uginewgame")
}

/// What follows a command that has no arguments.
pub(super) fn surplus(line: &str) -> Option<&str> {
    let (word, rest) = first_word(line);
    let takes_none = matches!(word, "ugi" | "isready" | "uginewgame" | "stop" | "quit");
    (takes_none && !rest.is_empty()).then_some(rest)
}

/// The first word of a line and the rest.
fn first_word(line: &str) -> (&str, &str) {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (word, rest.trim_start())
}

/// Parses `name <name> value <value>`; both may contain spaces.
fn set_option(rest: &str) -> Result<Command<'_>, String> {
    let named = rest.strip_prefix("name").filter(|rest| rest.starts_with(char::is_whitespace));
    let (name, value) =
        named.and_then(|rest| split_at_word(rest, "value")).ok_or("setoption name <name> value <value>")?;
    Ok(Command::SetOption { name, value })
}

/// Parses `startpos [moves ...]` or `fen <position> [moves ...]`. The position ends at the word `moves`, which no
/// position contains.
fn position(rest: &str) -> Result<Command<'_>, String> {
    let (start, moves) = split_at_word(rest, "moves").unwrap_or((rest.trim(), ""));
    match start.split_once(char::is_whitespace) {
        None if start == "startpos" => Ok(Command::Position { start: None, moves }),
        Some(("fen", text)) => Ok(Command::Position { start: Some(text.trim()), moves }),
        _ => Err("position startpos [moves ...], or position fen <position> [moves ...]".to_owned()),
    }
}

/// Splits a text at the first occurrence of a word.
fn split_at_word<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let at = text.match_indices(word).map(|(at, _)| at).find(|&at| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        before.ends_with(char::is_whitespace) && (after.is_empty() || after.starts_with(char::is_whitespace))
    })?;
    Some((text[..at].trim(), text[at + word.len()..].trim()))
}

fn go(rest: &str) -> Result<Go, String> {
    let mut go = Go::default();
    let mut words = rest.split_whitespace();
    while let Some(word) = words.next() {
        let mut number = |least: u64| {
            let value = words.next().and_then(|text| text.parse::<u64>().ok()).filter(|&value| value >= least);
            value.ok_or_else(|| format!("go {word}: expected a whole number from {least}"))
        };
        let time = |milliseconds: u64| Duration::from_millis(milliseconds.min(LONGEST));
        match word {
            "infinite" => go.infinite = true,
            "movetime" => go.movetime = Some(time(number(1)?)),
            "nodes" => go.nodes = Some(number(1)?),
            "depth" => go.depth = Some(number(0)?.clamp(1, u64::from(MAX_DEPTH)) as u32),
            "p1time" => go.clocks[0] = Some(time(number(0)?)),
            "p2time" => go.clocks[1] = Some(time(number(0)?)),
            "p1inc" => go.increments[0] = time(number(0)?),
            "p2inc" => go.increments[1] = time(number(0)?),
            _ => return Err(format!("go: unknown limit `{}`", turnstone_env::shortened(word))),
        }
    }
    Ok(go)
}

/// Upper limit of any time in milliseconds, about three years.
const LONGEST: u64 = 100_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        let read = |line| parse(line).expect("a command").expect("not blank");
        assert_eq!(parse(" \t"), Ok(None));
        assert_eq!(read("  isready "), Command::IsReady);
        assert_eq!(read("position startpos"), Command::Position { start: None, moves: "" });
        assert_eq!(read("position startpos moves B2 A3"), Command::Position { start: None, moves: "B2 A3" });
        let fen = Command::Position { start: Some("121202121 1 0"), moves: "0,4" };
        assert_eq!(read("position  fen 121202121 1 0  moves 0,4"), fen);
        assert_eq!(read("position startpos moves"), Command::Position { start: None, moves: "" });
        assert_eq!(read("moves B2  A3 "), Command::Moves("B2  A3"));
        let option = Command::SetOption { name: "Agent", value: "az:my runs/a,sims=5" };
        assert_eq!(read("setoption name Agent value az:my runs/a,sims=5"), option);
        assert_eq!(read("setoption name x value"), Command::SetOption { name: "x", value: "" });
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(parse("hello world"), Err("unknown command `hello`".to_owned()));
        assert!(parse("position").is_err() && parse("position fen").is_err() && parse("position startpos x").is_err());
        assert_eq!(parse("moves "), Err("moves <move> [<move> ...]".to_owned()));
        assert_eq!(["stop now ", "stop", "go now", "query fen"].map(surplus), [Some("now"), None, None, None]);
        assert!(["position", " moves x", "uginewgame"].iter().all(|line| changes_position(line)));
        assert!(["positions", "go", "", "hello moves"].iter().all(|line| !changes_position(line)));
        assert!(parse("setoption").is_err() && parse("setoption namex value y").is_err());
        assert_eq!(parse("go depth"), Err("go depth: expected a whole number from 0".to_owned()));
        assert!(parse("go movetime 0").is_err() && parse("go nodes -1").is_err() && parse("go far").is_err());
    }

    #[test]
    fn limits_come_from_the_movers_clock() {
        let limits = |line: &str, mover| match parse(line) {
            Ok(Some(Command::Go(go))) => go.limits(mover),
            other => panic!("{other:?}"),
        };
        assert_eq!(limits("go", Side::First), None);
        assert_eq!(limits("go infinite", Side::First), Some(Limits::default()));
        assert_eq!(limits("go nodes 7 depth 900", Side::First), Some(Limits { depth: Some(128), ..Limits::nodes(7) }));
        let clock = limits("go p1time 60010 p2time 10 p1inc 400", Side::First).expect("limits");
        assert_eq!([clock.time, clock.begin], [6300, 1800].map(|ms| Some(Duration::from_millis(ms))));
        let clock = limits("go p1time 60010 p2time 0 p1inc 400", Side::Second).expect("limits");
        assert!(clock.time <= Some(Duration::from_millis(1)) && clock.time > Some(Duration::ZERO));
        let huge = format!("go p1time {} p1inc {}", u64::MAX, u64::MAX);
        assert!(limits(&huge, Side::First).is_some());
    }
}
