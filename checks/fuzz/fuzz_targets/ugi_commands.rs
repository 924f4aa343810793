//! Feeds arbitrary bytes to the target `ugi_commands`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstone_fuzz::run("ugi_commands", data));
