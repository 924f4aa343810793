//! Exact values of games without their ply limits, which do not depend on when a position occurs.

use turnstone_env::{Error, Game, without_limits};

use crate::reachable::Solution;
use crate::values::ExactValues;

/// Exact values of a small game without its ply limits, looked up with states of the game with them.
///
/// ```
/// use turnstone_env::{Game, games::MuTorere, play_text};
/// use turnstone_exact::{Unlimited, ExactValues};
///
/// let game = MuTorere::default(); // a draw after 100 plies
/// let truth = Unlimited::of(&game, 10_000)?.expect("the game is small");
/// let mut state = game.start();
/// play_text(&game, &mut state, "0,4 1,0")?;
/// assert_eq!(truth.value(&game, &state), Some(0));
/// # Ok::<(), turnstone_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Unlimited<G: Game> {
    game: G,
    solution: Solution<G>,
}

impl<G: Game> Unlimited<G> {
    /// Solves the game. `None` if more than `most` positions are reachable.
    ///
    /// # Errors
    /// Those of [`without_limits`].
    pub fn of(game: &G, most: usize) -> Result<Option<Self>, Error> {
        let game = without_limits(game)?;
        Ok(Solution::of(&game, most).map(|solution| Self { game, solution }))
    }

    /// The game without its limits.
    #[must_use]
    pub fn game(&self) -> &G {
        &self.game
    }

    /// [`Solution::plies_to_end`] of a state of the game with its limits.
    #[must_use]
    pub fn plies_to_end(&self, game: &G, state: &G::State) -> Option<u32> {
        self.solution.plies_to_end(&self.unlimited(game, state)?)
    }

    /// The same position in the game without limits. Both share the text of positions; without a limit the count in it is
    /// read and dropped.
    fn unlimited(&self, game: &G, state: &G::State) -> Option<G::State> {
        self.game.parse_position(&game.position_text(state)).ok()
    }

    /// The values of all reachable positions.
    #[must_use]
    pub fn solution(&self) -> &Solution<G> {
        &self.solution
    }
}

impl<G: Game> ExactValues<G> for Unlimited<G> {
    fn value(&self, game: &G, state: &G::State) -> Option<i8> {
        self.solution.value(&self.unlimited(game, state)?)
    }
}
