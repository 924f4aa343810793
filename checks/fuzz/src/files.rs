//! Readers of files that people pass on: checkpoints, saved games and solvers' tables.

use std::path::Path;
use std::sync::OnceLock;

use turnstone_agents::{PlayableGame, checkpoint_params, shape};
use turnstone_arena::SavedGame;
use turnstone_env::Params;
use turnstone_env::games::Mancala;
use turnstone_exact::{Silent, TableFile, TableIdentity, TableWriter};
use turnstone_games::mancala::MancalaEndgames;
use turnstone_models::{CheckpointInfo, Inference, NetworkConfig, Weights, load_bytes, save};

use crate::resealed::resealed;
use crate::scratch;

/// The game of all files.
pub(crate) fn game() -> &'static dyn PlayableGame {
    static GAME: OnceLock<std::sync::Arc<dyn PlayableGame>> = OnceLock::new();
    let make = || turnstone_games::built_in().make("mu_torere", &Params::new()).expect("valid defaults");
    &**GAME.get_or_init(make)
}

/// A small network of each kind.
fn networks() -> [NetworkConfig; 4] {
    let kinds = [
        r#"{"kind":"residual_mlp","blocks":1,"width":4}"#,
        r#"{"kind":"residual_graph","blocks":1,"channels":2,"reach":1}"#,
        r#"{"kind":"residual_graph","blocks":1,"channels":2,"reach":1,"neighbourhood":"square"}"#,
        r#"{"kind":"residual_conv","blocks":1,"channels":2,"global_pooling":true}"#,
    ];
    kinds.map(|kind| serde_json::from_str(kind).expect("a network"))
}

/// A checkpoint that is accepted can be evaluated.
pub(crate) fn checkpoints(data: &[u8]) -> bool {
    // Under a checksum that fits, so that changes are not refused before they are read.
    let Ok((info, weights)) = load_bytes(&resealed(data), Path::new("input")) else { return false };
    let mut inference = Inference::new(&weights, &info.network, &info.shape, 1).expect("the weights were checked");
    inference.evaluate(1, &vec![1.0; info.shape.inputs]);
    info.expect(game().name(), game().version(), &checkpoint_params(game()), &shape(game().spec())).is_ok()
}

/// The bytes of checkpoints.
pub(crate) fn example_checkpoints() -> Vec<Vec<u8>> {
    let bytes = networks().map(|network| {
        let path = scratch::folder().join("example.safetensors");
        let weights = Weights::random(&network.layout(&shape(game().spec())).expect("valid"), 1);
        let (params, shape) = (checkpoint_params(game()), shape(game().spec()));
        let info = CheckpointInfo::new(game().name(), game().version(), params, network, shape, 7);
        save(&path, &info, &weights).expect("writable");
        std::fs::read(path).expect("it was written")
    });
    bytes.to_vec()
}

/// A saved game that is accepted can be played, or says which move is at fault.
pub(crate) fn saved_games(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let saved = SavedGame::parse(text, None).or_else(|_| SavedGame::parse(text, Some(1)));
    saved.is_ok_and(|saved| match saved.replay(game()) {
        Ok(replay) => replay.positions.len() == saved.moves.len() + 1,
        Err(_) => false,
    })
}

pub(crate) fn example_saved_games() -> Vec<Vec<u8>> {
    let played = r#"{"game":"mu_torere","params":{},"players":["human","random"],"start":"START","moves":["0,4"],"position":"",
"outcome":null,"margin":null,"truncated":false,"resigned":1}"#;
    let played = played.replace("START", &game().position_text(&game().start()));
    vec![played.into_bytes(), b"0,4 # a comment\n\n0,4\n".to_vec()]
}

fn identity() -> TableIdentity {
    TableIdentity { game: "mancala".into(), version: 1, params: "pits=6".into(), kind: "endgame 1".into() }
}

/// A table that is accepted can be read in whole. So can one whose checksums fit whatever it contains.
pub(crate) fn tables(data: &[u8]) -> bool {
    [data, &resealed_table(data)].map(is_table).contains(&true)
}

fn is_table(data: &[u8]) -> bool {
    let path = scratch::file("a.table", data);
    let plain = TableFile::open(&path, &identity());
    if let Ok(table) = &plain {
        for (_, section) in table.sections() {
            let _ = table.bytes(section);
        }
    }
    MancalaEndgames::open(&Mancala::default(), &path).is_ok() || plain.is_ok()
}

pub(crate) fn example_tables() -> Vec<Vec<u8>> {
    let path = scratch::folder().join("example.table");
    let mut writer = TableWriter::create(&path, &identity()).expect("writable");
    writer.section("short", &[1, 2, 3]).expect("writable");
    writer.section("empty", &[]).expect("writable");
    writer.section("long", &[7; 200]).expect("writable");
    writer.finish().expect("writable");
    let plain = std::fs::read(&path).expect("it was written");
    MancalaEndgames::build(&Mancala::default(), 1, 1, &Silent).save(&path).expect("writable");
    vec![plain, std::fs::read(&path).expect("it was written")]
}

/// The table with the length and checksums that fit its contents.
fn resealed_table(data: &[u8]) -> Vec<u8> {
    const PREFIX: usize = 64;
    let mut bytes = data.to_vec();
    if bytes.len() < PREFIX {
        return bytes;
    }
    let length = bytes.len() as u64;
    bytes[24..32].copy_from_slice(&length.to_le_bytes());
    let start = u64::from_le_bytes(bytes[16..24].try_into().expect("eight bytes"));
    if let Some(directory) = usize::try_from(start).ok().and_then(|start| bytes.get(start..)) {
        let checksum = crc32fast::hash(directory);
        bytes[32..36].copy_from_slice(&checksum.to_le_bytes());
    }
    let checksum = crc32fast::hash(&bytes[..PREFIX - 4]);
    bytes[PREFIX - 4..PREFIX].copy_from_slice(&checksum.to_le_bytes());
    bytes
}
