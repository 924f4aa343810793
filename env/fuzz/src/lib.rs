//! The bodies of the fuzz targets, as plain functions that tests can call too.

use turnstone_env::games::{NAMES, built_in};
use turnstone_env::{DynGame, Params};

/// Parses bytes: the first chooses the game, the second what the others are, the others are the text.
///
/// # Panics
/// If a parser accepts a text but does not stand by it.
pub fn parse(data: &[u8]) {
    let [name, kind, text @ ..] = data else { return };
    let name = NAMES[usize::from(*name) % NAMES.len()];
    let text = String::from_utf8_lossy(text);
    if kind % 3 == 2 {
        return parse_params(name, &text);
    }
    let game = built_in().make(name, &Params::new()).expect("the defaults are valid");
    if kind % 3 == 0 {
        parse_position(&*game, &text);
    } else {
        parse_action(&*game, &text);
    }
}

/// A position that is accepted has a text that means the same, and can be played from, seen and drawn.
pub fn parse_position(game: &dyn DynGame, text: &str) {
    let Ok(state) = game.parse_position(text) else { return };
    let canonical = game.position_text(&state);
    assert_eq!(game.parse_position(&canonical).as_ref(), Ok(&state), "`{text}` became `{canonical}`");
    let legal = game.legal_actions(&state);
    assert_eq!(legal.is_empty(), game.outcome(&state).is_some(), "at `{canonical}`");
    let mut features = vec![0.0; game.spec().features()];
    game.observe(&state, &mut features);
    assert!(features.iter().all(|feature| feature.is_finite()), "at `{canonical}`");
    assert!(!game.draw(&state).is_empty() && !game.draw_svg(&state, legal.first().copied()).is_empty());
    for &action in &legal {
        let mut after = state.clone();
        game.play(&mut after, action);
        game.legal_actions(&after);
    }
}

/// An action that is accepted has a text that means the same.
pub fn parse_action(game: &dyn DynGame, text: &str) {
    let Ok(action) = game.parse_action(text) else { return };
    assert!(action.index() < game.spec().actions, "`{text}`");
    assert_eq!(game.parse_action(&game.action_text(action)), Ok(action), "`{text}`");
}

/// Parameters that are accepted make a game with a spec and a start. The text holds `key=value` fields.
pub fn parse_params(name: &str, text: &str) {
    let mut params = Params::new();
    for (key, value) in text.split_whitespace().filter_map(|field| field.split_once('=')) {
        params.set(key, value);
    }
    if let Ok(game) = built_in().make(name, &params) {
        parse_position(&*game, &game.position_text(&game.start()));
    }
}
