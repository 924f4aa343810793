//! The source of each game's exact values.

use std::path::Path;

use turnstone_env::Game;
use turnstone_env::games::{Konane, Mancala, Morabaraba, Morris, MuTorere};

use crate::endless::Endless;
use crate::konane::{KonaneSolver, KonaneTruth};
use crate::mancala::{MancalaEndgames, MancalaSolver, MancalaTruth};
use crate::morabaraba::MorabarabaEndgames;
use crate::morris::MorrisTable;
use crate::table_file::TableError;
use crate::truth::Truth;

/// A game that may have exact values: computed on demand, or from a table that `turnstone solve` has written.
pub trait Solvable: Game {
    /// Exact values of this game, with table files in the folder `tables`. `None` if there are none for its parameters.
    ///
    /// # Errors
    /// A table is missing or damaged; the message names the command that builds it.
    fn truth(&self, _tables: &Path) -> Result<Option<Box<dyn Truth<Self>>>, TableError> {
        Ok(None)
    }

    /// Exact values for play and for the adjudication of decided games. Searches are short, so fewer positions are
    /// covered, and whether one is covered does not depend on earlier queries. A query takes milliseconds, except in
    /// Konane up to 6x6, which is covered completely: there the first queries take up to half a minute.
    ///
    /// # Errors
    /// As [`Solvable::truth`].
    fn quick_truth(&self, tables: &Path) -> Result<Option<Box<dyn Truth<Self>>>, TableError> {
        self.truth(tables)
    }
}

impl Solvable for MuTorere {
    fn truth(&self, _: &Path) -> Result<Option<Box<dyn Truth<Self>>>, TableError> {
        let endless = Endless::of(self, 10_000).expect("0 switches the limit off");
        Ok(endless.map(|truth| Box::new(truth) as Box<dyn Truth<Self>>))
    }
}

impl Solvable for Morris {
    fn truth(&self, tables: &Path) -> Result<Option<Box<dyn Truth<Self>>>, TableError> {
        let table = MorrisTable::open(self, &tables.join(MorrisTable::file_name(self)))?;
        table.verify()?;
        Ok(Some(Box::new(table)))
    }
}

/// Maximum number of nodes per position: some seconds.
const MOST_NODES: u64 = 10_000_000;
/// Entries of the transposition table: about 100 MB.
const ENTRIES: usize = 1 << 22;
/// Maximum number of nodes per position, and entries of the transposition table, of [`Solvable::quick_truth`].
const QUICK_NODES: u64 = 10_000;
const QUICK_ENTRIES: usize = 1 << 12;

impl Solvable for Mancala {
    fn truth(&self, tables: &Path) -> Result<Option<Box<dyn Truth<Self>>>, TableError> {
        let endgames = MancalaEndgames::open(self, &tables.join(MancalaEndgames::file_name(self)))?;
        let solver = MancalaSolver::new(self, Some(endgames), ENTRIES);
        Ok(Some(Box::new(MancalaTruth::new(solver, MOST_NODES))))
    }

    fn quick_truth(&self, tables: &Path) -> Result<Option<Box<dyn Truth<Self>>>, TableError> {
        let endgames = MancalaEndgames::open(self, &tables.join(MancalaEndgames::file_name(self)))?;
        let solver = MancalaSolver::new(self, Some(endgames), QUICK_ENTRIES);
        Ok(Some(Box::new(MancalaTruth::forgetting(solver, QUICK_NODES))))
    }
}

/// The largest board of Konane that is covered completely, within half a minute.
const WHOLE_KONANE: usize = 6;

impl Solvable for Konane {
    fn truth(&self, _: &Path) -> Result<Option<Box<dyn Truth<Self>>>, TableError> {
        let nodes = if self.size() <= WHOLE_KONANE { u64::MAX } else { MOST_NODES };
        let covered = self.size() <= KonaneSolver::MAX_SIZE;
        Ok(covered.then(|| Box::new(KonaneTruth::new(KonaneSolver::new(ENTRIES), nodes)) as Box<dyn Truth<Self>>))
    }

    fn quick_truth(&self, tables: &Path) -> Result<Option<Box<dyn Truth<Self>>>, TableError> {
        if !(WHOLE_KONANE + 1..=KonaneSolver::MAX_SIZE).contains(&self.size()) {
            return self.truth(tables);
        }
        let solver = KonaneSolver::new(QUICK_ENTRIES);
        Ok(Some(Box::new(KonaneTruth::forgetting(solver, QUICK_NODES))))
    }
}

impl Solvable for Morabaraba {
    fn truth(&self, tables: &Path) -> Result<Option<Box<dyn Truth<Self>>>, TableError> {
        let endgames = MorabarabaEndgames::open(&tables.join(MorabarabaEndgames::file_name()))?;
        Ok(Some(Box::new(endgames)))
    }
}
