//! Positions of random games.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::action::{Action, ActionList};
use crate::playout::choose;
use crate::rules::Rules;

/// The first `positions` positions of a random game, each with the action that led to it.
#[must_use]
pub fn random_game<G: Rules>(game: &G, seed: u64, positions: usize) -> Vec<(G::State, Option<Action>)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut all, mut legal) = (vec![(game.start(), None)], ActionList::new());
    while let Some(&(mut state, _)) = all.last().filter(|_| all.len() < positions) {
        game.legal(&state, &mut legal);
        if legal.is_empty() {
            break;
        }
        let action = choose(&legal, &mut rng);
        game.play(&mut state, action);
        all.push((state, Some(action)));
    }
    all
}
