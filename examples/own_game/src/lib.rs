//! Connect Four for Turnstone: rules, a heuristic, an exact solver and a kind of network.

mod game;
mod heuristic;
mod solver;
#[cfg(feature = "program")]
mod network;

pub use game::{ConnectFour, State};
pub use heuristic::OpenLines;
#[cfg(feature = "program")]
pub use network::Overview;
pub use solver::{SolvedValues, Solver};

#[cfg(any(feature = "program", feature = "page"))]
impl turnstone_agents::Playable for ConnectFour {
    fn files() -> turnstone_agents::GameFiles {
        turnstone_agents::GameFiles { ladder: Some(include_str!("../ladder.toml")), ..Default::default() }
    }
}

#[cfg(feature = "page")]
turnstone_web::add_games!(ConnectFour);
