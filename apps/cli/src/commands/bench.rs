//! `turnstone bench`: speed of the parts of the program on this machine.

mod subject;
mod env;
mod search;
mod inference;
mod self_play;
mod learner;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use turnstone_selfplay::Games;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone bench env
      moves per second of the rules
  turnstone bench self-play
      positions per second of training")]
pub(crate) struct Bench {
    #[command(subcommand)]
    part: Part,
}

#[derive(Subcommand, Debug)]
enum Part {
    /// Random playouts and batched environments of each game
    Env(env::Env),
    /// Alpha-beta from the start of each game, with and without a transposition table
    Search(search::Search),
    /// The network's forward pass by batch size
    Inference(inference::Inference),
    /// Self-play as in training, with one worker and with more
    SelfPlay(self_play::SelfPlay),
    /// Steps of the learner, with one thread and with more
    Learner(learner::LearnerSteps),
}

impl Bench {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        match &self.part {
            Part::Env(part) => part.run(games),
            Part::Search(part) => part.run(games),
            Part::Inference(part) => part.run(games),
            Part::SelfPlay(part) => part.run(games),
            Part::Learner(part) => part.run(games),
        }
    }
}
