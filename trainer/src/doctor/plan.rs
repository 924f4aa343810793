//! Projection of a whole run from measured speeds.

use serde::Serialize;

use super::measure::Measured;
use crate::config::Config;
use crate::learn::steps_due;
use turnstone_selfplay::replay::window_size;

/// Projected counts and durations of the whole run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Plan {
    /// Positions per iteration.
    pub positions_per_iteration: f64,
    /// Learner steps of the whole run.
    pub steps: u64,
    /// Maximum size of the replay window in positions.
    pub largest_window: u64,
    /// Games of all matches together.
    pub match_games: u64,
    /// Seconds in self-play.
    pub self_play_seconds: f64,
    /// Seconds in learning. With `run.overlap` a part of them passes during self-play.
    pub learn_seconds: f64,
    /// Seconds in matches.
    pub arena_seconds: f64,
}

impl Plan {
    pub(super) fn of(config: &Config, measured: &Measured) -> Self {
        let learn = &config.learn;
        let positions_per_iteration = config.self_play.games_per_iteration as f64 * measured.positions_per_game;
        let positions = (config.run.iterations as f64 * positions_per_iteration) as u64;
        let steps = steps_due(learn, positions);
        // The window consists of whole iterations, so it can exceed its nominal size by up to one iteration.
        let window = window_size(positions, learn.window, learn.max_window) as f64 + positions_per_iteration;
        Self {
            positions_per_iteration,
            steps,
            largest_window: (window as u64).min(positions),
            match_games: measured.matches.iter().map(|result| result.planned).sum(),
            self_play_seconds: positions as f64 / measured.positions_per_second,
            learn_seconds: steps as f64 * measured.seconds_per_step,
            arena_seconds: measured.matches.iter().map(|result| result.planned as f64 * result.seconds_per_game).sum(),
        }
    }

    /// Seconds of self-play, learning and matches, one after the other.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.self_play_seconds + self.learn_seconds + self.arena_seconds
    }
}

/// Returns the number of games in all matches against one opponent, with `games` per match and `final_games` in the
/// last one. Odd numbers are rounded up, because games are played in pairs.
pub(super) fn match_games(config: &Config, games: usize, final_games: usize) -> u64 {
    let before_the_last = (config.run.iterations - 1).checked_div(config.arena.every).unwrap_or(0);
    let paired = |games: usize| games.next_multiple_of(2) as u64;
    before_the_last * paired(games) + paired(final_games)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::MatchSpeed;

    #[test]
    fn a_plan_adds_up() {
        let text = "[game]\nname = \"mancala\"\n[self_play]\ngames_per_iteration = 100\n[learn]\nbatch = 200\n\
                    samples_per_position = 2\n[arena]\nevery = 4\ngames = 9\nfinal_games = 20\n[run]\niterations = 8";
        let config = |text: &str| Config::parse(text, &turnstone_env::games::built_in()).expect("valid");
        let planned = match_games(&config(text), 9, 20);
        let matches = vec![MatchSpeed { opponent: "random".into(), planned, seconds_per_game: 0.1 }];
        let measured = Measured {
            positions_per_second: 1000.0,
            positions_per_game: 30.0,
            legal_mean: 4.0,
            seconds_per_step: 0.01,
            matches,
        };
        let plan = Plan::of(&config(text), &measured);
        // One match of 10 after iteration 4; the one after iteration 8 is the last.
        assert_eq!((plan.steps, plan.match_games, plan.largest_window), (240, 30, 24_000));
        assert!((plan.seconds() - (24.0 + 2.4 + 3.0)).abs() < 1e-9);
        assert_eq!(match_games(&config(&text.replace("every = 4", "every = 0")), 9, 20), 20);
    }
}
