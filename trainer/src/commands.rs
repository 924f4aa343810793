//! The program's commands, one file each.

pub(crate) mod games;
pub(crate) mod show;
pub(crate) mod legal;
pub(crate) mod perft;
pub(crate) mod search;
pub(crate) mod play;
pub(crate) mod doctor;
pub(crate) mod train;
pub(crate) mod report;
pub(crate) mod export;
pub(crate) mod arena;
pub(crate) mod grade;
pub(crate) mod solve;
pub(crate) mod bench;
pub(crate) mod seeds;

use turnstone_env::Outcome;

/// An outcome as scripts read it: `player1`, `player2` or `draw`.
fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome.value() {
        1 => "player1",
        0 => "draw",
        _ => "player2",
    }
}
