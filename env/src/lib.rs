//! Rules, text, observations and a gym-style interface for traditional two-player board games.
//!
//! A [`Game`] holds the parameters, its [`Game::State`] a position. Everything a learner needs of a game's shape stands
//! in its [`Spec`]; [`Env`] is the checked, gym-style door; [`games::AnyGame`] turns a name into a game.
//!
//! ```
//! use turnstone_env::{Game, games::Mancala, play_text};
//!
//! let game = Mancala::default();
//! let mut state = game.start();
//! play_text(&game, &mut state, "B5")?; // four stones: B6, B7, store 8, A7
//! assert_eq!(game.position_text(&state), "4,4,4,0,5,5/1 4,4,4,4,4,5/0 2");
//! # Ok::<(), turnstone_env::Error>(())
//! ```
//!
//! Conventions: values stored anywhere are for [`Side::First`]; sides need not alternate (extra turns, removals); an
//! action's index means the same thing in every state.

mod action;
pub mod conformance;
mod error;
mod game;
pub mod games;
mod gym;
mod mill_board;
mod mill_material;
mod params;
pub mod perft;
mod side;
mod symmetry;
pub mod toy;

pub use action::{Action, ActionList};
pub use error::{Error, nearest};
pub use game::{Game, Outcome, Spec, play_text, try_play};
pub use gym::{Env, TimeStep};
pub use params::Params;
pub use side::Side;
pub use symmetry::{Symmetry, automorphisms};
