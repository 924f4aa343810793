//! Object-safe interface to the walk of an agent through a game.

use turnstone_env::{Action, AnyState, Rules};
use turnstone_exact::{Extent, IllegalMove, Moves, Walk};

/// Object-safe interface to [`Walk`].
pub trait DynWalk: Send + Sync {
    /// The positions in which the agent is asked next, at most `most`.
    fn questions(&self, most: usize) -> Vec<AnyState>;

    /// Walks on by the answers to the first questions, to about `most` positions.
    ///
    /// # Errors
    /// An answer is not a legal action.
    fn answer(&mut self, most: usize, answers: &[Action]) -> Result<Extent, IllegalMove>;

    /// [`Walk::positions`].
    fn positions(&self) -> usize;

    /// [`Walk::frontier`].
    fn frontier(&self) -> usize;

    /// [`Walk::moves`].
    fn moves(&self) -> &Moves;

    /// [`Walk::first_mistakes`], each with the actions that lead to positions that are met and from which the agent comes to
    /// `least`.
    fn first_mistakes(&self, least: i8, is_worse: &mut dyn FnMut(&AnyState) -> bool) -> Vec<(AnyState, Vec<Action>)>;

    /// [`Walk::losing_moves`].
    fn losing_moves(&mut self) -> Vec<LosingMove>;

    /// [`Walk::is_lost`].
    fn is_lost(&self, state: &AnyState) -> bool;

    /// [`Walk::corrected`].
    fn corrected(&self, corrections: &[(AnyState, Action)]) -> Box<dyn DynWalk>;

    /// Whether a position is met.
    fn has_met(&self, state: &AnyState) -> bool;

    /// Result of the walk so far.
    fn findings(&self) -> Findings;
}

/// Result of a walk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Findings {
    /// [`Walk::of_starts`].
    pub values: Vec<i8>,
    /// Number of positions from which the agent can be beaten.
    pub beaten: usize,
    /// From each start [`Walk::refutation`], and [`Walk::last_escape`] of it.
    pub refutations: Vec<Option<Refutation>>,
}

impl Findings {
    /// The worst result from a start, by its place among the starts, of a walk that has come this far; `None` if it is not
    /// certain.
    #[must_use]
    pub fn result(&self, start: usize, extent: Extent) -> Option<i8> {
        let value = self.values[start];
        (value != 0 || extent == Extent::Complete).then_some(value)
    }
}

/// A position in which an agent's move loses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LosingMove {
    /// The position.
    pub state: AnyState,
    /// Actions to positions that are met, and from which the agent cannot be beaten.
    pub safe: Vec<Action>,
    /// Actions that are not known to lose.
    pub open: Vec<Action>,
}

/// A shortest game that an agent loses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refutation {
    /// Its actions.
    pub line: Vec<Action>,
    /// The last ply at which another action is safe, and this action.
    pub escape: Option<(usize, Action)>,
}

impl<G: Rules> DynWalk for Walk<G> {
    fn questions(&self, most: usize) -> Vec<AnyState> {
        self.questions(most).copied().map(AnyState::new).collect()
    }

    fn answer(&mut self, most: usize, answers: &[Action]) -> Result<Extent, IllegalMove> {
        let mut answers = answers.iter();
        // An action that is not legal has no place.
        self.extend(most, &mut |_, legal| Some(legal.binary_search(answers.next()?).unwrap_or(usize::MAX)))
    }

    fn positions(&self) -> usize {
        self.positions()
    }

    fn frontier(&self) -> usize {
        self.frontier()
    }

    fn moves(&self) -> &Moves {
        self.moves()
    }

    fn first_mistakes(&self, least: i8, is_worse: &mut dyn FnMut(&AnyState) -> bool) -> Vec<(AnyState, Vec<Action>)> {
        let values = self.values();
        let mistakes = self.first_mistakes(&values, least, &mut |state| is_worse(&AnyState::new(*state)));
        let safe = |state: G::State| {
            let keeps = |next: &G::State| self.value_of(&values, next).is_some_and(|value| value >= least);
            (AnyState::new(state), self.actions_to(&state, keeps))
        };
        mistakes.into_iter().map(safe).collect()
    }

    fn losing_moves(&mut self) -> Vec<LosingMove> {
        let (losing_moves, values) = (self.losing_moves(), self.values());
        let losing = |(state, open): (G::State, Vec<Action>)| {
            let is_safe = |next: &G::State| self.value_of(&values, next).is_some_and(|value| value >= 0);
            LosingMove { safe: self.actions_to(&state, is_safe), open, state: AnyState::new(state) }
        };
        losing_moves.into_iter().map(losing).collect()
    }

    fn is_lost(&self, state: &AnyState) -> bool {
        self.is_lost(state.of())
    }

    fn corrected(&self, corrections: &[(AnyState, Action)]) -> Box<dyn DynWalk> {
        let corrections: Vec<_> = corrections.iter().map(|(state, action)| (*state.of(), *action)).collect();
        Box::new(self.corrected(&corrections))
    }

    fn has_met(&self, state: &AnyState) -> bool {
        self.has_met(state.of())
    }

    fn findings(&self) -> Findings {
        let values = self.values();
        let of_starts = self.of_starts(&values);
        let refutation = |start| {
            let line = self.refutation(&values, start)?;
            let escape = (self.frontier() == 0).then(|| self.last_escape(&values, start, &line)).flatten();
            Some(Refutation { line, escape })
        };
        Findings {
            refutations: (0..of_starts.len()).map(refutation).collect(),
            values: of_starts,
            beaten: values.iter().filter(|&&value| value == -1).count(),
        }
    }
}
