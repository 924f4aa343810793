//! Progress reports of solvers, and requests to stop them.

/// Receives a solver's progress. Solvers work in layers: finished layers are kept, a layer that is stopped is not.
pub trait Progress: Sync {
    /// A layer of `entries` entries begins.
    fn begin(&self, layer: &str, entries: u64);

    /// Another `entries` entries of the layer are done. Called from several threads.
    fn advance(&self, entries: u64);

    /// The layer is done; `summary` describes the result.
    fn end(&self, layer: &str, summary: &str);

    /// Whether the solver is to stop as soon as it can.
    fn stopped(&self) -> bool;
}

/// Ignores all progress and never stops the solver.
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
