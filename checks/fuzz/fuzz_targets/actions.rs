//! Feeds arbitrary bytes to the target `actions`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstone_fuzz::run("actions", data));
