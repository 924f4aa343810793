//! Rules, text, observations and a gym-style interface for traditional two-player board games.
//!
//! A value of [`Rules`] holds the parameters, its [`Rules::State`] a position; [`Notation`] writes, reads and draws them. Everything a learner needs of a game's shape stands
//! in its [`Spec`]; [`Env`] is the checked, gym-style interface and [`VecEnv`] the same for many games at once;
//! [`DynGame`] is a game of any type, [`Games`] a list of games by name, and [`make`] and [`make_vec`] turn a name
//! into an environment. A [`board`] is drawn as text and as [`svg`].
//!
//! ```
//! use turnstone_env::{Notation, Rules, games::Mancala, play_text};
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

mod side;
mod action;
mod error;
mod params;
mod symmetry;
mod outcome;
pub mod svg;
mod spec;
mod rules;
mod param_reader;
pub mod board;
mod notation;
pub mod lines;
mod grid;
mod history;
mod mill_board;
mod mill_material;
mod playout;
pub mod perft;
mod any_state;
#[cfg(not(target_family = "wasm"))]
mod game_batch;
mod dynamic;
mod gym;
mod game_list;
#[macro_use]
pub mod games;
mod make;
pub mod conformance;
pub mod toy;

pub use action::{Action, ActionList};
pub use any_state::AnyState;
pub use dynamic::{DynGame, Erased};
pub use error::{Error, shortened};
#[cfg(not(target_family = "wasm"))]
pub use game_batch::{AutoReset, GameBatch, VecBuffers};
pub use game_list::{Games, Row};
pub use grid::Grid;
pub use gym::{Env, TimeStep};
#[cfg(not(target_family = "wasm"))]
pub use gym::{VecEnv, VecStep};
pub use history::History;
pub use make::make;
#[cfg(not(target_family = "wasm"))]
pub use make::make_vec;
pub use notation::{Notation, board_of_planes, clicks, play_text, try_play};
pub use outcome::Outcome;
pub use param_reader::ParamReader;
pub use params::Params;
pub use playout::playout;
pub use rules::{Rules, without_limits};
pub use side::Side;
pub use spec::Spec;
pub use symmetry::{Symmetry, automorphisms};
