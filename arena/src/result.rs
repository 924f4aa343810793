//! Wins, draws and losses, by seat.

use serde::{Deserialize, Serialize};

/// Numbers of wins, draws and losses.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Tally {
    /// Games won.
    pub wins: usize,
    /// Games drawn.
    pub draws: usize,
    /// Games lost.
    pub losses: usize,
}

/// Results in both seats.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BySeat {
    /// As player 1.
    pub first: Tally,
    /// As player 2.
    pub second: Tally,
}

impl Tally {
    /// Adds a game with this result: 1, 0 or -1.
    pub(super) fn add(&mut self, result: i8) {
        match result {
            1 => self.wins += 1,
            0 => self.draws += 1,
            _ => self.losses += 1,
        }
    }

    /// Number of games.
    #[must_use]
    pub fn games(&self) -> usize {
        self.wins + self.draws + self.losses
    }

    /// Wins plus half the draws as a share of the games, 0..=1; NaN without games.
    #[must_use]
    pub fn score(&self) -> f64 {
        (self.wins as f64 + 0.5 * self.draws as f64) / self.games() as f64
    }

    fn swapped(self) -> Self {
        Self { wins: self.losses, losses: self.wins, ..self }
    }
}

impl BySeat {
    /// Counts games given by seat (0 or 1) and result (1, 0 or -1).
    pub(super) fn of(games: impl Iterator<Item = (usize, i8)>) -> Self {
        let mut record = Self::default();
        for (seat, result) in games {
            if seat == 0 { &mut record.first } else { &mut record.second }.add(result);
        }
        record
    }

    /// The same games from the opponent's point of view.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { first: self.second.swapped(), second: self.first.swapped() }
    }

    /// Results of both seats together.
    #[must_use]
    pub fn total(&self) -> Tally {
        Tally {
            wins: self.first.wins + self.second.wins,
            draws: self.first.draws + self.second.draws,
            losses: self.first.losses + self.second.losses,
        }
    }
}

/// Formats an Elo difference with its sign.
pub(super) fn signed(elo: f64) -> String {
    match elo {
        f64::INFINITY => "+inf".into(),
        f64::NEG_INFINITY => "-inf".into(),
        _ => format!("{elo:+.0}"),
    }
}
