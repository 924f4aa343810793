//! `turnstone bench`: how fast the parts are on this machine.

mod subject;
mod env;
mod search;
mod inference;
mod self_play;
mod learner;
mod signature;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

#[derive(Args, Debug)]
pub(crate) struct Bench {
    #[command(subcommand)]
    part: Part,
}

#[derive(Subcommand, Debug)]
enum Part {
    /// Random playouts and batched environments of each game
    Env(env::Env),
    /// Alpha-beta from the start of each game, with and without a table
    Search(search::Search),
    /// The network's forward pass by batch size
    Inference(inference::Inference),
    /// Self-play as in training, with one worker and with more
    SelfPlay(self_play::SelfPlay),
    /// Steps of the learner, with one thread and with more
    Learner(learner::LearnerSteps),
    /// One checksum per part of the program, to see that a change of the code changes no behaviour
    Signature(signature::Signature),
}

impl Bench {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        match &self.part {
            Part::Env(part) => part.run(),
            Part::Search(part) => part.run(),
            Part::Inference(part) => part.run(),
            Part::SelfPlay(part) => part.run(),
            Part::Learner(part) => part.run(),
            Part::Signature(part) => part.run(),
        }
    }
}
