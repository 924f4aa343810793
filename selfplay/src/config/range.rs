//! Range checks of values, and the number of cores.

/// Resolves a number of threads, where 0 means one per core.
#[must_use]
pub fn or_all_cores(threads: usize) -> usize {
    if threads == 0 { cores() } else { threads }
}

/// Number of cores available to this program; 1 if it cannot be determined.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

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
