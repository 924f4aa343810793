//! Feeds arbitrary bytes to the target `analysis_sessions`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstone_fuzz::run("analysis_sessions", data));
