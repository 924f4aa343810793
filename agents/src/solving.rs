//! Options of `turnstone solve`, and the interface through which a solver prints and can be stopped.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;
use turnstone_base::files::confirm_writable;
use turnstone_base::times::duration;
use turnstone_exact::{Progress, SolveLimits, TableError};
use turnstone_search::Clock;

/// Options of `solve`. A game uses those that apply to it.
#[derive(Clone, Copy, Debug)]
pub struct SolveOptions<'a> {
    /// Maximum number of nodes of a search.
    pub nodes: Option<u64>,
    /// Maximum time of a search.
    pub time: Option<Duration>,
    /// Size of the largest endgames in the tables: stones in play (Mancala), cows on the board (Morabaraba).
    pub endgames: Option<usize>,
    /// Folder of the tables.
    pub tables: &'a Path,
    /// Whether the tables are built and no position is solved.
    pub tables_only: bool,
    /// Number of threads.
    pub threads: usize,
    /// Maximum number of positions of a game that is solved by enumeration.
    pub most_positions: usize,
}

impl SolveOptions<'_> {
    /// Refuses an option that has no effect: `--nodes` and `--time` unless the game is `searched`, and `--endgames` unless
    /// it has tables of `endgames`.
    ///
    /// # Errors
    /// One line that names the option.
    pub fn confirm_used(&self, game: &str, searched: bool, endgames: bool) -> Result<(), SolveError> {
        let options = [
            ("--nodes", self.nodes.is_some() && !searched),
            ("--time", self.time.is_some() && !searched),
            ("--endgames", self.endgames.is_some() && !endgames),
        ];
        match options.iter().find(|(_, is_idle)| *is_idle) {
            Some((option, _)) => Err(SolveError::Fault(format!("{option} has no effect on {game}"))),
            None => Ok(()),
        }
    }

    /// Creates the folder of the tables, and checks that this table can be written in it.
    ///
    /// # Errors
    /// It cannot.
    pub fn confirm_table(&self, path: &Path) -> Result<(), SolveError> {
        std::fs::create_dir_all(self.tables).map_err(SolveError::file(self.tables))?;
        confirm_writable(path).map_err(SolveError::file(path))
    }

    /// Limits of a search.
    #[must_use]
    pub fn limits(&self) -> SolveLimits {
        SolveLimits { nodes: self.nodes.unwrap_or(u64::MAX), time: self.time, threads: self.threads }
    }
}

/// The program that a game is solved in: where results and notes are printed, and who may stop the solver.
pub trait SolveHost {
    /// Prints a line of the result.
    fn answer(&self, line: &str);

    /// Prints a note on progress: nodes, time.
    fn note(&self, line: &str);

    /// Progress output of a solver. From now on, a request to stop is passed on to the solver and no longer ends the
    /// program, so this is called at most once.
    ///
    /// # Errors
    /// Requests to stop cannot be received.
    fn progress(&self) -> Result<Box<dyn Progress + '_>, SolveError>;
}

/// Reason why a game cannot be solved.
#[derive(Debug, Error)]
pub enum SolveError {
    /// The options do not fit the game, or it has no solution within the limits.
    #[error("{0}")]
    Fault(String),
    /// A table is missing or damaged.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A file or folder of the tables cannot be written.
    #[error("{}: {fault}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The fault.
        fault: io::Error,
    },
}

impl SolveError {
    /// A [`SolveError::Fault`].
    pub fn fault(text: impl Into<String>) -> Self {
        Self::Fault(text.into())
    }

    /// A search gave up.
    pub(crate) fn unsolved() -> Self {
        Self::fault("not solved within --nodes and --time")
    }

    /// Wraps an I/O error of `path` as [`SolveError::File`].
    pub fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |fault| Self::File { path, fault }
    }
}

/// `--tables-only` for a game without tables: says so, and there is nothing to do.
pub fn no_tables(name: &str, host: &dyn SolveHost) -> bool {
    host.note(&format!("{name} has no tables to build"));
    true
}

/// Runs a search for a value and notes its work. The search returns what it found, and its number of nodes.
///
/// # Errors
/// It gave up at a limit.
pub fn searched<T>(host: &dyn SolveHost, search: impl FnOnce() -> (Option<T>, u64)) -> Result<T, SolveError> {
    let clock = Clock::default();
    let started = clock.now();
    let (found, nodes) = search();
    host.note(&format!("{nodes} nodes in {}", duration(clock.now().saturating_sub(started))));
    found.ok_or_else(SolveError::unsolved)
}

/// The result of the start as text.
#[must_use]
pub fn start_text(value: i8) -> &'static str {
    match value {
        1 => "the start is won for player 1",
        0 => "the start is a draw",
        _ => "the start is won for player 2",
    }
}

/// The result of a position as text: `value` above 0 is won for player 1.
#[must_use]
pub fn result_text(value: i32) -> &'static str {
    match value {
        0 => "a draw",
        1.. => "won for player 1",
        _ => "won for player 2",
    }
}
