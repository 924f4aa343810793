//! What benchmarks share: their subject, a game with default settings or a config file, the limit of their instruction sets,
//! and the printing of their rows.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;
use serde::Serialize;
use turnstone_base::machine::cores;

use turnstone_models::{Instructions, IntegerInstructions};
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

/// Arithmetic of the network.
#[derive(Args, Debug)]
pub(super) struct Limit {
    /// Compute the network with no better instructions than avx2 (without VNNI), neon (without dotprod) or portable
    #[arg(long, value_name = "NAME")]
    instructions: Option<Instructions>,
}

impl Limit {
    /// Applies to the whole process, so call it before anything is measured. Returns the name of the instructions for floats
    /// or for integers.
    pub(super) fn apply(&self, quantised: bool) -> Result<String> {
        if let Some(most) = self.instructions {
            most.limit();
            ensure!(most.is_available(), "this processor has no {most:?}");
        }
        let (floats, integers) = (Instructions::best(), IntegerInstructions::best());
        Ok(if quantised { format!("{integers:?}") } else { format!("{floats:?}") })
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

/// The rows of a benchmark, for people as they are measured, or for scripts together as one JSON array.
pub(super) struct Rows<R> {
    json: bool,
    pub(super) all: Vec<R>,
}

impl<R: Serialize> Rows<R> {
    /// No rows, below this heading.
    pub(super) fn new(json: bool, heading: &str) -> Self {
        let rows = Self { json, all: Vec::new() };
        rows.say(heading);
        rows
    }

    /// Adds a row, which people see as these lines.
    pub(super) fn add(&mut self, row: R, lines: &str) {
        self.say(lines);
        self.all.push(row);
    }

    /// Prints a line for people.
    pub(super) fn say(&self, line: &str) {
        if !self.json {
            println!("{line}");
        }
    }

    /// Prints the rows for scripts.
    pub(super) fn finish(self) -> Result<ExitCode> {
        if self.json {
            println!("{}", serde_json::to_string(&self.all)?);
        }
        Ok(ExitCode::SUCCESS)
    }
}
