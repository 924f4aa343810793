//! The window of scores that a search looks for.

use turnstone_env::Side;

use super::buckets::Bound;

/// Search window of scores for the first side: `alpha` is a lower bound that it has secured, `beta` an upper bound that
/// the second side has secured.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) alpha: i32,
    pub(super) beta: i32,
}

impl Window {
    pub(super) const ALL: Self = Self { alpha: i32::MIN, beta: i32::MAX };

    /// Narrows the window after the mover has secured `score`.
    #[inline]
    pub(super) fn assure(&mut self, mover: Side, score: i32) {
        match mover {
            Side::First => self.alpha = self.alpha.max(score),
            Side::Second => self.beta = self.beta.min(score),
        }
    }

    /// The null window above the score that `mover` has secured.
    #[inline]
    pub(super) fn narrowest(self, mover: Side) -> Self {
        match mover {
            Side::First => Self { beta: self.alpha + 1, ..self },
            Side::Second => Self { alpha: self.beta - 1, ..self },
        }
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.alpha >= self.beta
    }

    #[inline]
    pub(super) fn contains(self, score: i32) -> bool {
        self.alpha < score && score < self.beta
    }

    /// Whether a score found in this window is exact, a lower bound (it failed high) or an upper bound (it failed low).
    #[inline]
    pub(super) fn bound(self, score: i32) -> Bound {
        if score >= self.beta {
            Bound::Lower
        } else if score <= self.alpha {
            Bound::Upper
        } else {
            Bound::Exact
        }
    }
}
