//! Journal of a tournament: finished games on disk, from which an interrupted tournament is resumed with the same
//! result.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail, ensure};
use turnstone_models::{FolderLock, LOCK_FILE, atomic_write};

use super::record::{GameRecord, Header};

/// Name of the file: a header, then one line per finished game, in the order in which they ended.
const NAME: &str = "games.jsonl";

/// Journal of a tournament in progress. A game is recorded once its line is complete.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    _lock: FolderLock,
}

impl Journal {
    /// Creates a journal in a folder that is new or empty.
    ///
    /// # Errors
    /// The folder is not empty, or cannot be written.
    pub fn create(folder: &Path, header: &Header) -> Result<Self> {
        let named = || format!("folder {}", folder.display());
        fs::create_dir_all(folder).with_context(named)?;
        if fs::read_dir(folder).with_context(named)?.next().is_some() {
            bail!("{} exists already: give --resume to continue it, or name another", named());
        }
        let lock = FolderLock::take(folder)?;
        Self::begin(folder, header, lock)
    }

    /// Opens the journal in a folder and returns the games in it, or begins one if the tournament was interrupted
    /// before the first line. An incomplete last line is removed.
    ///
    /// # Errors
    /// The folder holds no journal, or one that is damaged or of another tournament.
    pub fn resume(folder: &Path, header: &Header) -> Result<(Self, Vec<GameRecord>)> {
        let path = folder.join(NAME);
        ensure!(folder.is_dir(), "folder {} does not exist, so there is nothing to resume", folder.display());
        let lock = FolderLock::take(folder)?;
        if !path.exists() {
            ensure!(is_unbegun(folder)?, "folder {} holds no tournament", folder.display());
            return Ok((Self::begin(folder, header, lock)?, Vec::new()));
        }
        let text = fs::read(&path).with_context(|| path.display().to_string())?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let text = std::str::from_utf8(&text[..whole]).with_context(|| path.display().to_string())?;
        let mut lines = text.lines();
        let Some(first) = lines.next() else { return Ok((Self::begin(folder, header, lock)?, Vec::new())) };
        same(header, first).with_context(|| path.display().to_string())?;
        let game =
            |(number, line)| serde_json::from_str(line).with_context(|| format!("{}: line {number}", path.display()));
        let games = (2..).zip(lines).map(game).collect::<Result<Vec<GameRecord>>>()?;
        let mut file = File::options().write(true).open(&path).with_context(|| path.display().to_string())?;
        file.set_len(whole as u64)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .with_context(|| path.display().to_string())?;
        Ok((Self { path, file: Mutex::new(file), _lock: lock }, games))
    }

    fn begin(folder: &Path, header: &Header, lock: FolderLock) -> Result<Self> {
        let path = folder.join(NAME);
        atomic_write(&path, (serde_json::to_string(header)? + "\n").as_bytes())
            .with_context(|| format!("writing {}", path.display()))?;
        let file = File::options().append(true).open(&path).with_context(|| path.display().to_string())?;
        Ok(Self { path, file: Mutex::new(file), _lock: lock })
    }

    /// Appends a finished game.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&self, game: &GameRecord) -> Result<()> {
        let line = serde_json::to_string(game)? + "\n";
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let written = file.write_all(line.as_bytes()).and_then(|()| file.flush());
        written.with_context(|| format!("writing {}", self.path.display()))
    }
}

/// Whether the folder has no files but the lock and the temporary files of interrupted writes.
fn is_unbegun(folder: &Path) -> std::io::Result<bool> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
    let names = names.collect::<std::io::Result<Vec<_>>>()?;
    Ok(names.iter().all(|name| name == LOCK_FILE || name.to_string_lossy().starts_with('.')))
}

/// Checks that a journal's header is that of this tournament.
fn same(header: &Header, line: &str) -> Result<()> {
    let written: serde_json::Value = serde_json::from_str(line).context("line 1 is no header")?;
    let format = written.get("turnstone_arena").and_then(serde_json::Value::as_u64);
    ensure!(format == Some(u64::from(Header::FORMAT)), "it was written by another version of this program");
    let asked = serde_json::to_value(header)?;
    // A newer program may go on with a tournament.
    let differs = |&(key, value): &(&String, _)| key != "program" && written.get(key) != Some(value);
    let differs = asked.as_object().and_then(|asked| asked.iter().find(differs));
    if let Some((key, _)) = differs {
        bail!("it is of a tournament with other {key}; resume with the command that started it");
    }
    Ok(())
}
