//! Games of any type behind one trait, and lists of them.

use turnstone_env::games::{Konane, Mancala, built_in};
use turnstone_env::perft::perft;
use turnstone_env::{DynGame, Erased, Params, Row, Rules, play_text};

#[test]
fn an_erased_game_plays_as_the_game_does() {
    for any in built_in().defaults() {
        let mut state = any.start();
        while any.outcome(&state).is_none() {
            let before = state.clone();
            let legal = any.legal_actions(&state);
            any.try_play(&mut state, legal[legal.len() / 2]).expect("legal");
            assert_ne!(before, state);
            assert_eq!(any.parse_position(&any.position_text(&state)).expect("its own text"), state);
        }
    }
    let (game, any) = (Mancala::default(), Erased::new(Mancala::default()));
    let (mut state, mut erased) = (game.start(), any.start());
    play_text(&game, &mut state, "B5 A3").expect("legal");
    any.play_text(&mut erased, "B5 A3").expect("legal");
    assert_eq!(*erased.of::<<Mancala as Rules>::State>(), state);
    assert_eq!(any.perft(&erased, 3), perft(&game, &state, 3));
}

#[test]
fn states_of_different_games_differ() {
    assert_ne!(Erased::new(Mancala::default()).start(), Erased::new(Konane::default()).start());
}

#[test]
fn unknown_names_are_guessed_and_rows_replaced() {
    let games = built_in();
    let error = games.make("mancalla", &Params::new()).unwrap_err().to_string();
    assert!(error.contains("did you mean `mancala`?"), "{error}");
    let count = games.names().count();
    assert_eq!(games.with(Row::<dyn DynGame>::of::<Konane>()).names().count(), count);
}

#[test]
fn a_family_is_made_by_name_and_not_listed() {
    let family = Row::<dyn DynGame>::new("family", |params| {
        let (_, game) = params.iter().find(|(key, _)| *key == "game").expect("the text behind the colon");
        built_in().make(game, &Params::new())
    });
    let games = built_in().with_family(family);
    assert!(games.names().all(|name| name != "family"));
    assert_eq!(games.make("family:konane", &Params::new()).expect("a game").name(), "konane");
    assert_eq!(games.make("family", &Params::new().with("game", "mancala")).expect("a game").name(), "mancala");
    assert!(games.make("family:konan", &Params::new()).is_err());
    assert!(games.make("mancala:konane", &Params::new()).is_err() && games.make(":", &Params::new()).is_err());
}
