//! Settings of self-play and its search, as in a run's config.

mod range;
mod search;
mod self_play;

pub use range::{cores, or_all_cores, within};
pub use search::SearchConfig;
pub use self_play::SelfPlayConfig;
