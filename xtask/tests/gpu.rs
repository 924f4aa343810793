//! The default build contains no crate that is for GPUs.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The names of the packages that a build of the program with these features consists of.
fn packages(features: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository");
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "-p", "turnstone", "-e", "normal,build", "--prefix", "none", "--format", "{p}"])
        .args(["--features", features])
        .current_dir(root)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// Whether a package is one of burn's for GPUs, of what they compile kernels with, or of what they reach GPUs through.
/// `cubecl-common`, `-environment` and `-zspace` are vocabulary of burn's own crates.
fn is_for_gpus(package: &str) -> bool {
    let burns = ["burn-cubecl", "burn-fusion", "burn-wgpu", "burn-cuda", "burn-rocm"];
    let vocabulary = ["cubecl-common", "cubecl-environment", "cubecl-zspace"];
    let begins = ["cubecl", "cubek", "wgpu", "naga", "cudarc"].iter().any(|name| package.starts_with(name));
    (begins || burns.iter().any(|name| package.starts_with(name)) || package == "ash") && !vocabulary.contains(&package)
}

#[test]
fn the_default_build_has_no_gpu_crate() {
    let found: Vec<String> = packages("").into_iter().filter(|package| is_for_gpus(package)).collect();
    assert_eq!(found, [""; 0]);
    // What the features bring is recognised.
    for (feature, package) in [("wgpu", "wgpu-core"), ("cuda", "cudarc")] {
        let added: BTreeSet<String> = &packages(feature) - &packages("");
        assert!(added.contains(package), "{feature} does not bring {package}");
        assert!(is_for_gpus(package) && added.iter().filter(|package| is_for_gpus(package)).count() > 10, "{added:?}");
    }
}
