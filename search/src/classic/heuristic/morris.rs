//! Evaluations of Morris.

use turnstone_env::games::Morris;

use super::{Classical, Heuristic, WinLoss};

impl Classical for Morris {
    fn heuristics() -> Vec<Box<dyn Heuristic<Self>>> {
        vec![Box::new(WinLoss)]
    }
}
