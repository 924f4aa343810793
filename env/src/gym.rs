//! Gym-style environments over any game: one game ([`Env`]) and many at once ([`VecEnv`]).

mod env;
mod vec_env;

pub use env::{Env, TimeStep};
pub use vec_env::{VecEnv, VecStep};
