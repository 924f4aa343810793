//! Self-play whose threads share a device, for which a network on the processor stands here.

use std::panic::{AssertUnwindSafe, catch_unwind};
use turnstone_env::Rules;

use turnstone_env::games::{MuTorere, mu_torere};
use turnstone_models::{NetworkConfig, ResidualMlp, Weights};
use turnstone_search::{EvalBatch, Split};

use super::*;
use crate::config::{SearchConfig, SelfPlayConfig};

/// What happens at a batch, by its number from 0.
#[derive(Clone, Copy)]
enum Event {
    Nothing,
    Fails(usize),
    Panics(usize),
    Stops(usize),
}

/// A network that counts its batches.
struct Device<'a> {
    network: Split<mu_torere::State, NetworkBackend>,
    event: Event,
    stop: &'a Stop,
    batches: &'a AtomicUsize,
}

fn fault() -> Fault {
    Fault::new("device lost")
}

impl Backend<MuTorere> for Device<'_> {
    fn evaluate(&mut self, game: &MuTorere, batch: &mut EvalBatch<mu_torere::State>) -> Result<(), Fault> {
        let number = self.batches.fetch_add(1, Ordering::Relaxed);
        match self.event {
            Event::Fails(at) if at <= number => return Err(fault()),
            Event::Panics(at) if at == number => panic!("the driver is broken"),
            Event::Stops(at) if at == number => self.stop.raise(),
            _ => {}
        }
        self.network.evaluate(game, batch)
    }
}

/// Plays 40 games on six threads of four seats with two devices, in batches of up to `largest`. Returns the games, those of
/// threads with a network of their own, and the number of batches.
fn played(event: Event, largest: usize) -> (Result<Option<SelfPlayGames>, Fault>, SelfPlayGames, usize) {
    let game = MuTorere::default();
    let network = NetworkConfig::from(ResidualMlp { blocks: 1, width: 8 });
    let weights = Weights::random(&network.layout(&shape(&game.spec())).expect("a small network"), 1);
    let self_play = SelfPlayConfig {
        games_per_iteration: 40,
        concurrent_games: 8,
        cached_positions: 64,
        threads: 3,
        ..SelfPlayConfig::default()
    };
    let task = Task::new(
        GameSettings { simulations: 8, ..GameSettings::new(&SearchConfig::default(), &self_play, 1, 1) },
        &network,
        &weights,
    );
    let (progress, stop, batches) = (SelfPlayCounters::default(), Stop::default(), AtomicUsize::new(0));
    let expected = play(&game, &task, &progress, &stop).expect("sound").expect("not stopped");
    let device = || {
        let network = NetworkBackend::new(game.spec(), &network, &weights, 7).expect("sound").split();
        Device { network, event, stop: &stop, batches: &batches }
    };
    let backends = Queued::share(vec![device(), device()], largest, 6);
    let rules = Arc::new(GameContext::new(&game, &task.settings));
    let found = play_with(&rules, backends, 4, &progress, &stop);
    (found, expected, batches.into_inner())
}

#[test]
fn a_shared_device_gives_the_same_games() {
    for largest in [1, 5, 24] {
        let (found, expected, batches) = played(Event::Nothing, largest);
        let found = found.expect("nothing fails").expect("nothing stops it");
        assert_eq!((found.ends.len(), &found.shard, &found.ends), (40, &expected.shard, &expected.ends));
        assert!(batches > 0 && found.stats.positions == expected.stats.positions);
    }
}

#[test]
fn a_device_that_fails_ends_all_games_with_its_error() {
    for at in [0, 1, 30] {
        assert_eq!(played(Event::Fails(at), 7).0.map(drop), Err(fault()));
    }
}

#[test]
fn a_panic_of_the_driver_ends_all_games_with_it() {
    for at in [0, 30] {
        assert!(catch_unwind(AssertUnwindSafe(|| played(Event::Panics(at), 7).0)).is_err());
    }
}

#[test]
fn games_can_be_stopped_while_batches_are_under_way() {
    for at in [0, 1, 30] {
        assert!(played(Event::Stops(at), 7).0.expect("nothing fails").is_none());
    }
}
