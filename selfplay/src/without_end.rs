//! Games that may have no end.

use rand::RngExt;
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::{ActionList, DynGame};

use crate::self_play::MOST_PLIES;

/// Why a game may have no end; `None` if it has a limit of plies, or no such limits and a random game that ends.
#[must_use]
pub fn without_end(game: &dyn DynGame) -> Option<String> {
    let (name, limits, params) = (game.name(), &game.spec().ply_limits, game.params());
    let is_off = |limit: &&str| params.iter().any(|(key, value)| key == *limit && value == "0");
    if !limits.is_empty() && limits.iter().all(is_off) {
        return Some(format!("games of {name} may have no end, as {} is 0", limits.join(" and ")));
    }
    let (mut state, mut legal) = (game.start(), ActionList::new());
    let mut rng = stream(0, Purpose::Openings, [0, 2]);
    for _ in 0..if limits.is_empty() { MOST_PLIES } else { 0 } {
        game.legal(&state, &mut legal);
        if legal.is_empty() {
            return None;
        }
        game.play(&mut state, legal[rng.random_range(0..legal.len())]);
    }
    limits
        .is_empty()
        .then(|| format!("games of {name} may have no end: a random one is running after {MOST_PLIES} plies"))
}

/// Result of games without an end.
pub const ENDLESS: &str = "self-play ends each as a draw after 10000 plies, matches play them until they are stopped";

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::{Params, games::built_in};

    #[test]
    fn games_without_a_limit_of_plies_are_named() {
        let found = |name: &str, params: &[&str]| {
            let params = params.iter().fold(Params::new(), |params, key| params.with(*key, 0));
            without_end(&*built_in().make(name, &params).expect("a game"))
        };
        for name in ["konane", "mancala", "morabaraba", "morris", "mu_torere"] {
            assert_eq!(found(name, &[]), None, "{name}");
        }
        let endless = "games of mu_torere may have no end, as max_plies is 0";
        assert_eq!(found("mu_torere", &["max_plies"]).as_deref(), Some(endless));
        assert_eq!(found("morabaraba", &["fly_limit"]), None, "one limit is enough");
        assert!(found("morabaraba", &["fly_limit", "quiet_limit"]).is_some());
        assert!(ENDLESS.contains(&MOST_PLIES.to_string()));
    }
}
