//! The trained agents play alike with integers of eight bits and with floats.

use std::path::Path;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::DynGame;
use turnstone_env::games::built_in;
use turnstone_models::{Inference, IntegerInstructions, QuantisedNetwork, load, portable_softmax};

/// Number of positions that networks are quantised by.
const SAMPLES: usize = 512;
/// Number of positions that they are compared on.
const POSITIONS: usize = 2048;
const BATCH: usize = 64;

/// Positions of games, with the policy indices of their legal actions.
struct Positions {
    /// `[positions, inputs]`.
    observations: Vec<f32>,
    legal: Vec<Vec<usize>>,
}

/// Plays games move by move. `choose` returns the index of an action, given the observation, the policy indices of the
/// legal actions and a random number in [0, 1).
fn play(
    game: &dyn DynGame,
    count: usize,
    seed: u64,
    mut choose: impl FnMut(&[f32], &[usize], f32) -> usize,
) -> Positions {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let width = game.spec().features();
    let mut positions = Positions { observations: vec![0.0; count * width], legal: Vec::new() };
    let mut state = game.start();
    for observation in positions.observations.chunks_exact_mut(width) {
        if game.outcome(&state).is_some() {
            state = game.start();
        }
        let (actions, mover) = (game.legal_actions(&state), game.mover(&state));
        let legal: Vec<usize> = actions.iter().map(|&action| game.spec().policy_index(mover, action)).collect();
        game.observe(&state, observation);
        let chosen = choose(observation, &legal, rng.random());
        game.play(&mut state, actions[chosen]);
        positions.legal.push(legal);
    }
    positions
}

/// Priors of legal actions.
fn priors(logits: &[f32], legal: &[usize]) -> Vec<f32> {
    let mut priors: Vec<f32> = legal.iter().map(|&index| logits[index]).collect();
    portable_softmax(&mut priors);
    priors
}

/// The value for the mover, -1 to 1.
fn value(logits: &[f32]) -> f32 {
    let mut outcome = logits.to_vec();
    portable_softmax(&mut outcome);
    outcome[0] - outcome[2]
}

/// Policies and values of all positions, `[positions, actions]` and `[positions, 3]`.
fn outputs(engine: &mut Inference, observations: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let width = engine.shape().inputs;
    let (mut policy, mut value) = (Vec::new(), Vec::new());
    for rows in observations.chunks(BATCH * width) {
        let predictions = engine.evaluate(rows.len() / width, rows);
        policy.extend_from_slice(predictions.policy);
        value.extend_from_slice(predictions.value);
    }
    (policy, value)
}

/// Difference of two networks.
#[derive(Debug, Default)]
struct Distance {
    /// Share of the positions whose best action is the same, or has a prior within 0.02 of that of the best.
    agreement: f32,
    /// Mean Kullback-Leibler divergence of the policies.
    divergence: f32,
    /// Mean difference of the values.
    value: f32,
}

fn distance(legal: &[Vec<usize>], expected: &(Vec<f32>, Vec<f32>), found: &(Vec<f32>, Vec<f32>)) -> Distance {
    let count = legal.len() as f32;
    let actions = expected.0.len() / legal.len();
    let mut distance = Distance::default();
    for (row, legal) in legal.iter().enumerate() {
        let [p, q] = [expected, found].map(|outputs| priors(&outputs.0[row * actions..][..actions], legal));
        let best = |p: &[f32]| (0..p.len()).max_by(|&i, &j| p[i].total_cmp(&p[j])).unwrap();
        distance.agreement += f32::from(u8::from(p[best(&p)] - p[best(&q)] <= 0.02)) / count;
        let divergence = |(p, q): (&f32, &f32)| if *p > 0.0 { p * (p / q.max(1e-20)).ln() } else { 0.0 };
        distance.divergence += p.iter().zip(&q).map(divergence).sum::<f32>() / count;
        let [v, w] = [expected, found].map(|outputs| value(&outputs.1[3 * row..][..3]));
        distance.value += (v - w).abs() / count;
    }
    distance
}

/// `agreement` is the least share of positions with the same best action, as in [`Distance`].
fn agrees(name: &str, agreement: f32) {
    let game = built_in().make(name, &Default::default()).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../games/src/{name}/agent.safetensors"));
    let (info, weights) = load(&path).unwrap();
    let mut floats = Inference::new(&weights, &info.network, &info.shape, BATCH).unwrap();
    let random = play(&*game, SAMPLES, 1, |_, legal, x| (x * legal.len() as f32) as usize);
    let drawn = |observation: &[f32], legal: &[usize], x: f32| {
        let priors = priors(floats.evaluate(1, observation).policy, legal);
        let mut sum = 0.0;
        let reached = |p: &f32| {
            sum += p;
            sum > x
        };
        priors.iter().position(reached).unwrap_or(legal.len() - 1)
    };
    let own = play(&*game, POSITIONS, 2, drawn);
    let expected = outputs(&mut floats, &own.observations);
    // By random games, as for agents, and by the network's own, as in self-play.
    let some = &own.observations[..SAMPLES * info.shape.inputs];
    for samples in [&random.observations[..], some] {
        let network = Arc::new(QuantisedNetwork::new(&weights, &info.network, &info.shape, samples).unwrap());
        let mut engine = Inference::quantised_with_instructions(&network, BATCH, IntegerInstructions::Portable);
        let portable = outputs(&mut engine, &own.observations);
        for instructions in IntegerInstructions::available() {
            let mut engine = Inference::quantised_with_instructions(&network, BATCH, instructions);
            assert!(outputs(&mut engine, &own.observations) == portable, "{name}: {instructions:?}");
        }
        let distance = distance(&own.legal, &expected, &portable);
        println!("{name}: {distance:?}");
        assert!(distance.agreement > agreement, "{name}: {distance:?}");
        assert!(distance.divergence < 0.004, "{name}: {distance:?}");
        assert!(distance.value < 0.025, "{name}: {distance:?}");
    }
}

#[test]
fn konane() {
    agrees("konane", 0.98);
}

#[test]
fn mancala() {
    agrees("mancala", 0.98);
}

#[test]
fn morabaraba() {
    agrees("morabaraba", 0.97);
}

#[test]
fn morris() {
    agrees("morris", 0.98);
}

#[test]
fn mu_torere() {
    agrees("mu_torere", 0.98);
}
