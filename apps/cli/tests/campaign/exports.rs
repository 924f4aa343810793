//! `turnstone export --overwrite` is killed at its changes of files, and they fail: the old or the new export is there, whole.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{Fault, compiled_shim, files, places, text};

/// The export of one game that replaces that of another.
struct Export {
    folder: tempfile::TempDir,
    shim: PathBuf,
    format: &'static str,
    name: &'static str,
    /// What is there before and afterwards.
    old: Contents,
    new: Contents,
}

/// Files by relative path.
type Contents = BTreeMap<String, Vec<u8>>;

impl Export {
    fn new(format: &'static str, name: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let shim = compiled_shim(folder.path());
        let mut export = Self { folder, shim, format, name, old: Contents::new(), new: Contents::new() };
        let [old, new] = ["mancala", "mu_torere"].map(|game| {
            let place = export.place(game);
            assert!(export.run(&place, game, None).status.success());
            contents(&place)
        });
        (export.old, export.new) = (old, new);
        export
    }

    /// A new folder for exports.
    fn place(&self, name: &str) -> PathBuf {
        let place = self.folder.path().join(name);
        fs::create_dir(&place).expect("a new folder");
        place
    }

    fn run(&self, place: &Path, game: &str, fault: Option<Fault>) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnstone"));
        command.args(["export", "pretrained", "--overwrite", "--game", game, "--format", self.format, "--out"]);
        command.arg(place.join(self.name)).env("LD_PRELOAD", &self.shim).env("FAULT_FOLDER", place);
        command.env("FAULT_COUNT", self.folder.path().join("count"));
        if let Some(Fault { kind, at }) = fault {
            command.env("FAULT_KIND", kind).env("FAULT_AT", at.to_string());
        }
        command.output().expect("it runs")
    }

    /// A folder with the old export.
    fn with_old(&self, name: &str) -> PathBuf {
        let place = self.place(name);
        for (file, bytes) in &self.old {
            let path = place.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            fs::write(path, bytes).expect("writable");
        }
        place
    }

    /// Number of changes of files when the old export is replaced.
    fn changes(&self) -> u64 {
        assert!(self.run(&self.with_old("counted"), "mu_torere", None).status.success());
        let count = fs::read_to_string(self.folder.path().join("count")).expect("the shim counts");
        count.trim().parse().expect("a number")
    }

    /// Whether the export is the old or the new one.
    fn is_whole(&self, found: &Contents) -> bool {
        [&self.old, &self.new].contains(&found)
    }
}

/// The files of an export; those of interrupted writes are left out.
fn contents(place: &Path) -> Contents {
    let visible = |name: &String| !name.starts_with('.');
    let read = |name: String| (name.clone(), fs::read(place.join(&name)).expect("readable"));
    files(place).into_iter().filter(visible).map(read).collect()
}

fn replace_with_faults(format: &'static str, name: &'static str) {
    let export = Export::new(format, name);
    let changes = export.changes();
    assert!(changes > 4, "{changes} changes");
    let mut tolerated = 0;
    for at in places(changes) {
        let place = export.with_old(&format!("killed{at}"));
        let killed = export.run(&place, "mu_torere", Some(Fault { kind: "kill", at }));
        assert_eq!(killed.status.signal(), Some(9), "{}", text(&killed));
        let found = contents(&place);
        assert!(export.is_whole(&found), "{format}, killed at {at}: {:?}", found.keys());
        assert!(export.run(&place, "mu_torere", None).status.success());
        assert!(contents(&place) == export.new, "{format}, killed at {at} and repeated");

        let place = export.with_old(&format!("failed{at}"));
        let failed = export.run(&place, "mu_torere", Some(Fault { kind: "ENOSPC", at }));
        if !failed.status.success() {
            assert!(failed.status.code() == Some(1) && text(&failed).lines().count() == 1, "{}", text(&failed));
        }
        tolerated += u64::from(failed.status.success());
        // The export may be in place although the command failed: if only the sync fails, the rename has happened.
        let found = contents(&place);
        let is_one = found == export.new || !failed.status.success() && found == export.old;
        assert!(is_one, "{format}, failed at {at}: {:?}", found.keys());
        for place in [&place, &place.with_file_name(format!("killed{at}"))] {
            fs::remove_dir_all(place).expect("it was there");
        }
    }
    let kills = places(changes).count();
    println!("{format}: {kills} kills, and as many failed changes of which {tolerated} were tolerated");
}

#[test]
fn an_export_that_is_replaced_is_there_at_every_moment() {
    replace_with_faults("onnx", "net");
    replace_with_faults("page", "page");
}
