//! Settings of self-play and its search, as in a run's config.

mod search;
mod self_play;

pub use search::SearchConfig;
pub use self_play::SelfPlayConfig;
