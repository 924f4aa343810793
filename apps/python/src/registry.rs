//! The games that have names: the built-in ones, and those of the user.

use std::sync::{Mutex, PoisonError};

use turnstone_env::Row;
use turnstone_selfplay::{Games, TrainableGame};

/// Rows of the user's games in Python, in the order in which they were registered.
static ADDED: Mutex<Vec<Row<dyn TrainableGame>>> = Mutex::new(Vec::new());

/// Rows of the games that a module was built with beside the built-in ones.
static COMPILED: Mutex<Vec<Row<dyn TrainableGame>>> = Mutex::new(Vec::new());

/// Rows of games that are made by name and not listed.
static FAMILIES: Mutex<Vec<Row<dyn TrainableGame>>> = Mutex::new(Vec::new());

/// The games that every process of the package has: those whose rules are in Rust, and the families.
pub(crate) fn built_in() -> Games {
    let compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let listed = compiled.iter().cloned().fold(turnstone_games::list!(turnstone_selfplay::row), Games::with);
    FAMILIES.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().fold(listed, Games::with_family)
}

/// Adds a family, when the module is loaded.
pub(crate) fn add_family(row: Row<dyn TrainableGame>) {
    FAMILIES.lock().unwrap_or_else(PoisonError::into_inner).push(row);
}

/// Adds a game in Rust, when the module is loaded. It replaces one of the same name.
pub(crate) fn compile_in(row: Row<dyn TrainableGame>) {
    COMPILED.lock().unwrap_or_else(PoisonError::into_inner).push(row);
}

/// All games that have names.
pub(crate) fn registered() -> Games {
    let added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
    added.iter().cloned().fold(built_in(), Games::with)
}

/// Adds a game; one of the user's with the same name is replaced.
pub(crate) fn add(row: Row<dyn TrainableGame>) {
    ADDED.lock().unwrap_or_else(PoisonError::into_inner).push(row);
}
