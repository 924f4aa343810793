//! Games that are solved position by position: Mancala and Morabaraba with a table of endgames, Konane without.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use turnstone_env::games::{Konane, Mancala, Morabaraba};
use turnstone_env::{Erased, Game, Side};
use turnstone_exact::{ExactValues, KonaneSolver, MancalaEndgames, MancalaSolver, MorabarabaEndgames};

use super::Solve;
use crate::signals::stop_on_signals;
use turnstone_trainer::progress::{Layers, Reporter, duration};

/// Entries of a search's transposition table, 200 to 300 MB.
const ENTRIES: usize = 1 << 23;

impl Solve {
    pub(super) fn mancala(&self, game: &Mancala) -> Result<ExitCode> {
        let reporter = Reporter::new(self.quiet);
        let state: <Mancala as Game>::State = *self.position.state(&Erased::new(*game))?.of();
        let path = self.out.join(MancalaEndgames::file_name(game));
        let known =
            if self.overwrite || !path.exists() { None } else { usable(MancalaEndgames::open(game, &path), &reporter) };
        let endgames = match known {
            Some(endgames) => endgames,
            None => {
                let Some(size) = MancalaEndgames::size(game, self.endgames) else {
                    bail!("a table of all positions with at most {} stones is too large", self.endgames);
                };
                let (shown, megabytes) = (path.display(), size as f64 / 1e6);
                let seconds = (size as f64 / 5e6).ceil(); // with two threads
                reporter.line(&format!("{shown} will have {megabytes:.1} MB, about {seconds} s to build"));
                let layers = Layers::new(&reporter, stop_on_signals()?);
                let endgames = MancalaEndgames::build(game, self.endgames, self.threads()?, &layers);
                if endgames.stones() < self.endgames {
                    reporter.line("stopped; nothing was written");
                    return Ok(ExitCode::from(130));
                }
                save(&path, |path| endgames.save(path))?;
                endgames
            }
        };
        reporter.line(&format!("{}: all positions with at most {} stones in play", path.display(), endgames.stones()));
        let (mut solver, started) = (MancalaSolver::new(game, Some(endgames), ENTRIES), Instant::now());
        let margin = solver.solve(game, &state, self.nodes.unwrap_or(u64::MAX));
        searched(&reporter, solver.nodes(), started);
        let margin = margin.context("not solved with so few --nodes")?;
        println!("{}: margin {margin:+}, {}", game.position_text(&state), won_by(margin.signum().into()));
        Ok(ExitCode::SUCCESS)
    }

    pub(super) fn konane(&self, game: &Konane) -> Result<ExitCode> {
        let reporter = Reporter::new(self.quiet);
        let state: <Konane as Game>::State = *self.position.state(&Erased::new(game.clone()))?.of();
        let (size, most) = (game.size(), KonaneSolver::MAX_SIZE);
        if size > most {
            bail!("boards up to {most} x {most} are solved, not {size} x {size}");
        }
        let (mut solver, started) = (KonaneSolver::new(ENTRIES), Instant::now());
        let winner = solver.winner(game, &state, self.nodes.unwrap_or(u64::MAX));
        searched(&reporter, solver.nodes(), started);
        let winner = winner.context("not solved with so few --nodes")?;
        let value = if winner == Side::First { 1 } else { -1 };
        println!("{}: {}", game.position_text(&state), won_by(value));
        Ok(ExitCode::SUCCESS)
    }

    pub(super) fn morabaraba(&self, game: &Morabaraba) -> Result<ExitCode> {
        let reporter = Reporter::new(self.quiet);
        let path = self.out.join(MorabarabaEndgames::file_name());
        let known =
            if self.overwrite || !path.exists() { None } else { usable(MorabarabaEndgames::open(&path), &reporter) };
        let endgames = match known {
            Some(endgames) => endgames,
            None => {
                let never = std::sync::atomic::AtomicBool::new(false);
                let endgames = MorabarabaEndgames::build(&Layers::new(&reporter, &never));
                save(&path, |path| endgames.save(path))?;
                endgames
            }
        };
        println!("{}: three cows against three", path.display());
        if !self.position.is_given() {
            return Ok(ExitCode::SUCCESS);
        }
        let state: <Morabaraba as Game>::State = *self.position.state(&Erased::new(*game))?.of();
        let value = endgames.value(game, &state).context("the position is not three cows against three")?;
        println!("{}: {}", game.position_text(&state), won_by(value.into()));
        if let Some((side, plies)) = endgames.mill(game, &state) {
            println!("{side} can force a mill, {plies} plies from here");
        }
        Ok(ExitCode::SUCCESS)
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
