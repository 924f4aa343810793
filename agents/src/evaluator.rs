//! Evaluator that runs a network: features of positions in, priors of the legal actions and values for the first side
//! out.

use std::sync::Arc;

use turnstone_env::{Game, Side, Spec};
use turnstone_models::{
    Board, Inference, Instructions, NetworkConfig, NetworkError, QuantisedNetwork, Shape, Weights, portable_softmax,
    softmax,
};
use turnstone_search::{EvalBatch, Evaluation, Evaluator};

/// Shape of the inputs and outputs of a network for a game.
#[must_use]
pub fn shape(spec: &Spec) -> Shape {
    let board = Board {
        point_planes: spec.point_planes.len(),
        points: spec.points,
        directions: spec.directions.clone(),
        lattice: spec.lattice,
        cells: spec.cells.clone(),
    };
    Shape { inputs: spec.features(), actions: spec.actions, board }
}

/// Evaluates positions with a network.
#[derive(Debug)]
pub struct NetworkEvaluator {
    inference: Inference,
    /// Logits to probabilities.
    softmax: fn(&mut [f32]),
    spec: Spec,
    inputs: Vec<f32>,
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

    fn with_inference(spec: Spec, inference: Inference, softmax: fn(&mut [f32])) -> Self {
        let inputs = vec![0.0; inference.max_batch() * spec.features()];
        Self { inference, softmax, spec, inputs }
    }
}

impl<G: Game> Evaluator<G> for NetworkEvaluator {
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) {
        let features = self.spec.features();
        let most = self.inference.max_batch();
        for first in (0..batch.len()).step_by(most) {
            let rows = most.min(batch.len() - first);
            let inputs = &mut self.inputs[..rows * features];
            for (state, row) in batch.states()[first..].iter().zip(inputs.chunks_exact_mut(features)) {
                game.observe(state, row);
            }
            let predictions = self.inference.evaluate(rows, inputs);
            let policies = predictions.policy.chunks_exact(self.spec.actions);
            for ((i, logits), value) in (first..).zip(policies).zip(predictions.value.chunks_exact(3)) {
                let mover = game.mover(&batch.states()[i]);
                batch.set_evaluation(i, estimate(mover, value, self.softmax));
                let (legal, priors) = batch.legal_and_priors(i);
                for (prior, &action) in priors.iter_mut().zip(legal) {
                    *prior = logits[self.spec.policy_index(mover, action)];
                }
                (self.softmax)(priors);
            }
        }
    }
}

/// Converts logits of win, draw and loss for the mover into an evaluation for the first side.
fn estimate(mover: Side, logits: &[f32], softmax: fn(&mut [f32])) -> Evaluation {
    let mut outcome = [logits[0], logits[1], logits[2]];
    softmax(&mut outcome);
    Evaluation { value: mover.sign() * (outcome[0] - outcome[2]), draw: outcome[1] }
}
