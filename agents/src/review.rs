//! Review of a game: what each move has lost, the moments to look at, and better lines from there. The terminal, the pages
//! and the browser judge by it; they differ in how the positions are searched.

mod truth;
mod moves;
mod marks;
mod found;
mod curve;

pub use self::curve::{CURVE_ENDS, CURVE_SIZE, curve};
pub use self::found::Found;
pub use self::marks::moments;
pub use self::moves::{Mark, PlayerTotals, ReviewedMove, Source};
pub use self::truth::{KnownMove, known_moves};

use turnstone_env::{Action, AnyState, Side};

use self::marks::{ONLY_MARGIN, mark};
use self::truth::{LONGEST_LINE, best_line};
use crate::{DynExactValues, PlayableGame};

/// A game with what is known of its positions. A move is reviewed once the positions before and after it are searched, and
/// what it is compared with.
#[derive(Clone, Copy)]
pub struct SearchedGame<'a> {
    /// The game's rules.
    pub game: &'a dyn PlayableGame,
    /// Exact values to ask first.
    pub truth: Option<&'a dyn DynExactValues>,
    /// The positions from the first to the last, one more than actions.
    pub positions: &'a [AnyState],
    /// The actions.
    pub actions: &'a [Action],
    /// Number of actions of the opening, which no player chose.
    pub opening_plies: usize,
    /// Exact values around each move.
    pub known: &'a [Option<KnownMove>],
    /// By position, without the last one if the game is over there.
    pub found: &'a [Found],
    /// By move, the action that it is compared with.
    pub others: &'a [Option<OtherAction>],
}

/// An action that was not played.
#[derive(Clone, Debug)]
pub struct OtherAction {
    action: Action,
    /// Value for the first side after it.
    value: f64,
    /// The expected line after it.
    line: Vec<Action>,
}

impl SearchedGame<'_> {
    /// The certain values for the first side before and after a move, with their source.
    fn certain(&self, i: usize) -> Option<([i8; 2], Source)> {
        if let Some(known) = &self.known[i] {
            return Some((known.values, Source::Exact));
        }
        let after = match self.found.get(i + 1) {
            Some(found) => found.proven,
            None => self.game.outcome(&self.positions[i + 1]).map(|outcome| outcome.value()),
        };
        Some(([self.found[i].proven?, after?], Source::Proof))
    }

    /// Value of a position for the first side by the search, or by the rules where the game is over.
    fn searched_value(&self, i: usize) -> f64 {
        let by_rules = || self.game.outcome(&self.positions[i]).map_or(0.0, |outcome| outcome.value().into());
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
        lost(self.game.mover(&self.positions[i]), from, to)
    }

    /// The action to compare a move with, by a search of the position after it: the one that the search prefers, or if it
    /// prefers the move and every other one seems much worse, the next best.
    #[must_use]
    pub fn other(&self, i: usize) -> Option<(Action, AnyState)> {
        let (played, best) = (self.actions[i], *self.found[i].line.first()?);
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
        let mut state = self.positions[i].clone();
        self.game.play(&mut state, action);
        Some((action, state))
    }

    /// The action with its value: by the rules if it ends the game, else by a search.
    #[must_use]
    pub fn valued(
        &self,
        (action, state): (Action, AnyState),
        search: impl FnOnce() -> Option<Found>,
    ) -> Option<OtherAction> {
        Some(match self.game.outcome(&state) {
            Some(outcome) => OtherAction { action, value: outcome.value().into(), line: Vec::new() },
            None => {
                let found = search()?;
                OtherAction { action, value: found.value, line: found.line }
            }
        })
    }

    /// The review of a move by its number from 0.
    #[must_use]
    pub fn reviewed(&self, i: usize) -> ReviewedMove {
        let (state, action) = (&self.positions[i], self.actions[i]);
        let verdict = match &self.known[i] {
            Some(known) => self.by_exact_values(i, known),
            None => self.by_search(i),
        };
        let Verdict { source, loss, is_only, mut best } = verdict;
        best.truncate(LONGEST_LINE);
        let opening = i < self.opening_plies;
        ReviewedMove {
            ply: i + 1,
            player: self.game.mover(state).number(),
            opening,
            played: self.game.action_text(state, action),
            shown: self.game.display_text(state, action),
            position: self.game.position_text(state),
            legal: self.game.legal_actions(state).len(),
            value: rounded(self.value(i)),
            value_after: rounded(self.value(i + 1)),
            source,
            loss: rounded(loss),
            mark: mark(loss, source, is_only).filter(|_| !opening),
            best: self.game.line_texts(state, &best),
            best_shown: self.game.line_display(state, &best),
        }
    }

    fn by_exact_values(&self, i: usize, known: &KnownMove) -> Verdict {
        let (state, played) = (&self.positions[i], self.actions[i]);
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
        let (played, found, other) = (self.actions[i], &self.found[i], self.others[i].as_ref());
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
        [&[self.actions[i]], after].concat()
    }
}

/// Findings about a move.
struct Verdict {
    source: Source,
    loss: f64,
    is_only: bool,
    best: Vec<Action>,
}

/// Expected points that a player has lost between two values for the first side.
fn lost(mover: Side, from: f64, to: f64) -> f64 {
    f64::from(mover.sign()) * (from - to) / 2.0
}

/// Mark of an action by the exact values for the first side before and after it; `is_only` says whether all others are worse.
#[must_use]
pub fn exact_mark(mover: Side, [before, after]: [i8; 2], is_only: bool) -> Option<Mark> {
    mark(lost(mover, before.into(), after.into()), Source::Exact, is_only)
}

/// Rounds to six decimals.
fn rounded(number: f64) -> f64 {
    // No negative zero.
    (number * 1e6).round() / 1e6 + 0.0
}
