//! Buffers that the operations of a thread share, and the sums over parts of a batch.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use burn::backend::Flex;
use burn::backend::tensor::FloatTensor;
use burn::tensor::TensorData;

use crate::train::loss::LossSums;
use crate::weights::Weights;

/// A tensor of floats on the processor.
pub(super) type Numbers = FloatTensor<Flex>;

/// Buffers that are kept.
const MOST_BUFFERS: usize = 96;

/// Buffers and sums that the operations of a thread share.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// In ascending order of their capacity.
    buffers: Mutex<Vec<Vec<f32>>>,
    /// The parts of the batch to which the current positions belong, in their order.
    parts: Mutex<Vec<Sums>>,
    /// The nodes of the current graph for which one of our backward passes has registered a gradient.
    registered: Mutex<Vec<u64>>,
}

/// Sums over a part of a batch.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    /// Number of its positions that pass through the network now.
    pub(crate) positions: usize,
    pub(crate) losses: LossSums,
    pub(crate) gradients: Weights,
}

impl Sums {
    /// Sets all sums to zero.
    pub(crate) fn clear(&mut self) {
        let LossSums { heads, policy_entropy, target_entropy } = &mut self.losses;
        heads.iter_mut().chain([policy_entropy, target_entropy]).for_each(|sum| *sum = 0.0);
        self.gradients.tensors_mut().iter_mut().for_each(|tensor| tensor.data.fill(0.0));
    }
}

impl Workspace {
    /// The parts whose sums operations add to.
    pub(crate) fn parts(&self) -> MutexGuard<'_, Vec<Sums>> {
        self.parts.lock().expect("training does not panic")
    }

    /// Calls `add` with the sums of each part and its share of the current positions.
    pub(super) fn for_each_part(&self, mut add: impl FnMut(&mut Sums, Share)) {
        let mut parts = self.parts();
        let all = parts.iter().map(|part| part.positions).sum();
        let mut start = 0;
        for part in parts.iter_mut().filter(|part| part.positions > 0) {
            let positions = start..start + part.positions;
            start = positions.end;
            add(part, Share { positions, all });
        }
    }

    /// Adds the losses of the current positions to the sums of a head.
    pub(crate) fn add_losses(&self, head: usize, losses: &[f32]) {
        self.for_each_part(|sums, share| {
            sums.losses.heads[head] += share.of(losses).iter().map(|&loss| f64::from(loss)).sum::<f64>();
        });
    }

    /// Forgets the graph of the positions before.
    pub(crate) fn start_graph(&self) {
        self.registered.lock().expect("training does not panic").clear();
    }

    /// Notes that a backward pass registers a gradient of this node. Returns whether another one has before.
    pub(super) fn note_gradient(&self, node: u64) -> bool {
        let mut registered = self.registered.lock().expect("training does not panic");
        let known = registered.contains(&node);
        registered.push(node);
        known
    }

    /// A tensor `[rows, columns]` that `fill` writes to. What it finds there has no meaning.
    pub(super) fn tensor(&self, rows: usize, columns: usize, fill: impl FnOnce(&mut [f32])) -> Numbers {
        let mut buffer = self.take(rows * columns);
        fill(&mut buffer);
        Numbers::from_data(TensorData::new(buffer, [rows, columns]))
    }

    fn take(&self, length: usize) -> Vec<f32> {
        let mut buffers = self.buffers.lock().expect("training does not panic");
        let place = buffers.partition_point(|buffer| buffer.capacity() < length);
        let mut buffer = if place < buffers.len() { buffers.remove(place) } else { Vec::with_capacity(length) };
        drop(buffers);
        buffer.resize(length, 0.0);
        buffer
    }

    /// Takes back the buffer of a tensor, unless it is shared.
    pub(super) fn give_back(&self, tensor: Numbers) {
        if !tensor.is_unique() {
            return;
        }
        let Ok(buffer) = tensor.into_data().try_into_vec::<f32>() else { return };
        let mut buffers = self.buffers.lock().expect("training does not panic");
        let place = buffers.partition_point(|other| other.capacity() < buffer.capacity());
        buffers.insert(place, buffer);
        if buffers.len() > MOST_BUFFERS {
            // Those of burn's own operations are the small ones.
            buffers.remove(0);
        }
    }
}

/// A part's share of the current positions.
#[derive(Debug)]
pub(super) struct Share {
    pub(super) positions: Range<usize>,
    all: usize,
}

impl Share {
    /// Its share of numbers, of which each position has equally many.
    pub(super) fn of<'a>(&self, numbers: &'a [f32]) -> &'a [f32] {
        let each = numbers.len() / self.all;
        &numbers[self.positions.start * each..self.positions.end * each]
    }

    /// The same for changes in place.
    pub(super) fn of_mut<'a>(&self, numbers: &'a mut [f32]) -> &'a mut [f32] {
        let each = numbers.len() / self.all;
        &mut numbers[self.positions.start * each..self.positions.end * each]
    }
}

/// The tensor with its numbers in the order of its rows, without a copy if they are.
pub(super) fn contiguous(tensor: Numbers) -> Numbers {
    if tensor.is_contiguous() { tensor } else { tensor.to_contiguous() }
}

/// The tensor as the whole of a buffer, for changes in place.
pub(super) fn owned(tensor: Numbers) -> Numbers {
    let whole = tensor.to_contiguous();
    drop(tensor);
    whole
}

/// The numbers of a contiguous tensor.
pub(super) fn numbers(tensor: &Numbers) -> &[f32] {
    tensor.as_slice().expect("contiguous floats")
}
