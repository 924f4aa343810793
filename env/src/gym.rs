//! Gym-style environments over any game: one game ([`Env`]) and many at once ([`VecEnv`]).

mod env;
mod buffers;
mod legal;
mod part;
mod lanes;
mod threads;
mod vec_env;
mod any;

pub use any::{AnyEnv, AnyLanes, AnyVecEnv};
pub use buffers::VecBuffers;
pub use env::{Env, TimeStep};
pub use lanes::{EnvRecord, Lanes, LanesRecord};
pub use part::AutoReset;
pub use threads::ThreadChoice;
pub use vec_env::{VecEnv, VecStep};
