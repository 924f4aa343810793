//! The extension module `turnstone_rl._turnstone`: games, vectorised environments, search, self-play and agents for Python,
//! and with the feature `program` training, arena, grading, solving and the command line.

#![allow(clippy::needless_pass_by_value, reason = "functions called by Python own their arguments")]

mod errors;
mod waiting;
mod settings;
mod raster;
mod arrays;
mod py_game;
mod registry;
mod game;
mod own_games;
mod state;
mod stepping;
mod vec_env;
mod evaluate;
mod analysis;
mod search;
mod self_play;
mod agent;
mod network;
#[cfg(feature = "program")]
mod program;

use pyo3::prelude::*;
use turnstone_agents::Playable;

/// Whether the module was built with training, arena, grading, solving and the command line.
const PROGRAM: bool = cfg!(feature = "program");

/// For [`module`].
#[doc(hidden)]
pub use pyo3;

/// Makes the library of the crate that calls it the module `turnstone_rl._turnstone` with these games, given by the types
/// that implement [`Playable`], beside the built-in ones, and kinds of agents: `module!(Mine; agents: Careful)`. `docs/adding-a-game.md` says how its wheel is built.
#[macro_export]
macro_rules! module {
    ($($game:ty),* $(; $list:ident: $($kind:ty),*)* $(;)?) => {
        #[$crate::pyo3::pymodule(gil_used = true)]
        #[pyo3(crate = "turnstone_python::pyo3")]
        fn _turnstone(module: &$crate::pyo3::Bound<'_, $crate::pyo3::types::PyModule>) -> $crate::pyo3::PyResult<()> {
            $($crate::compile_in::<$game>();)*
            $($($crate::added::$list::<$kind>();)*)*
            $crate::add_to(module)
        }
    };
}

#[cfg(feature = "module")]
#[pymodule(gil_used = true)]
fn _turnstone(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_to(module)
}

/// Adds a game to the built-in ones.
#[doc(hidden)]
pub fn compile_in<K: Playable<Game: Default>>() {
    registry::compile_in(turnstone_selfplay::row::<K>());
}

/// Additions of [`module`] other than games, by the names of its lists.
#[doc(hidden)]
pub mod added {
    pub use turnstone_agents::register_agent as agents;
    pub use turnstone_models::register_network as networks;
}

/// The classes and functions of the module. The package `turnstone` re-exports and documents them.
#[doc(hidden)]
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("_PROGRAM", PROGRAM)?;
    errors::add_to(module)?;
    module.add_class::<game::GameObject>()?;
    py_game::set_base(&module.py().get_type::<game::GameObject>());
    registry::add_family(own_games::open_spiel_games());
    module.add_class::<state::State>()?;
    module.add_class::<state::Outcome>()?;
    module.add_class::<vec_env::VecEnv>()?;
    module.add_class::<analysis::Analysis>()?;
    module.add_class::<search::Search>()?;
    module.add_class::<self_play::SelfPlay>()?;
    module.add_class::<agent::Agent>()?;
    module.add_class::<network::Network>()?;
    module.add_function(wrap_pyfunction!(game::games, module)?)?;
    module.add_function(wrap_pyfunction!(game::game_of_call, module)?)?;
    module.add_function(wrap_pyfunction!(own_games::register_game, module)?)?;
    module.add_function(wrap_pyfunction!(own_games::check_game, module)?)?;
    module.add_function(wrap_pyfunction!(state::restore_state, module)?)?;
    module.add_function(wrap_pyfunction!(agent::restore_agent, module)?)?;
    module.add_function(wrap_pyfunction!(raster::rasterize, module)?)?;
    module.add_function(wrap_pyfunction!(network::load, module)?)?;
    #[cfg(feature = "program")]
    program::add_to(module)?;
    Ok(())
}
