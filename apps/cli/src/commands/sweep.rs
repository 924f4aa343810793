//! `turnstone sweep`: one run for every combination of values, ranked.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Args;
use turnstone_base::terminal::Reporter;
use turnstone_selfplay::Games;
use turnstone_trainer::config::{Config, Override};
use turnstone_trainer::sweep::{Axis, Measure, Plan, Sweep as Runs, VariantResult, best_first, table};

use crate::output::{print_json, print_text};
use crate::program_name::PROGRAM;
use crate::signals::stop_on_signals;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone sweep configs/smoke.toml --vary learn.learning_rate=1e-3,2e-3,4e-3
      three short runs
  turnstone sweep configs/morris.toml --vary net.blocks=2,3,4 --by ladder
      three networks, ranked by their Elo on the ladder")]
pub(crate) struct Sweep {
    /// Config file that all runs share
    config: PathBuf,
    /// Values of a key, e.g. learn.learning_rate=1e-3,2e-3; repeated for all combinations of several keys
    #[arg(long, value_name = "KEY=VALUE,VALUE", required = true)]
    vary: Vec<Axis>,
    /// Replace a value of the config for all runs, e.g. run.iterations=60; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Override>,
    /// What decides which runs are best: kept, critical, ladder or score [default: the first that the runs have]
    #[arg(long, value_name = "MEASURE")]
    by: Option<Measure>,
    /// Folder of the runs; the same command continues with what it holds [default: runs/<name of the config file>-sweep]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Sweep {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let config = Config::read_with(&self.config, &self.set, games)?;
        ensure!(
            config.arena.engines().next().is_none(),
            "arena.opponents: a sweep starts no other programs; leave `engine:` opponents out"
        );
        for (number, key) in self.vary.iter().map(Axis::name).enumerate() {
            ensure!(self.vary[..number].iter().all(|axis| axis.name() != key), "--vary: {key} varies already");
            ensure!(
                self.set.iter().all(|set| set.name() != key),
                "--set {key} has no effect: --vary {key} replaces it"
            );
        }
        let plan = Plan::grid(&config, &self.vary, games).map_err(anyhow::Error::msg).context("--vary")?;
        let folder = self.folder();
        let runs = Runs::open(PROGRAM, &folder, plan)?;
        let (reporter, stop) = (Reporter::new(self.json), stop_on_signals()?);
        let Some(results) = runs.train(games, &reporter, stop)? else {
            reporter.line(&format!("stopped; the same command continues in {}", folder.display()));
            return Ok(ExitCode::from(130));
        };
        self.print(&results)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Prints the variants, the best first.
    fn print(&self, results: &[VariantResult]) -> Result<()> {
        let ranking = best_first(results, self.by)?;
        if self.json {
            let ranked: Vec<&VariantResult> = ranking.order.iter().map(|&place| &results[place]).collect();
            print_json(&serde_json::json!({ "runs": ranked }));
        } else {
            print_text(&table(results, &ranking));
        }
        Ok(())
    }

    fn folder(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| {
            let name = self.config.file_stem().unwrap_or(self.config.as_os_str());
            Path::new("runs").join(format!("{}-sweep", name.to_string_lossy()))
        })
    }
}
