//! What is known about the built-in games besides their rules, which are in [`turnstone_env::games`].
//!
//! Each game has a module, and in it a type without values that implements [`Playable`](turnstone_agents::Playable). A
//! module's folder has the game's static evaluations, its exact solver, and the files that are compiled into programs:
//! ladder, graded positions, sheet and trained agent. Programs list the games by [`list!`].

#[macro_use]
mod trained;
mod mills;
pub mod mu_torere;
pub mod mancala;
pub mod morris;
pub mod konane;
pub mod morabaraba;

use turnstone_agents::{PlayableGame, row};
#[doc(hidden)]
pub use turnstone_env::Games;

pub use mills::{Mills, Weights};

/// Runs an expression once per built-in game, with the type of what is known about it in place of a name:
/// `for_each_game!(K => ...)`. Everything that needs all of it at compile time goes through here.
#[macro_export]
macro_rules! for_each_game {
    ($name:ident => $body:expr) => {
        $crate::for_each_game!(@list run $name => $body)
    };
    (@list $($then:tt)+) => {
        $crate::for_each_game! { @$($then)+;
            mu_torere::MuTorere;
            mancala::Mancala;
            morris::Morris;
            konane::Konane;
            morabaraba::Morabaraba;
        }
    };
    (@run $name:ident => $body:expr; $($module:ident::$game:ident;)+) => {{
        $({
            type $name = $crate::$game;
            $body;
        })+
    }};
    (@export; $($module:ident::$game:ident;)+) => {
        $(pub use $module::$game;)+
    };
}

for_each_game!(@list export);

/// The list of the built-in games, with the rows that a function of [`Playable`](turnstone_agents::Playable) types makes:
/// `turnstone_games::list!(turnstone_selfplay::row)`.
#[macro_export]
macro_rules! list {
    ($($row:ident)::+) => {{
        let mut rows = Vec::new();
        $crate::for_each_game!(K => rows.push($($row)::+::<K>()));
        rows.into_iter().collect::<$crate::Games<_>>()
    }};
}

/// The built-in games, for agents. Self-play and programs make their lists by [`list!`](crate::list).
#[must_use]
pub fn built_in() -> Games<dyn PlayableGame> {
    list!(row)
}
