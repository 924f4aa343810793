//! Evaluator that runs a network: features of positions in, priors of the legal actions and values for the first side
//! out.

use std::ops::Range;
use std::sync::Arc;

use turnstone_env::{Action, ActionList, Game, Side, Spec};
use turnstone_models::{
    BoardShape, DeviceError, GpuInference, Inference, Instructions, NetworkConfig, NetworkError, QuantisedNetwork,
    Shape, Weights, portable_softmax, softmax,
};
use turnstone_search::{EvalBatch, Evaluation, Evaluator, Rollout, Uniform};

/// Shape of the inputs and outputs of a network for a game.
#[must_use]
pub fn shape(spec: &Spec) -> Shape {
    let board = BoardShape {
        point_planes: spec.point_planes.len(),
        points: spec.points,
        directions: spec.directions.clone(),
        lattice: spec.lattice,
        cells: spec.cells.clone(),
    };
    Shape { inputs: spec.features(), actions: spec.actions, board, action_kinds: spec.kinds() }
}

/// Evaluates positions with a network.
#[derive(Debug)]
pub struct NetworkEvaluator {
    inference: Engine,
    /// Logits to probabilities.
    softmax: fn(&mut [f32]),
    spec: Spec,
    inputs: Vec<f32>,
}

/// What computes the network.
#[derive(Debug)]
enum Engine {
    Cpu(Box<Inference>),
    Gpu(Box<GpuInference>),
}

impl NetworkEvaluator {
    /// Creates an evaluator that runs the network on up to `max_batch` positions at a time; larger batches are split.
    ///
    /// # Errors
    /// The weights do not match the network and the game's shape.
    pub fn new(spec: Spec, network: &NetworkConfig, weights: &Weights, max_batch: usize) -> Result<Self, NetworkError> {
        Self::with_instructions(spec, network, weights, max_batch, Instructions::best())
    }

    /// [`NetworkEvaluator::new`] for a given instruction set.
    ///
    /// # Errors
    /// As for [`NetworkEvaluator::new`].
    ///
    /// # Panics
    /// If the processor does not have the instructions.
    pub fn with_instructions(
        spec: Spec,
        network: &NetworkConfig,
        weights: &Weights,
        max_batch: usize,
        instructions: Instructions,
    ) -> Result<Self, NetworkError> {
        let inference = Inference::with_instructions(weights, network, &shape(&spec), max_batch, instructions)?;
        Ok(Self::with_inference(spec, inference, softmax))
    }

    /// Creates an evaluator that runs a quantised network, which is made for this game. Its evaluations have the same bits
    /// on every processor.
    #[must_use]
    pub fn quantised(spec: Spec, network: &Arc<QuantisedNetwork>, max_batch: usize) -> Self {
        Self::with_inference(spec, Inference::quantised(network, max_batch), portable_softmax)
    }

    /// Creates an evaluator that runs the network on a GPU.
    #[must_use]
    pub fn on_gpu(spec: Spec, inference: GpuInference) -> Self {
        Self { inference: Engine::Gpu(Box::new(inference)), softmax, spec, inputs: Vec::new() }
    }

    fn with_inference(spec: Spec, inference: Inference, softmax: fn(&mut [f32])) -> Self {
        Self { inference: Engine::Cpu(Box::new(inference)), softmax, spec, inputs: Vec::new() }
    }
}

/// An evaluator that may fail, as one on a GPU does.
pub(crate) trait TryEvaluator<G: Game> {
    /// [`Evaluator::evaluate`].
    ///
    /// # Errors
    /// The GPU failed.
    fn try_evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), DeviceError>;

    /// Forgets earlier games, as playouts do whose random numbers start again.
    fn restart(&mut self) {}

    /// An evaluator for another thread, with this number; `None` if there can be only one.
    fn for_thread(&self, _number: usize) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

impl<G: Game> TryEvaluator<G> for NetworkEvaluator {
    fn try_evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), DeviceError> {
        let most = match &self.inference {
            Engine::Cpu(inference) => inference.max_batch(),
            Engine::Gpu(inference) => inference.max_batch(),
        };
        for first in (0..batch.len()).step_by(most) {
            let rows = first..batch.len().min(first + most);
            observe(game, &batch.states()[rows.clone()], &self.spec, &mut self.inputs);
            match &mut self.inference {
                Engine::Cpu(inference) => {
                    let found = inference.evaluate(rows.len(), &self.inputs);
                    write(game, &self.spec, batch, rows, [found.policy, found.value], self.softmax);
                }
                Engine::Gpu(inference) => {
                    let found = inference.evaluate(rows.len(), &self.inputs)?;
                    write(game, &self.spec, batch, rows, [&found.policy, &found.value], self.softmax);
                }
            }
        }
        Ok(())
    }

    fn for_thread(&self, _: usize) -> Option<Self> {
        let Engine::Cpu(inference) = &self.inference else { return None };
        Some(Self::with_inference(self.spec.clone(), (**inference).clone(), self.softmax))
    }
}

/// Writes the observations of positions, `[positions, features]`.
pub fn observe<G: Game>(game: &G, states: &[G::State], spec: &Spec, inputs: &mut Vec<f32>) {
    let features = spec.features();
    inputs.resize(states.len() * features, 0.0);
    game.observe_many(states, inputs);
}

/// Writes the evaluations of the positions `rows` of a batch, given the logits of policy and value, `[rows, actions]` and
/// `[rows, 3]`.
pub fn write_evaluations<G: Game>(
    game: &G,
    spec: &Spec,
    batch: &mut EvalBatch<G::State>,
    rows: Range<usize>,
    logits: [&[f32]; 2],
) {
    write(game, spec, batch, rows, logits, softmax);
}

fn write<G: Game>(
    game: &G,
    spec: &Spec,
    batch: &mut EvalBatch<G::State>,
    rows: Range<usize>,
    [policies, values]: [&[f32]; 2],
    softmax: fn(&mut [f32]),
) {
    for ((i, logits), value) in rows.zip(policies.chunks_exact(spec.actions)).zip(values.chunks_exact(3)) {
        let mover = game.mover(&batch.states()[i]);
        batch.set_evaluation(i, estimate(mover, value, softmax));
        let (legal, priors) = batch.legal_and_priors(i);
        for (prior, &action) in priors.iter_mut().zip(legal) {
            *prior = logits[spec.policy_index(mover, action)];
        }
        softmax(priors);
    }
}

impl<G: Game> TryEvaluator<G> for Rollout {
    fn try_evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), DeviceError> {
        self.evaluate(game, batch);
        Ok(())
    }

    fn for_thread(&self, number: usize) -> Option<Self> {
        Some(Rollout::new(number as u64))
    }
}

/// Playouts with the same random numbers in every game.
pub(crate) struct Playouts {
    seed: u64,
    rollout: Rollout,
}

impl Playouts {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, rollout: Rollout::new(seed) }
    }
}

impl<G: Game> TryEvaluator<G> for Playouts {
    fn try_evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), DeviceError> {
        self.rollout.try_evaluate(game, batch)
    }

    fn restart(&mut self) {
        self.rollout = Rollout::new(self.seed);
    }
}

/// Equal priors and even positions.
impl<G: Game> TryEvaluator<G> for Uniform {
    fn try_evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), DeviceError> {
        self.evaluate(game, batch);
        Ok(())
    }
}

/// The priors of the legal actions in increasing order, and the evaluation, of a position in which the game is not over.
///
/// # Errors
/// The GPU failed.
pub(crate) fn evaluate_one<G: Game>(
    game: &G,
    state: &G::State,
    evaluator: &mut impl TryEvaluator<G>,
) -> Result<(Vec<(Action, f32)>, Evaluation), DeviceError> {
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    let mut batch = EvalBatch::default();
    batch.push(*state, &legal);
    evaluator.try_evaluate(game, &mut batch)?;
    let (priors, estimate) = batch.answer(0);
    Ok((legal.iter().copied().zip(priors.iter().copied()).collect(), estimate))
}

/// The action with the greatest prior, the first among equals.
///
/// # Panics
/// If there are no actions, as in a game that is over.
#[must_use]
pub fn most_likely(priors: &[(Action, f32)]) -> Action {
    let best = priors.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1));
    best.expect("a running game has legal actions").0
}

impl<G: Game> Evaluator<G> for NetworkEvaluator {
    /// Evaluates the positions of a batch, on the processor: the players use `TryEvaluator`.
    ///
    /// # Panics
    /// If it runs on a GPU that fails.
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) {
        if let Err(fault) = self.try_evaluate(game, batch) {
            panic!("{fault}");
        }
    }
}

/// Converts logits of win, draw and loss for the mover into an evaluation for the first side.
fn estimate(mover: Side, logits: &[f32], softmax: fn(&mut [f32])) -> Evaluation {
    let mut outcome = [logits[0], logits[1], logits[2]];
    softmax(&mut outcome);
    Evaluation { value: mover.sign() * (outcome[0] - outcome[2]), draw: outcome[1] }
}

/// Equal priors and even positions, with one call that fails, by its number from 0.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct FailsOnce {
    pub(crate) calls_before: usize,
}

#[cfg(test)]
impl FailsOnce {
    pub(crate) fn never() -> Self {
        Self { calls_before: usize::MAX }
    }

    pub(crate) fn fault() -> DeviceError {
        DeviceError::Failed("device lost".to_owned())
    }
}

#[cfg(test)]
impl<G: Game> TryEvaluator<G> for FailsOnce {
    fn try_evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), DeviceError> {
        let fails = self.calls_before == 0;
        self.calls_before = self.calls_before.wrapping_sub(1);
        if fails {
            return Err(Self::fault());
        }
        Uniform.evaluate(game, batch);
        Ok(())
    }

    fn for_thread(&self, _: usize) -> Option<Self> {
        Some(Self::never())
    }
}
