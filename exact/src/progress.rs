//! What a solver tells of its progress, and how it is asked to stop.

/// Hears how far a solver is. Solvers work in layers; a layer that has ended is kept, one that is stopped is not.
pub trait Progress: Sync {
    /// A layer of so many entries begins.
    fn begin(&self, layer: &str, entries: u64);

    /// More entries of the layer are done; called from several threads.
    fn advance(&self, entries: u64);

    /// The layer is done, with a few words about it.
    fn end(&self, layer: &str, summary: &str);

    /// Whether the solver shall stop as soon as it can.
    fn stopped(&self) -> bool;
}

/// Tells nobody and never stops.
#[derive(Clone, Copy, Default, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &str, _: u64) {}

    fn advance(&self, _: u64) {}

    fn end(&self, _: &str, _: &str) {}

    fn stopped(&self) -> bool {
        false
    }
}
