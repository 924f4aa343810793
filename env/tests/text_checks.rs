//! Checks of the parsers of positions, actions and parameters, for property tests and fuzz targets.
//!
//! Each function parses any text and returns whether the parser accepts it. What is accepted must survive being used and written again.

use turnstone_env::games::built_in;
use turnstone_env::{DynGame, Params};

/// Checks that a position that is accepted is written as a text of the same meaning, and can be observed, drawn and
/// played from.
///
/// # Panics
/// If one of that fails.
pub(crate) fn position(game: &dyn DynGame, text: &str) -> bool {
    let Ok(state) = game.parse_position(text) else { return false };
    let canonical = game.position_text(&state);
    assert_eq!(game.parse_position(&canonical).as_ref(), Ok(&state), "`{text}` became `{canonical}`");
    let legal = game.legal_actions(&state);
    assert_eq!(legal.is_empty(), game.outcome(&state).is_some(), "at `{canonical}`");
    let mut features = vec![0.0; game.spec().features()];
    game.observe(&state, &mut features);
    assert!(features.iter().all(|feature| feature.is_finite()), "at `{canonical}`");
    assert!(!game.board(&state, None).text().is_empty());
    for &action in &legal {
        let mut after = state.clone();
        game.play(&mut after, action);
        game.legal_actions(&after);
        assert!(!game.draw_svg(&after, Some((&state, action))).is_empty());
    }
    true
}

/// Checks that an action that is accepted is written as a text of the same meaning.
///
/// # Panics
/// If it is not.
pub(crate) fn action(game: &dyn DynGame, text: &str) -> bool {
    let start = game.start();
    let Ok(action) = game.parse_action(&start, text) else { return false };
    assert!(action.index() < game.spec().actions, "`{text}`");
    assert_eq!(game.parse_action(&start, &game.action_text(&start, action)), Ok(action), "`{text}`");
    true
}

/// Checks that parameters that are accepted make a game with a start. The text holds `key=value` fields.
///
/// # Panics
/// If the start fails the checks of [`position`].
pub(crate) fn params(name: &str, text: &str) -> bool {
    let mut params = Params::new();
    for (key, value) in text.split_whitespace().filter_map(|field| field.split_once('=')) {
        params.set(key, value);
    }
    let Ok(game) = built_in().make(name, &params) else { return false };
    assert!(position(&*game, &game.position_text(&game.start())), "{params}");
    true
}
