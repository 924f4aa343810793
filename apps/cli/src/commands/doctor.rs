//! `turnstone doctor`: checks of a config before training, and what networks can run on.

mod devices;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use turnstone_base::terminal::print_stderr;
use turnstone_models::ComputeDevice;
use turnstone_selfplay::Games;

use crate::output::{print_json, print_prose};
use crate::program_name::as_called;
use crate::signals::stop_on_signals;
use turnstone_trainer::config::{Config, Override};
use turnstone_trainer::doctor::{Check, Diagnosis, examine};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone doctor configs/mancala.toml
      mistakes, memory, disk and time of a run
  turnstone doctor configs/konane.toml --set game.size=6
      of a changed config
  turnstone doctor --devices
      the processor and the GPUs, with their names for configs and specs")]
pub(crate) struct Doctor {
    /// Config file
    #[arg(required_unless_present = "devices")]
    config: Option<PathBuf>,
    /// List what networks can run on: the processor, and GPUs if the program is built for them
    #[arg(long, conflicts_with_all = ["config", "set", "device", "seconds", "allow_engines"])]
    devices: bool,
    /// Replace a value of the config, e.g. learn.batch=512; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Override>,
    /// Play and learn on this device in place of the config's: cpu, gpu, gpu:1; see --devices
    #[arg(long)]
    device: Option<ComputeDevice>,
    /// Measure self-play, learning and matches for about this many seconds
    #[arg(long, value_name = "N", default_value_t = 20.0)]
    seconds: f64,
    /// Start the programs of `engine:` opponents, to measure the matches against them
    #[arg(long)]
    allow_engines: bool,
    /// Print one JSON object, or of --devices an array
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let Some(config) = &self.config else {
            println!("{}", if self.json { devices::json().to_string() } else { devices::text() });
            return Ok(ExitCode::SUCCESS);
        };
        let time = Duration::try_from_secs_f64(self.seconds).context("--seconds")?;
        let Some(diagnosis) = self.diagnosis(config, time, games)? else {
            print_stderr("the check was interrupted before its end");
            return Ok(ExitCode::from(130));
        };
        if self.json {
            print_json(&serde_json::to_string(&diagnosis)?);
        } else {
            diagnosis.checks.iter().map(Check::line).for_each(|line| print_prose(&as_called(&line)));
        }
        Ok(if diagnosis.failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    fn diagnosis(&self, config: &Path, time: Duration, games: &Games) -> Result<Option<Diagnosis>> {
        let config = match Config::read_with(config, &self.set, games) {
            Ok(config) => config,
            Err(fault) => return Ok(Some(Diagnosis::unreadable(fault.to_string()))),
        };
        let config = match self.device {
            Some(device) => config.on(device, games).map_err(anyhow::Error::msg).context("--device")?,
            None => config,
        };
        let game = config.game(games).map_err(anyhow::Error::msg)?;
        let stop = stop_on_signals()?;
        if self.allow_engines {
            for engine in config.arena.engines() {
                print_stderr(format_args!("arena.opponents: starting the program of `{engine}`"));
            }
        }
        examine(&*game, &config, self.allow_engines, time, stop)
    }
}
