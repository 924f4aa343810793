//! `turnstone solve`: exact values of a game, printed as counts or written as a table.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use turnstone_agents::{SolveError, SolveHost, SolveOptions};
use turnstone_arena::grading::MOST_POSITIONS;
use turnstone_base::machine::cores;
use turnstone_base::settings::Value;
use turnstone_base::terminal::{ProgressBar, Reporter};
use turnstone_base::times::parse_time;
use turnstone_exact::Progress;
use turnstone_search::Stop;
use turnstone_selfplay::Games;

use crate::args::{GamePosition, PlaceArgs};
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
    place: PlaceArgs,
    /// Give up after this many nodes, where the game is searched [default: no limit]
    #[arg(long)]
    nodes: Option<u64>,
    /// Give up after this time, such as 30s or 5m, where the game is searched [default: no limit]
    #[arg(long, value_parser = |text: &str| parse_time(text).ok_or_else(|| format!("it must be {}", Duration::expected())))]
    time: Option<Duration>,
    /// Largest endgames in the tables: stones in play (Mancala) [default: 20, or the table as it is], or cows on the board
    /// (Morabaraba) [default: 8]
    #[arg(long, value_name = "NUMBER")]
    endgames: Option<usize>,
    /// Folder for the tables
    #[arg(long, value_name = "FOLDER", default_value = "tables")]
    out: PathBuf,
    /// Build the tables, and solve no position with them (Mancala)
    #[arg(long, conflicts_with_all = ["nodes", "time", "position", "from", "moves"])]
    tables_only: bool,
    /// Number of threads [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl Solve {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let GamePosition { game, state, .. } = self.place.place(games)?;
        let position = self.place.is_given().then_some(&state);
        let threads = self.threads.map_or_else(cores, usize::from);
        let options = SolveOptions {
            nodes: self.nodes,
            time: self.time,
            endgames: self.endgames,
            tables: &self.out,
            tables_only: self.tables_only,
            threads,
            most_positions: MOST_POSITIONS,
        };
        let finished = game.solve(position, &options, &Console(Reporter::new(false)))?;
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

/// Progress of a solver: a bar for the current layer, a line for each finished one.
struct Layers<'a> {
    reporter: &'a Reporter,
    stop: &'a Stop,
    bar: Mutex<ProgressBar>,
}

impl<'a> Layers<'a> {
    /// Creates the progress output; the solver stops when `stop` is raised.
    fn new(reporter: &'a Reporter, stop: &'a Stop) -> Self {
        Self { reporter, stop, bar: Mutex::new(ProgressBar::hidden()) }
    }

    fn with_bar<T>(&self, act: impl FnOnce(&mut ProgressBar) -> T) -> T {
        act(&mut self.bar.lock().expect("drawing a bar does not panic"))
    }
}

impl Progress for Layers<'_> {
    fn begin(&self, layer: &str, entries: u64) {
        let bar = self.reporter.bar(layer, entries);
        self.with_bar(|shown| *shown = bar);
    }

    fn advance(&self, entries: u64) {
        self.with_bar(|bar| bar.inc(entries));
    }

    fn end(&self, layer: &str, summary: &str) {
        self.with_bar(|bar| bar.finish_and_clear());
        self.reporter.line(&format!("{layer:<12} {summary}"));
    }

    fn stopped(&self) -> bool {
        let stopped = self.stop.is_raised();
        if stopped {
            self.with_bar(|bar| bar.finish_and_clear());
        }
        stopped
    }
}
