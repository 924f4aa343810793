//! Parser of the options of an agent spec: a file and `key=value` pairs after the colon.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use turnstone_base::times::parse_time;
use turnstone_env::nearest;

/// Options of a spec. Each is taken once, with what it may be and what it does in a few words, from which help and errors
/// follow; those left over at the end are unknown.
#[derive(Debug)]
pub struct Options {
    /// The first part if it is not `key=value`, for agents whose [form](crate::Form) has one.
    pub file: Option<PathBuf>,
    /// The command line, for agents whose form has one.
    pub command: String,
    pairs: Vec<(String, String)>,
    known: Vec<OptionInfo>,
}

/// An option of an agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// What it may be: `1 to 128`, `puct or gumbel`.
    pub values: String,
    /// What it does, in a line.
    pub help: &'static str,
}

impl Options {
    /// The options of a text: a file where there may be one, and `key=value` pairs, with commas between them.
    pub(crate) fn parse(text: &str, with_file: bool) -> Result<Self, String> {
        let mut options = Self::describing();
        for (i, part) in parts(text)?.into_iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            match part.split_once('=') {
                _ if i == 0 && with_file => options.file = Some(unquoted(part).into()),
                Some((key, value)) => options.pairs.push((key.to_owned(), unquoted(value).to_owned())),
                None => return Err(format!("`{part}` is not `key=value`")),
            }
        }
        Ok(options)
    }

    /// No options, to find out which ones are asked for.
    pub(crate) fn describing() -> Self {
        Self { file: None, command: String::new(), pairs: Vec::new(), known: Vec::new() }
    }

    /// The options that were asked for.
    pub(crate) fn into_infos(self) -> Vec<OptionInfo> {
        self.known
    }

    /// The options as they were given, in this order.
    pub(crate) fn given(&self) -> String {
        let file = self.file.as_deref().map(path_in_spec);
        let pairs = self.pairs.iter().map(|(key, value)| format!("{key}={}", quoted(value)));
        file.into_iter().chain(pairs).collect::<Vec<_>>().join(",")
    }

    /// Takes a text, if present.
    pub fn take(&mut self, name: &'static str, values: impl Into<String>, help: &'static str) -> Option<String> {
        self.known.push(OptionInfo { name, values: values.into(), help });
        let found = self.pairs.iter().position(|(k, _)| k == name)?;
        Some(self.pairs.remove(found).1)
    }

    /// Takes a whole number within a range, if present.
    ///
    /// # Errors
    /// It is no such number.
    pub fn number(
        &mut self,
        name: &'static str,
        range: RangeInclusive<u32>,
        help: &'static str,
    ) -> Result<Option<u32>, String> {
        let values = format!("{} to {}", range.start(), range.end());
        self.take(name, values, help).map(|value| within(name, &value, range)).transpose()
    }

    /// Takes a time, as [`parse_time`] reads it, if present.
    ///
    /// # Errors
    /// It is no time.
    pub fn time(&mut self, name: &'static str, help: &'static str) -> Result<Option<Duration>, String> {
        self.take(name, "a time such as 500ms or 2s", help).map(|value| parse_time(name, &value)).transpose()
    }

    /// Checks that no option is left over.
    pub(crate) fn finish(&self) -> Result<(), String> {
        let Some((key, _)) = self.pairs.first() else { return Ok(()) };
        let known: Vec<&str> = self.known.iter().map(|option| option.name).collect();
        Err(match nearest(key, known.iter().copied()) {
            Some(near) => format!("unknown option `{key}` (did you mean `{near}`?)"),
            None if known.is_empty() => format!("unknown option `{key}`; it has none"),
            None => format!("unknown option `{key}`; known are {}", known.join(", ")),
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
    quoted(&path.display().to_string())
}

fn quoted(text: &str) -> String {
    if text.contains([',', '=']) { format!("\"{text}\"") } else { text.to_owned() }
}
