//! The provenance of a run: programs and configs that trained it, with their first iterations and initial network.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use turnstone_base::checksum::{crc32_text, seal_line, unseal_line};
use turnstone_base::files::read_text;

use turnstone_env::{DynGame, Games};

use super::RunFolder;
use crate::config::{Config, LONGEST_CONFIG};

/// Longest file that is read.
const LONGEST_PROVENANCE: u64 = 1 << 20;

/// A line of `provenance.jsonl`: what trained from an iteration on, up to that of the next line.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Provenance {
    /// Iterations that were finished before.
    pub iteration: u64,
    /// Name, version and commit of the program.
    pub program: String,
    /// CRC-32 of the run's `config.toml`, as eight hexadecimal digits.
    pub config: String,
    /// The devices of self-play and learning, as in `gpu and cpu`; empty if both are the processor.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub devices: String,
    /// CRC-32 of the network that the run began with, as `run.from`; empty if it was a random one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub from: String,
    /// The run that this one is a fork of, and the CRC-32 of its state then; empty if it is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub forked: String,
}

impl RunFolder {
    /// Path of the run's provenance, one JSON object per line.
    #[must_use]
    pub fn provenance(&self) -> PathBuf {
        self.path().join("provenance.jsonl")
    }

    /// Replaces the config of the run.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn replace_config(&self, text: &str) -> Result<()> {
        self.write(&self.config(), text.as_bytes())
    }

    /// Path of a config that the run was trained with, by the checksum under which its provenance names it.
    fn kept_config(&self, checksum: &str) -> PathBuf {
        self.path.join(format!("config-{checksum}.toml"))
    }

    /// The config that the run was last trained with; `None` if it was not trained, or the folder no longer has it.
    #[must_use]
    pub fn trained_config(&self) -> Option<Config> {
        let checksum = self.read_provenance().ok()?.pop()?.config;
        let text = read_text(&self.kept_config(&checksum), LONGEST_CONFIG).ok()?;
        Config::unchecked(&text).filter(|_| crc32_text(text.as_bytes()) == checksum)
    }

    /// Reads the config of a run to continue it.
    ///
    /// # Errors
    /// The errors of [`Config::read`], or a key was changed since the run was last trained that may not change.
    pub fn config_to_continue<T: DynGame + ?Sized>(&self, games: &Games<T>) -> Result<Config> {
        let config = Config::read(&self.config(), games)?;
        let Some(trained) = self.trained_config().filter(|trained| *trained != config) else { return Ok(config) };
        let checked = config.confirm_continues(&trained, self.finished());
        checked.map_err(anyhow::Error::msg).with_context(|| self.config().display().to_string())?;
        Ok(config)
    }

    /// Number of finished iterations; 0 if the state cannot be read, which restoring the run refuses.
    #[must_use]
    pub fn finished(&self) -> u64 {
        self.load_state().map_or(0, |(_, state)| state.iteration)
    }

    /// Path of the network that the run began with, if it was not a random one.
    #[must_use]
    pub fn initial(&self) -> PathBuf {
        self.path.join("start.safetensors")
    }

    /// Writes that network, as the bytes of its checkpoint.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_initial(&self, checkpoint: &[u8]) -> Result<()> {
        self.write(&self.initial(), checkpoint)
    }

    /// Reads which programs trained in the folder; a missing file counts as empty.
    ///
    /// # Errors
    /// The file cannot be read, or the first damaged line.
    pub fn read_provenance(&self) -> Result<Vec<Provenance>> {
        let path = self.provenance();
        let text = match read_text(&path, LONGEST_PROVENANCE) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = (1..).zip(whole.lines()).filter(|(_, line)| !line.is_empty());
        lines
            .map(|(number, line)| read(line.as_bytes()).with_context(|| format!("{}: line {number}", path.display())))
            .collect()
    }

    /// Adds a line if the program, the config or the devices differ from the last one's, and keeps a copy of the config as
    /// `config-<CRC-32>.toml`. `now` has no checksum of the config. Returns the last line and the one in force now, and a
    /// message for each damaged line.
    ///
    /// # Errors
    /// The file or the config cannot be read, or the file cannot be written.
    pub fn record_provenance(&self, now: Provenance) -> Result<(Option<Provenance>, Provenance, Vec<String>)> {
        let path = self.provenance();
        let text =
            if path.exists() { fs::read(&path).with_context(|| path.display().to_string())? } else { Vec::new() };
        let config = fs::read(self.config()).with_context(|| self.config().display().to_string())?;
        let checksum = crc32_text(&config);
        let kept = self.kept_config(&checksum);
        // Missing, or damaged.
        if fs::read(&kept).ok().as_ref() != Some(&config) {
            self.write(&kept, &config)?;
        }
        let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let (mut kept, mut last, mut damaged) = (Vec::new(), None, Vec::new());
        for (number, line) in (1..).zip(lines) {
            match read(line) {
                Ok(provenance) => {
                    kept.extend([line, b"\n"].concat());
                    last = Some(provenance);
                }
                Err(fault) => damaged.push(format!("{}: line {number}: {fault}", path.display())),
            }
        }
        let forked = last.as_ref().map(|last: &Provenance| last.forked.clone()).unwrap_or_default();
        let now = Provenance { config: checksum, forked, ..now };
        let is_same = |last: &Provenance| Provenance { iteration: now.iteration, ..last.clone() } == now;
        if !last.as_ref().is_some_and(is_same) {
            kept.extend((seal_line(&serde_json::to_string(&now)?) + "\n").into_bytes());
        }
        if kept != text {
            self.write(&path, &kept)?;
        }
        Ok((last, now, damaged))
    }
}

/// Parses a line.
fn read(line: &[u8]) -> Result<Provenance> {
    let line = std::str::from_utf8(line).context("it is not UTF-8")?;
    Ok(serde_json::from_str(&unseal_line(line)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_added_for_each_other_program_or_config() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = RunFolder::create(&place.path().join("run"), "seed = 1\n", false, |_| Ok(())).expect("created");
        let lines = || -> Vec<Provenance> {
            let text = fs::read_to_string(folder.provenance()).expect("readable");
            text.lines().map(|line| read(line.as_bytes()).expect("a line")).collect()
        };
        let by = |iteration, devices: &str| {
            let (program, devices) = ("turnstone 0.1.0".to_owned(), devices.to_owned());
            folder
                .record_provenance(Provenance { iteration, program, devices, ..Provenance::default() })
                .expect("written")
        };
        let record = |iteration| {
            let (last, _, damaged) = by(iteration, "");
            assert_eq!(damaged, [""; 0]);
            last
        };
        assert_eq!(record(0), None);
        let first = Provenance {
            iteration: 0,
            program: "turnstone 0.1.0".to_owned(),
            config: "2082cc5b".to_owned(),
            ..Provenance::default()
        };
        assert_eq!(lines(), std::slice::from_ref(&first));
        assert_eq!(record(5), Some(first.clone()));
        assert_eq!(lines().len(), 1);
        fs::write(folder.config(), "seed = 2\n").expect("writable");
        assert_eq!(record(7), Some(first.clone()));
        assert_eq!((lines().len(), lines()[1].iteration), (2, 7));
        let older = r#"{"iteration": 8, "program": "turnstone 0.0.9", "config": "2082cc5b"}"#;
        fs::write(folder.config(), "seed = 1\n").expect("writable");
        fs::write(folder.provenance(), seal_line(older) + "\n").expect("writable");
        let last = record(9).expect("another program");
        assert_eq!((last.iteration, last.program.as_str()), (8, "turnstone 0.0.9"));
        assert_eq!(lines(), [last, Provenance { iteration: 9, ..first }]);
        let changed = fs::read_to_string(folder.provenance()).expect("readable").replace(":9,", ":3,");
        fs::write(folder.provenance(), changed).expect("writable");
        let (_, _, damaged) = by(9, "");
        assert!(damaged.len() == 1 && damaged[0].contains("provenance.jsonl: line 2: its checksum"), "{damaged:?}");
        assert_eq!(lines().len(), 2);
        let (last, now, _) = by(9, "gpu and gpu");
        assert_eq!((last.expect("a line").devices, now.devices), (String::new(), "gpu and gpu".to_owned()));
        assert_eq!(lines().len(), 3);
        assert!(
            fs::read_to_string(folder.provenance())
                .expect("readable")
                .lines()
                .nth(1)
                .is_some_and(|l| !l.contains("dev"))
        );
    }
}
