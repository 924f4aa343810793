//! The limit of a tree search per move, as agents have it: `sims=` or `time=`.

use std::time::Duration;

/// Greatest number of simulations per move.
pub(crate) const MAX_SIMULATIONS: u32 = 10_000_000;

/// Limit of a tree search per move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Budget {
    /// Number of simulations.
    Simulations(u32),
    /// Time; at most a twentieth of the remaining time in games with clocks.
    Time(Duration),
}

impl Budget {
    /// The budget from these two settings, of which one is given.
    pub(crate) fn of(sims: Option<u32>, time: Option<Duration>) -> Self {
        time.map_or(Self::Simulations(sims.unwrap_or(0)), Self::Time)
    }

    /// Completes the two settings: `default` simulations if neither is given.
    ///
    /// # Errors
    /// Both are given.
    pub(crate) fn complete(sims: &mut Option<u32>, time: Option<Duration>, default: u32) -> Result<(), String> {
        match (&sims, time) {
            (Some(_), Some(_)) => return Err("give sims or time, not both".to_owned()),
            (None, None) => *sims = Some(default),
            _ => {}
        }
        Ok(())
    }
}
