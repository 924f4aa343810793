//! The built-in games, in one list.

pub mod mu_torere;
pub mod mancala;
pub mod morris;
pub mod konane;
pub mod morabaraba;

use crate::dynamic::DynGame;
use crate::game_list::{Games, Row};

macro_rules! games {
    ($($module:ident::$game:ident;)+) => {
        $(pub use $module::$game;)+

        /// Runs an expression once per built-in game, with its type instead of a name: `for_each_game!(G => ...)`.
        /// Everything that needs all built-in games at compile time goes through here.
        #[macro_export]
        macro_rules! for_each_game {
            ($name:ident => $body:expr) => {{
                $({
                    type $name = $crate::games::$game;
                    $body;
                })+
            }};
        }
    };
}

games! {
    mu_torere::MuTorere;
    mancala::Mancala;
    morris::Morris;
    konane::Konane;
    morabaraba::Morabaraba;
}

/// The names of the built-in games.
#[must_use]
pub fn names() -> Vec<&'static str> {
    built_in().names().collect()
}

/// The list of the built-in games.
#[must_use]
pub fn built_in() -> Games<dyn DynGame> {
    let mut rows = Vec::new();
    for_each_game!(G => rows.push(Row::<dyn DynGame>::of::<G>()));
    rows.into_iter().collect()
}
