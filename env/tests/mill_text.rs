//! Positions of the two mill games that are put together from valid parts: what is accepted can be played.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::{Morabaraba, Morris};
use turnstone_env::{AnyState, DynGame, Erased};

use super::text_checks;

fn games() -> [Box<dyn DynGame>; 2] {
    [Box::new(Erased::new(Morris::default())), Box::new(Erased::new(Morabaraba::default()))]
}

/// Plays at random from a state, at most this many plies.
fn play_on(game: &dyn DynGame, mut state: AnyState, plies: usize, seed: u64) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..plies {
        let legal = game.legal_actions(&state);
        assert_eq!(legal.is_empty(), game.outcome(&state).is_some(), "at `{}`", game.position_text(&state));
        if legal.is_empty() {
            break;
        }
        game.play(&mut state, legal[rng.random_range(0..legal.len())]);
    }
}

/// If the text is accepted as a position, it can be played on from.
fn use_position(game: &dyn DynGame, text: &str, seed: u64) {
    if text_checks::position(game, text) {
        play_on(game, game.parse_position(text).expect("accepted"), 30, seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Positions put together from valid parts.
    #[test]
    fn composed_positions_can_be_played(
        morris in "[WBx]{18} [WB] [0-3] [0-3] [-x] [0-9]",
        morabaraba in r"[WB.]{24} [WB] [0-2] [0-2] [-x] [0-9]{1,2} [0-3] (-|a1a4a7|a1b2c3|a1a4a7,a1d1g1) (-|c3c4c5)",
        settled in "[WBx]{18} [WB] 0 0 [-x] [0-9]",
        seed: u64,
    ) {
        let [morris_game, morabaraba_game] = games();
        use_position(&*morris_game, &morris, seed);
        use_position(&*morris_game, &settled, seed);
        use_position(&*morabaraba_game, &morabaraba, seed);
    }
}
