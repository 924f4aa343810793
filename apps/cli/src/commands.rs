//! The program's commands, one file each.

pub(crate) mod rules;
pub(crate) mod games;
pub(crate) mod agents;
pub(crate) mod show;
pub(crate) mod play;
pub(crate) mod engine;
pub(crate) mod analyse;
pub(crate) mod review;
pub(crate) mod doctor;
pub(crate) mod train;
pub(crate) mod sweep;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod export;
pub(crate) mod arena;
pub(crate) mod grade;
pub(crate) mod certify;
pub(crate) mod solve;
pub(crate) mod bench;
pub(crate) mod completions;
