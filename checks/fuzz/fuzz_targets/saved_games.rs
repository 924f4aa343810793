//! Feeds arbitrary bytes to the target `saved_games`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstone_fuzz::run("saved_games", data));
