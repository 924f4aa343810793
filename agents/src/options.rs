//! Parser of the options of an agent spec: a file and `key=value` pairs after the colon.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use turnstone_base::times::parse_time;
use turnstone_env::nearest;

/// Options of a spec. Each is taken once; those left over at the end are unknown.
pub(crate) struct Options {
    /// First option if it is not `key=value`, for agents that accept a file.
    pub(crate) file: Option<PathBuf>,
    pairs: Vec<(String, String)>,
    known: Vec<&'static str>,
}

impl Options {
    pub(crate) fn parse(text: &str, with_file: bool) -> Result<Self, String> {
        let mut options = Self { file: None, pairs: Vec::new(), known: Vec::new() };
        for (i, part) in parts(text)?.into_iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            match part.split_once('=') {
                _ if i == 0 && with_file => options.file = Some(unquoted(part).into()),
                Some((key, value)) => options.pairs.push((key.to_owned(), unquoted(value).to_owned())),
                None => return Err(format!("`{part}` is not `key=value`")),
            }
        }
        Ok(options)
    }

    pub(crate) fn take(&mut self, key: &'static str) -> Option<String> {
        self.known.push(key);
        let found = self.pairs.iter().position(|(k, _)| k == key)?;
        Some(self.pairs.remove(found).1)
    }

    /// Takes a number within a range, if present.
    pub(crate) fn number(&mut self, key: &'static str, range: RangeInclusive<u32>) -> Result<Option<u32>, String> {
        self.take(key).map(|value| within(key, &value, range)).transpose()
    }

    /// Takes a time, as [`parse_time`] reads it, if present.
    pub(crate) fn time(&mut self, key: &'static str) -> Result<Option<Duration>, String> {
        self.take(key).map(|value| parse_time(key, &value)).transpose()
    }

    /// Checks that no option is left over.
    pub(crate) fn finish(&self) -> Result<(), String> {
        let Some((key, _)) = self.pairs.first() else { return Ok(()) };
        Err(match nearest(key, self.known.iter().copied()) {
            Some(near) => format!("unknown option `{key}` (did you mean `{near}`?)"),
            None if self.known.is_empty() => format!("unknown option `{key}`; it has none"),
            None => format!("unknown option `{key}`; known are {}", self.known.join(", ")),
        })
    }
}

/// Parses a number within a range; `what` names it in an error.
pub(crate) fn within(what: &str, text: &str, range: RangeInclusive<u32>) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("{what} must be a number from {} to {}, not `{text}`", range.start(), range.end()))
}

/// The parts between the commas of a spec. A comma between double quotes separates nothing.
fn parts(text: &str) -> Result<Vec<&str>, String> {
    let mut is_quoted = false;
    let parts = text.split(|letter| {
        is_quoted ^= letter == '"';
        letter == ',' && !is_quoted
    });
    let parts = parts.collect();
    if is_quoted { Err("a quote has no end".to_owned()) } else { Ok(parts) }
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// A path as an agent spec names it: between double quotes if it contains a character that a spec is split at.
#[must_use]
pub fn path_in_spec(path: &Path) -> String {
    let path = path.display().to_string();
    if path.contains([',', '=']) { format!("\"{path}\"") } else { path }
}
