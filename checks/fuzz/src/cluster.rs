//! Readers of what machines of a cluster send each other.

use turnstone_cluster::{Announcement, Beat, Effort, PROTOCOL, Probe, Range, Results, decode};
use turnstone_env::Params;
use turnstone_models::{NetworkConfig, Precision};
use turnstone_selfplay::SearchConfig;

/// A message that is accepted keeps its bounds, and is the same after another trip.
pub(crate) fn messages(data: &[u8]) -> bool {
    let mut accepted = false;
    if let Ok(range) = Range::decode(data) {
        assert_eq!(range.numbers().len(), usize::from(range.count));
        assert_eq!(range.encode(), data);
        accepted = true;
    }
    if let Ok(results) = Results::decode(data) {
        assert_eq!(results.encode(), data);
        accepted = true;
    }
    if let Ok(announcement) = decode::<Announcement>(data) {
        let again = serde_json::to_vec(&announcement).expect("plain fields");
        decode::<Announcement>(&again).expect("what is written can be read");
        accepted = true;
    }
    accepted |= decode::<Beat>(data).is_ok();
    accepted
}

pub(crate) fn example_messages() -> Vec<Vec<u8>> {
    let range = Range { job: [1; 32], first: 2, count: 3, seats: 4 };
    let effort = Effort { positions: 10, ..Effort::default() };
    let items = vec![(1, vec![7; 20]), (2, Vec::new())];
    let results = Results { job: [1; 32], effort, items };
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
        over: false,
    };
    let beat = Beat {
        protocol: PROTOCOL,
        worker: "w-1".into(),
        program: "turnstone".into(),
        threads: 2,
        runs: vec!["run-1".into()],
        done: [1, 2],
        rate: 3.5,
        held: 4,
        unsent: 0,
        refusals: vec![("run-2".into(), "other bits".into())],
    };
    let [announcement, beat] =
        [serde_json::to_vec(&announcement), serde_json::to_vec(&beat)].map(|bytes| bytes.expect("plain fields"));
    vec![announcement, beat, range.encode(), results.encode()]
}
