//! Games that were saved, by `play` or by a match, or written down as moves: one reader for all of these files.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use turnstone_base::files::read_text;
use turnstone_env::{Action, AnyState, DynGame, Params, Side};

use super::journal::read_journal;
use super::record::{Ending, GameRecord, TournamentHeader, TournamentRecord};

/// Maximum length of a file in bytes.
const LONGEST: u64 = 1 << 28;
/// Maximum number of moves of a game, far above that of any game with a limit of plies.
const MOST_MOVES: usize = 100_000;

/// Record of a single game, as `play` prints and saves it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlayedGame {
    /// Name of the game.
    pub game: String,
    /// Parameters of the game.
    #[serde(default)]
    pub params: Params,
    /// Specs of the agents, the first side's first; `human` for a person.
    pub players: [String; 2],
    /// Text form of the first position.
    pub start: String,
    /// Text form of the moves.
    pub moves: Vec<String>,
    /// Text form of the last position.
    pub position: String,
    /// Name of the result: `player1`, `player2` or `draw`; `None` if the game was left before its end.
    pub outcome: Option<String>,
    /// Score of player 1 minus score of player 2, where the game keeps scores.
    pub margin: Option<i16>,
    /// Whether a limit of plies ended the game.
    pub truncated: bool,
    /// Number of the player that has resigned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resigned: Option<u8>,
}

/// A saved game. Its moves are not checked yet.
#[derive(Clone, PartialEq, Debug)]
pub struct SavedGame {
    /// Name of the game; `None` for a file of moves.
    pub game: Option<String>,
    /// Parameters of the game; those that are missing have their defaults.
    pub params: Params,
    /// The players, as far as they are known.
    pub players: Option<[String; 2]>,
    /// Text form of the first position; `None` for the start of the game.
    pub start: Option<String>,
    /// Text form of the moves.
    pub moves: Vec<String>,
    /// How many of the moves belong to an opening that no player has chosen.
    pub opening_plies: usize,
    /// How the game ended, if it was not by its rules: `player 1 resigned`.
    pub ending: Option<String>,
}

/// The positions of a saved game.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The positions from the first to the last, one more than actions.
    pub positions: Vec<AnyState>,
    /// The actions.
    pub actions: Vec<Action>,
}

impl SavedGame {
    /// Reads a game from a file: one saved by `play`, a match's `games.jsonl` or `result.json`, or a text with the moves of a
    /// game in each line. `number` chooses a game of a file with several: a match's games have their own numbers, others
    /// count from 0.
    ///
    /// # Errors
    /// The file cannot be read, is none of these or damaged, or has no game or more than one without a number. The message
    /// names the file.
    pub fn read(path: &Path, number: Option<usize>) -> Result<Self> {
        let read = || Self::parse(&read_text(path, LONGEST)?, number);
        read().with_context(|| path.display().to_string())
    }

    /// [`SavedGame::read`] of the text of a file.
    ///
    /// # Errors
    /// As [`SavedGame::read`], without the name of the file.
    pub fn parse(text: &str, number: Option<usize>) -> Result<Self> {
        let start = text.trim_start_matches('\u{feff}').trim_start();
        ensure!(!start.is_empty(), "the file is empty");
        if !start.starts_with(['{', '[']) {
            return chosen(moves_of_lines(start)?, number);
        }
        let first = start.lines().next().unwrap_or_default();
        match serde_json::from_str(first) {
            Ok(Kind { turnstone_arena: Some(_), games: None, .. }) => {
                let (header, games) = read_journal(start.as_bytes())?;
                of_match(&header, games, number)
            }
            _ => of_objects(start, number),
        }
    }

    /// Plays the moves by the rules.
    ///
    /// # Errors
    /// The first position or a move does not fit the game.
    pub fn replay(&self, game: &dyn DynGame) -> Result<Replay> {
        let first = match &self.start {
            Some(text) => game.parse_position(text).context("the first position")?,
            None => game.start(),
        };
        let mut positions = vec![first];
        let mut actions = Vec::with_capacity(self.moves.len());
        for (text, ply) in self.moves.iter().zip(1..) {
            let mut state = positions[ply - 1].clone();
            let played = game
                .parse_action_in(&state, text)
                .and_then(|action| game.try_play(&mut state, action).map(|()| action))
                .with_context(|| format!("move {ply}"))?;
            actions.push(played);
            positions.push(state);
        }
        Ok(Replay { positions, actions })
    }
}

/// What an object is, by the keys that it has. Nothing of it is kept.
#[derive(Deserialize)]
struct Kind {
    turnstone_arena: Option<IgnoredAny>,
    games: Option<IgnoredAny>,
    record: Option<IgnoredAny>,
    game: Option<IgnoredAny>,
    moves: Option<IgnoredAny>,
}

/// The part of a match's result that has its games.
#[derive(Deserialize)]
struct MatchRecord {
    record: TournamentRecord,
}

/// A game of a file of JSON objects: games of `play`, one or several, or the result of a match.
fn of_objects(text: &str, number: Option<usize>) -> Result<SavedGame> {
    const EXPECTED: &str = "expected an object with `game` and `moves`, or the record of a match";
    let mut kinds = serde_json::Deserializer::from_str(text).into_iter::<Kind>();
    let (mut games, mut from) = (Vec::new(), 0);
    while let Some(kind) = kinds.next() {
        let kind = kind.map_err(|fault| match fault.is_eof() {
            true => anyhow!("the file is cut off: {fault}"),
            false => anyhow!("it is no saved game: {fault}; {EXPECTED}"),
        })?;
        let object = &text[from..kinds.byte_offset()];
        from = kinds.byte_offset();
        match kind {
            Kind { record: Some(_), .. } => {
                let MatchRecord { record } = serde_json::from_str(object).context("the result of a match")?;
                return of_match(&record.header, record.games, number);
            }
            Kind { turnstone_arena: Some(_), .. } => {
                let record: TournamentRecord = serde_json::from_str(object).context("the record of a match")?;
                return of_match(&record.header, record.games, number);
            }
            Kind { game: Some(_), moves: Some(_), .. } => {
                games.push(of_play(serde_json::from_str(object).context("a saved game")?)?);
            }
            _ => bail!("it is no saved game: {EXPECTED}"),
        }
    }
    chosen(games, number)
}

fn of_play(played: PlayedGame) -> Result<SavedGame> {
    check_length(played.moves.len())?;
    let resigned = played.resigned.and_then(Side::from_number);
    Ok(SavedGame {
        game: Some(played.game),
        params: played.params,
        players: Some(played.players),
        start: Some(played.start),
        moves: played.moves,
        opening_plies: 0,
        ending: resigned.map(|side| format!("{side} resigned")),
    })
}

/// A game of a match by its number.
fn of_match(header: &TournamentHeader, games: Vec<GameRecord>, number: Option<usize>) -> Result<SavedGame> {
    let known = header.turnstone_arena == TournamentHeader::FORMAT;
    ensure!(known, "it was written by another version of this program");
    let numbers: Vec<usize> = games.iter().map(|game| game.number).collect();
    let place = match (number, &numbers[..]) {
        (_, []) => bail!("it has no finished game"),
        (Some(number), _) => numbers.iter().position(|&own| own == number),
        (None, [_]) => Some(0),
        (None, _) => bail!("{}: choose one with --number", how_many(&numbers)),
    };
    let Some(place) = place else {
        bail!("there is no game {}: {}", number.unwrap_or_default(), how_many(&numbers));
    };
    let game = games.into_iter().nth(place).expect("a place in the list");
    check_length(game.moves.len())?;
    let player = |agent: usize| {
        let spec = header.agents.get(agent).cloned();
        spec.with_context(|| format!("game {}: there is no agent {agent}", game.number))
    };
    let by_rules = matches!(game.ending, Ending::Rules | Ending::Limit);
    let result = match game.result {
        0 => "draw",
        1.. => "player 1 wins",
        _ => "player 2 wins",
    };
    Ok(SavedGame {
        game: Some(header.game.clone()),
        params: header.params.clone(),
        players: Some([player(game.agents[0])?, player(game.agents[1])?]),
        start: None,
        opening_plies: game.opening_plies.min(game.moves.len()),
        ending: (!by_rules).then(|| format!("{result}: {}", game.ending.words())),
        moves: game.moves,
    })
}

/// The games of a text, one in each line; what follows `#` is a comment.
fn moves_of_lines(text: &str) -> Result<Vec<SavedGame>> {
    let mut games = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let moves: Vec<String> = line.split_whitespace().take(MOST_MOVES + 1).map(str::to_owned).collect();
        check_length(moves.len())?;
        if !moves.is_empty() {
            let (params, opening_plies) = (Params::new(), 0);
            games.push(SavedGame {
                game: None,
                params,
                players: None,
                start: None,
                moves,
                opening_plies,
                ending: None,
            });
        }
    }
    Ok(games)
}

fn chosen(mut games: Vec<SavedGame>, number: Option<usize>) -> Result<SavedGame> {
    let numbers: Vec<usize> = (0..games.len()).collect();
    match (number, games.len()) {
        (_, 0) => bail!("it has no game"),
        (None, 1) => Ok(games.swap_remove(0)),
        (None, _) => bail!("{}: choose one with --number", how_many(&numbers)),
        (Some(number), most) if number < most => Ok(games.swap_remove(number)),
        (Some(number), _) => bail!("there is no game {number}: {}", how_many(&numbers)),
    }
}

/// `it has 20 games, 0 to 19`.
fn how_many(numbers: &[usize]) -> String {
    match (numbers.iter().min(), numbers.iter().max()) {
        (Some(least), Some(most)) if numbers.len() > 1 => {
            format!("it has {} games, {least} to {most}", numbers.len())
        }
        (Some(number), _) => format!("it has one game, {number}"),
        _ => "it has no game".into(),
    }
}

fn check_length(moves: usize) -> Result<()> {
    ensure!(moves <= MOST_MOVES, "a game has {moves} moves, and at most {MOST_MOVES} are read");
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use turnstone_base::checksum::seal_line;
    use turnstone_games::built_in;

    use super::*;

    fn played(moves: &[&str]) -> Value {
        json!({
            "game": "mancala", "params": { "pits": "3" }, "players": ["human", "random"], "moves": moves,
            "start": "4,4,4/0 4,4,4/0 1", "position": "", "outcome": null, "margin": null, "truncated": false,
        })
    }

    /// A match of Mancala with games of these numbers, its header first.
    fn of_a_match(numbers: &[usize]) -> (Value, Vec<Value>) {
        let settings = json!({ "format": "round-robin", "games": 2, "seed": 0, "clock": null, "out_of_time": "random",
            "on_fault": "lose", "adjudication": "none", "sprt": null });
        let header = json!({ "turnstone_arena": 1, "game": "mancala", "version": 1, "params": {}, "networks": [null, null],
            "agents": ["random", "mcts:sims=1"], "settings": settings, "openings": ["B5"] });
        let game = |number: &usize| {
            let agents = [number % 2, 1 - number % 2];
            json!({ "number": number, "round": 0, "agents": agents, "opening": 0, "opening_plies": 1,
                "moves": ["B5", "A3"], "result": -1, "ending": "crash" })
        };
        (header, numbers.iter().map(game).collect())
    }

    fn journal(numbers: &[usize]) -> String {
        let (header, games) = of_a_match(numbers);
        std::iter::once(header).chain(games).map(|line| seal_line(&line.to_string()) + "\n").collect()
    }

    fn result(numbers: &[usize]) -> String {
        let (mut record, games) = of_a_match(numbers);
        record["notes"] = json!([]);
        record["games"] = games.into();
        json!({ "summary": {}, "record": record }).to_string()
    }

    #[test]
    fn a_game_of_play_comes_back() {
        let pretty = serde_json::to_string_pretty(&played(&["B2", "A3"])).expect("JSON");
        for text in [played(&["B2", "A3"]).to_string(), pretty, format!("\u{feff}\n{}\n", played(&["B2", "A3"]))] {
            let saved = SavedGame::parse(&text, None).expect("a saved game");
            assert_eq!((saved.game.as_deref(), &saved.moves[..]), (Some("mancala"), &["B2".into(), "A3".into()][..]));
            let game = built_in().make("mancala", &saved.params).expect("valid");
            let replay = saved.replay(&*game).expect("legal");
            assert_eq!((replay.positions.len(), replay.actions.len()), (3, 2));
        }
        let two = format!("{}\n{}\n", played(&["B2"]), played(&["B3"]));
        assert_eq!(SavedGame::parse(&two, Some(1)).expect("the second").moves, ["B3"]);
        let mut resigned = played(&[]);
        resigned["resigned"] = 2.into();
        let ending = SavedGame::parse(&resigned.to_string(), None).expect("a saved game").ending;
        assert_eq!(ending.as_deref(), Some("player 2 resigned"));
    }

    #[test]
    fn games_of_a_match_are_found_by_their_numbers() {
        let cut = journal(&[2, 3]) + &journal(&[4])[..20];
        for text in [journal(&[2, 3]), result(&[2, 3]), cut] {
            let saved = SavedGame::parse(&text, Some(3)).expect("a saved game");
            assert_eq!(saved.players, Some(["mcts:sims=1".into(), "random".into()]));
            assert_eq!((saved.opening_plies, saved.moves.len()), (1, 2));
            assert_eq!(saved.ending.as_deref(), Some("player 2 wins: crash"));
        }
        assert!(SavedGame::parse(&journal(&[7]), None).is_ok(), "a single game needs no number");
    }

    #[test]
    fn moves_are_read_line_by_line() {
        let text = "# two games\nB2 A3 # a comment\n\n  B5\n";
        assert_eq!(SavedGame::parse(text, Some(0)).expect("a game").moves, ["B2", "A3"]);
        assert_eq!(SavedGame::parse(text, Some(1)).expect("a game").moves, ["B5"]);
    }

    #[test]
    fn faults_are_named() {
        let fault = |text: &str, number| format!("{:#}", SavedGame::parse(text, number).expect_err("a fault"));
        let whole = played(&["B2"]).to_string();
        let damaged = journal(&[2, 3]).replacen("B5", "B6", 2);
        let mut other = of_a_match(&[0]).0;
        other["turnstone_arena"] = 9.into();
        let stranger = result(&[1]).replace("\"agents\":[1,0]", "\"agents\":[1,7]");
        for (text, number, expected) in [
            ("", None, "the file is empty"),
            (" \n", None, "the file is empty"),
            ("# nothing\n", None, "it has no game"),
            ("a1\nb1", None, "it has 2 games, 0 to 1: choose one with --number"),
            ("a1\nb1", Some(2), "there is no game 2: it has 2 games, 0 to 1"),
            (&whole[..whole.len() - 9], None, "the file is cut off"),
            ("{\"game\": 1, \"moves\": []}", None, "a saved game: "),
            ("{\"a\": 1}", None, "it is no saved game: expected an object with `game` and `moves`"),
            ("[1]", None, "it is no saved game: "),
            ("{a}", None, "it is no saved game: "),
            (&journal(&[]), None, "it has no finished game"),
            (&journal(&[2, 3]), None, "it has 2 games, 2 to 3: choose one with --number"),
            (&result(&[2, 3]), Some(1), "there is no game 1: it has 2 games, 2 to 3"),
            (&damaged, Some(2), "line 1: its checksum does not fit"),
            (&stranger, None, "game 1: there is no agent 7"),
            (&other.to_string(), None, "it has no complete line"),
            (&(other.to_string() + "\n"), None, "it was written by another version"),
        ] {
            assert!(fault(text, number).starts_with(expected), "{expected}: {}", fault(text, number));
        }
        let game = built_in().make("mancala", &Params::new().with("pits", 3)).expect("valid");
        let replay = |record: &Value| {
            let saved = SavedGame::parse(&record.to_string(), None).expect("a saved game");
            format!("{:#}", saved.replay(&*game).expect_err("a fault"))
        };
        assert!(replay(&played(&["B2", "B3"])).starts_with("move 2: illegal action `B3`"));
        assert!(replay(&played(&["B2", "ä"])).starts_with("move 2: action `ä`"));
        let mut displaced = played(&[]);
        displaced["start"] = "x".into();
        assert!(replay(&displaced).starts_with("the first position: position `x`"));
    }
}
