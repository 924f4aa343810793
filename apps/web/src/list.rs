//! The list of games, and games from a name with parameters.

use std::sync::{Arc, Mutex, PoisonError};

use turnstone_agents::{Playable, PlayableGame, row};
use turnstone_env::{Games, Params};
use turnstone_games::built_in;

use crate::error::Fault;

static GAMES: Mutex<Option<Games<dyn PlayableGame>>> = Mutex::new(None);

/// All games: the built-in ones, and those that [`add_game`] has added.
#[must_use]
pub fn games() -> Games<dyn PlayableGame> {
    GAMES.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(built_in).clone()
}

/// Adds a game. It replaces one of the same name.
pub fn add_game<K: Playable<Game: Default>>() {
    let games = games().with(row::<K>());
    *GAMES.lock().unwrap_or_else(PoisonError::into_inner) = Some(games);
}

/// A game by its name, with parameters as a JSON object of numbers, truth values and texts.
///
/// # Errors
/// An unknown game or parameter, or a value out of its range.
pub(crate) fn make(name: &str, params: &str) -> Result<Arc<dyn PlayableGame>, Fault> {
    let fault = |_| Fault(format!("the parameters of {name} are no JSON object"));
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(params).map_err(fault)?;
    let mut params = Params::new();
    for (key, value) in &object {
        match value.as_str() {
            Some(text) => params.set(key, text),
            None => params.set(key, value),
        }
    }
    Ok(games().make(name, &params)?)
}
