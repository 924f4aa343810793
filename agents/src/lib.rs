//! Agents for board games from one-line specs: `random`, `minimax:depth=6`, `alphabeta:depth=8`, `alphabeta:time=1s`,
//! `mcts:sims=200`, `az:<checkpoint>,sims=100`, `az:pretrained`, `level:3`, `exact:<folder of tables>`,
//! `engine:nodes=100:<command line>`, `human`.
//!
//! [`AgentSpec`] is the parsed text, [`Agent`] adds the contents of its files, and [`Search`] thinks about positions for it,
//! in one seat or in many. Searches are generic over the game inside; the public interface takes object-safe
//! [`PlayableGame`]s.
//!
//! ```
//! use turnstone_agents::Agent;
//! use turnstone_base::streams::{Purpose, stream};
//! use turnstone_env::Params;
//!
//! let game = turnstone_games::built_in().make("mancala", &Params::new())?;
//! let agent = Agent::load(&"alphabeta:depth=4".parse()?, &*game)?;
//! let mut search = agent.search(&*game, 1)?;
//! let mut state = game.start();
//! search.new_game(0, &state, stream(1, Purpose::Play, [0, 0]));
//! let action = search.choose(0, &state)?;
//! game.try_play(&mut state, action)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod network_backend;
mod search_settings;
mod options;
mod threads;
mod budget;
mod request;
mod analysis;
mod interface;
mod one_by_one;
mod tablebase;
mod solving;
#[cfg(not(target_family = "wasm"))]
mod walking;
mod playable;
mod classical;
mod exact_spec;
mod engine_spec;
mod error;
mod calibration;
mod network;
mod book;
mod shared_search;
mod random;
#[cfg(test)]
mod toy_values;
mod exact_player;
#[cfg(not(target_family = "wasm"))]
mod external;
mod tree_search;
mod playable_game;
mod kind;
mod spec;
mod levels;
mod kinds;
mod agent;
pub mod review;
pub mod sheet;

/// The crates that a game of your own needs, so that its manifest names this one only.
#[doc(no_inline)]
pub use {turnstone_base as base, turnstone_env as env, turnstone_exact as exact, turnstone_search as search};

pub use agent::Agent;
pub use analysis::{AnalysedAction, Analysis};
pub use book::Book;
pub use budget::Budget;
pub use calibration::{CALIBRATION_POSITIONS, random_observations};
pub use classical::{ClassicalMethod, ClassicalSpec};
pub use engine_spec::EngineSpec;
pub use error::AgentError;
pub use exact_spec::ExactSpec;
pub use interface::{Chosen, OnInfo, PlayerFault, Prediction, Search};
pub use kind::{AgentKind, Change, Form, Role, Setup, Traits};
pub use kinds::{KindInfo, Network, Playouts, agent_kinds, register_agent};
pub use levels::{Level, levels};
pub use network::{LoadedNetwork, PRETRAINED, checkpoint_file, checkpoint_info, checkpoint_params, game_params};
pub use network_backend::{GpuBackend, NetworkBackend, most_likely, shape};
pub use one_by_one::{Chooser, OnReport, OneByOne};
pub use options::path_in_spec;
pub use playable::{Effort, GameFiles, Phase, Playable};
pub use playable_game::{ClassicalFinder, Evaluator, PlayableGame, TreePlan, load_network, row};
pub use request::{Score, SearchInfo, SearchRequest};
pub use search_settings::{SearchKind, SearchSettings};
pub use solving::{SolveError, SolveHost, SolveOptions, no_tables, result_text, searched, start_text};
pub use spec::AgentSpec;
pub use tablebase::{Counts, DynExactValues, Enumeration};
pub use threads::{Threads, most_threads};
/// Declares the settings of a kind of agents.
#[doc(no_inline)]
pub use turnstone_base::settings;
pub use turnstone_exact::SolveLimits;
#[cfg(not(target_family = "wasm"))]
pub use walking::{DynWalk, Findings, LosingMove, Refutation};
