//! A batch of positions, and what a backend writes into it.

use std::ops::Range;

use turnstone_env::{Action, Side};

/// Evaluation of a position.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Evaluation {
    /// Expected result for the first side, -1..=1.
    pub value: f32,
    /// Probability of a draw, 0..=1.
    pub draw: f32,
}

impl Evaluation {
    /// A known result: 1, 0 or -1 for the first side.
    #[must_use]
    pub fn exact(result: i8) -> Self {
        Self { value: f32::from(result), draw: f32::from(u8::from(result == 0)) }
    }

    /// Probabilities of win, draw and loss for `side`.
    #[must_use]
    pub fn win_draw_loss(&self, side: Side) -> [f32; 3] {
        let (decided, value) = (1.0 - self.draw, side.sign() * self.value);
        [(decided + value) / 2.0, self.draw, (decided - value) / 2.0].map(|p| p.clamp(0.0, 1.0))
    }
}

/// A batch of positions with buffers for their evaluations. A batch that is reused stops allocating.
#[derive(Clone, Debug)]
pub struct EvalBatch<S> {
    states: Vec<S>,
    legal: Vec<Action>,
    /// End of each position's part of `legal` and `priors`.
    ends: Vec<usize>,
    priors: Vec<f32>,
    estimates: Vec<Evaluation>,
}

impl<S> Default for EvalBatch<S> {
    fn default() -> Self {
        Self { states: Vec::new(), legal: Vec::new(), ends: Vec::new(), priors: Vec::new(), estimates: Vec::new() }
    }
}

impl<S> EvalBatch<S> {
    /// Removes all positions and keeps the memory.
    pub fn clear(&mut self) {
        self.states.clear();
        self.legal.clear();
        self.ends.clear();
        self.priors.clear();
        self.estimates.clear();
    }

    /// Adds a running position with its legal actions and returns its number.
    pub fn push(&mut self, state: S, legal: &[Action]) -> usize {
        self.states.push(state);
        self.legal.extend_from_slice(legal);
        self.ends.push(self.legal.len());
        self.priors.resize(self.legal.len(), 0.0);
        self.estimates.push(Evaluation::default());
        self.states.len() - 1
    }

    /// Adds the positions of some rows of another batch.
    pub(super) fn extend_from(&mut self, other: &Self, rows: Range<usize>)
    where
        S: Copy,
    {
        for row in rows {
            let (state, legal) = other.position(row);
            self.push(*state, legal);
        }
    }

    /// Takes what another batch says about some of its rows, whose positions are those from `first` on.
    pub(super) fn copy_answers(&mut self, first: usize, other: &Self, rows: Range<usize>) {
        for (row, from) in (first..).zip(rows) {
            let (priors, estimate) = other.answer(from);
            self.priors_mut(row).copy_from_slice(priors);
            self.estimates[row] = estimate;
        }
    }

    /// Number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// All positions.
    #[must_use]
    pub fn states(&self) -> &[S] {
        &self.states
    }

    /// Position `i` and its legal actions.
    #[must_use]
    pub fn position(&self, i: usize) -> (&S, &[Action]) {
        (&self.states[i], &self.legal[self.range(i)])
    }

    /// Buffer for the priors of position `i`, one per legal action, not negative and of sum 1.
    pub fn priors_mut(&mut self, i: usize) -> &mut [f32] {
        let range = self.range(i);
        &mut self.priors[range]
    }

    /// The legal actions of position `i`, and the buffer for their priors.
    pub fn legal_and_priors(&mut self, i: usize) -> (&[Action], &mut [f32]) {
        let range = self.range(i);
        (&self.legal[range.clone()], &mut self.priors[range])
    }

    /// Sets the evaluation of position `i`.
    pub fn set_evaluation(&mut self, i: usize, estimate: Evaluation) {
        self.estimates[i] = estimate;
    }

    /// The priors of the legal actions and the evaluation of position `i`.
    #[must_use]
    pub fn answer(&self, i: usize) -> (&[f32], Evaluation) {
        (&self.priors[self.range(i)], self.estimates[i])
    }

    fn range(&self, i: usize) -> Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        start..self.ends[i]
    }
}
