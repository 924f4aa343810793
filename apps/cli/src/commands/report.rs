//! `turnstone report`: the report of a run as one HTML page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;
use turnstone_base::terminal::{Reporter, print_stderr};
use turnstone_selfplay::Games;

use crate::output::{confirm_writable, write_page};
use crate::signals::stop_on_signals;
use turnstone_trainer::report::{LiveRun, MOST_RUNS, comparison_page, report};
use turnstone_trainer::run_folder::RunFolder;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone report runs/mancala
      a page about one run
  turnstone report runs/a runs/b
      two runs on one page")]
pub(crate) struct Report {
    /// Folder of the run, which may be finished, running or interrupted; several for a comparison of runs of one game
    #[arg(required = true, num_args = 1..=MOST_RUNS, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// File to write [default: report.html in the run's folder, comparison.html beside the first of several]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Do not grade the newest checkpoint against exact values
    #[arg(long)]
    no_grade: bool,
}

impl Report {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let [path] = &self.runs[..] else {
            ensure!(!self.no_grade, "--no-grade is for the report of one run: a comparison grades nothing");
            return self.compare(games);
        };
        let out = self.out.clone().unwrap_or_else(|| path.join("report.html"));
        let folder = RunFolder::open(path)?;
        confirm_writable(&out)?;
        let run = LiveRun::read(&folder, games)?;
        let game = run.config.game(games).map_err(anyhow::Error::msg)?;
        let (reporter, stop) = (Reporter::new(false), stop_on_signals()?);
        let page = report(&*game, &run, &folder, !self.no_grade, &reporter, stop)?;
        let Some(page) = page else {
            print_stderr("the report was interrupted before its end");
            return Ok(ExitCode::from(130));
        };
        write_page(&out, &page, &reporter)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Writes one page about several runs.
    fn compare(&self, games: &Games) -> Result<ExitCode> {
        let read = |path: &PathBuf| -> Result<(String, LiveRun)> {
            Ok((path.display().to_string(), LiveRun::read(&RunFolder::open(path)?, games)?))
        };
        let mut runs = self.runs.iter().map(read).collect::<Result<Vec<_>>>()?;
        // Folders are named shortly where that tells them apart.
        let short = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let distinct: BTreeSet<_> = self.runs.iter().map(short).collect();
        if distinct.len() == runs.len() {
            runs.iter_mut().zip(&self.runs).for_each(|((name, _), path)| *name = short(path).unwrap_or(name.clone()));
        }
        let page = comparison_page(&runs)?;
        let beside = self.runs[0].parent().unwrap_or(Path::new(""));
        let path = self.out.clone().unwrap_or_else(|| beside.join("comparison.html"));
        write_page(&path, &page, &Reporter::new(false))?;
        Ok(ExitCode::SUCCESS)
    }
}
