//! Gym-style environments over any game: one game ([`Env`]), many at once ([`VecEnv`]), and both by name ([`make`]).

mod any;
mod env;
mod vec_env;

pub use any::{AnyEnv, AnyVecEnv, make, make_vec};
pub use env::{Env, TimeStep};
pub use vec_env::{Batch, VecEnv};
