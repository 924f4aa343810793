//! Feeds arbitrary bytes to the target `pyro_pickles`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstone_fuzz::run("pyro_pickles", data));
