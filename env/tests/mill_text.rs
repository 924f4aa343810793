//! The two mill games against text from outside: no parser panics, what is accepted can be played, what is written is
//! read back.

use proptest::prelude::*;
use proptest::sample::Index;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::{Morabaraba, Morris};
use turnstone_env::{AnyState, DynGame, Erased};

fn games() -> [Box<dyn DynGame>; 2] {
    [Box::new(Erased::new(Morris::default())), Box::new(Erased::new(Morabaraba::default()))]
}

/// Plays at random from a state, at most this many plies, and returns the state reached.
fn play_on(game: &dyn DynGame, mut state: AnyState, plies: usize, seed: u64) -> AnyState {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..plies {
        let legal = game.legal_actions(&state);
        assert_eq!(legal.is_empty(), game.outcome(&state).is_some(), "at `{}`", game.position_text(&state));
        if legal.is_empty() {
            break;
        }
        game.play(&mut state, legal[rng.random_range(0..legal.len())]);
    }
    state
}

/// If the text is accepted as a position, it must survive all that one does with positions.
fn use_position(game: &dyn DynGame, text: &str, seed: u64) {
    let Ok(state) = game.parse_position(text) else { return };
    assert_eq!(game.parse_position(&game.position_text(&state)).as_ref(), Ok(&state), "`{text}`");
    let mut features = vec![f32::NAN; game.spec().features()];
    game.observe(&state, &mut features);
    assert!(features.iter().all(|f| f.is_finite()), "`{text}`");
    assert!(game.draw(&state).lines().all(|line| line.chars().count() <= 80), "`{text}`");
    play_on(game, state, 30, seed);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_parser_panics(text in r"\PC*|[WBx.0-9 ,a-g-]{0,60}|x?[a-h][0-9](-[a-h][0-9])?") {
        for game in games() {
            use_position(&*game, &text, 0);
            if let Ok(action) = game.parse_action(&text) {
                prop_assert_eq!(game.action_text(action), text.as_str());
            }
        }
    }

    /// Reachable positions with a few letters changed: most are refused, and the rest can be played.
    #[test]
    fn accepted_positions_can_be_played(
        plies in 0usize..150,
        seed: u64,
        edits in prop::collection::vec((any::<Index>(), r"[WBx.0-9 ,a-g-]"), 0..4),
    ) {
        for game in games() {
            let state = play_on(&*game, game.start(), plies, seed);
            let mut text = game.position_text(&state);
            prop_assert_eq!(game.parse_position(&text), Ok(state));
            for (index, letter) in &edits {
                let at = index.index(text.len());
                text.replace_range(at..=at, letter);
            }
            use_position(&*game, &text, seed);
        }
    }

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
