//! The truth that needs no file: sets that come with the program, one per game that is too large to be graded in every
//! position, and all positions of small games.

use turnstone_env::Game;
use turnstone_exact::Endless;

use super::{TruthSet, valued};

/// Games with at most so many positions are graded in all of them.
pub const MOST_POSITIONS: usize = 100_000;

const SETS: [(&str, &str); 3] = [
    ("mancala", include_str!("../../truth/mancala.txt")),
    ("morris", include_str!("../../truth/morris.txt")),
    ("konane", include_str!("../../truth/konane.txt")), // endgames
];

/// The truth set that comes with this game; `None` if there is none, or none for its parameters.
///
/// # Errors
/// The set in the program is damaged, which its tests rule out.
pub fn shipped<G: Game>(game: &G) -> anyhow::Result<Option<TruthSet>> {
    let Some((_, text)) = SETS.iter().find(|(name, _)| *name == G::NAME) else { return Ok(None) };
    let default = G::with_params(&turnstone_env::Params::new())?;
    if default.params() != game.params() {
        return Ok(None);
    }
    TruthSet::parse(text, game).map(Some).map_err(anyhow::Error::msg)
}

/// The truth set that comes with this game, or every position of a small game; `None` if it is neither.
///
/// # Errors
/// Those of [`shipped`].
pub fn known<G: Game>(game: &G) -> anyhow::Result<Option<TruthSet>> {
    if let Some(set) = shipped(game)? {
        return Ok(Some(set));
    }
    let Some(truth) = Endless::of(game, MOST_POSITIONS)? else { return Ok(None) };
    let mut set = TruthSet::new(game);
    for state in truth.solution().states() {
        let seen = game.parse_position(&truth.game().position_text(state))?;
        if game.outcome(&seen).is_none() {
            set.positions.extend(valued(game, &truth, &seen));
        }
    }
    Ok(Some(set))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::games::AnyGame;
    use turnstone_env::{ActionList, Params, with_game};

    #[test]
    fn every_shipped_position_is_whole() {
        for (name, _) in SETS {
            let any = AnyGame::new(name, &Params::new()).expect("a game of the list");
            with_game!(&any, |game| check(game));
        }
    }

    /// Every position is running, has a value for every legal action, and the value of the best of them.
    fn check<G: Game>(game: &G) {
        let set = shipped(game).expect("sound").expect("there is one");
        assert!(set.positions.len() >= 1000, "{}", G::NAME);
        let mut legal = ActionList::new();
        for position in &set.positions {
            let state = game.parse_position(&position.text).expect("possible");
            game.legal(&state, &mut legal);
            let texts: Vec<String> = legal.iter().map(|&action| game.action_text(action)).collect();
            assert!(position.actions.iter().map(|(text, _)| text).eq(&texts), "{}", position.text);
            let sign = game.mover(&state).sign() as i8;
            let best = position.actions.iter().map(|&(_, value)| sign * value).max();
            assert_eq!(best, Some(sign * position.value), "{}", position.text);
        }
    }
}
