//! Feeds arbitrary bytes to the target `agent_specs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstone_fuzz::run("agent_specs", data));
