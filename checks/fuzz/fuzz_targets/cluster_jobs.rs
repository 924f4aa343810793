//! Feeds arbitrary bytes to the target `cluster_jobs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstone_fuzz::run("cluster_jobs", data));
