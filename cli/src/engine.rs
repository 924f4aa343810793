//! The engine: any agent behind the Universal Game Interface, so that other programs can play with it (docs/protocol.md).
//!
//! One thread reads commands and answers them, another searches. They share a flag that ends a search, and the output.

mod protocol;
mod info;
mod search_thread;
mod setup;
mod session;

pub use setup::Setup;

use std::io::BufRead;

use anyhow::Result;

use self::session::{Next, Session};
use crate::output::Output;
use turnstone_agents::line_io::Lines;

/// Answers commands from `input` on `output` until the input ends or says `quit`.
///
/// # Errors
/// The agent does not play the game, or a search has failed. Nothing that comes from the input is an error.
pub fn serve(mut setup: Setup, input: impl BufRead, output: &Output) -> Result<()> {
    let mut lines = Lines::new(input);
    loop {
        let game = setup.game.clone();
        match Session::new(&*game, &setup, output)?.run(&mut lines)? {
            Next::End => return Ok(()),
            Next::Change(changed) => setup = changed,
        }
    }
}
