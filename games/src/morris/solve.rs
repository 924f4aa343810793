//! `turnstone solve morris`: builds the strong solution.

use std::path::Path;
use std::time::Duration;

use turnstone_agents::{SolveError, SolveHost, SolveOptions, start_text};
use turnstone_base::times::duration;
use turnstone_env::Rules;
use turnstone_env::games::Morris;
use turnstone_exact::ExactValues;
use turnstone_search::Clock;

use super::solver::{self, MorrisTable, Size};

/// Builds the table and prints the value of the start. Returns whether it was finished.
pub(super) fn solve(game: &Morris, options: &SolveOptions<'_>, host: &dyn SolveHost) -> Result<bool, SolveError> {
    options.confirm_used(game.spec().name, false, false)?;
    let path = options.tables.join(MorrisTable::file_name(game));
    if path.exists() {
        match MorrisTable::open(game, &path) {
            Ok(table) => {
                host.note(&format!("{} is complete", path.display()));
                return finished(game, &table, &path, host);
            }
            Err(error) => host.note(&error.to_string()),
        }
    }
    options.confirm_table(&path)?;
    estimate(host, &Size::of(game), &path, options.threads);
    let clock = Clock::default();
    let started = clock.now();
    let progress = host.progress()?;
    if !solver::solve(game, &path, options.threads, &*progress).map_err(SolveError::file(&path))? {
        let layers = path.with_extension("partial");
        host.note(&format!("stopped; the same command continues from the layers in {}", layers.display()));
        return Ok(false);
    }
    host.note(&format!("solved in {}", duration(clock.now().saturating_sub(started))));
    finished(game, &MorrisTable::open(game, &path)?, &path, host)
}

/// Prints the size of the task before it starts.
fn estimate(host: &dyn SolveHost, size: &Size, path: &Path, threads: usize) {
    let million = |number: u64| number as f64 / 1e6;
    let (midgame, opening) = (million(size.midgame), million(size.opening));
    let time = duration(Duration::from_secs_f64(size.seconds(threads).max(1.0)));
    let plural = if threads == 1 { "" } else { "s" };
    host.note(&format!("{midgame:.1} million positions of the midgame and {opening:.1} of the opening"));
    host.note(&format!("about {time} with {threads} thread{plural} and {:.0} MB of memory", million(size.memory)));
    let (table, path) = (million(size.table()), path.display());
    host.note(&format!("{path} will have {table:.0} MB; while it is built, finished layers take as much again"));
}

fn finished(game: &Morris, table: &MorrisTable, path: &Path, host: &dyn SolveHost) -> Result<bool, SolveError> {
    let value =
        table.value(game, &game.start()).ok_or_else(|| SolveError::fault("the table does not cover the start"))?;
    host.answer(&format!("{}: {}", path.display(), start_text(value)));
    Ok(true)
}
