//! Gradients on the processor, on several threads: burn's autodiff over our operations.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use burn::tensor::{Device, Tensor};

use crate::error::NetworkError;
use crate::inference::Reader;
use crate::network::{Op, Step, VALUE};
use crate::train::batch::{ILLEGAL, TrainingBatch};
use crate::train::loss::{LossSums, Objective, matrix};
use crate::train::network::{Graph, LinearStep, Output};
use crate::train::operations::{
    Around, KernelLayer, LegalActions, LegalLayer, LinearCall, PackedLayer, Sums, Targets, Workspace, linear, loss,
};
use crate::train::state::LearnerState;
use crate::weights::Weights;

/// Number of points of the positions that pass through the network together, so that what the backward pass needs stays in
/// the cache.
const ROWS: usize = 512;

/// Small parts pass through the network together, up to this number of points.
const AT_ONCE: usize = 256;

/// Forward multiply-adds of a batch that make another thread worthwhile: starting one takes a tenth of the smallest step.
const OF_A_THREAD: usize = 3_000_000;

/// The policy head skips illegal actions if fewer than one in this number of actions is legal.
const FEW: usize = 6;

/// A network with its buffers, which are kept from step to step.
#[derive(Debug)]
pub(in crate::train) struct ProcessorGradients {
    /// burn's on the processor, by name: the default one could be redirected by an environment variable.
    device: Device,
    graph: Graph,
    /// What its heads beside policy and value are trained for.
    further: Vec<Objective>,
    /// Forward multiply-adds of a position.
    multiply_adds: usize,
    /// The tables of neighbours.
    around: Vec<Arc<Around>>,
    /// The sums over each part of a batch. They are added in the order of the parts, whichever thread computed them, so the
    /// result does not depend on the number of threads.
    parts: Vec<Sums>,
    /// One per thread.
    workspaces: Vec<Arc<Workspace>>,
}

/// A layer of a network, packed for a step.
enum Packed {
    Kernel(Arc<KernelLayer>),
    /// The last layer of the policy head.
    Legal(Arc<LegalLayer>),
}

impl ProcessorGradients {
    pub(super) fn new(state: &LearnerState, further: Vec<Objective>) -> Result<ProcessorGradients, NetworkError> {
        let network = state.with_all_heads()?;
        // More threads for networks over points; for others more rows of each weight's gradient, where a part of 64 rows is
        // 9 % faster than one of 32.
        let parts = if network.reads_points() { 8 } else { 4 };
        let losses = || LossSums { heads: vec![0.0; network.heads.len()], ..LossSums::default() };
        let sums = || Sums { losses: losses(), gradients: state.weights.zeros_like(), ..Sums::default() };
        let device = Device::flex().autodiff();
        Ok(ProcessorGradients {
            around: network.tables.iter().map(|taps| Arc::new(Around::new(taps))).collect(),
            parts: (0..parts).map(|_| sums()).collect(),
            workspaces: Vec::new(),
            multiply_adds: state.network.cost(&state.shape)?.multiply_adds,
            graph: Graph::new(network),
            further,
            device,
        })
    }

    pub(super) fn differentiate(
        &mut self,
        state: &LearnerState,
        batch: &TrainingBatch,
        threads: usize,
    ) -> (LossSums, &Weights) {
        let mut parts = std::mem::take(&mut self.parts);
        let (count, packed) = (parts.len(), self.pack(&state.weights, batch));
        let threads = threads.min(count).min(batch.len() * self.multiply_adds / OF_A_THREAD).max(1);
        self.workspaces.resize_with(threads, Arc::default);
        let at_once = self.parts_at_once(count, batch.len(), threads);
        let queue = Mutex::new(parts.chunks_mut(at_once).enumerate());
        let work = |workspace: &Arc<Workspace>| {
            // Graphs of burn that share a leaf wait for each other.
            let leaf = Tensor::zeros([1], &self.device).require_grad();
            loop {
                let next = queue.lock().expect("training does not panic").next();
                let Some((index, parts)) = next else { return };
                parts.iter_mut().for_each(Sums::clear);
                workspace.parts().extend(parts.iter_mut().map(std::mem::take));
                let first = index * at_once;
                let ends: Vec<usize> = (first..=first + parts.len()).map(|part| part * batch.len() / count).collect();
                for rows in self.groups(ends[0]..ends[parts.len()]) {
                    for (part, ends) in workspace.parts().iter_mut().zip(ends.windows(2)) {
                        part.positions = ends[1].min(rows.end).saturating_sub(ends[0].max(rows.start));
                    }
                    self.pass(&packed, &leaf, batch, rows, workspace);
                }
                parts.iter_mut().zip(workspace.parts().drain(..)).for_each(|(part, sums)| *part = sums);
            }
        };
        std::thread::scope(|scope| {
            let (own, others) = self.workspaces.split_first().expect("at least one thread");
            others.iter().for_each(|workspace| drop(scope.spawn(|| work(workspace))));
            work(own);
        });
        self.parts = parts;
        self.add_parts(&packed)
    }

    /// Packs the weights, which have been checked, for a step on `batch`. The layers are in the order of the layout.
    fn pack(&self, weights: &Weights, batch: &TrainingBatch) -> Vec<Packed> {
        let network = &self.graph.network;
        let legal = batch.policy().iter().filter(|&&target| target != ILLEGAL).count();
        let few = legal * FEW < batch.policy().len() && network.uses()[network.policy().0] == 1;
        let mut layers: Vec<Option<Packed>> = (0..network.layers.len()).map(|_| None).collect();
        for step in &self.graph.steps {
            let Step::Layer { y, x, layer, around, residual, relu } = *step else { continue };
            let plain = around.is_none() && residual.is_none() && !relu;
            layers[layer] = Some(if few && plain && y == network.policy() {
                Packed::Legal(Arc::new(LegalLayer::new(weights, layer)))
            } else {
                let around = around.map_or_else(Around::rows, |table| self.around[table].clone());
                let first = matches!(network.ops[x.0], Op::Inputs | Op::Points);
                Packed::Kernel(Arc::new(KernelLayer::new(weights, layer, &around, first)))
            });
        }
        layers.into_iter().map(|layer| layer.expect("every layer has a step")).collect()
    }

    /// Number of parts, out of `count`, that pass together where they are small, which saves graphs. No thread is idle for it.
    fn parts_at_once(&self, count: usize, positions: usize, threads: usize) -> usize {
        let of_part = positions.div_ceil(count) * self.points();
        (AT_ONCE / of_part).clamp(1, count.div_ceil(threads))
    }

    /// Points of each position that pass through the network, 1 if it is not one over points.
    fn points(&self) -> usize {
        if self.graph.network.reads_points() { self.graph.network.shape.board.points } else { 1 }
    }

    /// Groups of nearly the same size, whose positions pass through the network together.
    fn groups(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let groups = (rows.len() * self.points()).div_ceil(ROWS).min(rows.len());
        (0..groups).map(move |group| {
            let [start, end] = [group, group + 1].map(|group| rows.start + group * rows.len() / groups);
            start..end
        })
    }

    /// Adds the losses and gradients of some `rows` of a batch to the sums of the workspace.
    fn pass(
        &self,
        packed: &[Packed],
        leaf: &Tensor<1>,
        batch: &TrainingBatch,
        rows: Range<usize>,
        workspace: &Arc<Workspace>,
    ) {
        let [inputs, actions] = batch.shape().sizes();
        let legal = &batch.policy()[rows.start * actions..rows.end * actions];
        let legal = Arc::new(LegalActions::of(legal, actions));
        workspace.start_graph();
        let observed = &batch.inputs()[rows.start * inputs..rows.end * inputs];
        let observations = matrix(observed, inputs, &self.device);
        let points = || self.features(observed);
        let Output { policy, value, further } = self.graph.forward(&observations, points, |step, x, residual| {
            let LinearStep { layer, relu, .. } = step;
            let layer = match &packed[layer] {
                Packed::Kernel(layer) => PackedLayer::Kernel(layer.clone()),
                Packed::Legal(layer) => PackedLayer::Legal(layer.clone(), legal.clone()),
            };
            linear(x, residual, leaf, LinearCall { layer, relu, workspace: workspace.clone() })
        });
        let of_both = loss(policy, value, &Targets { batch, rows: rows.clone(), legal: &legal, workspace });
        let others = (VALUE + 1..).zip(&self.further).zip(further);
        let others =
            others.map(|((head, further), output)| self.loss_of(head, further, output, batch, &rows, workspace));
        others.fold(of_both, |total, other| total + other).backward();
    }

    /// The share of some `rows` in the loss of a further head, of which it adds the loss of each row to the sums.
    fn loss_of(
        &self,
        head: usize,
        objective: &Objective,
        output: Tensor<2>,
        batch: &TrainingBatch,
        rows: &Range<usize>,
        workspace: &Workspace,
    ) -> Tensor<1> {
        let target = &batch.targets()[head];
        let numbers = &target.numbers[rows.start * target.width..rows.end * target.width];
        let known = matrix(&target.known[rows.clone()], 1, &self.device);
        let losses = (objective.loss)(output, matrix(numbers, target.width, &self.device)) * known;
        let by_row: Vec<f32> = losses.clone().inner().into_data().try_into_vec().expect("floats of 32 bits");
        workspace.add_losses(head, &by_row);
        losses.sum().mul_scalar(objective.weight / target.examples())
    }

    /// The features of all points of these positions, `[positions * points, features]`. They need no gradient, and made of
    /// burn's operations they took 3 % of a step.
    fn features(&self, observed: &[f32]) -> Tensor<2> {
        let shape = &self.graph.network.shape;
        let reader = Reader::new(shape);
        let points = observed.len() / shape.inputs * shape.board.points;
        let mut features = vec![0.0; points * reader.features()];
        reader.read(observed, &mut features);
        matrix(features, reader.features(), &self.device)
    }

    fn add_parts(&mut self, packed: &[Packed]) -> (LossSums, &Weights) {
        let (first, others) = self.parts.split_first_mut().expect("there are parts");
        others.iter().for_each(|part| first.losses.add(&part.losses));
        let others: Vec<&Weights> = others.iter().map(|part| &part.gradients).collect();
        first.gradients.add_all(&others);
        for layer in packed {
            if let Packed::Legal(layer) = layer {
                layer.finish(&mut first.gradients);
            }
        }
        (first.losses.clone(), &first.gradients)
    }
}
