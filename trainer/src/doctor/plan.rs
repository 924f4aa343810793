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
    /// Learner steps of the first iteration.
    pub first_steps: u64,
    /// Positions of the whole run.
    pub positions: u64,
    /// Learner steps of the whole run.
    pub steps: u64,
    /// Maximum size of the replay window in positions.
    pub largest_window: u64,
    /// Games of all matches together.
    pub match_games: u64,
    /// Seconds in self-play.
    pub self_play_seconds: f64,
    /// Seconds in learning.
    pub learn_seconds: f64,
    /// Seconds in matches.
    pub arena_seconds: f64,
    /// Seconds of self-play and learning that `run.overlap` saves.
    pub overlap_saves_seconds: f64,
}

impl Plan {
    pub(super) fn of(config: &Config, measured: &Measured) -> Self {
        let (learn, iterations) = (&config.learn, config.run.iterations);
        let positions_per_iteration =
            config.self_play.games_per_iteration as f64 * measured.self_play.positions_per_game;
        let positions = (iterations as f64 * positions_per_iteration) as u64;
        let steps = steps_due(learn, positions);
        // The window consists of whole iterations, so it can exceed its nominal size by up to one iteration.
        let self_play_seconds = positions as f64 / measured.self_play.positions_per_second;
        let learn_seconds = steps as f64 * measured.seconds_per_step;
        let overlap_saves_seconds = match config.run.overlap {
            0 => 0.0,
            _ => saved_by_overlap(self_play_seconds, learn_seconds, measured.learner_share),
        };
        let window = window_size(positions, learn.window, learn.max_window) as f64 + positions_per_iteration;
        Self {
            positions_per_iteration,
            first_steps: steps_due(learn, positions_per_iteration as u64),
            positions,
            steps,
            largest_window: (window as u64).min(positions),
            match_games: measured.matches.iter().map(|result| result.planned).sum(),
            self_play_seconds,
            learn_seconds,
            arena_seconds: measured.matches.iter().map(|result| result.planned as f64 * result.seconds_per_game).sum(),
            overlap_saves_seconds,
        }
    }

    /// Returns the projected duration of the run in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.self_play_seconds + self.learn_seconds + self.arena_seconds - self.overlap_saves_seconds
    }

    /// Returns the shares of self-play, learning and matches in the duration, 0..=1. With `run.overlap`, the first two go
    /// on at the same time, so that the sum may exceed 1.
    #[must_use]
    pub fn shares(&self) -> [f64; 3] {
        [self.self_play_seconds, self.learn_seconds, self.arena_seconds].map(|part| part / self.seconds())
    }
}

/// Seconds that are saved if self-play, which keeps all cores busy, and learning, which keeps a share of them busy, run
/// at the same time: the cores' time adds up, and learning alone is not faster than before.
fn saved_by_overlap(self_play: f64, learn: f64, learner_share: f64) -> f64 {
    let together = (self_play + learn * learner_share).max(learn);
    self_play + learn - together
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
    use crate::doctor::{MatchSpeed, SelfPlay};

    #[test]
    fn a_plan_adds_up() {
        let text = "[game]\nname = \"mancala\"\n[self_play]\ngames_per_iteration = 100\n[learn]\nbatch = 200\n\
                    samples_per_position = 2\n[arena]\nevery = 4\ngames = 9\nfinal_games = 20\n[run]\niterations = 8";
        let config = Config::parse(text, &turnstone_env::games::built_in()).expect("valid");
        let self_play = SelfPlay {
            iterations: 1,
            seconds: 1.0,
            positions_per_second: 1000.0,
            positions_per_game: 30.0,
            legal_mean: 4.0,
            legal_most: 6,
            mean_batch: None,
        };
        let planned = match_games(&config, config.arena.games, config.arena.final_games);
        let matches = vec![MatchSpeed { opponent: "random".into(), planned, games: 10, seconds_per_game: 0.1 }];
        let plan =
            Plan::of(&config, &Measured { self_play, steps: 1, seconds_per_step: 0.01, learner_share: 0.5, matches });
        assert_eq!((plan.positions, plan.steps, plan.first_steps), (24_000, 240, 30));
        // One match of 10 after iteration 4; the one after iteration 8 is the last.
        assert_eq!((plan.match_games, plan.largest_window), (30, 24_000));
        assert!((plan.seconds() - (24.0 + 2.4 + 3.0)).abs() < 1e-9);
        assert_eq!(plan.overlap_saves_seconds, 0.0);
        // On two cores of which learning takes one: half its time is saved, unless it takes longer than all the rest.
        assert_eq!(saved_by_overlap(24.0, 2.5, 0.5), 1.25);
        assert_eq!(saved_by_overlap(4.0, 20.0, 0.5), 4.0);
        assert_eq!(saved_by_overlap(24.0, 2.5, 1.0), 0.0);
        let never =
            Config::parse(&text.replace("every = 4", "every = 0"), &turnstone_env::games::built_in()).expect("valid");
        assert_eq!(match_games(&never, 9, 20), 20);
    }
}
