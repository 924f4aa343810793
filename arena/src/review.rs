//! Review of a game: what each move has lost, the moments to look at, and better lines from there.

mod record;
mod marks;
mod evaluate;
mod truth;
mod text;
mod page;

use anyhow::{Result, ensure};
use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, DynExactValues, PlayableGame};
use turnstone_env::{Action, AnyState};

pub use self::record::{Mark, PlayerTotals, Review, ReviewedMove, Source};

use self::evaluate::{Found, evaluate};
use self::marks::{ONLY_MARGIN, moments, of_loss};
use self::record::PlayerTotals as Totals;
use self::truth::{KnownMove, best_line, known_moves};
use super::saved_games::{Replay, SavedGame};

/// Maximum number of plies of a line.
const LONGEST_LINE: usize = 12;

/// Who reviews a game, and where.
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
        let mut played = Played { game, truth: self.truth, replay, known, found, others: Vec::new() };

        let others: Vec<Option<(Action, AnyState)>> = (0..replay.actions.len()).map(|i| played.other(i)).collect();
        let states = || others.iter().flatten().map(|(_, state)| state).filter(|state| game.outcome(state).is_none());
        let states: Vec<&AnyState> = states().collect();
        (self.progress)((others.len() - states.len()) as u64);
        let Some(searched) = search(&states)? else { return Ok(None) };
        let mut searched = searched.into_iter();
        played.others = others.into_iter().map(|other| played.valued(other?, &mut searched)).collect();

        let moves: Vec<ReviewedMove> = (0..replay.actions.len()).map(|i| played.reviewed(i, saved)).collect();
        Ok(Some(Review {
            turnstone_review: Review::FORMAT,
            program: self.program.to_owned(),
            game: game.name().to_owned(),
            version: game.version(),
            params: game.params(),
            players: saved.players.clone().unwrap_or_default(),
            start: game.position_text(&replay.positions[0]),
            ending: played.ending(saved),
            agent: self.agent.spec.to_string(),
            exact: self.truth.is_some(),
            totals: [1, 2].map(|player| Totals::of(&moves, player)),
            moments: moments(&moves),
            moves,
        }))
    }

    /// What is exactly known about each move; nothing without exact values.
    fn known(&self, game: &dyn PlayableGame, replay: &Replay) -> Option<Vec<Option<KnownMove>>> {
        let Some(truth) = self.truth else { return Some(vec![None; replay.actions.len()]) };
        known_moves(game, truth, &replay.positions, &|| {
            (self.progress)(1);
            !self.stop.is_raised()
        })
    }
}

/// A game with all that is found about its positions.
struct Played<'a> {
    game: &'a dyn PlayableGame,
    truth: Option<&'a dyn DynExactValues>,
    replay: &'a Replay,
    known: Vec<Option<KnownMove>>,
    /// By position, without the last one if the game is over there.
    found: Vec<Found>,
    /// By move, the action that it is compared with.
    others: Vec<Option<Other>>,
}

/// An action that was not played.
struct Other {
    action: Action,
    /// Value for the first side after it.
    value: f64,
    /// The expected line after it.
    line: Vec<Action>,
}

impl Played<'_> {
    /// The certain values for the first side before and after a move, with their source.
    fn certain(&self, i: usize) -> Option<([i8; 2], Source)> {
        if let Some(known) = &self.known[i] {
            return Some((known.values, Source::Exact));
        }
        let after = match self.found.get(i + 1) {
            Some(found) => found.proven,
            None => self.game.outcome(&self.replay.positions[i + 1]).map(|outcome| outcome.value()),
        };
        Some(([self.found[i].proven?, after?], Source::Proof))
    }

    /// Value of a position for the first side by the search, or by the rules where the game is over.
    fn searched_value(&self, i: usize) -> f64 {
        let by_rules = || self.game.outcome(&self.replay.positions[i]).map_or(0.0, |outcome| outcome.value().into());
        self.found.get(i).map_or_else(by_rules, |found| found.value)
    }

    /// The best known value of a position for the first side.
    fn value(&self, i: usize) -> f64 {
        let exact = self.known.get(i).and_then(|known| known.as_ref().map(|known| known.values[0]));
        let before = || self.known.get(i.checked_sub(1)?)?.as_ref().map(|known| known.values[1]);
        exact.or_else(before).map_or_else(|| self.searched_value(i), f64::from)
    }

    /// Expected points that the mover of a position has lost between two values for the first side.
    fn lost(&self, i: usize, from: f64, to: f64) -> f64 {
        f64::from(self.game.mover(&self.replay.positions[i]).sign()) * (from - to) / 2.0
    }

    /// The action to compare a move with, by a search of the position after it: the one that the search prefers, or if it
    /// prefers the move and every other one seems much worse, the next best.
    fn other(&self, i: usize) -> Option<(Action, AnyState)> {
        let (played, best) = (self.replay.actions[i], *self.found[i].line.first()?);
        if matches!(self.certain(i), Some((_, Source::Exact))) {
            return None;
        }
        let action = if best == played {
            let after = self.searched_value(i + 1);
            let others = self.found[i].others.as_ref()?;
            others.iter().all(|&(_, value)| self.lost(i, after, value) >= ONLY_MARGIN).then_some(others.first()?.0)?
        } else {
            best
        };
        let mut state = self.replay.positions[i].clone();
        self.game.play(&mut state, action);
        Some((action, state))
    }

    /// An action with its value, by the rules if the game is over, or else by the next search.
    fn valued(&self, (action, state): (Action, AnyState), searched: &mut impl Iterator<Item = Found>) -> Option<Other> {
        Some(match self.game.outcome(&state) {
            Some(outcome) => Other { action, value: outcome.value().into(), line: Vec::new() },
            None => {
                let found = searched.next()?;
                Other { action, value: found.value, line: found.line }
            }
        })
    }

    fn reviewed(&self, i: usize, saved: &SavedGame) -> ReviewedMove {
        let (state, action) = (&self.replay.positions[i], self.replay.actions[i]);
        let verdict = match &self.known[i] {
            Some(known) => self.by_exact_values(i, known),
            None => self.by_search(i),
        };
        let Verdict { source, loss, is_only, mut best } = verdict;
        best.truncate(LONGEST_LINE);
        let opening = i < saved.opening_plies;
        let mark = of_loss(loss, source).or((is_only && loss <= 0.0).then_some(Mark::Only));
        ReviewedMove {
            ply: i + 1,
            player: self.game.mover(state).number(),
            opening,
            played: self.game.action_text(state, action),
            position: self.game.position_text(state),
            legal: self.game.legal_actions(state).len(),
            value: rounded(self.value(i)),
            value_after: rounded(self.value(i + 1)),
            source,
            loss: rounded(loss),
            mark: mark.filter(|_| !opening),
            best: self.game.line_texts(state, &best),
        }
    }

    fn by_exact_values(&self, i: usize, known: &KnownMove) -> Verdict {
        let (state, played) = (&self.replay.positions[i], self.replay.actions[i]);
        let [from, to] = known.values.map(f64::from);
        let (loss, source) = (self.lost(i, from, to).max(0.0), Source::Exact);
        if loss <= 0.0 {
            let is_alone = known.keepers == [played] && known.all_known;
            let is_only = is_alone && self.game.legal_actions(state).len() > 1;
            return Verdict { source, loss, is_only, best: self.line_of_played(i) };
        }
        let preferred = self.found[i].line.first();
        let choice = |among: &[Action]| preferred.filter(|best| among.contains(best)).or(among.first()).copied();
        let optimal = self.truth.and_then(|truth| truth.optimal_actions(state));
        let best = optimal.as_deref().and_then(choice).or_else(|| choice(&known.keepers));
        let best = match (best, self.truth) {
            (Some(best), Some(truth)) => best_line(self.game, truth, state, best),
            _ => self.found[i].line.clone(),
        };
        Verdict { source, loss, is_only: false, best }
    }

    fn by_search(&self, i: usize) -> Verdict {
        let (played, found, other) = (self.replay.actions[i], &self.found[i], self.others[i].as_ref());
        let after = self.searched_value(i + 1);
        let compared = other.map(|other| self.lost(i, other.value, after));
        let (loss, source) = match self.certain(i) {
            Some(([from, to], source)) => (self.lost(i, from.into(), to.into()), source),
            None if found.line.first() == Some(&played) => (0.0, Source::Search),
            None => (compared.unwrap_or(0.0), Source::Search),
        };
        if rounded(loss) <= 0.0 {
            // The other one is the next best, so all are worse.
            let is_only = found.line.first() == Some(&played) && compared.is_some_and(|lost| lost <= -ONLY_MARGIN);
            return Verdict { source, loss: 0.0, is_only, best: self.line_of_played(i) };
        }
        let best = match other {
            Some(other) if other.action != played => [&[other.action], &other.line[..]].concat(),
            _ => found.line.clone(),
        };
        Verdict { source, loss, is_only: false, best }
    }

    /// The move that was played, and the best line after it.
    fn line_of_played(&self, i: usize) -> Vec<Action> {
        let after = self.found.get(i + 1).map_or(&[][..], |found| &found.line);
        [&[self.replay.actions[i]], after].concat()
    }

    fn ending(&self, saved: &SavedGame) -> String {
        let last = self.replay.positions.last().expect("there is a first position");
        match (self.game.outcome(last), &saved.ending) {
            (Some(outcome), _) => self.game.spec().status(Some(outcome), self.game.mover(last)),
            (None, Some(ending)) => ending.clone(),
            (None, None) => "not played to its end".into(),
        }
    }
}

/// What is found about a move.
struct Verdict {
    source: Source,
    loss: f64,
    is_only: bool,
    best: Vec<Action>,
}

/// Rounds to six decimals.
fn rounded(number: f64) -> f64 {
    // No negative zero.
    (number * 1e6).round() / 1e6 + 0.0
}

#[cfg(test)]
mod tests;
