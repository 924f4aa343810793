//! `turnstone solve mancala`: builds the table of endgames, and finds the margin of a position.

use std::path::Path;

use turnstone_agents::{SolveError, SolveHost, SolveOptions, result_text, searched};
use turnstone_env::games::{Mancala, mancala::State};
use turnstone_env::{Notation, Rules};

use super::solver::{MancalaEndgames, MancalaSolver};

/// Entries of a search's transposition table, 256 MB.
const ENTRIES: usize = 1 << 23;
/// Number of stones of the table of endgames by default.
const ENDGAMES: usize = 20;
/// The first table to be written, which takes seconds.
const FIRST: usize = 16;

/// Builds the table and prints the margin of the position. Returns whether it was finished.
pub(super) fn solve(
    game: &Mancala,
    position: Option<&State>,
    options: &SolveOptions<'_>,
    host: &dyn SolveHost,
) -> Result<bool, SolveError> {
    let state = position.copied().unwrap_or_else(|| game.start());
    let path = options.tables.join(MancalaEndgames::file_name(game));
    let known = if !path.exists() {
        None
    } else {
        MancalaEndgames::open(game, &path).map_err(|error| host.note(&error.to_string())).ok()
    };
    let Some(endgames) = endgames(game, known, &path, options, host)? else { return Ok(false) };
    host.note(&format!("{}: all positions with at most {} stones in play", path.display(), endgames.stones()));
    if options.tables_only {
        return Ok(true);
    }
    let solver = MancalaSolver::new(game, Some(endgames), ENTRIES);
    let margin = searched(host, || (solver.solve(game, &state, &options.limits()), solver.nodes()))?;
    let result = result_text(margin.signum().into());
    host.answer(&format!("{}: margin {margin:+}, {result}", game.position_text(&state)));
    Ok(true)
}

/// The table with at least the stones that were asked for, built on the known one. It grows by one number of stones at
/// a time and is written in between, so that an interruption loses little. `None` if it was stopped.
fn endgames(
    game: &Mancala,
    known: Option<MancalaEndgames>,
    path: &Path,
    options: &SolveOptions<'_>,
    host: &dyn SolveHost,
) -> Result<Option<MancalaEndgames>, SolveError> {
    let covered = |table: &Option<MancalaEndgames>| table.as_ref().map(MancalaEndgames::stones);
    // An existing table is enlarged only when a size was asked for: it serves all the same.
    let wanted = options.endgames.or(covered(&known)).unwrap_or(ENDGAMES);
    let Some(size) = MancalaEndgames::size(game, wanted) else {
        return Err(SolveError::Fault(format!("a table of all positions with at most {wanted} stones is too large")));
    };
    let mut table = known;
    if covered(&table).is_none_or(|covered| covered < wanted) {
        options.confirm_table(path)?;
        let (shown, megabytes) = (path.display(), size as f64 / 1e6);
        let seconds = (size as f64 / 5e6).ceil(); // with two threads
        host.note(&format!("{shown} will have {megabytes:.1} MB, about {seconds} s to build"));
    }
    let progress = host.progress()?;
    while covered(&table).is_none_or(|covered| covered < wanted) {
        let next = covered(&table).map_or(0, |covered| covered + 1).max(FIRST).min(wanted);
        let larger = MancalaEndgames::extend(game, table.as_ref(), next, options.threads, &*progress);
        if larger.stones() < next {
            host.note(&match covered(&table) {
                Some(stones) => format!("stopped; the same command continues from {stones} stones"),
                None => "stopped; nothing was written".to_owned(),
            });
            return Ok(None);
        }
        save(path, &larger)?;
        table = Some(larger);
    }
    Ok(table)
}

fn save(path: &Path, table: &MancalaEndgames) -> Result<(), SolveError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(SolveError::file(folder))?;
    }
    table.save(path).map_err(SolveError::file(path))
}
