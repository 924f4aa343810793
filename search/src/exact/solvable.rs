//! Where each game's exact truth comes from.

use std::path::Path;

use turnstone_env::Game;
use turnstone_env::games::{Konane, Mancala, Morabaraba, Morris, MuTorere};

use super::endless::Endless;
use super::morris::MorrisTable;
use super::table_file::TableError;
use super::truth::Truth;

/// A game that may have an exact truth: computed on the spot, or from a table that `turnstone solve` has written.
pub trait Solvable: Game {
    /// The truth of this game, with tables in the folder `tables`; `None` if there is none for its parameters.
    ///
    /// # Errors
    /// A table is missing or damaged; the message says to build it.
    fn truth(&self, _tables: &Path) -> Result<Option<Box<dyn Truth<Self>>>, TableError> {
        Ok(None)
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

impl Solvable for Mancala {}
impl Solvable for Konane {}
impl Solvable for Morabaraba {}
