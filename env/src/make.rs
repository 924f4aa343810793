//! Environments of the built-in games, made from a name and parameters.

use crate::error::Error;
use crate::games::built_in;
use crate::gym::Env;
#[cfg(not(target_family = "wasm"))]
use crate::gym::VecEnv;
use crate::params::Params;

/// One game as an environment, by its name and parameters.
///
/// ```
/// use turnstone_env::{Params, make};
///
/// let mut env = make("mancala", &Params::new().with("stones", 6))?;
/// let step = env.reset(None);
/// assert_eq!(step.observation.len(), env.spec().tensor_len());
/// let action = env.parse_action("B2")?;
/// let step = env.step(action)?; // the last of six stones falls into the store
/// assert_eq!(step.mover.number(), 1);
/// println!("{}", env.render());
///
/// let error = make("mancalla", &Params::new()).unwrap_err().to_string();
/// assert!(error.contains("did you mean `mancala`?"));
/// # Ok::<(), turnstone_env::Error>(())
/// ```
///
/// # Errors
/// An unknown name or parameter, or a parameter value out of its range.
pub fn make(name: &str, params: &Params) -> Result<Env, Error> {
    Ok(Env::of(built_in().make(name, params)?))
}

/// Many games of one kind as an environment, by name and parameters, stepped by up to `threads` threads.
///
/// ```
/// use turnstone_env::{Params, make_vec};
///
/// let mut envs = make_vec("mu_torere", &Params::new(), 32, 1)?;
/// envs.reset(Some(1));
/// let mut actions = Vec::new();
/// envs.sample(&mut actions);
/// let batch = envs.step(&actions)?;
/// assert_eq!(batch.masks.len(), 32 * 32); // [envs, actions]
/// assert_eq!(batch.observations.len(), 32 * 3 * 3 * 3); // [envs, planes, height, width]
/// # Ok::<(), turnstone_env::Error>(())
/// ```
///
/// # Errors
/// An unknown name or parameter, or a parameter value out of its range.
///
/// # Panics
/// If `envs` is 0.
#[cfg(not(target_family = "wasm"))]
pub fn make_vec(name: &str, params: &Params, envs: usize, threads: usize) -> Result<VecEnv, Error> {
    Ok(VecEnv::of(&*built_in().make(name, params)?, envs, threads))
}
