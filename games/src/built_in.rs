//! The one list of the built-in games.

use turnstone_agents::{PlayableGame, row};
use turnstone_env::Games;

/// Runs an expression once per built-in game, with the type of what is known about it in place of a name:
/// `for_each_game!(K => ...)`. Everything that needs all of it at compile time goes through here.
#[macro_export]
macro_rules! for_each_game {
    ($name:ident => $body:expr) => {
        $crate::for_each_game!(@ $name => $body; MuTorere, Mancala, Morris, Konane, Morabaraba)
    };
    (@ $name:ident => $body:expr; $($game:ident),+) => {{
        $({
            type $name = $crate::$game;
            $body;
        })+
    }};
}

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
