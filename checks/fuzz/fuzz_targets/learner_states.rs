//! Feeds arbitrary bytes to the target `learner_states`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstone_fuzz::run("learner_states", data));
