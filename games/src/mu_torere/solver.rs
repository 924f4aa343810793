//! Exact values of Mu Torere with its limit of plies.

use turnstone_env::games::{MuTorere, mu_torere::State};
use turnstone_env::{Error, Rules};

use turnstone_exact::ExactValues;
use turnstone_exact::Unlimited;

/// Exact values of every position at every ply.
///
/// Without the limit a won position is won within its distance to the end. With it, it is won if at least as many plies
/// are left, and drawn otherwise: a win within `n` plies is one within any number above.
///
/// ```
/// use turnstone_env::{Notation, Rules, games::MuTorere};
/// use turnstone_exact::ExactValues;
/// use turnstone_games::mu_torere::MuTorereValues;
///
/// let game = MuTorere::default(); // a draw after 100 plies
/// let truth = MuTorereValues::new(&game)?;
/// let [early, late] = ["222110121 1 10", "222110121 1 99"].map(|text| game.parse_position(text));
/// assert_eq!(truth.value(&game, &early?), Some(1));
/// assert_eq!(truth.value(&game, &late?), Some(0));
/// # Ok::<(), turnstone_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MuTorereValues(Unlimited<MuTorere>);

/// More than all positions.
const MOST_POSITIONS: usize = 10_000;

impl MuTorereValues {
    /// Solves the game, which takes milliseconds.
    ///
    /// # Errors
    /// None: the game's limit can be switched off.
    ///
    /// # Panics
    /// Never: the game is small.
    pub fn new(game: &MuTorere) -> Result<Self, Error> {
        Ok(Self(Unlimited::of(game, MOST_POSITIONS)?.expect("the game has fewer positions")))
    }
}

impl ExactValues<MuTorere> for MuTorereValues {
    fn value(&self, game: &MuTorere, state: &State) -> Option<i8> {
        if let Some(outcome) = game.outcome(state) {
            return Some(outcome.value());
        }
        let value = self.0.value(game, state)?;
        let left = u32::from(game.max_plies).checked_sub(u32::from(state.plies())).filter(|_| game.max_plies > 0);
        let in_time = || left.is_none_or(|left| self.0.plies_to_end(game, state).is_some_and(|plies| plies <= left));
        Some(if value != 0 && in_time() { value } else { 0 })
    }
}
