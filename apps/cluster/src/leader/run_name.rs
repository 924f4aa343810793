//! The name of a run, which stays with its folder, and random numbers that no worker can foresee.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rand::SeedableRng;
use turnstone_base::files::{atomic_write, read_text};
use turnstone_base::streams::Stream;

use crate::identity::random;
use crate::messages::is_name;
use crate::names::ONCE;
use crate::wire::hex;

/// The name of the run in a folder, which gets a new one if it has none, and whether it is new. The name says whether the run is
/// over with its leader.
pub(super) fn run_name(folder: &Path, game: &str, is_over_with_leader: bool) -> Result<(String, bool)> {
    let path = folder.join("run");
    if path.exists() {
        let name = read_text(&path, 1000).with_context(|| path.display().to_string())?;
        if is_name(name.trim()) {
            return Ok((name.trim().to_owned(), false));
        }
    }
    let game: String = game.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
    let end = if is_over_with_leader { ONCE } else { "" };
    let name = format!("{game}-{}{end}", hex(&random::<4>()?));
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    atomic_write(&path, name.as_bytes()).with_context(|| path.display().to_string())?;
    Ok((name, true))
}

/// A stream that no worker can foresee. What it decides does not affect results.
pub(super) fn random_stream() -> Result<Stream> {
    Ok(Stream::from_seed(random()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::is_once;

    #[test]
    fn a_run_keeps_its_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let within = folder.path().join("cluster");
        let (name, is_new) = run_name(&within, "mu_torere", false).expect("a new name");
        assert!(is_new && name.starts_with("mutorere-") && is_name(&name) && !is_once(&name), "{name}");
        assert_eq!(run_name(&within, "mu_torere", false).expect("the same"), (name, false));
        std::fs::write(within.join("run"), "a b").expect("writable");
        assert!(is_name(&run_name(&within, "mu_torere", false).expect("a new name").0));
        let longest = "g".repeat(1000);
        let (once, _) = run_name(&folder.path().join("once"), &longest, true).expect("a new name");
        assert!(is_once(&once) && is_name(&once), "{once}");
    }
}
