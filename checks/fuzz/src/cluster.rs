//! Readers of what machines of a cluster send each other.

use turnstone_cluster::{Job, Results, Run, Work};
use turnstone_selfplay::Games;

/// A message that is accepted is the same after another trip.
pub(crate) fn messages(data: &[u8]) -> bool {
    let mut accepted = false;
    if let Ok(results) = Results::decode(data) {
        assert_eq!(Results::decode(&results.encode()).expect("what is written can be read"), results);
        accepted = true;
    }
    if let Ok(job) = serde_json::from_slice::<Job>(data) {
        let again = serde_json::to_vec(&job).expect("plain fields");
        assert_eq!(serde_json::from_slice::<Job>(&again).expect("what is written can be read"), job);
        accepted = true;
    }
    accepted |= serde_json::from_slice::<Run>(data).is_ok();
    accepted | Work::decode(data, &Games::default()).is_ok()
}

pub(crate) fn example_messages() -> Vec<Vec<u8>> {
    let items = vec![(1, vec![7; 20]), (2, Vec::new())];
    let worker = ("w-1".to_owned(), 2);
    let results = Results { work: "01".repeat(32), worker, delivered: 1, effort: [5; 6], items, ..Results::default() };
    let job = Job { work: "01".repeat(32), pieces: 1, first: 2, count: 3 };
    vec![results.encode(), serde_json::to_vec(&job).expect("plain fields")]
}
