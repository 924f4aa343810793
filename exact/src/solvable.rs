//! The source of each game's exact values.

use std::path::Path;

use turnstone_env::Game;
use turnstone_env::games::{Konane, Mancala, Morabaraba, Morris, MuTorere};

use crate::konane::{KonaneSolver, KonaneValues};
use crate::limits::{SolveLimits, cores};
use crate::mancala::{MancalaEndgames, MancalaSolver, MancalaValues};
use crate::morabaraba::MorabarabaEndgames;
use crate::morris::MorrisTable;
use crate::mu_torere::MuTorereValues;
use crate::table_file::TableError;
use crate::values::ExactValues;

/// A game that may have exact values: computed on demand, or from a table that `turnstone solve` has written.
pub trait Solvable: Game {
    /// Exact values of this game, with table files in the folder `tables`. `None` if there are none for its parameters.
    ///
    /// # Errors
    /// A table is missing or damaged; the message names the command that builds it.
    fn exact_values(&self, _tables: &Path) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        Ok(None)
    }

    /// Exact values for play and for the adjudication of decided games. Searches are short, so fewer positions are
    /// covered, and whether one is covered does not depend on earlier queries. A query takes milliseconds, except in
    /// Konane up to 6x6, which is covered completely: there the first queries take up to half a minute.
    ///
    /// # Errors
    /// As [`Solvable::exact_values`].
    fn quick_exact_values(&self, tables: &Path) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        self.exact_values(tables)
    }

    /// Exact values for a player that searches as long as the limits allow, without limits as long as the game's solver
    /// takes to cover a position, or gives up after some seconds. A limit of nodes makes the answers of two calls equal,
    /// and the number of threads is ignored then.
    ///
    /// # Errors
    /// As [`Solvable::exact_values`].
    fn patient_exact_values(
        &self,
        tables: &Path,
        _limits: &SolveLimits,
    ) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        self.quick_exact_values(tables)
    }
}

impl Solvable for MuTorere {
    fn exact_values(&self, _: &Path) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        Ok(Some(Box::new(MuTorereValues::new(self).expect("0 switches the limit off"))))
    }
}

impl Solvable for Morris {
    fn exact_values(&self, tables: &Path) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        let table = MorrisTable::open(self, &tables.join(MorrisTable::file_name(self)))?;
        table.verify()?;
        Ok(Some(Box::new(table)))
    }
}

/// Maximum number of nodes per position: some seconds.
const MOST_NODES: u64 = 10_000_000;
/// Entries of the transposition table: about 100 MB.
const ENTRIES: usize = 1 << 22;
/// Maximum number of nodes per position, and entries of the transposition table, of [`Solvable::quick_exact_values`].
const QUICK_NODES: u64 = 10_000;
const QUICK_ENTRIES: usize = 1 << 12;

impl Solvable for Mancala {
    fn exact_values(&self, tables: &Path) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        let endgames = MancalaEndgames::open(self, &tables.join(MancalaEndgames::file_name(self)))?;
        let solver = MancalaSolver::new(self, Some(endgames), ENTRIES);
        Ok(Some(Box::new(MancalaValues::new(solver, SolveLimits::NONE.with_threads(cores())))))
    }

    fn quick_exact_values(&self, tables: &Path) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        let endgames = MancalaEndgames::open(self, &tables.join(MancalaEndgames::file_name(self)))?;
        let solver = MancalaSolver::new(self, Some(endgames), QUICK_ENTRIES);
        Ok(Some(Box::new(MancalaValues::forgetting(solver, SolveLimits::nodes(QUICK_NODES)))))
    }

    fn patient_exact_values(
        &self,
        tables: &Path,
        limits: &SolveLimits,
    ) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        let endgames = MancalaEndgames::open(self, &tables.join(MancalaEndgames::file_name(self)))?;
        if limits.nodes == 0 {
            // Nothing is searched, and nothing remembered.
            return Ok(Some(Box::new(MancalaValues::new(MancalaSolver::new(self, Some(endgames), 2), *limits))));
        }
        let solver = MancalaSolver::new(self, Some(endgames), ENTRIES);
        Ok(Some(Box::new(if limits.nodes < u64::MAX {
            MancalaValues::forgetting(solver, limits.with_threads(1))
        } else {
            MancalaValues::new(solver, *limits)
        })))
    }
}

/// Maximum number of nodes per position for a player of Konane by default, about a second, and entries of the table.
const PLAYED_NODES: u64 = 500_000;
const PLAYED_ENTRIES: usize = 1 << 18;

/// The largest board of Konane that is covered completely, within half a minute.
const WHOLE_KONANE: usize = 6;

impl Solvable for Konane {
    fn exact_values(&self, _: &Path) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        let nodes = if self.size() <= WHOLE_KONANE { u64::MAX } else { MOST_NODES };
        let (covered, limits) =
            (self.size() <= KonaneSolver::MAX_SIZE, SolveLimits::nodes(nodes).with_threads(cores()));
        Ok(covered
            .then(|| Box::new(KonaneValues::new(KonaneSolver::new(ENTRIES), limits)) as Box<dyn ExactValues<Self>>))
    }

    fn quick_exact_values(&self, tables: &Path) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        if !(WHOLE_KONANE + 1..=KonaneSolver::MAX_SIZE).contains(&self.size()) {
            return self.exact_values(tables);
        }
        let solver = KonaneSolver::new(QUICK_ENTRIES);
        Ok(Some(Box::new(KonaneValues::forgetting(solver, SolveLimits::nodes(QUICK_NODES)))))
    }

    fn patient_exact_values(
        &self,
        tables: &Path,
        limits: &SolveLimits,
    ) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        if !(WHOLE_KONANE + 1..=KonaneSolver::MAX_SIZE).contains(&self.size()) {
            return self.exact_values(tables);
        }
        if limits.nodes == 0 {
            return Ok(Some(Box::new(KonaneValues::new(KonaneSolver::new(2), *limits))));
        }
        // Without a limit the opening would be searched for ever.
        let unlimited = limits.nodes == u64::MAX && limits.time.is_none();
        let limits = if unlimited { SolveLimits::nodes(PLAYED_NODES) } else { *limits };
        Ok(Some(Box::new(if limits.nodes < u64::MAX {
            KonaneValues::forgetting(KonaneSolver::new(PLAYED_ENTRIES), limits.with_threads(1))
        } else {
            KonaneValues::new(KonaneSolver::new(ENTRIES), limits)
        })))
    }
}

impl Solvable for Morabaraba {
    fn exact_values(&self, tables: &Path) -> Result<Option<Box<dyn ExactValues<Self>>>, TableError> {
        let endgames = MorabarabaEndgames::open(self, tables)?;
        Ok(Some(Box::new(endgames)))
    }
}
