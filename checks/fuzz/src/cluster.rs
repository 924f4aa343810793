//! Readers of what machines of a cluster send each other.

use turnstone_cluster::{Results, Work};

/// A message that is accepted is the same after another trip.
pub(crate) fn messages(data: &[u8]) -> bool {
    if let Ok(results) = Results::decode(data) {
        assert_eq!(Results::decode(&results.encode()).expect("what is written can be read"), results);
        return true;
    }
    Work::decode(data, &turnstone_games::list!(turnstone_selfplay::row)).is_ok()
}

pub(crate) fn example_messages() -> Vec<Vec<u8>> {
    let items = vec![(1, vec![7; 20]), (2, Vec::new())];
    let worker = ("w-1".to_owned(), 2);
    let results = Results { work: "01".repeat(32), worker, delivered: 1, effort: [5; 6], items, ..Results::default() };
    vec![results.encode()]
}
