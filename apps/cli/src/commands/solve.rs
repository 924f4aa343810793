//! `turnstone solve`: exact values of a game, printed as counts or written as a table.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use turnstone_agents::{SolveError, SolveHost, SolveOptions, parse_time};
use turnstone_arena::grading::MOST_POSITIONS;
use turnstone_exact::Progress;
use turnstone_selfplay::Games;
use turnstone_trainer::progress::{Layers, Reporter};

use crate::args::{GameArgs, PositionArgs};
use crate::signals::stop_on_signals;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone solve mu_torere
      every position of a small game
  turnstone solve morris
      tables for `exact:tables`")]
pub(crate) struct Solve {
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    position: PositionArgs,
    /// Give up after this many nodes (Mancala and Konane) [default: no limit]
    #[arg(long)]
    nodes: Option<u64>,
    /// Give up after this time, such as 30s or 5m (Mancala and Konane) [default: no limit]
    #[arg(long, value_parser = |text: &str| parse_time("the time", text))]
    time: Option<Duration>,
    /// Largest endgames in the tables: stones in play (Mancala) [default: 20, or the table as it is], or cows on the board
    /// (Morabaraba) [default: 8]
    #[arg(long, value_name = "NUMBER")]
    endgames: Option<usize>,
    /// Folder for the tables
    #[arg(long, value_name = "FOLDER", default_value = "tables")]
    out: PathBuf,
    /// Build the tables, and solve no position with them (Mancala)
    #[arg(long)]
    tables_only: bool,
    /// Number of threads [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Build the table even if it exists already
    #[arg(long)]
    overwrite: bool,
    /// Print nothing but the result
    #[arg(long)]
    quiet: bool,
}

impl Solve {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let game = self.game.game(games)?;
        let position = if self.position.is_given() { Some(self.position.state(&*game)?) } else { None };
        let threads = match self.threads {
            Some(threads) => usize::from(threads),
            None => std::thread::available_parallelism().context("the number of cores")?.get(),
        };
        let options = SolveOptions {
            nodes: self.nodes,
            time: self.time,
            endgames: self.endgames,
            tables: &self.out,
            tables_only: self.tables_only,
            threads,
            overwrite: self.overwrite,
            most_positions: MOST_POSITIONS,
        };
        let finished = game.solve(position.as_ref(), &options, &Console(Reporter::new(self.quiet)))?;
        Ok(if finished { ExitCode::SUCCESS } else { ExitCode::from(130) })
    }
}

/// Results on standard output, everything else on standard error.
struct Console(Reporter);

impl SolveHost for Console {
    fn answer(&self, line: &str) {
        println!("{line}");
    }

    fn note(&self, line: &str) {
        self.0.line(line);
    }

    fn progress(&self) -> Result<Box<dyn Progress + '_>, SolveError> {
        let stop = stop_on_signals().map_err(|error| SolveError::fault(error.to_string()))?;
        Ok(Box::new(Layers::new(&self.0, stop)))
    }
}
