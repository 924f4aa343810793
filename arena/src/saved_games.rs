//! Saved games: a record as `play` and the page write it, a game of a match's journal, or a list of moves.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use turnstone_base::files::read_text;
use turnstone_base::text::{entries, without_mark};
use turnstone_env::{Action, AnyState, DynGame, Params, Side};

use super::journal::{check_version, read_journal};
use super::record::{Ending, GameRecord, TournamentHeader};

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
    /// Score of player 1 minus score of player 2, 0 where the game keeps none; `None` as `outcome`.
    pub margin: Option<i16>,
    /// Whether a limit of plies ended the game.
    pub truncated: bool,
    /// Number of the player that has resigned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resigned: Option<u8>,
}

impl PlayedGame {
    /// The record of a line of play between two players, the first side's first.
    #[must_use]
    pub fn new(game: &dyn DynGame, players: [String; 2], start: &AnyState, line: &[Action]) -> Self {
        let mut last = start.clone();
        line.iter().for_each(|&action| game.play(&mut last, action));
        let outcome = game.outcome(&last);
        Self {
            game: game.name().to_owned(),
            params: game.params(),
            players,
            start: game.position_text(start),
            moves: game.line_texts(start, line),
            position: game.position_text(&last),
            outcome: outcome.map(|outcome| outcome.name().to_owned()),
            margin: outcome.map(|outcome| outcome.margin),
            truncated: outcome.is_some_and(|outcome| outcome.truncated),
            resigned: None,
        }
    }
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
    /// Number of moves of the opening, which no player chose.
    pub opening_plies: usize,
    /// How the game ended, if it was not by its rules: `player 1 resigned`.
    pub ending: Option<String>,
}

/// A game of a match that an agent has lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostGame {
    /// Number of the game in the match.
    pub number: usize,
    /// The side of the agent.
    pub side: Side,
    /// Number of moves, those of the opening included.
    pub plies: usize,
    /// How it ended.
    pub ending: Ending,
}

impl LostGame {
    /// The games that an agent of a match has lost, in order: that of this spec, or else the first.
    ///
    /// # Errors
    /// The file cannot be read, is no match's `games.jsonl` or damaged, or the agent does not take part.
    pub fn read(path: &Path, agent: Option<&str>) -> Result<Vec<Self>> {
        let read = || -> Result<Vec<Self>> {
            let (header, games) = read_journal(read_text(path, LONGEST)?.as_bytes())
                .context("it is no record of a match (`games.jsonl` of `arena --out`)")?;
            let known = || format!("in the match are: {}", header.agents.join(", "));
            let is_own = |spec: &String| agent.is_none_or(|agent| agent == spec);
            let agent = header.agents.iter().position(is_own).with_context(known)?;
            let lost = |game: &GameRecord| {
                let side = [Side::First, Side::Second][game.agents.iter().position(|&player| player == agent)?];
                let (number, plies, ending) = (game.number, game.moves.len(), game.ending);
                (f32::from(game.result) * side.sign() < 0.0).then_some(Self { number, side, plies, ending })
            };
            let mut lost: Vec<Self> = games.iter().filter_map(lost).collect();
            lost.sort_unstable_by_key(|game| game.number);
            Ok(lost)
        };
        read().with_context(|| path.display().to_string())
    }
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
    /// Reads a game from a file: one saved by `play` or the page, a match's `games.jsonl`, or a text with the moves of a game
    /// in each line. `number` chooses a game of a file with several: a match's games have their own numbers, others count
    /// from 0.
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
        let start = without_mark(text).trim_start();
        ensure!(!start.is_empty(), "the file is empty");
        if !start.starts_with(['{', '[']) {
            let read = |fault| anyhow!("{fault}; the file was read as moves, a game in each line");
            return chosen(moves_of_lines(start)?, number).map_err(read);
        }
        let first = start.lines().next().unwrap_or_default();
        let header = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(first);
        if header.is_ok_and(|header| header.contains_key("turnstone_arena")) {
            let (header, games) = read_journal(start.as_bytes())?;
            return of_match(&header, games, number);
        }
        chosen(records(start)?, number)
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
        Replay::new(game, first, &self.moves)
    }
}

impl Replay {
    /// Plays moves from a position by the rules.
    ///
    /// # Errors
    /// A move does not fit the game.
    pub fn new(game: &dyn DynGame, first: AnyState, moves: &[String]) -> Result<Self> {
        let mut positions = vec![first];
        let mut actions = Vec::with_capacity(moves.len());
        for (text, ply) in moves.iter().zip(1..) {
            let mut state = positions[ply - 1].clone();
            actions.push(game.play_typed(&mut state, text).with_context(|| format!("move {ply}"))?);
            positions.push(state);
        }
        Ok(Self { positions, actions })
    }
}

/// The games of a file of records, one after the other.
fn records(text: &str) -> Result<Vec<SavedGame>> {
    let games = serde_json::Deserializer::from_str(text).into_iter::<PlayedGame>();
    let game = |game: serde_json::Result<PlayedGame>| match game {
        Ok(game) => of_play(game),
        Err(fault) if fault.is_eof() => bail!("the file is cut off: {fault}"),
        Err(fault) => bail!("it is not a saved game: {fault}"),
    };
    games.map(game).collect()
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
    check_version(header.turnstone_arena.into())?;
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
    for (_, line) in entries(text) {
        let moves: Vec<String> = line.split_whitespace().take(MOST_MOVES + 1).map(str::to_owned).collect();
        check_length(moves.len())?;
        let (params, opening_plies) = (Params::new(), 0);
        games.push(SavedGame { game: None, params, players: None, start: None, moves, opening_plies, ending: None });
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
mod tests;
