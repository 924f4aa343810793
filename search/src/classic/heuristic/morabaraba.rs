//! Evaluations of Morabaraba.

use turnstone_env::games::Morabaraba;

use super::{Classical, Heuristic, WinLoss};

impl Classical for Morabaraba {
    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>> {
        vec![Box::new(WinLoss)]
    }
}
