//! The state of a run besides that of its learner.

use serde::{Deserialize, Serialize};
use turnstone_selfplay::SelfPlayGames;

/// State of a run at the end of an iteration, besides the learner's state.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunState {
    /// Iterations finished.
    pub iteration: u64,
    /// Self-play games so far.
    pub games: u64,
    /// Self-play positions so far.
    pub positions: u64,
    /// The first iteration whose positions are in the replay window.
    pub window_from: u64,
    /// Score of the best checkpoint: on the ladder if the config uses it, else the mean over the opponents.
    pub best_score: Option<f64>,
    /// Learner step of the best checkpoint.
    pub best_step: Option<u64>,
    /// The next iteration's games, if they have been played already (`run.overlap`); its shard is then on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<GameCounts>,
}

/// Counts of an iteration's games of self-play.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameCounts {
    /// Games.
    pub games: u64,
    /// Recorded positions.
    pub positions: u64,
    /// Plies of all games, openings included.
    pub plies: u64,
    /// Games won by player 1, drawn, won by player 2.
    pub outcomes: [u64; 3],
}

impl GameCounts {
    /// Counts games of self-play.
    #[must_use]
    pub fn of(games: &SelfPlayGames) -> Self {
        let mut counts =
            Self { games: games.ends.len() as u64, positions: games.shard.len() as u64, ..Self::default() };
        for (outcome, plies) in &games.ends {
            counts.plies += u64::from(*plies);
            counts.outcomes[(1 - outcome.value()) as usize] += 1;
        }
        counts
    }

    /// Mean length of a game in plies.
    #[must_use]
    pub fn game_length(&self) -> f64 {
        self.plies as f64 / self.games as f64
    }

    /// Shares of the games won by player 1, drawn, won by player 2.
    #[must_use]
    pub fn outcome_shares(&self) -> [f64; 3] {
        self.outcomes.map(|games| games as f64 / self.games.max(1) as f64)
    }
}

impl RunState {
    /// The last iteration whose games have been played.
    #[must_use]
    pub fn played(&self) -> u64 {
        self.iteration + u64::from(self.ahead.is_some())
    }

    /// Bounds what a file may claim, so that no loop over it runs away.
    pub(super) fn validate(&self) -> Result<(), String> {
        const MOST_IN_WINDOW: u64 = 1_000_000;
        const MOST_PER_ITERATION: u64 = 1_000_000_000;
        let Self { iteration, games, positions, window_from, .. } = *self;
        let begun = iteration.saturating_add(1);
        if window_from > begun || begun - window_from > MOST_IN_WINDOW {
            return Err(format!("a window from iteration {window_from} to {iteration} is not possible"));
        }
        if games.max(positions) > iteration.saturating_mul(MOST_PER_ITERATION) {
            return Err(format!("{games} games with {positions} positions in {iteration} iterations are not possible"));
        }
        if let Some(GameCounts { games, positions, outcomes, .. }) = self.ahead {
            let decided = outcomes.iter().fold(0, |sum: u64, &count| sum.saturating_add(count));
            if games.max(positions) > MOST_PER_ITERATION || games != decided || iteration == u64::MAX {
                return Err(format!(
                    "{games} games with {positions} positions after iteration {iteration} are not possible"
                ));
            }
        }
        if self.best_score.is_some_and(|score| !score.is_finite()) {
            return Err("the best score is not finite".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_played_ahead_are_counted_and_bounded() {
        let ahead = GameCounts { games: 10, positions: 300, plies: 330, outcomes: [5, 2, 3] };
        assert_eq!((ahead.game_length(), ahead.outcome_shares()), (33.0, [0.5, 0.2, 0.3]));
        let plain = RunState { iteration: 4, window_from: 1, ..RunState::default() };
        let state = RunState { ahead: Some(ahead), ..plain.clone() };
        assert_eq!((plain.played(), state.played()), (4, 5));
        let read = |state: &RunState| {
            let text = serde_json::to_string(state).expect("plain fields");
            (text.contains("ahead"), serde_json::from_str::<RunState>(&text).expect("what is written can be read"))
        };
        assert_eq!(read(&plain), (false, plain.clone()));
        assert_eq!(read(&state), (true, state.clone()));
        let with = |ahead| RunState { ahead: Some(ahead), ..plain.clone() }.validate();
        assert_eq!(with(ahead), Ok(()));
        assert!(with(GameCounts { games: 11, ..ahead }).is_err());
        assert!(with(GameCounts { positions: u64::MAX, ..ahead }).is_err());
        assert!(with(GameCounts { outcomes: [u64::MAX; 3], ..ahead }).is_err());
    }
}
