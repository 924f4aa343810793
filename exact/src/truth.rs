//! What everything that knows the exact value of positions has in common.

use turnstone_env::{Action, ActionList, Game, Side};

/// What a truth by search remembers from one answer to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Memory {
    /// As much as there is room for.
    Kept,
    /// Nothing.
    OfOneAnswer,
}

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

    /// The turns left until the end of a won game, the current one included, if the winner hurries and the loser
    /// delays; 0 where the game is over. A turn ends where the mover changes. `None` for draws and where this truth
    /// keeps no distances.
    fn distance(&self, _game: &G, _state: &G::State) -> Option<u32> {
        None
    }

    /// Those of [`Truth::best_actions`] that make progress: where distances are known, the winner's lead to the
    /// shortest win and the loser's to the longest loss.
    fn optimal_actions(&self, game: &G, state: &G::State) -> Option<Vec<Action>> {
        let best = self.best_actions(game, state)?;
        let (mover, value) = (game.mover(state), self.value(game, state)?);
        let turns = |&action: &Action| {
            let mut after = *state;
            game.play(&mut after, action);
            let ended = game.mover(&after) != mover || game.outcome(&after).is_some();
            Some(self.distance(game, &after)? + u32::from(ended))
        };
        let Some(turns) = best.iter().map(turns).collect::<Option<Vec<_>>>() else { return Some(best) };
        let wins = (value > 0) == (mover == Side::First);
        let optimum = if wins { turns.iter().min() } else { turns.iter().max() };
        Some(best.iter().zip(&turns).filter(|(_, turns)| Some(*turns) == optimum).map(|(&action, _)| action).collect())
    }
}
