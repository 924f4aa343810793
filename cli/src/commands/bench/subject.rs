//! What a benchmark measures: a game with default settings, or a config file; and any of its values replaced.

use std::path::Path;

use anyhow::Result;
use clap::Args;

use turnstone_selfplay::Games;
use turnstone_trainer::config::{Config, Override, cores};

#[derive(Args, Debug)]
pub(super) struct Subject {
    /// A game, or a config file
    #[arg(default_value = "mancala")]
    subject: String,
    /// A value in place of the config's, as in net.blocks=4; can be given again
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Override>,
}

impl Subject {
    pub(super) fn config(&self, games: &Games) -> Result<Config> {
        if Path::new(&self.subject).is_file() {
            return Ok(Config::read_with(Path::new(&self.subject), &self.set, games)?);
        }
        let mut table = toml::Table::new();
        table.insert("name".into(), self.subject.clone().into());
        let text = toml::to_string(&toml::Table::from_iter([("game".to_owned(), table.into())]))?;
        let config = Config::parse(&text, games).map_err(anyhow::Error::msg)?;
        config.with(&self.set, games).map_err(anyhow::Error::msg)
    }
}

/// The numbers of threads to measure: those given, or one and one per core.
pub(super) fn thread_counts(given: &[u32]) -> Vec<usize> {
    match given {
        [] if cores() == 1 => vec![1],
        [] => vec![1, cores()],
        given => given.iter().map(|&threads| threads as usize).collect(),
    }
}
