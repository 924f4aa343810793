//! Signature of inference, an iteration of self-play and a learner step.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, ensure};
use rand::{Rng, SeedableRng};
use turnstone_base::streams::Stream;
use turnstone_env::{AnyState, Game, Params};
use turnstone_games::Benched;
use turnstone_models::{
    Example, Inference, Instructions, IntegerInstructions, Learner, LearnerState, NamedTensor, NetworkConfig,
    OptimiserConfig, QuantisedNetwork, Shape, TensorSpec, TrainingBatch, Weights,
};
use turnstone_selfplay::TrainableGame;

use super::Digest;
use super::games::{default_game, positions};
use turnstone_agents::{Playable, SearchKind, shape};
use turnstone_selfplay::{GameSettings, Progress, SelfPlayGames, Task};
use turnstone_trainer::config::{SearchConfig, SelfPlayConfig};

/// A small network for each game that names one.
fn networks() -> Result<Vec<(Arc<dyn TrainableGame>, NetworkConfig)>> {
    let games = turnstone_games::list!(turnstone_selfplay::row);
    let mut all = Vec::new();
    turnstone_games::for_each_game!(K => if let Some(network) = K::NETWORK {
        all.push((games.make(<K as Playable>::Game::NAME, &Params::new())?, toml::from_str(network)?));
    });
    Ok(all)
}

/// Random weights for every tensor including biases, drawn uniformly, without any float function that differs between
/// machines.
pub(super) fn weights(layout: &[TensorSpec], seed: u64) -> Result<Weights> {
    let mut rng = Stream::seed_from_u64(seed);
    let mut tensor = |spec: &TensorSpec| {
        let scale = spec.deviation.max(0.1) as f32;
        let uniform = |bits: u64| (bits >> 40) as f32 / (1 << 23) as f32 - 1.0;
        let data = (0..spec.count()).map(|_| 1.75 * scale * uniform(rng.next_u64())).collect();
        NamedTensor { name: spec.name.clone(), shape: spec.shape.clone(), data }
    };
    Ok(Weights::new(layout, layout.iter().map(&mut tensor).collect())?)
}

/// The positions of [`positions`] for a game given by name.
fn typed_positions(name: &str, count: usize, plies: usize) -> Result<Vec<AnyState>> {
    let mut found = Vec::new();
    turnstone_games::for_each_game!(K => if <K as Playable>::Game::NAME == name {
        found.extend(positions(&default_game::<K>()?, count, plies).into_iter().map(AnyState::new));
    });
    Ok(found)
}

/// Observations of fixed positions, `[count, features]`.
fn observations(game: &dyn TrainableGame, count: usize) -> Result<Vec<f32>> {
    let features = game.spec().features();
    let mut inputs = vec![0.0; count * features];
    for (state, row) in typed_positions(game.name(), count, 40)?.iter().zip(inputs.chunks_exact_mut(features)) {
        game.observe(state, row);
    }
    Ok(inputs)
}

/// Checksum of the inference networks' logits for several batch sizes.
pub(super) fn inference(instructions: Instructions) -> Result<Digest> {
    const BATCHES: [usize; 3] = [1, 7, 40];
    let mut digest = Digest::default();
    for (game, network) in networks()? {
        let shape = shape(game.spec());
        let inputs = observations(&*game, BATCHES[2])?;
        let weights = weights(&network.layout(&shape)?, 5)?;
        let mut engine = Inference::with_instructions(&weights, &network, &shape, BATCHES[2], instructions)?;
        for batch in BATCHES {
            let found = engine.evaluate(batch, &inputs[..batch * shape.inputs]);
            digest.floats(found.policy);
            digest.floats(found.value);
        }
    }
    Ok(digest)
}

/// Checksum of the quantised networks' logits, which are the same with every instruction set.
pub(super) fn integer_inference() -> Result<Digest> {
    const BATCH: usize = 40;
    let mut digest = Digest::default();
    for (game, network) in networks()? {
        let shape = shape(game.spec());
        let inputs = observations(&*game, BATCH)?;
        let weights = weights(&network.layout(&shape)?, 5)?;
        let network = Arc::new(QuantisedNetwork::new(&weights, &network, &shape, &inputs)?);
        let mut logits: Vec<[Vec<f32>; 2]> = Vec::new();
        for instructions in IntegerInstructions::available() {
            let mut engine = Inference::quantised_with_instructions(&network, BATCH, instructions);
            let found = engine.evaluate(BATCH, &inputs);
            logits.push([found.policy.to_vec(), found.value.to_vec()]);
        }
        ensure!(
            logits.iter().all(|others| *others == logits[0]),
            "the kernels for integers disagree on {}",
            game.name()
        );
        logits[0].iter().for_each(|logits| digest.floats(logits));
    }
    Ok(digest)
}

/// Checksum of a small iteration of self-play for each kind of network and of search.
pub(super) fn self_play(threads: usize) -> Result<Digest> {
    let mut digest = Digest::default();
    for (game, network) in networks()? {
        for method in [SearchKind::Puct, SearchKind::Gumbel] {
            add_self_play(&*game, &network, method, threads, &mut digest)?;
        }
    }
    Ok(digest)
}

fn add_self_play(
    game: &dyn TrainableGame,
    network: &NetworkConfig,
    method: SearchKind,
    threads: usize,
    digest: &mut Digest,
) -> Result<()> {
    let weights = weights(&network.layout(&shape(game.spec()))?, 6)?;
    let search = SearchConfig::from(method);
    let self_play = SelfPlayConfig {
        games_per_iteration: 10,
        concurrent_games: 4,
        threads,
        opening_plies: 8,
        temperature_plies: 6,
        ..SelfPlayConfig::default()
    };
    let settings = GameSettings { simulations: 16, ..GameSettings::new(&search, &self_play, 7, 3) };
    let task = Task::new(settings, network, &weights);
    let games = game.self_play(&task, &Progress::default(), &AtomicBool::new(false))?;
    add_games(&games.expect("nothing stops it"), digest);
    Ok(())
}

/// Adds all training data.
fn add_games(games: &SelfPlayGames, digest: &mut Digest) {
    digest.number(games.stats.positions);
    digest.number(games.stats.simulations);
    for (outcome, plies) in &games.ends {
        digest.text(outcome.name());
        digest.number(outcome.margin);
        digest.number(*plies);
    }
    for i in 0..games.shard.len() {
        let position = games.shard.position(i);
        digest.floats(position.features);
        position.policy_indices.iter().for_each(|&index| digest.number(index));
        digest.floats(position.policy);
        digest.floats(&[position.root.value, position.root.draw]);
        digest.number(position.mover.number());
        digest.number(position.result);
        digest.number(position.margin);
        digest.number(position.plies_left);
    }
}

/// Checksum of one learner step for each kind of network: losses, weights, moments and averages after it.
pub(super) fn learner() -> Result<Digest> {
    let mut digest = Digest::default();
    for (game, network) in networks()? {
        let shape = shape(game.spec());
        let batch = batch(&*game, &shape)?;
        let training = weights(&network.layout(&shape)?, 8)?;
        let state = LearnerState::new(shape, network, training);
        let mut learner = Learner::from_state(state, &OptimiserConfig::default())?;
        let report = learner.step(&batch, 1e-2)?;
        let losses = [report.policy_loss, report.value_loss, report.total_loss, report.gradient_norm];
        losses.iter().for_each(|loss| digest.number(loss.to_bits()));
        let state = learner.state();
        for tensors in [&state.weights, &state.moment1, &state.moment2, &state.average] {
            tensors.tensors().iter().for_each(|tensor| digest.floats(&tensor.data));
        }
    }
    Ok(digest)
}

/// A batch of fixed positions with artificial targets: policies that differ by action, and all three outcomes.
fn batch(game: &dyn TrainableGame, shape: &Shape) -> Result<TrainingBatch> {
    const ROWS: usize = 40;
    let spec = game.spec();
    let mut batch = TrainingBatch::new(shape.clone());
    let mut inputs = vec![0.0; shape.inputs];
    for (row, state) in typed_positions(game.name(), ROWS, 40)?.iter().enumerate() {
        game.observe(state, &mut inputs);
        let actions = game.legal_actions(state);
        let (mut legal, mut policy) = (vec![false; shape.actions], vec![0.0; shape.actions]);
        let sum: usize = (1..=actions.len()).sum();
        for (rank, &action) in (1..).zip(&*actions) {
            let index = spec.policy_index(game.mover(state), action);
            (legal[index], policy[index]) = (true, rank as f32 / sum as f32);
        }
        let mut value = [0.125; 3];
        value[row % 3] = 0.75;
        batch.push(Example { inputs: &inputs, legal: &legal, policy: &policy, value })?;
    }
    Ok(batch)
}
