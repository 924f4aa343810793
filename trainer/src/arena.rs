//! Matches between two agents: openings played from both seats, and what the result means.

mod record;
mod result;

pub use record::{Adjudication, Ending, Format, GameRecord, Header, Incident, Penalty, Settings, TournamentRecord};
pub use result::{MatchResult, Record, SeatRecord, Z95};

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rand::RngExt;
use serde::Serialize;
use turnstone_env::{Action, ActionList, Game, Outcome, Side};
use turnstone_search::classic::Classical;

use crate::agents::{Agent, AgentError, Player};
use crate::streams::{Purpose, Stream, stream};

/// How a match is played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchSettings {
    /// Games, in pairs from the same opening with seats swapped; an odd number is rounded up.
    pub games: usize,
    /// Fewest and most random plies of an opening.
    pub opening_plies: [u16; 2],
    /// Seed of openings and random choices.
    pub seed: u64,
    /// Threads; the result does not depend on them.
    pub threads: usize,
}

/// One game of a match.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlayedGame {
    /// Plies of the opening, in `moves`.
    pub opening: usize,
    /// All moves as text, the opening's first.
    pub moves: Vec<String>,
    /// Whether agent A played the first side.
    pub a_is_first: bool,
    /// The result for agent A: 1, 0 or -1.
    pub result_for_a: i8,
    /// A limit ended the game.
    pub truncated: bool,
}

/// Plays a match between `a` and `b`. `None` if `stop` was set before it was over. `progress` hears of every game.
///
/// # Errors
/// An agent cannot play.
pub fn play_match<G: Classical>(
    game: &G,
    [a, b]: [&Agent; 2],
    settings: &MatchSettings,
    progress: &(dyn Fn() + Sync),
    stop: &AtomicBool,
) -> Result<Option<MatchResult>, AgentError> {
    let pairs = settings.games.div_ceil(2);
    let openings = openings(game, pairs, settings);
    let next = AtomicUsize::new(0);
    let games = Mutex::new(vec![None; 2 * pairs]);
    let work = || -> Result<(), AgentError> {
        let mut players = [a.player(game)?, b.player(game)?];
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= 2 * pairs || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let played = play_game(game, &mut players, &openings[number / 2], number, settings.seed)?;
            games.lock().expect("no player panics while it holds the list")[number] = Some(played);
            progress();
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..settings.threads.clamp(1, 2 * pairs)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    let games: Option<Vec<PlayedGame>> = games.into_inner().expect("all threads have ended well").into_iter().collect();
    Ok(games.map(|games| MatchResult::new([a.spec.to_string(), b.spec.to_string()], games)))
}

/// Game `number` of a match: even numbers give agent A the first side, odd ones agent B.
fn play_game<G: Game>(
    game: &G,
    players: &mut [Box<dyn Player<G>>; 2],
    opening: &[Action],
    number: usize,
    seed: u64,
) -> Result<PlayedGame, AgentError> {
    let a_is_first = number.is_multiple_of(2);
    let mut state = game.start();
    opening.iter().for_each(|&action| game.play(&mut state, action));
    let mut rngs: [Stream; 2] = [0, 1].map(|agent| stream(seed, Purpose::Match, [number as u64, agent]));
    for (player, rng) in players.iter_mut().zip(&mut rngs) {
        player.new_game(game, &state, rng);
    }
    let mut moves = opening.to_vec();
    let outcome = loop {
        if let Some(outcome) = game.outcome(&state) {
            break outcome;
        }
        let agent = usize::from((game.mover(&state) == Side::First) != a_is_first);
        let action = players[agent].choose(game, &state, &mut rngs[agent])?;
        game.play(&mut state, action);
        players.iter_mut().for_each(|player| player.played(game, action));
        moves.push(action);
    };
    Ok(PlayedGame {
        opening: opening.len(),
        moves: moves.iter().map(|&action| game.action_text(action)).collect(),
        a_is_first,
        result_for_a: result_for(&outcome, a_is_first),
        truncated: outcome.truncated,
    })
}

fn result_for(outcome: &Outcome, a_is_first: bool) -> i8 {
    outcome.value_for(if a_is_first { Side::First } else { Side::Second })
}

/// Random openings, all different as far as the game has so many: after a hundred draws in a row without a new one,
/// repetitions are taken.
fn openings<G: Game>(game: &G, count: usize, settings: &MatchSettings) -> Vec<Vec<Action>> {
    let mut rng = stream(settings.seed, Purpose::Openings, [0, 0]);
    let mut seen = HashSet::new();
    let mut openings = Vec::new();
    let mut misses = 0;
    while openings.len() < count {
        let opening = random_opening(game, settings.opening_plies, &mut rng);
        let new = seen.insert(opening.clone());
        misses = if new { 0 } else { misses + 1 };
        if new || misses > 100 {
            openings.push(opening);
        }
    }
    openings
}

fn random_opening<G: Game>(game: &G, [least, most]: [u16; 2], rng: &mut Stream) -> Vec<Action> {
    let mut legal = ActionList::new();
    loop {
        let mut state = game.start();
        let mut opening = Vec::new();
        for _ in 0..rng.random_range(least..=most) {
            game.legal(&state, &mut legal);
            if legal.is_empty() {
                break;
            }
            let action = legal[rng.random_range(0..legal.len())];
            game.play(&mut state, action);
            opening.push(action);
        }
        if game.outcome(&state).is_none() {
            return opening;
        }
    }
}
