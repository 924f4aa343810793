//! Feeds arbitrary bytes to the target `pyro_requests`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstone_fuzz::run("pyro_requests", data));
