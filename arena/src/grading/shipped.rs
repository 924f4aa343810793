//! The truth that needs no file: sets that come with the program, one per game that is too large to be graded in every
//! position, and all positions of small games.

use turnstone_agents::PlayableGame;

use super::{TruthSet, valued};

/// Games with at most so many positions are graded in all of them.
pub const MOST_POSITIONS: usize = 100_000;

/// The truth set that comes with this game; `None` if there is none, or none for its parameters.
///
/// # Errors
/// The set in the program is damaged, which its tests rule out.
pub fn shipped(game: &dyn PlayableGame) -> anyhow::Result<Option<TruthSet>> {
    let Some(text) = game.files().truth_set else { return Ok(None) };
    if game.default_params() != game.params() {
        return Ok(None);
    }
    TruthSet::parse(text, game).map(Some).map_err(anyhow::Error::msg)
}

/// The truth set that comes with this game, or every position of a small game; `None` if it is neither.
///
/// # Errors
/// Those of [`shipped`].
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
    use turnstone_agents::built_in;

    #[test]
    fn every_shipped_position_is_whole() {
        let games = built_in();
        let with_sets = games.defaults().filter(|game| game.files().truth_set.is_some()).map(|game| check(&*game));
        assert!(with_sets.count() >= 3);
    }

    /// Every position is running, has a value for every legal action, and the value of the best of them.
    fn check(game: &dyn PlayableGame) {
        let set = shipped(game).expect("sound").expect("there is one");
        assert!(set.positions.len() >= 1000, "{}", game.name());
        for position in &set.positions {
            let state = game.parse_position(&position.text).expect("possible");
            let legal = game.legal_actions(&state);
            let texts: Vec<String> = legal.iter().map(|&action| game.action_text(action)).collect();
            assert!(position.actions.iter().map(|(text, _)| text).eq(&texts), "{}", position.text);
            let sign = game.mover(&state).sign() as i8;
            let best = position.actions.iter().map(|&(_, value)| sign * value).max();
            assert_eq!(best, Some(sign * position.value), "{}", position.text);
        }
    }
}
