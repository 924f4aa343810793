//! The merging of requests into batches, with networks on the processor that stand for one on a GPU.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use turnstone_env::games::mu_torere::MuTorere;
use turnstone_models::{Inference, NetworkConfig, ResidualMlp, Weights};

use super::super::play_on_cpu;
use super::*;
use crate::GameSettings;
use crate::config::{SearchConfig, SelfPlayConfig};

/// What happens at a batch, by its number from 0.
#[derive(Clone, Copy)]
enum Event {
    Nothing,
    FinishFails(usize),
    BeginPanics(usize),
    Stop(usize),
}

/// A network on the processor, which notes the batches.
struct Fake<'a> {
    inference: Mutex<Inference>,
    event: Event,
    stop: &'a AtomicBool,
    /// Rows of each batch.
    begun: Mutex<Vec<usize>>,
    finished: AtomicUsize,
}

fn fault() -> DeviceError {
    DeviceError::Failed("device lost".to_owned())
}

impl Batches for Fake<'_> {
    type Batch = (usize, GpuPredictions);

    fn begin(&self, rows: usize, observations: Vec<f32>) -> Self::Batch {
        let mut begun = self.begun.lock().unwrap();
        let number = begun.len();
        begun.push(rows);
        assert!(begun.len() - self.finished.load(Ordering::Relaxed) <= UNDER_WAY);
        match self.event {
            Event::BeginPanics(at) if at == number => panic!("the driver is broken"),
            Event::Stop(at) if at == number => self.stop.store(true, Ordering::Relaxed),
            _ => {}
        }
        let mut inference = self.inference.lock().unwrap();
        let found = inference.evaluate(rows, &observations);
        (number, GpuPredictions { policy: found.policy.to_vec(), value: found.value.to_vec() })
    }

    fn finish(&self, (number, outputs): Self::Batch) -> Result<GpuPredictions, DeviceError> {
        assert_eq!(self.finished.fetch_add(1, Ordering::Relaxed), number, "in the order in which they began");
        match self.event {
            Event::FinishFails(at) if at == number => Err(fault()),
            _ => Ok(outputs),
        }
    }
}

/// Moves of each finished game, by its number.
type Moves = Vec<(usize, Vec<turnstone_env::Action>)>;

/// The games of the parts, and whether all parts were finished.
fn moves(parts: Vec<Option<Part>>) -> (Moves, bool) {
    let whole = parts.iter().all(Option::is_some);
    let games = parts.into_iter().flatten().flat_map(|part| part.games);
    let mut moves: Moves = games.map(|game| (game.number, game.moves)).collect();
    moves.sort_unstable();
    (moves, whole)
}

/// Plays 40 games on three workers of two halves of four seats, in batches of up to `largest`. Returns the games, those of
/// the processor, and the rows of each batch.
fn played(event: Event, largest: usize) -> (Result<(Moves, bool), DeviceError>, Moves, Vec<usize>) {
    let game = MuTorere::default();
    let network = NetworkConfig::from(ResidualMlp { blocks: 1, width: 8 });
    let shape = shape(&game.spec());
    let weights = Weights::random(&network.layout(&shape).expect("a small network"), 1);
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
    let rules = Arc::new(GameRules::new(&game, &task.settings));
    let (progress, stop) = (Progress::default(), AtomicBool::new(false));
    let expected = play_on_cpu(&rules, &task, &progress, &stop).expect("sound");
    let fake = Fake {
        inference: Mutex::new(Inference::new(&weights, &network, &shape, largest).expect("sound")),
        event,
        stop: &stop,
        begun: Mutex::default(),
        finished: AtomicUsize::new(0),
    };
    assert_eq!((self_play.gpu_seats(), self_play.gpu_batch()), (4, 24));
    let found = play_with(&fake, largest, &rules, &progress, &stop);
    (found.map(moves), moves(expected).0, fake.begun.into_inner().unwrap_or_default())
}

#[test]
fn batches_of_any_size_give_the_games_of_the_processor() {
    for largest in [4, 5, 7, 24] {
        let (found, expected, batches) = played(Event::Nothing, largest);
        assert_eq!(expected.len(), 40);
        assert!(found == Ok((expected, true)), "batches of up to {largest}");
        assert!(batches.iter().all(|&rows| (1..=largest).contains(&rows)), "{batches:?}");
    }
}

#[test]
fn a_gpu_that_fails_ends_all_games_with_its_error() {
    for at in [0, 1, 30] {
        assert_eq!(played(Event::FinishFails(at), 7).0, Err(fault()));
    }
}

#[test]
fn a_panic_of_the_driver_ends_all_games_with_it() {
    for at in [0, 30] {
        let panic = catch_unwind(AssertUnwindSafe(|| played(Event::BeginPanics(at), 7).0)).expect_err("it panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"the driver is broken"));
    }
}

#[test]
fn games_can_be_stopped_while_batches_are_under_way() {
    for at in [0, 1, 30] {
        let (_, is_whole) = played(Event::Stop(at), 7).0.expect("nothing fails");
        assert!(!is_whole);
    }
}

/// A network whose policy is the observation, of one feature per row.
struct Echo(Mutex<Vec<usize>>);

impl Batches for Echo {
    type Batch = Vec<f32>;

    fn begin(&self, rows: usize, observations: Vec<f32>) -> Vec<f32> {
        self.0.lock().unwrap().push(rows);
        assert_eq!(observations.len(), rows);
        observations
    }

    fn finish(&self, policy: Vec<f32>) -> Result<GpuPredictions, DeviceError> {
        Ok(GpuPredictions { value: Vec::new(), policy })
    }
}

#[test]
fn requests_are_merged_in_their_order_and_each_gets_its_rows() {
    for (largest, batches) in [(4, vec![3, 2, 4, 1]), (5, vec![5, 5]), (6, vec![5, 5]), (9, vec![9, 1]), (10, vec![10])]
    {
        let (sender, requests) = channel();
        let ask = |first: usize, rows: usize| {
            let (reply, replies) = channel();
            let observations: Vec<f32> = (first..first + rows).map(|number| number as f32).collect();
            sender.send(Request { rows, observations: observations.clone(), reply }).expect("the receiver is there");
            (observations, replies)
        };
        let asked = [(0, 3), (3, 2), (5, 4), (9, 1)].map(|(first, rows)| ask(first, rows));
        drop(sender);
        let echo = Echo(Mutex::default());
        serve(&echo, largest, requests).expect("nothing fails");
        for (observations, replies) in asked {
            let Reply { outputs, rows } = replies.recv().expect("an answer");
            assert_eq!(outputs.policy[rows], observations);
        }
        assert_eq!(echo.0.into_inner().unwrap(), batches, "of up to {largest}");
    }
}
