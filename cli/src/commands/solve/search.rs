//! Games that are solved position by position: Mancala and Morabaraba with tables of endgames, Konane without.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use turnstone_env::games::{Konane, Mancala, Morabaraba};
use turnstone_env::{Erased, Game, Side};
use turnstone_exact::{ExactValues, KonaneSolver, MancalaEndgames, MancalaSolver, MorabarabaEndgames, SolveLimits};

use super::Solve;
use crate::signals::stop_on_signals;
use turnstone_trainer::progress::{Layers, Reporter, duration};

/// Entries of a search's transposition table, 256 MB.
const ENTRIES: usize = 1 << 23;
/// Number of stones of Mancala's table of endgames by default.
const ENDGAMES: usize = 20;
/// Number of cows on the board of Morabaraba's endgames by default.
const COWS: usize = 8;
const BEYOND_LIMITS: &str = "not solved within --nodes and --time";

impl Solve {
    pub(super) fn mancala(&self, game: &Mancala) -> Result<ExitCode> {
        let reporter = Reporter::new(self.quiet);
        let state: <Mancala as Game>::State = *self.position.state(&Erased::new(*game))?.of();
        let path = self.out.join(MancalaEndgames::file_name(game));
        let known =
            if self.overwrite || !path.exists() { None } else { usable(MancalaEndgames::open(game, &path), &reporter) };
        let Some(endgames) = self.mancala_endgames(game, known, &path, &reporter)? else {
            return Ok(ExitCode::from(130));
        };
        reporter.line(&format!("{}: all positions with at most {} stones in play", path.display(), endgames.stones()));
        let (solver, started) = (MancalaSolver::new(game, Some(endgames), ENTRIES), Instant::now());
        let margin = solver.solve(game, &state, &self.limits()?);
        searched(&reporter, solver.nodes(), started);
        let margin = margin.context(BEYOND_LIMITS)?;
        println!("{}: margin {margin:+}, {}", game.position_text(&state), won_by(margin.signum().into()));
        Ok(ExitCode::SUCCESS)
    }

    /// The table with at least the stones that were asked for, built on the known one. It grows by one number of stones at
    /// a time and is written in between, so that an interruption loses little. `None` if it was stopped.
    fn mancala_endgames(
        &self,
        game: &Mancala,
        known: Option<MancalaEndgames>,
        path: &Path,
        reporter: &Reporter,
    ) -> Result<Option<MancalaEndgames>> {
        /// The first table to be written, which takes seconds.
        const FIRST: usize = 16;
        let covered = |table: &Option<MancalaEndgames>| table.as_ref().map(MancalaEndgames::stones);
        // An existing table is enlarged only when a size was asked for: it serves all the same.
        let wanted = self.endgames.or(covered(&known)).unwrap_or(ENDGAMES);
        let Some(size) = MancalaEndgames::size(game, wanted) else {
            bail!("a table of all positions with at most {wanted} stones is too large");
        };
        let mut table = known;
        if covered(&table).is_none_or(|covered| covered < wanted) {
            let (shown, megabytes) = (path.display(), size as f64 / 1e6);
            let seconds = (size as f64 / 5e6).ceil(); // with two threads
            reporter.line(&format!("{shown} will have {megabytes:.1} MB, about {seconds} s to build"));
        }
        let stop = stop_on_signals()?;
        while covered(&table).is_none_or(|covered| covered < wanted) {
            let next = covered(&table).map_or(0, |covered| covered + 1).max(FIRST).min(wanted);
            let larger =
                MancalaEndgames::extend(game, table.as_ref(), next, self.threads()?, &Layers::new(reporter, stop));
            if larger.stones() < next {
                match covered(&table) {
                    Some(stones) => reporter.line(&format!("stopped; the same command continues from {stones} stones")),
                    None => reporter.line("stopped; nothing was written"),
                }
                return Ok(None);
            }
            save(path, |path| larger.save(path))?;
            table = Some(larger);
        }
        Ok(table)
    }

    fn limits(&self) -> Result<SolveLimits> {
        Ok(SolveLimits { nodes: self.nodes.unwrap_or(u64::MAX), time: self.time, threads: self.threads()? })
    }

    pub(super) fn konane(&self, game: &Konane) -> Result<ExitCode> {
        let reporter = Reporter::new(self.quiet);
        let state: <Konane as Game>::State = *self.position.state(&Erased::new(game.clone()))?.of();
        let (size, most) = (game.size(), KonaneSolver::MAX_SIZE);
        if size > most {
            bail!("boards up to {most} x {most} are solved, not {size} x {size}");
        }
        let (solver, started) = (KonaneSolver::new(ENTRIES), Instant::now());
        let winner = solver.winner(game, &state, &self.limits()?);
        searched(&reporter, solver.nodes(), started);
        let winner = winner.context(BEYOND_LIMITS)?;
        let value = if winner == Side::First { 1 } else { -1 };
        println!("{}: {}", game.position_text(&state), won_by(value));
        Ok(ExitCode::SUCCESS)
    }

    pub(super) fn morabaraba(&self, game: &Morabaraba) -> Result<ExitCode> {
        let reporter = Reporter::new(self.quiet);
        let state: <Morabaraba as Game>::State = *self.position.state(&Erased::new(*game))?.of();
        let [fewest, most] = MorabarabaEndgames::COWS;
        // A position asks for no larger endgames than its own.
        let on_board = Side::BOTH.iter().map(|&side| state.cows(side).count_ones() as usize).sum::<usize>();
        let wanted = if self.position.is_given() { on_board.clamp(fewest, COWS) } else { COWS };
        let cows = self.endgames.unwrap_or(wanted);
        if !(fewest..=most).contains(&cows) {
            bail!("--endgames must be from {fewest} to {most} cows on the board, not {cows}");
        }
        if !self.morabaraba_endgames(game, cows, &reporter)? {
            return Ok(ExitCode::from(130));
        }
        let endgames = MorabarabaEndgames::open(game, &self.out)?;
        let covered: Vec<String> = endgames.covered().map(|[more, fewer]| format!("{more} against {fewer}")).collect();
        println!("{}: {}", self.out.display(), covered.join(", "));
        if !self.position.is_given() {
            return Ok(ExitCode::SUCCESS);
        }
        let value = endgames.value(game, &state).context("no table covers the position")?;
        println!("{}: {}", game.position_text(&state), won_by(value.into()));
        Ok(ExitCode::SUCCESS)
    }

    /// Builds the tables that are not there. Returns whether they are complete.
    fn morabaraba_endgames(&self, game: &Morabaraba, cows: usize, reporter: &Reporter) -> Result<bool> {
        std::fs::create_dir_all(&self.out).with_context(|| self.out.display().to_string())?;
        let mut missing = 0;
        for (counts, bytes) in MorabarabaEndgames::sizes(game, cows) {
            let path = self.out.join(MorabarabaEndgames::file_name(game, counts));
            let damaged = path.exists() && usable(MorabarabaEndgames::check(game, &path, counts), reporter).is_none();
            if (self.overwrite || damaged) && path.exists() {
                std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
            }
            missing += if path.exists() { 0 } else { bytes };
        }
        if missing > 0 {
            let (megabytes, seconds) = (missing as f64 / 1e6, (missing as f64 / 2e6).ceil()); // with two threads
            reporter.line(&format!("tables of {megabytes:.0} MB, about {seconds} s to build"));
        }
        let layers = Layers::new(reporter, stop_on_signals()?);
        let complete = MorabarabaEndgames::build(game, &self.out, cows, self.threads()?, &layers)?;
        if !complete {
            reporter.line("stopped; the same command continues after the tables that are complete");
        }
        Ok(complete)
    }
}

/// Returns the table, or prints why it has to be built again.
fn usable<T, E: std::fmt::Display>(opened: Result<T, E>, reporter: &Reporter) -> Option<T> {
    opened.map_err(|error| reporter.line(&error.to_string())).ok()
}

fn save(path: &Path, write: impl Fn(&Path) -> std::io::Result<()>) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    write(path).with_context(|| path.display().to_string())
}

fn searched(reporter: &Reporter, nodes: u64, started: Instant) {
    reporter.line(&format!("{nodes} nodes in {}", duration(started.elapsed())));
}

fn won_by(value: i32) -> &'static str {
    match value {
        0 => "a draw",
        1.. => "won for player 1",
        _ => "won for player 2",
    }
}
