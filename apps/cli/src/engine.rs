//! The engine: an agent behind the Universal Game Interface for other programs (docs/protocol.md).
//!
//! One thread reads and answers commands, another one searches. They share a stop flag and the output.

mod protocol;
mod info;
mod search_thread;
mod setup;
mod session;

pub use setup::Setup;
use turnstone_base::line_io::Lines;

use std::io::BufRead;

use anyhow::Result;

use self::session::{Next, Session};
use crate::output::Output;

/// Answers commands from `input` on `output` until the end of the input or `quit`.
///
/// # Errors
/// The agent cannot play the game, or the search thread has failed. Faults in the input are answered, not returned.
pub fn serve(mut setup: Setup, input: impl BufRead, output: &Output) -> Result<()> {
    let mut lines = Lines::new(input);
    let mut is_current = true;
    loop {
        let game = setup.game.clone();
        match Session::new(&*game, &setup, is_current, output)?.run(&mut lines)? {
            Next::End => return Ok(()),
            Next::Change(changed, current) => (setup, is_current) = (*changed, current),
        }
    }
}
