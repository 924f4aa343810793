//! Gradients by our own passes, on several threads.

use std::sync::Mutex;

use crate::inference::Instructions;
use crate::train::batch::TrainingBatch;
use crate::train::passes::{Buffers, LossSums, Passes};
use crate::train::state::LearnerState;
use crate::weights::Weights;

/// The passes of a network, with their buffers.
#[derive(Debug)]
pub(in crate::train) struct Kernels {
    passes: Passes,
    parts: Vec<Part>,
    /// One per thread.
    buffers: Vec<Buffers>,
}

/// The sums over a part of a batch. They are added in the order of the parts, whichever thread computed them, so the result
/// does not depend on the number of threads.
#[derive(Debug)]
struct Part {
    losses: LossSums,
    gradients: Weights,
}

impl Kernels {
    pub(super) fn new(state: &LearnerState) -> Kernels {
        let passes = Passes::new(&state.network, &state.shape);
        let part = || Part { losses: LossSums::default(), gradients: state.weights.zeros_like() };
        let parts = (0..passes.parts()).map(|_| part()).collect();
        Kernels { passes, parts, buffers: Vec::new() }
    }

    pub(super) fn differentiate(
        &mut self,
        state: &LearnerState,
        batch: &TrainingBatch,
        value_weight: f64,
        threads: usize,
    ) -> (LossSums, &Weights) {
        let Kernels { passes, parts, buffers } = self;
        let count = parts.len();
        buffers.resize_with(threads, Buffers::default);
        let network = passes.pack(&state.weights, batch, Instructions::best());
        let queue = Mutex::new(parts.iter_mut().enumerate());
        let work = |buffers: &mut Buffers| {
            loop {
                let next = queue.lock().expect("training does not panic").next();
                let Some((index, part)) = next else { return };
                part.gradients.tensors_mut().iter_mut().for_each(|tensor| tensor.data.fill(0.0));
                let rows = index * batch.len() / count..(index + 1) * batch.len() / count;
                part.losses = network.differentiate(batch, rows, value_weight, buffers, &mut part.gradients);
            }
        };
        std::thread::scope(|scope| {
            let (own, others) = buffers.split_first_mut().expect("at least one thread");
            others.iter_mut().take(count - 1).for_each(|buffers| drop(scope.spawn(|| work(buffers))));
            work(own);
        });

        let (first, others) = parts.split_first_mut().expect("there are parts");
        others.iter().for_each(|part| first.losses.add(&part.losses));
        let others: Vec<&Weights> = others.iter().map(|part| &part.gradients).collect();
        first.gradients.add_all(&others);
        network.finish(&mut first.gradients);
        (first.losses, &first.gradients)
    }
}
