//! Networks, their files and their training. One program, so that what the tests share is compiled once.

mod common;
mod files;
mod games;
#[cfg(feature = "train")]
mod gradients;
#[cfg(feature = "train")]
mod inference_in_burn;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "train")]
mod learner_files;
mod quantised;
#[cfg(feature = "train")]
mod training;
