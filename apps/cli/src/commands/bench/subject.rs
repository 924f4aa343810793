//! Subject of a benchmark: a game with default settings or a config file, with optional changes.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use turnstone_base::machine::cores;

use turnstone_selfplay::Games;
use turnstone_trainer::config::{Config, Override};

#[derive(Args, Debug)]
pub(super) struct Subject {
    /// Name of a game, or a config file
    #[arg(default_value = "mancala")]
    subject: String,
    /// Replace a value of the config, e.g. net.blocks=4; may be repeated
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

/// The numbers of threads to measure: those given, else 1 and the number of cores.
pub(super) fn thread_counts(given: &[u32]) -> Vec<usize> {
    match given {
        [] if cores() == 1 => vec![1],
        [] => vec![1, cores()],
        given => given.iter().map(|&threads| threads as usize).collect(),
    }
}
