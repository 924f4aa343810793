//! The program around a command that a game brings.

use std::io;
use std::sync::atomic::AtomicBool;

use crate::agent::Agent;
use crate::error::AgentError;
use crate::playable_game::PlayableGame;
use crate::spec::AgentSpec;

/// The program that a command of a game runs in. The command prints its results to standard output itself.
pub trait CommandHost: Sync {
    /// Prints a line to standard error.
    fn note(&self, line: &str);

    /// The flag that Ctrl-C and SIGTERM set from now on instead of ending the program. This is called at most once.
    ///
    /// # Errors
    /// The signals cannot be received.
    fn stop(&self) -> io::Result<&AtomicBool>;

    /// Reads what an agent's spec names for this game, with a note if its file has no checksum.
    ///
    /// # Errors
    /// A file cannot be read, or is not for this game.
    fn agent(&self, spec: &AgentSpec, game: &dyn PlayableGame) -> Result<Agent, AgentError>;
}
