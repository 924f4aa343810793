//! Values from the command line that replace the file's: `--set search.simulations=200`.

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

    /// Parses `section.key=value` or `seed=value`. A value that is not valid TOML is taken as a string.
    fn from_str(text: &str) -> Result<Self, String> {
        let (path, value) = text.split_once('=').ok_or("expected section.key=value")?;
        let (section, key) = match path.trim().split_once('.') {
            Some((section, key)) => (Some(section.to_owned()), key),
            None => (None, path.trim()),
        };
        let as_toml =
            format!("value = {value}").parse::<toml::Table>().ok().and_then(|mut table| table.remove("value"));
        let value = as_toml.unwrap_or_else(|| toml::Value::String(value.trim().to_owned()));
        Ok(Self { section, key: key.to_owned(), value })
    }
}

impl Override {
    /// Whether the key is `net.kind`.
    pub(super) fn is_network_kind(&self) -> bool {
        self.section.as_deref() == Some("net") && self.key == "kind"
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
