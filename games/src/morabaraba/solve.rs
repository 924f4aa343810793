//! `turnstone solve morabaraba`: builds tables of endgames, and looks a position up in them.

use turnstone_agents::{SolveError, SolveHost, SolveOptions, result_text};
use turnstone_env::games::{Morabaraba, morabaraba::State};
use turnstone_env::{Notation, Rules, Side};
use turnstone_exact::ExactValues;

use super::solver::MorabarabaEndgames;

/// Number of cows on the board of the endgames by default.
const COWS: usize = 8;

/// Builds the tables, and prints what they cover and the value of the position. Returns whether it was finished.
pub(super) fn solve(
    game: &Morabaraba,
    position: Option<&State>,
    options: &SolveOptions<'_>,
    host: &dyn SolveHost,
) -> Result<bool, SolveError> {
    options.confirm_used(game.spec().name, false, true)?;
    let [fewest, most] = MorabarabaEndgames::COWS;
    // A position asks for no larger endgames than its own.
    let on_board = |state: &State| Side::BOTH.iter().map(|&side| state.cows(side).count_ones() as usize).sum::<usize>();
    let wanted = position.map_or(COWS, |state| on_board(state).clamp(fewest, COWS));
    let cows = options.endgames.unwrap_or(wanted);
    if !(fewest..=most).contains(&cows) {
        let fault = format!("--endgames must be from {fewest} to {most} cows on the board, not {cows}");
        return Err(SolveError::Fault(fault));
    }
    if !build(game, cows, options, host)? {
        return Ok(false);
    }
    let endgames = MorabarabaEndgames::open(game, options.tables)?;
    let covered: Vec<String> = endgames.covered().map(|[more, fewer]| format!("{more} against {fewer}")).collect();
    host.answer(&format!("{}: {}", options.tables.display(), covered.join(", ")));
    let Some(state) = position else { return Ok(true) };
    let value = endgames.value(game, state).ok_or_else(|| SolveError::fault("no table covers the position"))?;
    host.answer(&format!("{}: {}", game.position_text(state), result_text(value.into())));
    Ok(true)
}

/// Builds the tables that are not there. Returns whether they are complete.
fn build(game: &Morabaraba, cows: usize, options: &SolveOptions<'_>, host: &dyn SolveHost) -> Result<bool, SolveError> {
    let folder = options.tables;
    std::fs::create_dir_all(folder).map_err(SolveError::file(folder))?;
    let mut missing = 0;
    for (counts, bytes) in MorabarabaEndgames::sizes(game, cows) {
        let path = folder.join(MorabarabaEndgames::file_name(game, counts));
        let check = || MorabarabaEndgames::check(game, &path, counts);
        if path.exists() && check().map_err(|error| host.note(&error.to_string())).is_err() {
            std::fs::remove_file(&path).map_err(SolveError::file(&path))?;
        }
        missing += if path.exists() { 0 } else { bytes };
    }
    if missing > 0 {
        options.confirm_table(&folder.join("new"))?;
        let (megabytes, seconds) = (missing as f64 / 1e6, (missing as f64 / 2e6).ceil()); // with two threads
        host.note(&format!("tables of {megabytes:.0} MB, about {seconds} s to build"));
    }
    let progress = host.progress()?;
    let complete = MorabarabaEndgames::build(game, folder, cows, options.threads, &*progress)?;
    if !complete {
        host.note("stopped; the same command continues after the tables that are complete");
    }
    Ok(complete)
}
