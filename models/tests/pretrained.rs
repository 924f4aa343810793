//! The trained agents fit the games they are named after, are small, and are compiled in by the feature `pretrained`.

use std::fs;
use std::path::{Path, PathBuf};

use turnstone_env::games::built_in;
use turnstone_models::{CheckpointParams, load, load_bytes, pretrained, pretrained_games};

/// The checkpoints in the folder of trained agents, by name of the game.
fn files() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pretrained");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let checkpoints = paths.filter(|path| path.extension().is_some_and(|extension| extension == "safetensors"));
    let mut files: Vec<_> =
        checkpoints.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path)).collect();
    files.sort();
    files
}

#[test]
fn every_trained_agent_fits_its_game_and_is_small() {
    assert!(files().iter().any(|(name, _)| name == "mu_torere"));
    for (name, path) in files() {
        let game = built_in().make(&name, &Default::default()).expect("it is named after a game");
        let length = fs::metadata(&path).unwrap().len();
        assert!(length < 3_000_000, "{name} has {length} bytes");
        let (info, _) = load(&path).unwrap();
        let params = serde_json::to_value(game.params()).unwrap();
        let params: CheckpointParams = serde_json::from_value(params).unwrap();
        info.expect(&name, game.version(), &params, &super::common::shape(game.spec())).unwrap();
    }
}

#[test]
fn the_feature_compiles_them_in() {
    let compiled_in: Vec<&str> = pretrained_games().collect();
    if cfg!(feature = "pretrained") {
        let files = files();
        assert_eq!(compiled_in, files.iter().map(|(name, _)| name).collect::<Vec<_>>());
        for (name, path) in files {
            let bytes = pretrained(&name).unwrap();
            assert_eq!(bytes, fs::read(path).unwrap());
            assert_eq!(load_bytes(bytes, Path::new("pretrained")).unwrap().0.game, name);
        }
    } else {
        assert_eq!(compiled_in, [""; 0]);
        assert_eq!(pretrained("mu_torere"), None);
    }
    assert_eq!(pretrained("chess"), None);
}
