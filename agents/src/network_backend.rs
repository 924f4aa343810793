//! A network as a backend, on the processor or on a GPU: features of positions in, priors of the legal actions and values
//! for the first side out.

use std::sync::Arc;

use turnstone_env::{Action, Rules, Side, Spec};
use turnstone_models::{
    BoardShape, GpuInference, Inference, NetworkConfig, NetworkError, QuantisedNetwork, Shape, Weights,
    portable_softmax, softmax,
};
use turnstone_search::{Backend, EvalBatch, Evaluation, Fault, Split};

/// A backend of any kind, for the search of one thread.
pub(crate) type AnyBackend<G> = Box<dyn Backend<G> + Send>;

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
    Shape { inputs: spec.features(), actions: spec.actions, board }
}

/// A network on the processor, with room for batches of a certain size.
#[derive(Debug)]
pub struct NetworkBackend {
    inference: Box<Inference>,
    outputs: Outputs,
    inputs: Vec<f32>,
}

impl NetworkBackend {
    /// A backend for batches of up to `max_batch` positions.
    ///
    /// # Errors
    /// The weights do not match the network and the game's shape.
    pub fn new(spec: Spec, network: &NetworkConfig, weights: &Weights, max_batch: usize) -> Result<Self, NetworkError> {
        let inference = Inference::new(weights, network, &shape(&spec), max_batch)?;
        Ok(Self::of(inference, Outputs { softmax, spec }))
    }

    /// A backend with a quantised network, which is made for this game. Its evaluations have the same bits on every processor.
    #[must_use]
    pub fn quantised(spec: Spec, network: &Arc<QuantisedNetwork>, max_batch: usize) -> Self {
        Self::of(Inference::quantised(network, max_batch), Outputs { softmax: portable_softmax, spec })
    }

    fn of(inference: Inference, outputs: Outputs) -> Self {
        Self { inference: Box::new(inference), outputs, inputs: Vec::new() }
    }

    /// The same for batches of any size.
    #[must_use]
    pub fn split<S>(self) -> Split<S, Self> {
        let most = self.inference.max_batch();
        Split::new(self, most)
    }
}

impl<G: Rules> Backend<G> for NetworkBackend {
    /// # Panics
    /// If the batch has more positions than there is room for.
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), Fault> {
        observe(game, batch.states(), &self.outputs.spec, &mut self.inputs);
        let found = self.inference.evaluate(batch.len(), &self.inputs);
        self.outputs.write(game, batch, found.policy, found.value);
        Ok(())
    }

    fn for_thread(&self, _: usize) -> Option<Box<dyn Backend<G> + Send>> {
        Some(Box::new(Self::of((*self.inference).clone(), self.outputs.clone())))
    }
}

/// A network on a GPU. Clones share it.
#[derive(Clone, Debug)]
pub struct GpuBackend {
    inference: Arc<GpuInference>,
    outputs: Outputs,
}

impl GpuBackend {
    /// A backend for batches of up to [`GpuInference::max_batch`] positions.
    #[must_use]
    pub fn new(spec: Spec, inference: GpuInference) -> Self {
        Self { inference: Arc::new(inference), outputs: Outputs { softmax, spec } }
    }
}

impl<G: Rules> Backend<G> for GpuBackend {
    /// # Panics
    /// If the batch has more positions than there is room for.
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), Fault> {
        let mut inputs = Vec::new();
        observe(game, batch.states(), &self.outputs.spec, &mut inputs);
        let found = self.inference.finish(self.inference.begin(batch.len(), inputs)).map_err(Fault::new)?;
        self.outputs.write(game, batch, &found.policy, &found.value);
        Ok(())
    }
}

/// Writes the observations of positions, `[positions, features]`.
fn observe<G: Rules>(game: &G, states: &[G::State], spec: &Spec, inputs: &mut Vec<f32>) {
    let features = spec.features();
    inputs.resize(states.len() * features, 0.0);
    states.iter().zip(inputs.chunks_exact_mut(features)).for_each(|(state, row)| game.observe(state, row));
}

/// Conversion of a network's outputs.
#[derive(Clone, Debug)]
struct Outputs {
    /// Logits to probabilities.
    softmax: fn(&mut [f32]),
    spec: Spec,
}

impl Outputs {
    /// Writes the evaluations of a batch, given the logits of policy and value, `[rows, actions]` and `[rows, 3]`.
    fn write<G: Rules>(&self, game: &G, batch: &mut EvalBatch<G::State>, policy: &[f32], value: &[f32]) {
        for (i, (logits, value)) in policy.chunks_exact(self.spec.actions).zip(value.chunks_exact(3)).enumerate() {
            let mover = game.mover(&batch.states()[i]);
            batch.set_evaluation(i, self.estimate(mover, value));
            let (legal, priors) = batch.legal_and_priors(i);
            for (prior, &action) in priors.iter_mut().zip(legal) {
                *prior = logits[self.spec.policy_index(mover, action)];
            }
            (self.softmax)(priors);
        }
    }

    /// Converts logits of win, draw and loss for the mover into an evaluation for the first side.
    fn estimate(&self, mover: Side, logits: &[f32]) -> Evaluation {
        let mut outcome = [logits[0], logits[1], logits[2]];
        (self.softmax)(&mut outcome);
        Evaluation { value: mover.sign() * (outcome[0] - outcome[2]), draw: outcome[1] }
    }
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
