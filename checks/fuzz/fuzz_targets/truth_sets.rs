//! Feeds arbitrary bytes to the target `truth_sets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstone_fuzz::run("truth_sets", data));
