//! Tables are read back as written, and damaged ones are refused.

use std::fs;
use std::path::Path;

use super::read::{TableFile, contents};
use super::write::TableWriter;
use super::{BLOCK, PREFIX, Prefix, TableIdentity};

fn identity() -> TableIdentity {
    let params = "pits=6 stones=4".to_owned();
    TableIdentity { game: "mancala".into(), version: 1, params, kind: "endgame 1".into() }
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * i / 7) as u8).collect()
}

fn write(path: &Path) {
    let mut writer = TableWriter::create(path, &identity()).unwrap();
    writer.section("short", &bytes(100)).unwrap();
    writer.section("empty", &[]).unwrap();
    writer.section("long", &bytes(3 * BLOCK + 5)).unwrap();
    writer.finish().unwrap();
}

#[test]
fn what_was_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.table");
    write(&path);
    write(&path); // over an existing one
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let table = TableFile::open(&path, &identity()).unwrap();
    for (name, len) in [("short", 100), ("empty", 0), ("long", 3 * BLOCK + 5)] {
        let section = table.section(name, len as u64).unwrap();
        assert_eq!(table.bytes(section), bytes(len));
    }
    assert!(table.section("long", 1).is_err());
    assert!(table.section("other", 1).is_err());
}

/// Some file systems have no maps.
#[test]
fn a_table_that_cannot_be_mapped_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.table");
    write(&path);
    let refused = |_: &fs::File| Err(std::io::ErrorKind::Unsupported.into());
    let read = contents(&fs::File::open(&path).unwrap(), refused).unwrap();
    assert_eq!(*read, *fs::read(&path).unwrap());
}

#[test]
fn a_dropped_writer_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = TableWriter::create(&folder.path().join("a.table"), &identity()).unwrap();
    writer.section("short", &bytes(100)).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn every_flipped_bit_and_every_cut_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.table");
    write(&path);
    let whole = fs::read(&path).unwrap();
    let changed = folder.path().join("changed.table");
    let refused = |bytes: &[u8]| {
        fs::write(&changed, bytes).unwrap();
        let error = TableFile::open(&changed, &identity()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("changed.table: "), "{text}");
        assert!(text.ends_with("; rebuild it with `turnstone solve mancala`"), "{text}");
        assert!(!text.contains('\n'));
    };
    // The bytes between the sections and after the last one are never read.
    let directory = Prefix::read(&whole).ok().unwrap().directory as usize;
    let long = PREFIX + 128..PREFIX + 128 + 3 * BLOCK + 5;
    let places = (0..PREFIX + 100).chain(long.clone().step_by(4099)).chain(long.end - 1..long.end);
    for at in places.chain(directory..whole.len()) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        refused(&bytes);
    }
    for len in (0..200).chain((200..whole.len()).step_by(5003)).chain(whole.len() - 3..whole.len()) {
        refused(&whole[..len]);
    }
    refused(&[&whole[..], &[0]].concat());
}

#[test]
fn a_damaged_block_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.table");
    write(&path);
    let mut bytes = fs::read(&path).unwrap();
    bytes[PREFIX + 128 + BLOCK + 9] ^= 4;
    fs::write(&path, bytes).unwrap();
    let error = TableFile::open(&path, &identity()).unwrap_err().to_string();
    assert!(error.contains("its block 1 of section `long` does not match its checksum"), "{error}");
}

#[test]
fn a_table_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.table");
    write(&path);
    let refused = |identity: TableIdentity, fault: &str| {
        let error = TableFile::open(&path, &identity).unwrap_err().to_string();
        assert!(error.contains(fault), "{error}");
    };
    refused(TableIdentity { game: "morris".into(), ..identity() }, "its game is `mancala` instead of `morris`");
    refused(TableIdentity { version: 2, ..identity() }, "its version is `1` instead of `2`");
    refused(TableIdentity { params: "pits=5 stones=4".into(), ..identity() }, "its params is `pits=6 stones=4`");
    refused(TableIdentity { kind: "endgame 2".into(), ..identity() }, "its kind is `endgame 1`");
    let absent = TableFile::open(&folder.path().join("absent"), &identity()).unwrap_err().to_string();
    assert!(absent.ends_with("; build it with `turnstone solve mancala`"), "{absent}");
    assert!(TableFile::open(folder.path(), &identity()).is_err());
}

/// What a killed process has left is removed, and what a running one writes is not.
#[cfg(target_os = "linux")]
#[test]
fn abandoned_files_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let running = format!(".a.table.{}.tmp", std::os::unix::process::parent_id());
    for name in [".a.table.4999999.tmp", ".b.table.4999999.tmp", ".a.table.mine.tmp", &running] {
        fs::write(path(name), "half").unwrap();
    }
    write(&path("a.table"));
    assert!(!path(".a.table.4999999.tmp").exists());
    assert!([".b.table.4999999.tmp", ".a.table.mine.tmp", &running].iter().all(|name| path(name).exists()));
}
