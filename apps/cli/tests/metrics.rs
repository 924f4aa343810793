//! The metrics of a run.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The metrics of every iteration, times apart.
pub(crate) fn metrics(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("metrics.jsonl")).expect("readable");
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for line in &mut lines {
        // The checksum is over the timing too.
        ["timing", "crc"].into_iter().for_each(|key| drop(line[key].take()));
    }
    lines
}
