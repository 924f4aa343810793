//! Journal of a tournament: finished games on disk, from which an interrupted tournament is resumed with the same
//! result.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail, ensure};
use turnstone_base::checksum::{seal_line, unseal_line};
use turnstone_base::files::{atomic_write, confirm_writable, read_bounded, remove_unfinished};
use turnstone_base::folder_lock::{FolderLock, LOCK_FILE};

use super::record::{GameRecord, TournamentHeader};

/// Name of the file: a header, then one line per finished game. While they are played, they are in the order in which they
/// end, and after the end in that of the schedule.
const NAME: &str = "games.jsonl";

/// Maximum length of the file to read, far above that of any tournament.
const LONGEST: u64 = 1 << 30;

/// Journal of a tournament in progress. A game is recorded once its line is complete. Every line ends in a checksum.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// The file, once a game has been added. Windows replaces no file that is open.
    file: Mutex<Option<File>>,
    /// The first line.
    header: String,
    _lock: FolderLock,
}

impl Journal {
    /// Opens the journal in a folder, and returns the games in it if they are to be resumed.
    ///
    /// # Errors
    /// The errors of `create` or `resume`.
    pub fn open(folder: &Path, resume: bool, header: &TournamentHeader) -> Result<(Self, Vec<GameRecord>)> {
        if resume { Self::resume(folder, header) } else { Ok((Self::create(folder, header)?, Vec::new())) }
    }

    /// Checks, before there is a header, that the journal can be opened; a new folder is created.
    ///
    /// # Errors
    /// A new journal's folder is not empty or cannot be written, or one to resume does not exist.
    pub fn confirm(folder: &Path, resume: bool) -> Result<()> {
        let named = || format!("folder {}", folder.display());
        if resume {
            ensure!(folder.is_dir(), "{} does not exist, so there is nothing to resume", named());
        } else {
            fs::create_dir_all(folder).with_context(named)?;
            if fs::read_dir(folder).with_context(named)?.next().is_some() {
                bail!("{} exists already: give --resume to continue it, or name another", named());
            }
        }
        confirm_writable(&folder.join(NAME)).with_context(named)
    }

    /// Creates a journal in a folder that is new or empty.
    ///
    /// # Errors
    /// The folder is not empty, or cannot be written.
    fn create(folder: &Path, header: &TournamentHeader) -> Result<Self> {
        Self::confirm(folder, false)?;
        let lock = FolderLock::take(folder)?;
        Self::begin(folder, header, lock)
    }

    /// Opens the journal in a folder and returns the games in it, or begins one if the tournament was interrupted
    /// before the first line. An incomplete last line is removed.
    ///
    /// # Errors
    /// The folder holds no journal, or one that is damaged or of another tournament.
    fn resume(folder: &Path, header: &TournamentHeader) -> Result<(Self, Vec<GameRecord>)> {
        let path = folder.join(NAME);
        Self::confirm(folder, true)?;
        let lock = FolderLock::take(folder)?;
        remove_unfinished(folder)?;
        if !path.exists() {
            ensure!(is_unbegun(folder)?, "folder {} holds no tournament", folder.display());
            return Ok((Self::begin(folder, header, lock)?, Vec::new()));
        }
        let text = read_bounded(&path, LONGEST).with_context(|| path.display().to_string())?;
        let Some(Read { whole, header, games }) =
            read(&text, |line| same(header, line)).with_context(|| path.display().to_string())?
        else {
            return Ok((Self::begin(folder, header, lock)?, Vec::new()));
        };
        let file = File::options().write(true).open(&path).with_context(|| path.display().to_string())?;
        file.set_len(whole as u64).with_context(|| path.display().to_string())?;
        Ok((Self { path, file: Mutex::default(), header, _lock: lock }, games))
    }

    fn begin(folder: &Path, header: &TournamentHeader, lock: FolderLock) -> Result<Self> {
        let (path, header) = (folder.join(NAME), seal_line(&serde_json::to_string(header)?));
        write(&path, &format!("{header}\n"))?;
        Ok(Self { path, file: Mutex::default(), header, _lock: lock })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a finished game.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&self, game: &GameRecord) -> Result<()> {
        let line = self.line(game)?;
        let mut open = self.file();
        let mut write = || {
            if open.is_none() {
                *open = Some(File::options().append(true).open(&self.path)?);
            }
            open.as_ref().map_or(Ok(()), |mut file| file.write_all(line.as_bytes()))
        };
        write().with_context(|| format!("writing {}", self.path.display()))
    }

    /// Replaces the games by all of a finished tournament in their order, so that the file does not depend on which game
    /// ended first. Games that a sequential test has made superfluous are dropped. After a crash the old or the new file is
    /// there, and the tournament can be resumed from either.
    ///
    /// # Errors
    /// The file cannot be written, and is then as before.
    pub fn arrange(&self, games: &[GameRecord]) -> Result<()> {
        let mut text = format!("{}\n", self.header);
        for game in games {
            text.push_str(&self.line(game)?);
        }
        let mut open = self.file();
        *open = None;
        write(&self.path, &text)
    }

    fn line(&self, game: &GameRecord) -> Result<String> {
        Ok(seal_line(&serde_json::to_string(game)?) + "\n")
    }

    fn file(&self) -> MutexGuard<'_, Option<File>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the file, whole or not at all.
fn write(path: &Path, text: &str) -> Result<()> {
    atomic_write(path, text.as_bytes()).with_context(|| format!("writing {}", path.display()))
}

/// The contents of a journal.
#[derive(Debug)]
struct Read {
    /// Number of bytes of the complete lines.
    whole: usize,
    /// The first line.
    header: String,
    games: Vec<GameRecord>,
}

/// Parses a journal whose first line passes a check; `None` if it has no complete line.
fn read(bytes: &[u8], check: impl FnOnce(&str) -> Result<()>) -> Result<Option<Read>> {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let mut lines = bytes[..whole].split(|&byte| byte == b'\n').take_while(|line| !line.is_empty());
    let Some(line) = lines.next() else { return Ok(None) };
    let first = unsealed(line).context("line 1")?;
    let header_line = String::from_utf8_lossy(line).trim_end_matches('\r').to_owned();
    check(&first)?;
    let game = |(number, line)| {
        let read = || -> Result<GameRecord> { Ok(serde_json::from_str(&unsealed(line)?)?) };
        read().with_context(|| format!("line {number}"))
    };
    let games = (2..).zip(lines).map(game).collect::<Result<_>>()?;
    Ok(Some(Read { whole, header: header_line, games }))
}

/// The header and the games in the bytes of a journal of any tournament, without an incomplete last line.
///
/// # Errors
/// A line is damaged, or it is no journal.
pub(crate) fn read_journal(bytes: &[u8]) -> Result<(TournamentHeader, Vec<GameRecord>)> {
    let mut header = None;
    let parsed = read(bytes, |line| {
        check_format(&serde_json::from_str(line).context("line 1 is no header")?)?;
        header = Some(serde_json::from_str(line).context("line 1")?);
        Ok(())
    })?;
    let games = parsed.map(|read| read.games).unwrap_or_default();
    Ok((header.context("it has no complete line")?, games))
}

/// Whether the folder has no files but the lock and the temporary files of interrupted writes.
fn is_unbegun(folder: &Path) -> std::io::Result<bool> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
    let names = names.collect::<std::io::Result<Vec<_>>>()?;
    Ok(names.iter().all(|name| name == LOCK_FILE || name.to_string_lossy().starts_with('.')))
}

/// A line's JSON object, which its checksum confirms.
fn unsealed(line: &[u8]) -> Result<String> {
    Ok(unseal_line(std::str::from_utf8(line).context("it is not UTF-8")?)?)
}

/// Checks that this program reads the format that a header names.
fn check_format(header: &serde_json::Value) -> Result<()> {
    let format = header.get("turnstone_arena").and_then(serde_json::Value::as_u64);
    check_version(format.context("line 1 is no header")?)
}

/// Checks that this program reads this version of the format.
pub(crate) fn check_version(format: u64) -> Result<()> {
    let ours = TournamentHeader::FORMAT;
    ensure!(format == u64::from(ours), "its format is version {format}, this program reads {ours}");
    Ok(())
}

/// Checks that a journal's header is that of this tournament.
fn same(header: &TournamentHeader, line: &str) -> Result<()> {
    let written: serde_json::Value = serde_json::from_str(line).context("line 1 is no header")?;
    check_format(&written)?;
    let asked = serde_json::to_value(header)?;
    // A newer program may continue a tournament.
    let differs = |&(key, value): &(&String, _)| key != "program" && written.get(key) != Some(value);
    let differs = asked.as_object().and_then(|asked| asked.iter().find(differs));
    if let Some((key, _)) = differs {
        bail!("it belongs to a tournament with other {key}; resume with the command that started it");
    }
    Ok(())
}
