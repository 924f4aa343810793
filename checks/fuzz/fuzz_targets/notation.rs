//! Feeds arbitrary bytes to the target `notation`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstone_fuzz::run("notation", data));
