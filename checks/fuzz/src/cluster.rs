//! Readers of what machines of a cluster send each other.

use turnstone_cluster::{Played, Work};
use turnstone_env::Params;

/// A message that is accepted is the same after another trip.
pub(crate) fn messages(data: &[u8]) -> bool {
    if let Ok(played) = Played::decode(data) {
        assert_eq!(Played::decode(&played.encode()).expect("what is written can be read"), played);
        return true;
    }
    let game = turnstone_games::list!(turnstone_selfplay::row).make("mancala", &Params::new()).expect("a game");
    Work::decode(data, &*game).is_ok()
}

pub(crate) fn example_messages() -> Vec<Vec<u8>> {
    let items = vec![(0, Ok(vec![7; 20].into())), (1, Err("it panics".to_owned()))];
    vec![Played { work: "01".repeat(32), worker: ("w-1".to_owned(), 2), deliveries: Some(1), items }.encode()]
}
