//! Values from the command line that replace the file's: `--set search.simulations=200`.

use std::num::IntErrorKind;
use std::str::FromStr;

/// A key of the configuration and its new value.
#[derive(Clone, PartialEq, Debug)]
pub struct Override {
    section: Option<String>,
    key: String,
    value: toml::Value,
}

impl FromStr for Override {
    type Err = String;

    /// Parses `section.key=value` or `seed=value`. A value that is not valid TOML is taken as a string, unless it is an
    /// integer beyond those of TOML.
    fn from_str(text: &str) -> Result<Self, String> {
        let (path, value) = text.split_once('=').ok_or("expected section.key=value")?;
        let (section, key) = match path.trim().split_once('.') {
            Some((section, key)) => (Some(section.to_owned()), key),
            None => (None, path.trim()),
        };
        let as_toml =
            format!("value = {value}").parse::<toml::Table>().ok().and_then(|mut table| table.remove("value"));
        if as_toml.is_none() && is_beyond_integers(value.trim()) {
            let value = value.trim();
            return Err(format!("{value} is beyond the integers of a config, from {} to {}", i64::MIN, i64::MAX));
        }
        let value = as_toml.unwrap_or_else(|| toml::Value::String(value.trim().to_owned()));
        Ok(Self { section, key: key.to_owned(), value })
    }
}

fn is_beyond_integers(text: &str) -> bool {
    let fault = text.parse::<i64>().map_err(|error| *error.kind());
    matches!(fault, Err(IntErrorKind::PosOverflow | IntErrorKind::NegOverflow))
}

impl Override {
    /// The name of the key, `section.key` or `seed`.
    #[must_use]
    pub fn name(&self) -> String {
        self.section.iter().chain([&self.key]).map(String::as_str).collect::<Vec<_>>().join(".")
    }

    /// Whether this is the key.
    pub(super) fn sets(&self, section: &str, key: &str) -> bool {
        self.section.as_deref() == Some(section) && self.key == key
    }

    /// Sets the value in the table of a configuration.
    pub(super) fn apply(&self, table: &mut toml::Table) -> Result<(), String> {
        let target = match &self.section {
            None => table,
            Some(section) => {
                let entry = table.entry(section.clone()).or_insert_with(|| toml::Value::Table(toml::Table::new()));
                entry.as_table_mut().ok_or_else(|| format!("`{section}` is not a section"))?
            }
        };
        target.insert(self.key.clone(), self.value.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// A value of the command line has no line.
    #[test]
    fn faults_of_replaced_values_name_the_key() {
        let games = turnstone_env::games::built_in();
        let config = Config::parse("[game]\nname = \"mancala\"", &games).expect("valid");
        let fault = |text: &str| match text.parse::<Override>() {
            Ok(change) => config.with(&[change], &games).expect_err("a fault"),
            Err(fault) => fault,
        };
        assert_eq!(fault("learn.batch=-5"), "learn.batch is -5, but must be a whole number from 1 to 65536");
        assert_eq!(fault("seed=abc"), "seed is \"abc\", but must be a whole number from 0");
        assert_eq!(fault("seed=-1"), "seed is -1, but must be a whole number from 0");
        assert_eq!(
            fault("seed=9223372036854775808"),
            "9223372036854775808 is beyond the integers of a config, from -9223372036854775808 to 9223372036854775807"
        );
        assert!(fault("arena.opponents=[\"alphabeta:dept=3\"]").starts_with("arena.opponents: "));
        assert!(fault("learn=3").starts_with("learn"), "{}", fault("learn=3"));
        assert_eq!(Config::keys_named("iterations"), ["run.iterations"]);
        assert_eq!(Config::keys_named("seed"), ["seed"]);
        assert_eq!(Config::keys_named("threads"), ["learn.threads", "self_play.threads"]);
    }
}
