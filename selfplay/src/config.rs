//! Settings of self-play and its search, as in a run's config.

mod search;
mod self_play;

pub use search::SearchConfig;
pub use self_play::SelfPlayConfig;

/// Checks that `value` is within `least..=most`; `key` names it in the error.
///
/// # Errors
/// One line that names the key, its value and the range.
pub fn within<T: PartialOrd + std::fmt::Display + Copy>(key: &str, value: T, least: T, most: T) -> Result<(), String> {
    if least <= value && value <= most {
        return Ok(());
    }
    Err(format!("{key} is {value}, but must be from {least} to {most}"))
}
