//! Review of a game: what each move has lost, the moments to look at, and better lines from there.

mod record;
mod evaluate;
mod text;
mod page;

use anyhow::{Result, ensure};
use turnstone_agents::review::{KnownMove, OtherAction, PlayerTotals, SearchedGame, Source, known_moves, moments};
use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, DynExactValues, PlayableGame};
use turnstone_env::{Action, AnyState, Side};

pub use self::record::Review;

use self::evaluate::evaluate;
use super::saved_games::{Replay, SavedGame};

/// The agent that reviews a game, and its resources.
#[derive(Clone, Copy)]
pub struct Reviewing<'a> {
    /// Agent that searches every position.
    pub agent: &'a Agent,
    /// Exact values to ask first.
    pub truth: Option<&'a dyn DynExactValues>,
    /// Number of threads. It does not change the review, unless the agent is limited by time.
    pub threads: usize,
    /// Name, version and commit of the program, for the record.
    pub program: &'a str,
    /// Called with numbers of steps of [`Reviewing::steps`].
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// Ends the review early.
    pub stop: &'a Stop,
}

impl Reviewing<'_> {
    /// Number of steps of the review of a game with this many moves.
    #[must_use]
    pub fn steps(exact: bool, moves: usize) -> u64 {
        (2 + u64::from(exact)) * moves as u64
    }

    /// Reviews a game. `None` if `stop` was raised before the end.
    ///
    /// # Errors
    /// The game has no moves, or the agent cannot search or gives no evaluation.
    pub fn review(&self, game: &dyn PlayableGame, saved: &SavedGame, replay: &Replay) -> Result<Option<Review>> {
        ensure!(!replay.actions.is_empty(), "the game has no moves to review");
        let Some(known) = self.known(game, replay) else { return Ok(None) };
        let running: Vec<&AnyState> = replay.positions.iter().filter(|state| game.outcome(state).is_none()).collect();
        let search = |states: &[&AnyState]| evaluate(game, self.agent, states, self.threads, self.progress, self.stop);
        let Some(found) = search(&running)? else { return Ok(None) };
        let played = SearchedGame {
            game,
            truth: self.truth,
            positions: &replay.positions,
            actions: &replay.actions,
            opening_plies: saved.opening_plies,
            known: &known,
            found: &found,
            others: &[],
        };

        let others: Vec<Option<(Action, AnyState)>> = (0..replay.actions.len()).map(|i| played.other(i)).collect();
        let states = || others.iter().flatten().map(|(_, state)| state).filter(|state| game.outcome(state).is_none());
        let states: Vec<&AnyState> = states().collect();
        (self.progress)((others.len() - states.len()) as u64);
        let Some(searched) = search(&states)? else { return Ok(None) };
        let mut searched = searched.into_iter();
        let others: Vec<Option<OtherAction>> =
            others.into_iter().map(|other| played.valued(other?, || searched.next())).collect();

        let played = SearchedGame { others: &others, ..played };
        let moves: Vec<_> = (0..replay.actions.len()).map(|i| played.reviewed(i)).collect();
        Ok(Some(Review {
            turnstone_review: Review::FORMAT,
            program: self.program.to_owned(),
            game: game.name().to_owned(),
            version: game.version(),
            params: game.params(),
            players: saved.players.clone().unwrap_or_default(),
            start: game.position_text(&replay.positions[0]),
            ending: ending(game, saved, replay),
            agent: self.agent.spec.to_string(),
            exact: self.truth.is_some(),
            totals: [1, 2].map(|player| PlayerTotals::of(&moves, player)),
            moments: moments(&moves),
            moves,
        }))
    }

    /// Exact values around each move; empty without them.
    fn known(&self, game: &dyn PlayableGame, replay: &Replay) -> Option<Vec<Option<KnownMove>>> {
        let Some(truth) = self.truth else { return Some(vec![None; replay.actions.len()]) };
        known_moves(game, truth, &replay.positions, &|| {
            (self.progress)(1);
            !self.stop.is_raised()
        })
    }
}

impl Review {
    /// Whether the position before a player's first move of its own was lost for it already: by exact values or a proof, or else
    /// by the search's estimate, where only one game in twenty would be saved. `None` where it was not.
    #[must_use]
    pub fn lost_from_the_start(&self, side: Side) -> Option<Source> {
        const LOST: f64 = -0.9;
        let first = self.moves.iter().find(|played| !played.opening && played.player == side.number())?;
        let value = f64::from(side.sign()) * first.value;
        match first.source {
            Source::Search => value <= LOST,
            Source::Exact | Source::Proof => value <= -1.0,
        }
        .then_some(first.source)
    }
}

fn ending(game: &dyn PlayableGame, saved: &SavedGame, replay: &Replay) -> String {
    let last = replay.positions.last().expect("there is a first position");
    match (game.outcome(last), &saved.ending) {
        (Some(outcome), _) => game.spec().status(Some(outcome), game.mover(last)),
        (None, Some(ending)) => ending.clone(),
        (None, None) => "not played to its end".into(),
    }
}

#[cfg(test)]
mod tests;
