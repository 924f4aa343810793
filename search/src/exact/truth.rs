//! What everything that knows the exact value of positions has in common.

use turnstone_env::{Action, ActionList, Game};

/// Exact values of a game's positions.
///
/// A truth may leave out counters that end games early (limits on plies): then its value is that of the game without
/// them, with infinite play a draw.
pub trait Truth<G: Game>: Send + Sync {
    /// The value of a position for the first side: 1, 0 or -1. `None` if this truth does not cover it.
    fn value(&self, game: &G, state: &G::State) -> Option<i8>;

    /// The legal actions that keep the position's value, in increasing order, empty where the game is over. `None` if
    /// the position or one that an action leads to is not covered.
    fn best_actions(&self, game: &G, state: &G::State) -> Option<Vec<Action>> {
        let value = self.value(game, state)?;
        let mut legal = ActionList::new();
        game.legal(state, &mut legal);
        let mut best = Vec::new();
        for &action in &legal {
            let mut after = *state;
            game.play(&mut after, action);
            if self.value(game, &after)? == value {
                best.push(action);
            }
        }
        Some(best)
    }
}
