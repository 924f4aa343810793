//! The games of a `VecEnv` in a pickle. Everything is checked, since a pickle may come from anywhere.

use pyo3::prelude::*;
use turnstone_env::{AnyState, EnvRecord, LanesRecord};

use crate::errors::{game_error, value_error};
use crate::game::Game;

/// Most samples that are drawn anew: a quarter of an hour, after weeks of drawing.
const MOST_DRAWN: u64 = 1 << 40;

/// The games of a `VecEnv` as a pickle holds them: a tuple of numbers and texts.
#[derive(FromPyObject, IntoPyObject)]
pub(crate) struct EnvsRecord(
    /// Seed of the random streams.
    u64,
    /// Number of samples since then.
    u64,
    /// Whether the caller has started the games.
    pub(crate) bool,
    /// For every env its position, the last position of the game that ended last, and whether that was in the last step.
    Vec<(String, Option<String>, bool)>,
);

impl EnvsRecord {
    pub(crate) fn new(game: &Game, record: &LanesRecord, is_reset: bool) -> PyResult<Self> {
        let text = |state: &AnyState| game.rules.position_text(state);
        let envs = record.envs.iter().map(|env| (text(&env.state), env.last_final.as_ref().map(text), env.has_ended));
        let envs: Vec<_> = game.guarded(|| envs.collect())?;
        Ok(Self(record.seed, record.drawn, is_reset, envs))
    }

    pub(crate) fn record(&self, game: &Game) -> PyResult<LanesRecord> {
        let Self(seed, drawn, _, envs) = self;
        if drawn.saturating_mul(envs.len() as u64) > MOST_DRAWN {
            let most = MOST_DRAWN;
            return Err(value_error(format!("the pickle is of {drawn} samples of all games, more than {most} in all")));
        }
        let state =
            |text: &String| game.guarded(|| game.rules.parse_position(text))?.map_err(|error| game_error(&error));
        let env = |(env, (position, last, has_ended)): (usize, &(String, Option<String>, bool))| {
            let last_final = last.as_ref().map(state).transpose()?;
            let is_over =
                game.guarded(|| last_final.as_ref().is_some_and(|state| game.rules.outcome(state).is_some()))?;
            if is_over != last_final.is_some() || (*has_ended && !is_over) {
                return Err(value_error(format!("env {env} of the pickle: its last game has not ended")));
            }
            Ok(EnvRecord { state: state(position)?, last_final, has_ended: *has_ended })
        };
        let envs = envs.iter().enumerate().map(env).collect::<PyResult<_>>()?;
        Ok(LanesRecord { seed: *seed, drawn: *drawn, envs })
    }
}
