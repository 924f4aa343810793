//! The one list of games: everything that turns a game's name into its type goes through here.

pub mod mu_torere;
pub mod mancala;
pub mod morris;
pub mod konane;
pub mod morabaraba;

pub use konane::Konane;
pub use mancala::Mancala;
pub use morabaraba::Morabaraba;
pub use morris::Morris;
pub use mu_torere::MuTorere;

use crate::error::{Error, nearest};
use crate::game::{Game, Spec};
use crate::params::Params;

macro_rules! games {
    ($($game:ident),+ $(,)?) => {
        /// Any of the games with its parameters, chosen by name at run time.
        #[derive(Clone, Debug)]
        pub enum AnyGame {
            $(#[doc = concat!("[`", stringify!($game), "`]")] $game($game)),+
        }

        /// The names of all games.
        pub const NAMES: &[&str] = &[$($game::NAME),+];

        /// Runs an expression with the concrete game behind an [`AnyGame`]: `with_game!(&any, |game| ...)`. The
        /// expression is compiled once per game.
        #[macro_export]
        macro_rules! with_game {
            ($any:expr, |$name:ident| $body:expr) => {
                match $any {
                    $($crate::games::AnyGame::$game($name) => $body),+
                }
            };
        }

        impl AnyGame {
            /// The game of this name with these parameters.
            ///
            /// # Errors
            /// An unknown name or parameter, or a parameter value out of its range.
            pub fn new(name: &str, params: &Params) -> Result<Self, Error> {
                match name {
                    $($game::NAME => $game::with_params(params).map(Self::$game),)+
                    _ => Err(Error::UnknownGame {
                        name: name.to_owned(),
                        nearest: nearest(name, NAMES.iter().copied()),
                        known: NAMES.join(", "),
                    }),
                }
            }
        }
    };
}

games!(MuTorere, Mancala, Morris, Konane, Morabaraba);

impl AnyGame {
    /// The game's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        fn name<G: Game>(_: &G) -> &'static str {
            G::NAME
        }
        with_game!(self, |game| name(game))
    }

    /// The game's shape.
    #[must_use]
    pub fn spec(&self) -> Spec {
        with_game!(self, |game| game.spec())
    }

    /// All parameters with their values in force.
    #[must_use]
    pub fn params(&self) -> Params {
        with_game!(self, |game| game.params())
    }
}
