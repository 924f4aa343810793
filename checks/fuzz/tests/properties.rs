//! The bodies of the fuzz targets on a stable compiler: every example is accepted, and no change of one makes
//! a reader panic. The environment variable `CASES` is the number of changes per target.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_fuzz::{TARGETS, mutation};

#[test]
fn examples_and_changes_of_them() {
    let cases = std::env::var("CASES").map_or(300, |cases| cases.parse().expect("CASES is a number"));
    let mut faults = Vec::new();
    for target in TARGETS {
        let examples = (target.examples)();
        assert!(!examples.is_empty(), "{} has no example", target.name);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let changed = (0..cases).map(|_| mutation::input(&examples, &mut rng));
        let (mut accepted, mut refused) = (0, 0);
        for (i, input) in examples.iter().cloned().chain(changed).enumerate() {
            let fault = match catch_unwind(AssertUnwindSafe(|| (target.run)(&input))) {
                Ok(true) => {
                    accepted += 1;
                    continue;
                }
                Ok(false) if i < examples.len() => "an example is refused",
                Ok(false) => {
                    refused += 1;
                    continue;
                }
                Err(_) => "a panic",
            };
            let shown: String = input.escape_ascii().to_string().chars().take(2000).collect();
            faults.push(format!("{}: {fault}: {shown}", target.name));
        }
        println!("{}: {accepted} accepted, {refused} refused", target.name);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Every target has a file for cargo-fuzz, and every file a target.
#[test]
fn every_target_can_be_fuzzed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz_targets");
    let mut files: Vec<String> = folder
        .read_dir()
        .expect("it is there")
        .map(|entry| entry.expect("readable").path().file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    files.sort_unstable();
    let mut names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    names.sort_unstable();
    assert_eq!(files, names);
    let manifest = std::fs::read_to_string(folder.with_file_name("Cargo.toml")).expect("readable");
    for name in names {
        let run = std::fs::read_to_string(folder.join(format!("{name}.rs"))).expect("readable");
        assert!(run.contains(&format!("run(\"{name}\", data)")) && manifest.contains(&format!("name = \"{name}\"")));
    }
}
