//! Positions of random games, from which a network is quantised without a replay window.

use rand::RngExt;
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::{ActionList, Rules};

/// Number of positions that a network is quantised by.
pub const CALIBRATION_POSITIONS: usize = 512;

/// Observations of the positions of random games, `[CALIBRATION_POSITIONS, features]`: the same for a game in every call.
#[must_use]
pub fn random_observations<G: Rules>(game: &G) -> Vec<f32> {
    let features = game.spec().features();
    let mut observations = vec![0.0; CALIBRATION_POSITIONS * features];
    let mut rng = stream(0, Purpose::Calibration, [0, 0]);
    let (mut state, mut legal) = (game.start(), ActionList::new());
    for row in observations.chunks_exact_mut(features) {
        game.observe(&state, row);
        game.legal(&state, &mut legal);
        game.play(&mut state, legal[rng.random_range(0..legal.len())]);
        if game.outcome(&state).is_some() {
            state = game.start();
        }
    }
    observations
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::games::{Konane, Mancala};

    #[test]
    fn positions_are_of_all_phases_and_repeat() {
        let game = Konane::default();
        let observations = random_observations(&game);
        assert_eq!(observations, random_observations(&game));
        let features = game.spec().features();
        assert_eq!(observations.len(), CALIBRATION_POSITIONS * features);
        let mut start = vec![0.0; features];
        game.observe(&game.start(), &mut start);
        let starts = observations.chunks_exact(features).filter(|row| **row == start[..]).count();
        assert!((5..60).contains(&starts), "{starts} games");
        assert_ne!(random_observations(&Mancala::default())[..171], observations[..171]);
    }
}
