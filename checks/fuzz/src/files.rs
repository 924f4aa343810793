//! Readers of files: checkpoints, learner states, replay shards, journals, saved games and solvers' tables.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use turnstone_agents::{Agent, AgentSpec, PlayableGame, checkpoint_params, shape};
use turnstone_arena::{Match, MatchOptions, OpeningSource, RatingScale, Running, SavedGame, Tournament, journal_games};
use turnstone_base::checksum::seal_line;
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::Params;
use turnstone_env::games::Mancala;
use turnstone_exact::{Silent, TableFile, TableIdentity, TableWriter};
use turnstone_games::mancala::MancalaEndgames;
use turnstone_models::{
    CheckpointInfo, Inference, Learner, LearnerState, NetworkConfig, OptimiserConfig, Weights, load_bytes, save,
    save_state,
};
use turnstone_selfplay::replay::{GameId, Shard, Window};
use turnstone_trainer::config::LearnConfig;
use turnstone_trainer::learn::BatchMaker;
use turnstone_trainer::run_folder::RunFolder;

use crate::resealed::resealed;
use crate::scratch;

/// The game of all files.
pub(crate) fn game() -> &'static dyn PlayableGame {
    static GAME: OnceLock<std::sync::Arc<dyn PlayableGame>> = OnceLock::new();
    let make = || turnstone_games::built_in().make("mu_torere", &Params::new()).expect("valid defaults");
    &**GAME.get_or_init(make)
}

/// A small network of each kind.
pub(crate) fn networks() -> [NetworkConfig; 4] {
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

/// A run folder whose state is yet to be written.
pub(crate) fn run_folder() -> RunFolder {
    let path = scratch::folder().join("run");
    if !path.exists() {
        RunFolder::create(&path, "seed = 1\n", false).expect("writable").create_dirs().expect("writable");
    }
    RunFolder::open(&path).expect("it has a config")
}

/// A state that is accepted becomes a learner.
pub(crate) fn learner_states(data: &[u8]) -> bool {
    let folder = run_folder();
    scratch::write(&folder.state(), &resealed(data));
    let Ok((state, ..)) = folder.load_state() else { return false };
    Learner::from_state(state, &OptimiserConfig::default()).is_ok()
}

pub(crate) fn example_state(network: &NetworkConfig) -> LearnerState {
    let learner = Learner::new(shape(game().spec()), network, &OptimiserConfig::default(), 1).expect("valid");
    learner.state().clone()
}

pub(crate) fn example_learner_states() -> Vec<Vec<u8>> {
    let standing = r#"{"iteration":3,"games":72,"positions":900,"window_from":1}"#;
    let path = scratch::folder().join("example_state.safetensors");
    let bytes = networks().map(|network| {
        save_state(&path, &example_state(&network), standing).expect("writable");
        std::fs::read(&path).expect("it was written")
    });
    bytes.to_vec()
}

pub(crate) fn game_id() -> GameId {
    GameId { name: game().name().to_owned(), version: game().version(), params: game().params() }
}

/// A shard that is accepted is learned from.
pub(crate) fn shards(data: &[u8]) -> bool {
    let path = scratch::file("000001.shard", data);
    let spec = game().spec();
    let Ok(shard) = Shard::read(&path, &game_id(), 1, spec.features(), spec.actions) else { return false };
    let mut window = Window::default();
    window.push(std::sync::Arc::new(shard), usize::MAX);
    if window.is_empty() {
        return true;
    }
    let config = LearnConfig { batch: 4, augment: true, ..LearnConfig::default() };
    let mut maker = BatchMaker::new(spec, &config);
    let batch = maker.draw(&window, &mut stream(1, Purpose::Learn, [0, 0]));
    let numbers = [batch.inputs(), batch.policy(), batch.value()];
    assert!(numbers.iter().all(|numbers| numbers.iter().all(|number| number.is_finite())));
    true
}

pub(crate) fn example_shards() -> Vec<Vec<u8>> {
    let (mut state, spec) = (game().start(), game().spec());
    let mut shard = Shard::new(1, spec.features());
    for ply in 0..6 {
        let legal = game().legal_actions(&state);
        let mut features = vec![0.0; spec.features()];
        game().observe(&state, &mut features);
        let mover = game().mover(&state);
        let share = 1.0 / legal.len() as f32;
        let policy = legal.iter().map(|&action| (spec.policy_index(mover, action) as u16, share));
        shard.push(&features, policy, mover, turnstone_search::Evaluation { value: 0.25, draw: 0.5 });
        game().play(&mut state, legal[ply % legal.len()]);
    }
    shard.finish_game(&turnstone_env::Outcome::draw());
    vec![shard.to_bytes(&game_id()), Shard::new(1, spec.features()).to_bytes(&game_id())]
}

/// A tournament between two random players.
pub(crate) fn tournament() -> Tournament<'static> {
    static AGENT: OnceLock<Agent> = OnceLock::new();
    let agent = AGENT.get_or_init(|| Agent::load(&AgentSpec::Random, game()).expect("it needs no file"));
    let stop = AtomicBool::new(false);
    let options = MatchOptions {
        games: Some(4),
        openings: Some(OpeningSource::Random([1, 2])),
        seed: Some(1),
        ..MatchOptions::default()
    };
    let drawn = Match::new(game(), vec![agent, agent], &options, RatingScale::Mean, &stop).expect("valid options");
    let header = drawn.expect("it was not stopped").header().clone();
    Tournament::of_header(game(), vec![agent, agent], header).expect("its own header")
}

/// The games of a journal that is accepted are confirmed by the rules or refused.
pub(crate) fn journals(data: &[u8]) -> bool {
    let tournament = tournament();
    let Ok(games) = journal_games(data, tournament.header()) else { return false };
    let stop = AtomicBool::new(true);
    let running = Running::new(1, &|_| (), &stop);
    tournament.play(None, games, &running).is_ok()
}

/// The lines of a journal without checksums, the header first.
pub(crate) fn journal_lines() -> Vec<String> {
    let tournament = tournament();
    let stop = AtomicBool::new(false);
    let running = Running::new(1, &|_| (), &stop);
    let record = tournament.play(None, Vec::new(), &running).expect("random players").expect("it was not stopped");
    let header = serde_json::to_string(&record.header).expect("plain fields");
    let games = record.games.iter().map(|game| serde_json::to_string(game).expect("plain fields"));
    std::iter::once(header).chain(games).collect()
}

pub(crate) fn example_journals() -> Vec<Vec<u8>> {
    let lines = journal_lines();
    vec![lines.iter().map(|line| seal_line(line) + "\n").collect::<String>().into_bytes()]
}

/// A saved game that is accepted can be played, or says which move is at fault.
pub(crate) fn saved_games(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let number = data.last().map(|&byte| usize::from(byte % 2));
    let saved = SavedGame::parse(text, None).or_else(|_| SavedGame::parse(text, number));
    saved.is_ok_and(|saved| match saved.replay(game()) {
        Ok(replay) => replay.positions.len() == saved.moves.len() + 1,
        Err(_) => false,
    })
}

pub(crate) fn example_saved_games() -> Vec<Vec<u8>> {
    let played = r#"{"game":"mu_torere","params":{},"players":["human","random"],"start":"START","moves":["0,4"],"position":"",
"outcome":null,"margin":null,"truncated":false,"resigned":1}"#;
    let played = played.replace("START", &game().position_text(&game().start()));
    let mut examples = vec![played.into_bytes(), b"0,4 # a comment\n\n0,4\n".to_vec()];
    examples.extend(example_journals());
    examples
}

pub(crate) fn identity() -> TableIdentity {
    TableIdentity { game: "mancala".into(), version: 1, params: "pits=6".into(), kind: "endgame 1".into() }
}

/// A table that is accepted can be read in whole, or says where it is damaged.
pub(crate) fn tables(data: &[u8]) -> bool {
    let path = scratch::file("a.table", data);
    let plain = TableFile::open(&path, &identity());
    if let Ok(table) = &plain {
        for (_, section) in table.sections() {
            let _ = table.bytes(section, 0..section.len());
        }
    }
    let is_sound = plain.is_ok_and(|table| table.verify().is_ok());
    MancalaEndgames::open(&Mancala::default(), &path).is_ok() || is_sound
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
