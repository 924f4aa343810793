//! Checkpoints are read back bit for bit, and no file makes the reader panic.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::json;
use tempfile::TempDir;
use turnstone_models::{
    BoardShape, CheckpointError, CheckpointInfo, CheckpointParams, NetworkConfig, ResidualMlp, Shape, Weights, load,
    save,
};

use crate::common::resealed;

const SHAPE: Shape = Shape::flat(3, 2);

fn network() -> NetworkConfig {
    ResidualMlp { blocks: 1, width: 4 }.into()
}

fn params() -> CheckpointParams {
    json!({"pits": 6, "infinite": false}).as_object().unwrap().clone()
}

fn sample() -> (CheckpointInfo, Weights) {
    let mut info = CheckpointInfo::new("mancala", 2, params(), network(), SHAPE, 12_345_678_901);
    info.extra.insert("elo".into(), "1510 \"quoted\" ü".into());
    info.extra.insert("commit".into(), "abc".into());
    (info, Weights::random(&network().layout(&SHAPE).unwrap(), 1))
}

/// The bytes of a checkpoint after `change` was made to its header, under a checksum that fits.
fn changed(change: &dyn Fn(&mut serde_json::Map<String, serde_json::Value>)) -> Vec<u8> {
    let (_folder, path) = saved();
    let bytes = fs::read(path).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    change(header.as_object_mut().unwrap());
    let header = serde_json::to_vec(&header).unwrap();
    resealed(&[&(header.len() as u64).to_le_bytes()[..], &header, &bytes[8 + length..]].concat())
}

fn saved() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    let (info, weights) = sample();
    save(&path, &info, &weights).unwrap();
    (folder, path)
}

fn header_length(bytes: &[u8]) -> usize {
    u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize
}

fn load_bytes(bytes: &[u8]) -> Result<(CheckpointInfo, Weights), CheckpointError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    fs::write(&path, bytes).unwrap();
    load(&path)
}

/// The fault of these bytes, without the file's name, which must stand first and once.
fn fault(bytes: &[u8]) -> String {
    let line = load_bytes(bytes).unwrap_err().to_string();
    assert!(!line.contains('\n'), "{line}");
    line.split_once("a.safetensors: ").expect(&line).1.to_owned()
}

#[test]
fn what_was_saved_comes_back() {
    let (_folder, path) = saved();
    assert_eq!(load(&path).unwrap(), sample());
    assert!(load(&path).unwrap().0.created_by.starts_with("turnstone 0."));
}

#[test]
fn equal_contents_make_equal_files() {
    let files: Vec<Vec<u8>> = (0..4).map(|_| saved()).map(|(_folder, path)| fs::read(path).unwrap()).collect();
    assert!(files.iter().all(|file| *file == files[0]));
}

#[test]
fn any_safetensors_library_reads_it() {
    let (_folder, path) = saved();
    let bytes = fs::read(path).unwrap();
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().as_ref().unwrap();
    assert_eq!(metadata["turnstone.format"], "1");
    assert_eq!(metadata["turnstone.game"], "mancala");
    assert_eq!(metadata["turnstone.params"], r#"{"pits":6,"infinite":false}"#);
    assert_eq!(metadata["turnstone.network"], r#"{"kind":"residual_mlp","blocks":1,"width":4}"#);
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(file.tensor("stem.weight").unwrap().shape(), [3, 4]);
}

#[test]
fn another_game_is_refused() {
    let info = sample().0;
    assert_eq!(info.expect("mancala", 2, &params(), &SHAPE), Ok(()));
    let mut reordered = CheckpointParams::new();
    reordered.insert("infinite".into(), json!(false));
    reordered.insert("pits".into(), json!(6));
    assert_eq!(info.expect("mancala", 2, &reordered, &SHAPE), Ok(()));

    let error = |game, version, params: &CheckpointParams, shape: &Shape| {
        info.expect(game, version, params, shape).unwrap_err().to_string()
    };
    assert_eq!(error("morris", 2, &params(), &SHAPE), "the checkpoint is for the game `mancala`, not `morris`");
    assert_eq!(error("mancala", 3, &params(), &SHAPE), "the checkpoint is for version 2 of `mancala`, not version 3");
    assert_eq!(
        error("mancala", 2, &CheckpointParams::new(), &SHAPE),
        "the checkpoint is for `mancala` with infinite=false, which the game does not have; pits=6, which the game does \
         not have"
    );
    let mut others = params();
    others.insert("pits".into(), json!("8"));
    others.insert("stones".into(), json!("4"));
    assert_eq!(
        error("mancala", 2, &others, &SHAPE),
        "the checkpoint is for `mancala` with pits=6, not 8; no stones, not 4"
    );
    assert_eq!(
        error("mancala", 2, &params(), &Shape::flat(4, 2)),
        "the checkpoint has 3 inputs and 2 actions, the game `mancala` 4 and 2"
    );
}

/// Two by three points; the lines are the rows.
fn board() -> BoardShape {
    BoardShape {
        point_planes: 2,
        points: 6,
        directions: vec![vec![Some(1), Some(2), None, Some(4), Some(5), None]],
        lattice: [2, 3],
        cells: (0..6).collect(),
    }
}

#[test]
fn networks_that_know_the_board_come_back_with_it() {
    let shape = Shape { board: board(), ..Shape::flat(13, 5) };
    let kinds = [
        r#"{"kind":"residual_graph","blocks":2,"channels":4,"reach":2}"#,
        r#"{"kind":"residual_graph","blocks":1,"channels":4,"neighbourhood":"square"}"#,
        r#"{"kind":"residual_conv","blocks":1,"channels":4,"global_pooling":true}"#,
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    for network in kinds.map(|text| serde_json::from_str::<NetworkConfig>(text).unwrap()) {
        let weights = Weights::random(&network.layout(&shape).unwrap(), 3);
        let info = CheckpointInfo::new("ring", 1, CheckpointParams::new(), network.clone(), shape.clone(), 7);
        save(&path, &info, &weights).unwrap();
        assert_eq!(load(&path).unwrap(), (info.clone(), weights));
        assert_eq!(info.expect("ring", 1, &CheckpointParams::new(), &shape), Ok(()));
        let mut turned = shape.clone();
        turned.board.directions[0].reverse();
        let error = info.expect("ring", 1, &CheckpointParams::new(), &turned).unwrap_err().to_string();
        assert_eq!(error, "the checkpoint's network was made for another board than that of the game `ring`");
    }
}

#[test]
fn every_fault_has_its_line() {
    let metadata =
        |key: &'static str, value: &'static str| changed(&|header| header["__metadata__"][key] = json!(value));
    assert_eq!(fault(&metadata("turnstone.format", "2")), "format version `2` is not supported, only `1` is");
    assert_eq!(fault(&metadata("turnstone.kind", "learner")), "this is a `learner` file, not a `checkpoint` file");
    assert!(fault(&metadata("turnstone.params", "[]")).starts_with("metadata `turnstone.params` is not valid: "));
    assert!(fault(&metadata("turnstone.step", "-1")).starts_with("metadata `turnstone.step` is not valid: "));
    let kinds = "there is no kind of network `conv`; the kinds are residual_mlp, residual_graph, residual_conv";
    let conv = fault(&metadata("turnstone.network", r#"{"kind":"conv","blocks":1}"#));
    assert!(conv.contains(kinds), "{conv}");
    assert_eq!(
        fault(&metadata("turnstone.network", r#"{"kind":"residual_mlp","blocks":1,"width":1000000}"#)),
        "metadata `turnstone.network` is not valid: width is 1000000, but must be a whole number from 1 to 2048"
    );
    assert_eq!(
        fault(&metadata("turnstone.network", r#"{"kind":"residual_mlp","blocks":2,"width":4}"#)),
        "tensor `blocks.1.first.weight` is missing"
    );
    assert_eq!(
        fault(&metadata("turnstone.network", r#"{"kind":"residual_mlp","blocks":0,"width":4}"#)),
        "tensor `blocks.0.first.bias` does not belong to this network"
    );
    assert_eq!(fault(&metadata("turnstone.inputs", "5")), "tensor `stem.weight` has shape [3, 4], not [5, 4]");
    assert!(fault(&metadata("turnstone.board", "[]")).starts_with("metadata `turnstone.board` is not valid: "));
    let bare = changed(&|header| drop(header["__metadata__"].as_object_mut().unwrap().remove("turnstone.board")));
    assert_eq!(fault(&bare), "not a turnstone file: its metadata has no `turnstone.board`");
    let foreign = changed(&|header| drop(header.remove("__metadata__")));
    assert_eq!(fault(&foreign), "not a turnstone file: its metadata has no `turnstone.format`");
    let renamed = changed(&|header| {
        let tensor = header.remove("policy.bias").unwrap();
        header.insert("policy.offset".into(), tensor);
    });
    assert_eq!(fault(&renamed), "tensor `policy.bias` is missing");
    let integers = changed(&|header| header["policy.bias"]["dtype"] = json!("I32"));
    assert_eq!(fault(&integers), "tensor `policy.bias` holds I32, not F32");

    let mut bytes = changed(&|_| ());
    let length = bytes.len();
    assert!(fault(&bytes[..length - 1]).starts_with("not a complete safetensors file ("));
    assert!(fault(b"PK").starts_with("not a complete safetensors file ("));
    bytes[length - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(fault(&resealed(&bytes)), "tensor `value_hidden.weight` holds a number that is not finite");
}

#[test]
fn what_cannot_be_read_back_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    let (mut info, weights) = sample();
    let other = CheckpointInfo { shape: Shape::flat(4, 2), ..info.clone() };
    assert!(save(&path, &other, &weights).unwrap_err().to_string().ends_with("shape [3, 4], not [4, 4]"));
    info.extra.insert("turnstone.game".into(), "chess".into());
    assert!(save(&path, &info, &weights).unwrap_err().to_string().ends_with("`turnstone.game` is reserved"));
    let absent = folder.path().join("absent").join("a.safetensors");
    assert!(save(&absent, &sample().0, &weights).unwrap_err().to_string().contains("absent"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(load(&path).unwrap_err().to_string().contains("a.safetensors: "));
    assert!(load(folder.path()).unwrap_err().to_string().ends_with("is not a regular file"));
}

/// Every bit of the tensors and of the metadata, the name of the checksum included.
#[test]
fn no_flipped_bit_is_passed_over() {
    let (_folder, path) = saved();
    let bytes = fs::read(&path).unwrap();
    let name = std::path::Path::new("a.safetensors");
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        match turnstone_models::load_bytes(&damaged, name) {
            Ok((info, weights)) if (&info, &weights) == (&sample().0, &sample().1) => {
                assert!(bit / 8 < 8 + header_length(&bytes), "bit {bit}"); // space between the fields
            }
            Ok(_) => panic!("bit {bit} was passed over"),
            Err(_) => {}
        }
    }
    let mut damaged = bytes;
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(fault(&damaged), "its checksum does not fit its contents: the file is damaged or was changed");
}

/// A file of three gigabytes is refused by its length, and one whose header promises another length by its header.
#[test]
fn long_files_are_refused_before_they_are_read() {
    let (_folder, path) = saved();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(3 << 30).unwrap();
    assert!(
        load(&path).unwrap_err().to_string().ends_with("is 3221225472 bytes long, and at most 2147483648 are read")
    );
    file.set_len(2 << 30).unwrap();
    assert!(load(&path).unwrap_err().to_string().contains("not a complete safetensors file ("));
}

/// A header that promises far more than the file holds is refused before anything is allocated for it.
#[test]
fn absurd_headers_are_refused() {
    for length in [u64::MAX, 1 << 62, 99_999_999, 0] {
        assert!(load_bytes(&length.to_le_bytes()).is_err());
    }
    let huge = changed(&|header| header["stem.weight"]["shape"] = json!([u64::MAX, u64::MAX]));
    assert!(load_bytes(&huge).is_err());
    let beyond = changed(&|header| header["stem.weight"]["data_offsets"] = json!([0, 1_u64 << 60]));
    assert!(load_bytes(&beyond).is_err());
    let empty = safetensors::serialize::<&str, TensorView<'_>, _>([], None).unwrap();
    assert!(load_bytes(&empty).is_err());
    let scalar = TensorView::new(Dtype::F32, vec![], &[0; 4]).unwrap();
    assert!(load_bytes(&safetensors::serialize([("stem.weight", scalar)], None).unwrap()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        in_header in any::<bool>(),
        kept in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = changed(&|_| ());
        let length = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let editable = if in_header { length } else { bytes.len() };
        for (index, byte) in edits {
            bytes[index.index(editable)] = byte;
        }
        if let Some(kept) = kept {
            bytes.truncate(kept.index(bytes.len()));
        }
        if let Err(error) = load_bytes(&bytes) {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }
}
