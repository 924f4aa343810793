//! Forward and backward passes of the networks, on the kernels of inference.
//!
//! A product forwards has two backwards, one to its inputs and one to its weights, and all three are tiles of registers
//! that sum in a fixed order: gradients are the same bits with AVX2 and AVX-512, over repeated runs and for every number of
//! threads. The networks in burn are the reference in tests.

mod sparse;
mod linear;
mod residual;
mod conv;
mod loss;
mod heads;

pub(crate) use loss::LossSums;

use std::ops::Range;
use std::sync::Arc;

use self::conv::Conv;
use self::heads::Heads;
use self::linear::{Around, Linears};
use self::loss::Outputs;
use self::residual::Residual;
use crate::config::NetworkConfig;
use crate::inference::{Instructions, Reader};
use crate::shape::Shape;
use crate::train::batch::TrainingBatch;
use crate::weights::Weights;

/// Number of points of the positions that pass through the network together, so that what is kept for the way back stays
/// near.
const ROWS: usize = 512;

/// The policy head skips illegal actions if fewer than one in this number of actions is legal.
const FEW: usize = 6;

/// What the passes need of a network besides its weights.
#[derive(Debug)]
pub(crate) struct Passes {
    config: NetworkConfig,
    shape: Shape,
    /// The table of a graph network or of convolutions.
    around: Option<Arc<Around>>,
    /// Features per point of a network over points.
    reader: Option<Reader>,
    /// Points per position, 1 for an MLP.
    points: usize,
}

/// A network with its weights packed for a step.
#[derive(Debug)]
pub(crate) struct Network<'a> {
    passes: &'a Passes,
    tower: Tower,
    heads: Heads,
}

#[derive(Debug)]
enum Tower {
    Residual(Residual),
    Conv(Conv),
}

/// The buffers of a thread.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// Features per point, `[positions, points, features]`.
    features: Vec<f32>,
    residual: residual::Activations,
    conv: conv::Activations,
    heads: heads::Activations,
    outputs: Outputs,
    /// Gradients of the tower's output, `[positions, points, channels]`.
    d: Vec<f32>,
}

impl Passes {
    /// Number of parts that a batch is divided into: more threads for the networks over points, more rows of each
    /// weight's gradient for an MLP, where a part of 64 rows is 9 % faster than one of 32.
    pub(crate) fn parts(&self) -> usize {
        if self.reader.is_some() { 8 } else { 4 }
    }

    /// Prepares the passes of a network that has been checked.
    pub(crate) fn new(config: &NetworkConfig, shape: &Shape) -> Passes {
        let over_points = !matches!(config, NetworkConfig::ResidualMlp { .. });
        let points = if over_points { shape.board.points } else { 1 };
        Passes {
            config: config.clone(),
            shape: shape.clone(),
            around: config.taps(shape).map(|taps| Arc::new(Around::new(&taps, points))),
            reader: over_points.then(|| Reader::new(shape)),
            points,
        }
    }

    /// Packs the weights, which have been checked, for a step on `batch` and an instruction set.
    pub(crate) fn pack(&self, weights: &Weights, batch: &TrainingBatch, instructions: Instructions) -> Network<'_> {
        let legal = batch.legal().iter().filter(|&&legal| legal).count();
        let (blocks, mut linears) = (self.config.blocks(), Linears::new(weights, instructions));
        let tower = match self.config {
            NetworkConfig::ResidualMlp { .. } | NetworkConfig::ResidualGraph { .. } => {
                Tower::Residual(Residual::new(&mut linears, blocks, self.points, self.around.as_ref()))
            }
            NetworkConfig::ResidualConv { .. } => {
                let around = self.around.as_ref().expect("a network of convolutions has taps");
                let over_board = self.config.over_board().expect("it is one of convolutions");
                Tower::Conv(Conv::new(&mut linears, blocks, over_board, self.points, around))
            }
        };
        let heads = Heads::new(linears, self.reader.is_some(), legal * FEW < batch.legal().len());
        Network { passes: self, tower, heads }
    }
}

impl Network<'_> {
    /// Brings the sums of gradients into the order of the network's tensors.
    pub(crate) fn finish(&self, gradients: &mut Weights) {
        self.heads.finish(gradients);
    }

    /// Adds the gradients of the batch's mean loss over some of its `rows` to `gradients`. Returns the sums of the losses.
    pub(crate) fn differentiate(
        &self,
        batch: &TrainingBatch,
        rows: Range<usize>,
        value_weight: f64,
        buffers: &mut Buffers,
        gradients: &mut Weights,
    ) -> LossSums {
        let mut sums = LossSums::default();
        // Groups of nearly the same size.
        let groups = (rows.len() * self.passes.points).div_ceil(ROWS).min(rows.len());
        for group in 0..groups {
            let [start, end] = [group, group + 1].map(|group| rows.start + group * rows.len() / groups);
            sums.add(&self.differentiate_near(batch, start..end, value_weight, buffers, gradients));
        }
        sums
    }

    fn differentiate_near(
        &self,
        batch: &TrainingBatch,
        rows: Range<usize>,
        value_weight: f64,
        buffers: &mut Buffers,
        gradients: &mut Weights,
    ) -> LossSums {
        let Passes { shape, points, reader, .. } = self.passes;
        let (positions, points) = (rows.len(), *points);
        let Buffers { features, residual, conv, heads, outputs, d } = buffers;
        let inputs = &batch.inputs()[rows.start * shape.inputs..rows.end * shape.inputs];
        let features = match reader {
            Some(reader) => {
                features.resize(positions * points * reader.features(), 0.0);
                reader.read(inputs, features);
                &features[..]
            }
            None => inputs,
        };
        let x = match &self.tower {
            Tower::Residual(tower) => {
                tower.apply(positions, features, residual);
                residual.output()
            }
            Tower::Conv(tower) => {
                tower.apply(positions, features, conv);
                conv.output()
            }
        };
        outputs.prepare(batch, &rows);
        self.heads.apply([positions, points], x, heads, outputs);
        let sums = outputs.differentiate(batch, rows, value_weight);
        d.resize(x.len(), 0.0);
        self.heads.apply_backwards(positions, x, heads, outputs, d, gradients);
        match &self.tower {
            Tower::Residual(tower) => tower.apply_backwards(positions, features, residual, d, gradients),
            Tower::Conv(tower) => tower.apply_backwards(positions, features, conv, d, gradients),
        }
        sums
    }
}
