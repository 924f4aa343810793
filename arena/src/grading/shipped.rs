//! Truth sets that need no file: sets shipped with the program for games too large to be solved, and all positions of
//! small games.

use turnstone_agents::PlayableGame;

use super::{TruthSet, valued};

/// Maximum number of positions of a game that is graded in all of them.
pub const MOST_POSITIONS: usize = 100_000;

/// The truth set shipped with this game; `None` if there is none for it and its parameters.
///
/// # Errors
/// The shipped set is malformed.
pub fn shipped(game: &dyn PlayableGame) -> anyhow::Result<Option<TruthSet>> {
    let Some(text) = game.files().truth_set else { return Ok(None) };
    if game.default_params() != game.params() {
        return Ok(None);
    }
    TruthSet::parse(text, game).map(Some).map_err(anyhow::Error::msg)
}

/// The truth set shipped with this game, or all positions of a small game; `None` without either.
///
/// # Errors
/// As [`shipped`], or the game has a ply limit that cannot be switched off.
pub fn known(game: &dyn PlayableGame) -> anyhow::Result<Option<TruthSet>> {
    if let Some(set) = shipped(game)? {
        return Ok(Some(set));
    }
    let Some(all) = game.enumerate(MOST_POSITIONS)? else { return Ok(None) };
    let mut set = TruthSet::new(game);
    for state in all.positions.iter().filter(|state| game.outcome(state).is_none()) {
        set.positions.extend(valued(game, &*all.truth, state));
    }
    Ok(Some(set))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_games::built_in;

    #[test]
    fn every_shipped_position_is_complete() {
        let games = built_in();
        let with_sets = games.defaults().filter(|game| game.files().truth_set.is_some()).map(|game| check(&*game));
        assert!(with_sets.count() >= 4);
    }

    /// Checks that no position is final, and that each has a value for every legal action and the value of the best of
    /// them.
    fn check(game: &dyn PlayableGame) {
        let set = shipped(game).expect("sound").expect("there is one");
        assert!(set.positions.len() >= 1000, "{}", game.name());
        for position in &set.positions {
            let state = game.parse_position(&position.text).expect("possible");
            let texts = game.legal_texts(&state);
            assert!(position.actions.iter().map(|(text, _)| text).eq(&texts), "{}", position.text);
            let sign = game.mover(&state).sign() as i8;
            let best = position.actions.iter().map(|&(_, value)| sign * value).max();
            assert_eq!(best, Some(sign * position.value), "{}", position.text);
        }
    }
}
