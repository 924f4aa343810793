//! Settings of self-play and its search, as in a run's config, and how a section of a config is declared.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// Checks that `value` is within a range; `key` names it in the error.
///
/// # Errors
/// One line that names the key, its value and the range.
pub fn within<T: PartialOrd + Display>(key: &str, value: &T, range: &RangeInclusive<T>) -> Result<(), String> {
    if range.contains(value) {
        return Ok(());
    }
    Err(format!("{key} is {value}, but must be from {} to {}", range.start(), range.end()))
}

/// Declares a section of a config: documentation, name, type, default and, for most numbers, range of each key.
#[macro_export]
macro_rules! section {
    (
        $(#[$about:meta])*
        pub struct $section:ident as $name:literal {
            $($(#[$of_key:meta])* pub $key:ident: $kind:ty = $default:expr $(, $range:expr)?;)+
        }
    ) => {
        $(#[$about])*
        pub struct $section {
            $($(#[$of_key])* pub $key: $kind,)+
        }

        impl Default for $section {
            fn default() -> Self {
                Self { $($key: $default,)+ }
            }
        }

        impl $section {
            /// Checks the numbers that have a range of their own.
            fn check_ranges(&self) -> Result<(), String> {
                $($($crate::config::within(concat!($name, ".", stringify!($key)), &self.$key, &$range)?;)?)+
                Ok(())
            }
        }
    };
}

mod search;
mod self_play;

pub use search::SearchConfig;
pub use self_play::SelfPlayConfig;
