//! Feeds arbitrary bytes to the parsers of any game.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstone_env_fuzz::parse(data));
