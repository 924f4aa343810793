//! Connect Four for Turnstone: rules, a heuristic and an exact solver.

mod game;
mod heuristic;
mod solver;

pub use game::{ConnectFour, State};
pub use heuristic::OpenLines;
pub use solver::{SolvedValues, Solver};

#[cfg(any(feature = "program", feature = "page"))]
impl turnstone_agents::Playable for ConnectFour {
    fn files() -> turnstone_agents::GameFiles {
        turnstone_agents::GameFiles { ladder: Some(include_str!("../ladder.toml")), ..Default::default() }
    }
}

#[cfg(feature = "page")]
turnstone_web::add_games!(ConnectFour);
