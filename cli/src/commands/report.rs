//! `turnstone report`: the report of a run as one HTML page.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use turnstone_models::atomic_write;
use turnstone_selfplay::Games;

use crate::signals::stop_on_signals;
use turnstone_trainer::config::Config;
use turnstone_trainer::progress::{Reporter, print_stderr};
use turnstone_trainer::report::{Settings, report};
use turnstone_trainer::run_folder::RunFolder;

#[derive(Args, Debug)]
pub(crate) struct Report {
    /// Folder of the run; it may be finished, running or interrupted
    run: PathBuf,
    /// File to write [default: report.html in the run's folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Simulations per move of the sample games and of grading
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    simulations: u32,
    /// Do not grade the newest checkpoint against exact values
    #[arg(long)]
    no_grade: bool,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Report {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let folder = RunFolder::open(&self.run)?;
        let config = Config::read(&folder.config(), games)?;
        let game = config.game(games).map_err(anyhow::Error::msg)?;
        let (reporter, stop) = (Reporter::new(self.quiet), stop_on_signals()?);
        let settings = Settings { simulations: self.simulations, grade: !self.no_grade };
        let page = report(&*game, &config, &folder, settings, &reporter, stop)?;
        let Some(page) = page else {
            print_stderr("the report was interrupted before its end");
            return Ok(ExitCode::from(130));
        };
        let path = self.out.clone().unwrap_or_else(|| self.run.join("report.html"));
        atomic_write(&path, page.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
        reporter.line(&format!("{} ({} KB)", path.display(), page.len().div_ceil(1000)));
        Ok(ExitCode::SUCCESS)
    }
}
