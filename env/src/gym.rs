//! Gym-style environments over any game: one game ([`Env`]) and many at once ([`VecEnv`]).

mod env;
#[cfg(not(target_family = "wasm"))]
mod vec_env;

pub use env::{Env, TimeStep};
#[cfg(not(target_family = "wasm"))]
pub use vec_env::{VecEnv, VecStep};
