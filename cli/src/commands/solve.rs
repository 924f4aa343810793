//! `turnstone solve`: exact values of a game, printed as counts or written as a table.

mod search;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use turnstone_agents::{Enumeration, PlayableGame, parse_time};
use turnstone_env::Game;
use turnstone_env::games::{Konane, Mancala, Morabaraba, Morris};
use turnstone_exact::{ExactValues, MorrisTable, morris};
use turnstone_selfplay::Games;

use crate::args::{GameArgs, PositionArgs};
use crate::signals::stop_on_signals;
use turnstone_arena::grading::MOST_POSITIONS;
use turnstone_trainer::progress::{Layers, Reporter, duration};

#[derive(Args, Debug)]
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
        let inner = game.inner();
        if let Some(game) = inner.downcast_ref::<Mancala>() {
            return self.mancala(game);
        }
        if let Some(game) = inner.downcast_ref::<Konane>() {
            return self.konane(game);
        }
        if let Some(game) = inner.downcast_ref::<Morabaraba>() {
            return self.morabaraba(game);
        }
        if self.position.is_given() {
            bail!("{} is solved whole, so no position can be given", game.name());
        }
        match inner.downcast_ref::<Morris>() {
            Some(game) => self.morris(game),
            None => enumerate(&*game),
        }
    }

    fn morris(&self, game: &Morris) -> Result<ExitCode> {
        let reporter = Reporter::new(self.quiet);
        let path = self.out.join(MorrisTable::file_name(game));
        if path.exists() && !self.overwrite {
            match MorrisTable::open(game, &path).and_then(|table| table.verify().map(|()| table)) {
                Ok(table) => {
                    reporter.line(&format!("{} is whole; --overwrite builds it anew", path.display()));
                    return finished(game, &table, &path);
                }
                Err(error) => reporter.line(&error.to_string()),
            }
        }
        let threads = self.threads()?;
        estimate(&reporter, &morris::Size::of(game), &path, threads);
        let started = Instant::now();
        let stop = stop_on_signals()?;
        let solved = morris::solve(game, &path, threads, &Layers::new(&reporter, stop));
        if !solved.with_context(|| path.display().to_string())? {
            let layers = path.with_extension("partial");
            reporter.line(&format!("stopped; the same command continues from the layers in {}", layers.display()));
            return Ok(ExitCode::from(130));
        }
        reporter.line(&format!("solved in {}", duration(started.elapsed())));
        finished(game, &MorrisTable::open(game, &path)?, &path)
    }

    fn threads(&self) -> Result<usize> {
        Ok(match self.threads {
            Some(threads) => usize::from(threads),
            None => std::thread::available_parallelism().context("the number of cores")?.get(),
        })
    }
}

/// Prints the size of the task before it starts.
fn estimate(reporter: &Reporter, size: &morris::Size, path: &Path, threads: usize) {
    let million = |number: u64| number as f64 / 1e6;
    let (midgame, opening) = (million(size.midgame), million(size.opening));
    let time = duration(Duration::from_secs_f64(size.seconds(threads).max(1.0)));
    let plural = if threads == 1 { "" } else { "s" };
    reporter.line(&format!("{midgame:.1} million positions of the midgame and {opening:.1} of the opening"));
    reporter.line(&format!("about {time} with {threads} thread{plural} and {:.0} MB of memory", million(size.memory)));
    let (table, path) = (million(size.table()), path.display());
    reporter.line(&format!("{path} will have {table:.0} MB; while it is built, finished layers take as much again"));
}

fn finished(game: &Morris, table: &MorrisTable, path: &Path) -> Result<ExitCode> {
    let value = table.value(game, &game.start()).context("the table does not cover the start")?;
    println!("{}: {}", path.display(), of_the_start(value));
    Ok(ExitCode::SUCCESS)
}

/// Enumerates and solves a small game in memory, and prints the counts.
fn enumerate(game: &dyn PlayableGame) -> Result<ExitCode> {
    let Some(Enumeration { start, counts, .. }) = game.enumerate(MOST_POSITIONS)? else {
        bail!("{} has more than {MOST_POSITIONS} positions, too many to enumerate", game.name());
    };
    let line = |name: &str, count: usize| println!("{name:<26} {count:>9}");
    line("reachable positions", counts.reachable);
    line("won for player 1", counts.first);
    line("won for player 2", counts.second);
    line("draws by infinite play", counts.endless);
    line("positions that are over", counts.over);
    line("won for the player to move", counts.mover);
    line("lost for the player to move", counts.other);
    println!("{}: {}", game.name(), of_the_start(start));
    Ok(ExitCode::SUCCESS)
}

fn of_the_start(value: i8) -> &'static str {
    match value {
        1 => "the start is won for player 1",
        0 => "the start is a draw",
        _ => "the start is won for player 2",
    }
}
