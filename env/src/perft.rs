//! Counting the leaves of the tree of plies to a fixed depth, the common check of move generators.

use crate::action::ActionList;
use crate::rules::Rules;

/// Number of sequences of exactly `depth` plies from `state`; games that end earlier count nothing.
pub fn perft<G: Rules>(game: &G, state: &G::State, depth: u32) -> u64 {
    let mut lists = vec![ActionList::new(); depth as usize];
    count(game, state, &mut lists)
}

/// The same, split by the first ply, in the order of the actions.
pub fn divide<G: Rules>(game: &G, state: &G::State, depth: u32) -> Vec<(crate::Action, u64)> {
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    let after = |action| {
        let mut next = *state;
        game.play(&mut next, action);
        perft(game, &next, depth.saturating_sub(1))
    };
    legal.iter().map(|&action| (action, after(action))).collect()
}

fn count<G: Rules>(game: &G, state: &G::State, lists: &mut [ActionList]) -> u64 {
    let Some((legal, deeper)) = lists.split_first_mut() else { return 1 };
    game.legal(state, legal);
    if deeper.is_empty() {
        return legal.len() as u64;
    }
    let mut leaves = 0;
    for &action in &*legal {
        let mut next = *state;
        game.play(&mut next, action);
        leaves += count(game, &next, deeper);
    }
    leaves
}
