//! Readers of what machines of a cluster send each other.

use std::sync::OnceLock;

use turnstone_agents::{Agent, shape};
use turnstone_cluster::{
    Announcement, Beat, Effort, Identity, Job, Kind, PROTOCOL, Probe, Range, Results, decode_announcement, decode_beat,
    of_positions, of_task,
};
use turnstone_env::Params;
use turnstone_models::{NetworkConfig, Precision, ResidualMlp, Weights};
use turnstone_selfplay::{FinishedGame, GameSettings, Games, Progress, Restore, SearchConfig, SelfPlayConfig, Task};

/// A message that is accepted keeps its bounds, and is the same after another trip.
pub(crate) fn messages(data: &[u8]) -> bool {
    let mut accepted = false;
    if let Ok(range) = Range::decode(data) {
        assert_eq!(range.numbers().len(), usize::from(range.count));
        assert_eq!(range.encode(), data);
        accepted = true;
    }
    if let Ok((_, results)) = Results::decode(data) {
        assert!(results.items.iter().map(|(_, item)| item.len()).sum::<usize>() <= data.len());
        accepted = true;
    }
    if let Ok(announcement) = decode_announcement(data) {
        let again = serde_json::to_vec(&announcement).expect("plain fields");
        decode_announcement(&again).expect("what is written can be read");
        accepted = true;
    }
    if let Ok(beat) = decode_beat(data) {
        assert_eq!(decode_beat(data), Ok(beat));
        accepted = true;
    }
    accepted
}

pub(crate) fn example_messages() -> Vec<Vec<u8>> {
    let range = Range { job: [1; 32], first: 2, count: 3, seats: 4, except: Some([5; 32]) };
    let effort = Effort { positions: 10, ..Effort::default() };
    let items = vec![(1, vec![7; 20]), (2, Vec::new())];
    let results = Results { worker: "w-1".into(), run: "run-1".into(), job: [1; 32], effort, items };
    let probe = Probe {
        network: NetworkConfig::default(),
        search: SearchConfig::default(),
        precision: Precision::I8,
        checksum: "00".into(),
    };
    let announcement = Announcement {
        protocol: PROTOCOL,
        run: "run-1".into(),
        program: "turnstone".into(),
        game: "mancala".into(),
        version: 1,
        params: Params::new().with("stones", 3),
        probe,
        stage: "self-play".into(),
        job: "01".repeat(32),
        items: [4, 2],
        ack_wait: 3000,
        excluded: vec!["00".repeat(32)],
        over: false,
    };
    let identity = Identity::new().expect("a key");
    let beat = Beat {
        protocol: PROTOCOL,
        worker: "w-1".into(),
        key: identity.key().iter().map(|byte| format!("{byte:02x}")).collect(),
        program: "turnstone".into(),
        threads: 2,
        runs: vec!["run-1".into()],
        done: [1, 2],
        rate: 3.5,
        held: 4,
        spooled: 0,
        refusals: vec![("run-2".into(), "other bits".into())],
    };
    let announcement = serde_json::to_vec(&announcement).expect("plain fields");
    vec![announcement, beat.encode(&identity), range.encode(), results.encode(&identity)]
}

fn games() -> &'static Games {
    static GAMES: OnceLock<Games> = OnceLock::new();
    GAMES.get_or_init(|| turnstone_games::list!(turnstone_selfplay::row))
}

/// A job that is accepted can be begun.
pub(crate) fn jobs(data: &[u8]) -> bool {
    let Ok(job) = Job::decode(data, games()) else { return false };
    if let Kind::SelfPlay(task) = &job.kind {
        drop(job.game.restorer(task));
    }
    job.items() > 0
}

pub(crate) fn example_jobs() -> Vec<Vec<u8>> {
    let game = games().make("mu_torere", &Params::new()).expect("a game");
    let agent = Agent::load(&"alphabeta:depth=2".parse().expect("a spec"), &*game).expect("it plays");
    let start = game.position_text(&game.start());
    vec![with_task(|task| of_task(&*game, task)), of_positions(&*game, &agent, &[&start], 3)]
}

fn with_task<T>(use_it: impl FnOnce(&Task) -> T) -> T {
    let game = games().make("mu_torere", &Params::new()).expect("a game");
    let network = NetworkConfig::from(ResidualMlp { blocks: 0, width: 4 });
    let weights = Weights::random(&network.layout(&shape(game.spec())).expect("a small network"), 1);
    let self_play = SelfPlayConfig { games_per_iteration: 2, ..SelfPlayConfig::default() };
    use_it(&Task::new(
        GameSettings { simulations: 2, ..GameSettings::new(&SearchConfig::default(), &self_play, 1, 1) },
        &network,
        &weights,
    ))
}

/// A transcript that is accepted gives a game that ends, and is written as it was read.
pub(crate) fn transcripts(data: &[u8]) -> bool {
    static RESTORER: OnceLock<Restore> = OnceLock::new();
    let game = games().make("mu_torere", &Params::new()).expect("a game");
    let restore = RESTORER.get_or_init(|| with_task(|task| game.restorer(task)));
    let Ok(restored) = restore(0, data) else { return false };
    assert!(usize::from(restored.plies) >= restored.moves.len() && !restored.moves.is_empty());
    assert_eq!(restored.transcript(), data);
    true
}

pub(crate) fn example_transcripts() -> Vec<Vec<u8>> {
    let game = games().make("mu_torere", &Params::new()).expect("a game");
    with_task(|task| {
        let mut sessions = game.task_sessions(task, 1).expect("sound");
        let mut numbers = 0..2;
        while sessions[0].step(2, &mut || numbers.next(), &Progress::default()) {}
        sessions[0].take_finished().iter().filter(|game| game.number == 0).map(FinishedGame::transcript).collect()
    })
}
