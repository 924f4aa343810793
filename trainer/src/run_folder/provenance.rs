//! Which program trained in a run folder, with which config, and from which iteration on.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use turnstone_models::{atomic_write, program};

use super::RunFolder;

/// A line of `provenance.jsonl`: what trained from an iteration on, up to that of the next line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Provenance {
    /// Iterations that were finished before.
    pub iteration: u64,
    /// Name, version and commit of the program.
    pub program: String,
    /// CRC-32 of the run's `config.toml`, as eight hexadecimal digits.
    pub config: String,
}

impl RunFolder {
    /// Path of the run's provenance, one JSON object per line.
    #[must_use]
    pub fn provenance(&self) -> PathBuf {
        self.path().join("provenance.jsonl")
    }

    /// CRC-32 of the run's `config.toml`, as eight hexadecimal digits.
    ///
    /// # Errors
    /// The config cannot be read.
    pub fn config_checksum(&self) -> Result<String> {
        let config = self.config();
        let text = fs::read(&config).with_context(|| config.display().to_string())?;
        Ok(format!("{:08x}", crc32fast::hash(&text)))
    }

    /// Adds a line if the program or the config differs from the last one's, which is then returned.
    ///
    /// # Errors
    /// The file or the config cannot be read, or the file cannot be written.
    pub fn record_provenance(&self, iteration: u64) -> Result<Option<Provenance>> {
        let path = self.provenance();
        let text =
            if path.exists() { fs::read(&path).with_context(|| path.display().to_string())? } else { Vec::new() };
        let now = Provenance { iteration, program: program().to_owned(), config: self.config_checksum()? };
        let lines = || text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let last = lines().next_back().and_then(|line| serde_json::from_slice::<Provenance>(line).ok());
        if last.as_ref().is_some_and(|last| (&last.program, &last.config) == (&now.program, &now.config)) {
            return Ok(None);
        }
        let now = serde_json::to_vec(&now)?;
        let lines: Vec<u8> = lines().chain([now.as_slice()]).flat_map(|line| [line, b"\n"].concat()).collect();
        atomic_write(&path, &lines).with_context(|| format!("writing {}", path.display()))?;
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_added_for_each_other_program_or_config() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = RunFolder::create(&place.path().join("run"), "seed = 1\n", false).expect("created");
        let lines = || -> Vec<Provenance> {
            let text = fs::read_to_string(folder.provenance()).expect("readable");
            text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect()
        };
        assert_eq!(folder.record_provenance(0).expect("written"), None);
        let first = Provenance { iteration: 0, program: program().to_owned(), config: "2082cc5b".to_owned() };
        assert_eq!(lines(), std::slice::from_ref(&first));
        assert_eq!(folder.record_provenance(5).expect("unchanged"), None);
        assert_eq!(lines().len(), 1);
        fs::write(folder.config(), "seed = 2\n").expect("writable");
        assert_eq!(folder.record_provenance(7).expect("written"), Some(first.clone()));
        assert_eq!((lines().len(), lines()[1].iteration), (2, 7));
        let older = r#"{"iteration": 8, "program": "turnstone 0.0.9", "config": "2082cc5b"}"#;
        let config = "seed = 1\n";
        fs::write(folder.config(), config).expect("writable");
        fs::write(folder.provenance(), older).expect("writable");
        let last = folder.record_provenance(9).expect("written").expect("another program");
        assert_eq!((last.iteration, last.program.as_str()), (8, "turnstone 0.0.9"));
        assert_eq!(lines(), [last, Provenance { iteration: 9, ..first }]);
    }
}
