//! Feeds arbitrary bytes to the target `forged_journals`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstone_fuzz::run("forged_journals", data));
