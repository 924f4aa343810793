//! Uniformly random playouts, the measure of how fast the rules are.

use rand::Rng;

use crate::action::{Action, ActionList};
use crate::outcome::Outcome;
use crate::rules::Rules;

/// Plays uniformly random legal actions until the game is over, and returns its outcome and the number of plies played.
/// The outcome and the legal actions are computed for every ply; `legal` is the buffer of the latter.
///
/// ```
/// use rand::SeedableRng;
/// use rand_xoshiro::Xoshiro256PlusPlus;
/// use turnstone_env::{ActionList, Rules, games::Konane, playout};
///
/// let game = Konane::default();
/// let mut state = game.start();
/// let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
/// let (outcome, plies) = playout(&game, &mut state, &mut ActionList::new(), &mut rng);
/// assert!(outcome.winner.is_some() && plies > 2);
/// ```
pub fn playout<G: Rules>(game: &G, state: &mut G::State, legal: &mut ActionList, rng: &mut impl Rng) -> (Outcome, u64) {
    let mut plies = 0;
    loop {
        if let Some(outcome) = game.outcome(state) {
            return (outcome, plies);
        }
        game.legal(state, legal);
        game.play(state, choose(legal, rng));
        plies += 1;
    }
}

/// A uniformly random action of a list that is not empty, by multiplying and shifting: the bias is below 2^-20.
#[inline]
pub(crate) fn choose(legal: &[Action], rng: &mut impl Rng) -> Action {
    legal[choose_index(legal.len(), rng)]
}

/// A uniformly random index below `len`.
#[inline]
pub(crate) fn choose_index(len: usize, rng: &mut impl Rng) -> usize {
    ((u64::from(rng.next_u32()) * len as u64) >> 32) as usize
}
