//! Training: one batch is overfitted, a resumed run equals the uninterrupted one, errors leave the learner unchanged.

use crate::gradients::{batch_of, further};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_models::{
    BoardShape, Example, ILLEGAL, Inference, LearnError, Learner, Neighbourhood, NetworkConfig, Optimiser,
    OptimiserConfig, ResidualConv, ResidualGraph, ResidualMlp, Shape, TrainingBatch, load_state, save_state, softmax,
};

const SHAPE: Shape = Shape::flat(12, 6);

fn mlp() -> NetworkConfig {
    ResidualMlp { blocks: 2, width: 32 }.into()
}

/// The sizes of `SHAPE` as those of a ring of five points, two numbers each, and two for the board.
fn ring() -> Shape {
    let next = |step: usize| (0..5).map(|point| Some(((point + step) % 5) as u16)).collect();
    let board = BoardShape {
        point_planes: 2,
        points: 5,
        directions: vec![next(1), next(4)],
        lattice: [2, 5],
        cells: (0..5).collect(),
    };
    Shape { board, ..SHAPE }
}

/// One network of every kind.
fn networks() -> [NetworkConfig; 3] {
    let neighbourhood = Neighbourhood::Lines;
    [
        mlp(),
        ResidualGraph { blocks: 2, channels: 16, reach: 1, neighbourhood }.into(),
        ResidualConv { blocks: 2, channels: 16, global_pooling: true }.into(),
    ]
}

/// Positions with random features, at least one legal action, and targets of every sharpness.
fn random_batch(rows: usize, rng: &mut impl Rng) -> TrainingBatch {
    let mut batch = TrainingBatch::new(SHAPE);
    for _ in 0..rows {
        let inputs: Vec<f32> = (0..SHAPE.inputs).map(|_| rng.random_range(-1.0..1.0)).collect();
        let sure = rng.random_range(0..SHAPE.actions);
        let legal: Vec<bool> = (0..SHAPE.actions).map(|action| action == sure || rng.random_bool(0.5)).collect();
        let (policy, value) = (distribution(&legal, rng), distribution(&[true; 3], rng));
        batch.push(Example { inputs: &inputs, targets: &[Some(&policy), Some(&value)] }).unwrap();
    }
    batch
}

fn distribution(allowed: &[bool], rng: &mut impl Rng) -> Vec<f32> {
    let raw: Vec<f32> =
        allowed.iter().map(|&a| if a { rng.random_range(0.0_f32..1.0).powi(3) + 1e-3 } else { 0.0 }).collect();
    let sum: f32 = raw.iter().sum();
    raw.iter().zip(allowed).map(|(x, &allowed)| if allowed { x / sum } else { ILLEGAL }).collect()
}

fn optimiser() -> OptimiserConfig {
    OptimiserConfig { ema_decay: 0.9, weight_decay: 1e-2, ..OptimiserConfig::default() }
}

fn learner(seed: u64) -> Learner {
    Learner::new(SHAPE, &mlp(), &optimiser(), seed).unwrap()
}

#[test]
fn one_batch_is_overfitted() {
    let batch = random_batch(16, &mut Xoshiro256PlusPlus::seed_from_u64(1));
    for network in networks() {
        overfits(&network, &batch);
    }
}

fn overfits(network: &NetworkConfig, batch: &TrainingBatch) {
    let optimiser = OptimiserConfig { weight_decay: 0.0, ..OptimiserConfig::default() };
    let mut learner = Learner::new(ring(), network, &optimiser, 2).unwrap();
    let first = learner.step(batch, 3e-3).unwrap();
    assert!((first.total_loss - first.policy_loss - first.value_loss).abs() < 1e-5, "{first:?}");
    let mut last = first.clone();
    for step in 0..800 {
        last = learner.step(batch, if step < 600 { 3e-3 } else { 3e-4 }).unwrap();
    }
    assert!(first.policy_divergence > 0.1 && last.policy_divergence.abs() < 2e-3, "{first:?} {last:?}");
    assert!((last.value_loss - batch.value_entropy()).abs() < 2e-3, "{last:?}");
    assert!((last.policy_entropy - batch.policy_entropy()).abs() < 1e-2, "{last:?}");

    // Inference with the weights of the learner predicts the targets.
    let mut inference = Inference::new(learner.weights(), network, &ring(), 16).unwrap();
    let predictions = inference.evaluate(16, batch.inputs());
    let mut outcome = predictions.value[..3].to_vec();
    softmax(&mut outcome);
    for (found, target) in outcome.iter().zip(batch.value()) {
        assert!((found - target).abs() < 0.03, "{outcome:?}");
    }
}

#[test]
fn a_resumed_run_is_the_uninterrupted_one_bit_for_bit() {
    for (network, further) in
        networks().into_iter().flat_map(|network| [(network.clone(), vec![]), (network, further())])
    {
        resumes(&network, &OptimiserConfig { further: further.clone(), ..optimiser() });
        resumes(&network, &OptimiserConfig { further, optimiser: Optimiser::Muon, ..optimiser() });
    }
}

fn resumes(network: &NetworkConfig, optimiser: &OptimiserConfig) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let batches: Vec<TrainingBatch> =
        (0..20).map(|_| batch_of(&ring(), &optimiser.further, 240, 0.5, &mut rng)).collect();
    let learner = |seed| Learner::new(ring(), network, optimiser, seed).unwrap();
    let rate = |index: usize| 2e-3 / (1.0 + index as f64);
    let mut whole = learner(4);
    for (index, batch) in batches.iter().enumerate() {
        whole.step(batch, rate(index)).unwrap();
    }

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("learner.safetensors");
    let mut first = learner(4);
    for (index, batch) in batches[..10].iter().enumerate() {
        first.step(batch, rate(index)).unwrap();
    }
    save_state(&path, first.state(), r#"{"games":17}"#).unwrap();
    let (state, extra) = load_state(&path).unwrap();
    assert_eq!((extra.as_str(), &state), (r#"{"games":17}"#, first.state()));
    let mut second = Learner::from_state(state, optimiser).unwrap();
    for (index, batch) in batches.iter().enumerate().skip(10) {
        second.step(batch, rate(index)).unwrap();
    }
    assert_eq!(second.steps(), 20);
    assert_eq!(second.state(), whole.state());
    assert_ne!(second.weights(), second.averaged());
}

#[test]
fn the_parts_of_a_batch_add_up() {
    let (mut rng, rate) = (Xoshiro256PlusPlus::seed_from_u64(9), 0.0);
    let batch = random_batch(204, &mut rng);
    let mut twice = TrainingBatch::new(SHAPE);
    for row in (0..204).chain(0..204) {
        let targets = [Some(&batch.policy()[row * 6..][..6]), Some(&batch.value()[row * 3..][..3])];
        twice.push(Example { inputs: &batch.inputs()[row * 12..][..12], targets: &targets }).unwrap();
    }
    let optimiser = optimiser();
    let mut learner = Learner::new(ring(), &networks()[1], &optimiser, 2).unwrap();
    let (once, twice) = (learner.step(&batch, rate).unwrap(), learner.step(&twice, rate).unwrap());
    for (once, twice) in [(once.total_loss, twice.total_loss), (once.gradient_norm, twice.gradient_norm)] {
        assert!((once - twice).abs() < 1e-6 * once, "{once} {twice}");
    }
}

#[test]
fn threads_change_nothing() {
    let optimiser = OptimiserConfig { further: further(), ..optimiser() };
    let batch = batch_of(&ring(), &optimiser.further, 900, 0.5, &mut Xoshiro256PlusPlus::seed_from_u64(9));
    for network in networks() {
        let states = [1, 2, 3, 7].map(|threads| {
            let mut learner = Learner::new(ring(), &network, &optimiser, 2).unwrap();
            learner.use_threads(threads);
            let reports = [1e-3, 1e-3].map(|rate| learner.step(&batch, rate).unwrap());
            (reports, learner.state().clone())
        });
        assert!(states.iter().all(|state| *state == states[0]));
    }
}

#[test]
fn learners_move_between_threads() {
    fn is_send<T: Send + 'static>() {}
    is_send::<Learner>();
}

#[test]
fn the_seed_decides_the_start() {
    assert_eq!(learner(5).state(), learner(5).state());
    assert_ne!(learner(5).weights(), learner(6).weights());
    assert_eq!(learner(5).weights(), learner(5).averaged());
}

#[test]
fn faults_are_errors_and_change_nothing() {
    let batch = random_batch(4, &mut Xoshiro256PlusPlus::seed_from_u64(7));
    let mut learner = learner(8);
    learner.step(&batch, 1e-3).unwrap();
    let before = learner.state().clone();

    // Inputs so large that the layers overflow.
    let mut monstrous = TrainingBatch::new(SHAPE);
    let targets: &[Option<&[f32]>] = &[Some(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), Some(&[1.0, 0.0, 0.0])];
    monstrous.push(Example { inputs: &[f32::MAX; 12], targets }).unwrap();
    let error = learner.step(&monstrous, 1e-3).unwrap_err();
    assert!(matches!(error, LearnError::NotFinite { step: 2, .. }), "{error}");

    assert_eq!(learner.step(&TrainingBatch::new(SHAPE), 1e-3), Err(LearnError::EmptyBatch));
    let mut other = TrainingBatch::new(Shape::flat(1, 1));
    other.push(Example { inputs: &[0.0], targets: &[Some(&[1.0]), Some(&[0.0, 1.0, 0.0])] }).unwrap();
    assert_eq!(
        learner.step(&other, 1e-3).unwrap_err().to_string(),
        "the batch has 1 inputs and 1 actions, the network 12 and 6"
    );
    for rate in [-1.0, f64::NAN, 2.0] {
        assert!(learner.step(&batch, rate).unwrap_err().to_string().starts_with("learning_rate is"));
    }
    assert_eq!(*learner.state(), before);
}

#[test]
fn constants_out_of_range_are_named() {
    let error = |optimiser: OptimiserConfig| Learner::new(SHAPE, &mlp(), &optimiser, 0).unwrap_err().to_string();
    let good = OptimiserConfig::default;
    assert_eq!(error(OptimiserConfig { ema_decay: 1.0, ..good() }), "ema_decay is 1, but must be from 0 to below 1");
    assert_eq!(error(OptimiserConfig { clip_norm: 0.0, ..good() }), "clip_norm is 0, but must be above 0");
    assert!(error(OptimiserConfig { weight_decay: f64::NAN, ..good() }).starts_with("weight_decay is NaN"));
}
