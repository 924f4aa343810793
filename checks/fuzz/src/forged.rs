//! Files with valid checksums over arbitrary contents, as somebody could make them.

use turnstone_base::checksum::seal_line;
use turnstone_models::{Learner, OptimiserConfig, save_state};
use turnstone_trainer::config::LearnConfig;
use turnstone_trainer::learn::steps_due;

use crate::files;

/// A shard whose checksum fits, whatever it contains.
pub(crate) fn shards(data: &[u8]) -> bool {
    let checksum = crc32fast::hash(data).to_le_bytes();
    files::shards(&[data, &checksum].concat())
}

/// A table whose checksums over prefix and directory fit.
pub(crate) fn tables(data: &[u8]) -> bool {
    files::tables(&resealed_table(data))
}

/// The table with the length and checksums that fit its contents.
fn resealed_table(data: &[u8]) -> Vec<u8> {
    const PREFIX: usize = 64;
    let mut bytes = data.to_vec();
    if bytes.len() < PREFIX {
        return bytes;
    }
    let length = bytes.len() as u64;
    bytes[24..32].copy_from_slice(&length.to_le_bytes());
    let start = u64::from_le_bytes(bytes[16..24].try_into().expect("eight bytes"));
    if let Some(directory) = usize::try_from(start).ok().and_then(|start| bytes.get(start..)) {
        let checksum = crc32fast::hash(directory);
        bytes[32..36].copy_from_slice(&checksum.to_le_bytes());
    }
    let checksum = crc32fast::hash(&bytes[..PREFIX - 4]);
    bytes[PREFIX - 4..PREFIX].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

pub(crate) fn example_shards() -> Vec<Vec<u8>> {
    files::example_shards().into_iter().map(|bytes| bytes[..bytes.len() - 4].to_vec()).collect()
}

/// A state with arbitrary text in place of the run's standing, and what a resumed run makes of it.
pub(crate) fn states(data: &[u8]) -> bool {
    thread_local! {
        static STATE: turnstone_models::LearnerState = files::example_state(&files::networks()[0]);
    }
    let folder = files::run_folder();
    let text = String::from_utf8_lossy(data);
    STATE.with(|state| save_state(&folder.state(), state, &text)).expect("any text can be written");
    let Ok((state, standing)) = folder.load_state() else { return false };
    if standing.iteration < 1000 {
        let (window, faults) = folder.load_window(&standing, files::game());
        assert!(window.is_empty() && faults.len() <= 1000);
    }
    let _ = steps_due(&LearnConfig::default(), standing.positions);
    Learner::from_state(state, &OptimiserConfig::default()).expect("the learner is not what was forged");
    true
}

pub(crate) fn example_states() -> Vec<Vec<u8>> {
    [
        r#"{"iteration":3,"games":72,"positions":900,"window_from":1}"#,
        r#"{"iteration":3,"games":72,"positions":900,"window_from":2,"best_score":0.5,"best_step":7}"#,
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect()
}

/// A journal of the right tournament whose games are arbitrary lines.
pub(crate) fn journals(data: &[u8]) -> bool {
    thread_local! {
        static HEADER: String = files::journal_lines().swap_remove(0);
    }
    let text = String::from_utf8_lossy(data);
    let line = |line: &str| {
        let is_object = line.len() > 2 && line.starts_with('{') && line.ends_with('}');
        (if is_object { seal_line(line) } else { line.to_owned() }) + "\n"
    };
    let lines = HEADER.with(|header| line(header)) + &text.lines().map(line).collect::<String>();
    files::journals(lines.as_bytes())
}

pub(crate) fn example_journals() -> Vec<Vec<u8>> {
    let lines = files::journal_lines();
    vec![lines[1..].join("\n").into_bytes(), lines[1].clone().into_bytes()]
}
