//! Rules, agents and exact values behind an interface of texts, for the page in `page/` and its workers.
//!
//! Positions cross the border as texts, actions as people see them, everything else as JSON; both notations are read. On
//! `wasm32-unknown-unknown` the types in `bindings` are JavaScript classes; natively the same code runs in tests, which
//! compare the two.
//!
//! A module with a game of one's own is a crate of type `cdylib` that depends on this one and names the game in
//! [`add_games`]; see `docs/web.md`.

mod error;
mod list;
mod clock;
mod table;
mod searcher;
mod truth;
mod review;
#[cfg(target_family = "wasm")]
mod bindings;

pub use error::Fault;
pub use list::{add_game, games};
pub use review::Review;
pub use searcher::Searcher;
pub use table::Table;
pub use truth::Truth;

/// What [`add_games`] adds, by the names of its lists.
#[doc(hidden)]
pub mod added {
    pub use turnstone_agents::register_agent as agents;
    pub use turnstone_models::register_network as networks;
}
/// For [`add_games`].
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub use wasm_bindgen;

/// Adds games to the module of the crate that calls it, beside the built-in ones, when a page loads it. Kinds of agents and
/// of networks follow: `add_games!(Game; agents: Careful; networks: Overview)`.
#[macro_export]
macro_rules! add_games {
    ($($game:ty),+ $(; $list:ident: $($kind:ty),*)* $(;)?) => {
        /// Adds the games, agents and networks of this crate; called when the module is loaded.
        #[cfg(target_family = "wasm")]
        #[$crate::wasm_bindgen::prelude::wasm_bindgen(start, wasm_bindgen = $crate::wasm_bindgen)]
        pub fn add_games() {
            $($crate::add_game::<$game>();)+
            $($($crate::added::$list::<$kind>();)*)*
        }
    };
}
