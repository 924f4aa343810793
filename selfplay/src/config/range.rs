//! Checks of values, and the number of cores.

/// A number of threads, where 0 stands for one per core.
#[must_use]
pub fn or_all_cores(threads: usize) -> usize {
    if threads == 0 { cores() } else { threads }
}

/// Cores that this program may use.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Checks that the value of `key` is from `least` to `most`.
///
/// # Errors
/// One line that names the key, its value and the range.
pub fn within<T: PartialOrd + std::fmt::Display + Copy>(key: &str, value: T, least: T, most: T) -> Result<(), String> {
    if least <= value && value <= most {
        return Ok(());
    }
    Err(format!("{key} is {value}, but must be from {least} to {most}"))
}
