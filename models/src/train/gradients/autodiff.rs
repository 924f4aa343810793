//! Gradients by burn's autodiff, on several threads.

use burn::tensor::{Device, Tensor};

use crate::config::NetworkConfig;
use crate::error::NetworkError;
use crate::shape::Shape;
use crate::train::batch::TrainingBatch;
use crate::train::loss::{masked_loss, matrix};
use crate::train::network::{PolicyValueNet, read};
use crate::train::passes::LossSums;
use crate::train::state::LearnerState;
use crate::weights::{TensorSpec, Weights};

/// A device of burn, and the gradients of the last batch.
#[derive(Debug)]
pub(in crate::train) struct Autodiff {
    device: Device,
    /// Layout of weights and gradients.
    layout: Vec<TensorSpec>,
    gradients: Weights,
}

/// Results for a part of a batch.
struct Part {
    /// Share of the rows of the batch.
    share: f64,
    losses: LossSums,
    /// Of the mean over the part.
    gradients: Weights,
}

impl Autodiff {
    pub(super) fn new(state: &LearnerState) -> Result<Autodiff, NetworkError> {
        // The device is named, not the default one, which an environment variable could redirect.
        let device = Device::flex().autodiff();
        Ok(Autodiff { device, layout: state.network.layout(&state.shape)?, gradients: state.weights.zeros_like() })
    }

    /// Computes losses and gradients, on parts of the batch if that is faster. Neither the parts nor the order in which they
    /// are added depend on the number of threads, so the result does not either.
    pub(super) fn differentiate(
        &mut self,
        state: &LearnerState,
        batch: &TrainingBatch,
        value_weight: f64,
        threads: usize,
    ) -> Result<(LossSums, &Weights), NetworkError> {
        let rows = rows_at_once(&state.network, &state.shape).min(batch.len());
        let starts: Vec<usize> = (0..batch.len()).step_by(rows).collect();
        let work = |starts: &[usize]| -> Result<Vec<Part>, NetworkError> {
            // One network per thread: graphs of burn that share parameters wait for each other.
            let net = PolicyValueNet::new(&state.network, &state.shape, &state.weights, &self.device)?;
            Ok(starts
                .iter()
                .map(|&start| self.part(&net, &batch.rows(start, rows), value_weight, batch.len()))
                .collect())
        };
        let per_thread = starts.len().div_ceil(threads);
        let parts = if per_thread == starts.len() {
            work(&starts)?
        } else {
            std::thread::scope(|scope| {
                let work = &work;
                let spawn = |starts| scope.spawn(move || work(starts));
                let workers: Vec<_> = starts.chunks(per_thread).map(spawn).collect();
                let mut parts = Vec::with_capacity(starts.len());
                for worker in workers {
                    parts.extend(worker.join().expect("training does not panic")?);
                }
                Ok::<_, NetworkError>(parts)
            })?
        };
        let mut losses = LossSums::default();
        self.gradients = state.weights.zeros_like();
        for part in &parts {
            losses.add(&part.losses);
            self.gradients.add_scaled(&part.gradients, part.share as f32);
        }
        Ok((losses, &self.gradients))
    }

    fn part(&self, net: &PolicyValueNet, part: &TrainingBatch, value_weight: f64, all: usize) -> Part {
        let rows = part.len() as f64;
        let output = net.forward(matrix(part.inputs(), part.shape().inputs, &self.device));
        let loss = masked_loss(output, part, value_weight, &self.device);
        let gradients = net.gradients(&self.layout, &loss.total.backward());
        let sum = |mean: Tensor<1>| rows * f64::from(read(mean)[0]);
        let losses = LossSums {
            policy: sum(loss.policy),
            value: sum(loss.value),
            policy_entropy: entropy(&read(loss.log_policy), part),
            target_entropy: rows * part.policy_entropy(),
        };
        Part { share: rows / all as f64, losses, gradients }
    }
}

/// Number of rows that pass through the network at once, for a shape that has been checked. Over points, parts of a batch
/// whose buffers stay in the cache are faster than the whole: 256 positions of 64 points through one layer of 48 channels
/// and 5 taps, forwards and backwards, took 35 ms at once and 23 ms by sixteens. An MLP is slower in parts: 278 steps/s by
/// 128 rows, on one thread or two, against 348.
fn rows_at_once(network: &NetworkConfig, shape: &Shape) -> usize {
    match network {
        NetworkConfig::ResidualMlp { .. } => usize::MAX,
        NetworkConfig::ResidualGraph { .. } | NetworkConfig::ResidualConv { .. } => (1024 / shape.board.points).max(1),
    }
}

/// Sum of the entropies of the policies with logarithms `log_policy`, `[batch, actions]`.
fn entropy(log_policy: &[f32], batch: &TrainingBatch) -> f64 {
    let legal = log_policy.iter().zip(batch.legal()).filter(|(_, legal)| **legal);
    legal.map(|(&log, _)| f64::from(-log * log.exp())).sum()
}
