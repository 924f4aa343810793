//! The steps of a network for integers: which results are bytes, which are numbers, and which layers are one.

use super::super::areas::LANES;
use crate::network::{Network, Op, Step, Var, fused};

/// What a layer computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    /// Numbers, after a residual and a ReLU if there are such.
    Numbers,
    /// Bytes, after a ReLU.
    Bytes,
    /// A stream, after a ReLU, and its bytes.
    Start,
    /// A stream in the place of this one, to which it is added before a ReLU, and its bytes.
    Residual(Var),
}

/// How results are read, by [`Var`].
#[derive(Debug)]
pub(super) struct Plan {
    /// In the order in which they are computed.
    pub(super) steps: Vec<Step>,
    /// Whether each result is read as numbers.
    pub(super) numbers: Vec<bool>,
    /// Whether each result is read as bytes.
    pub(super) bytes: Vec<bool>,
    /// Whether each result is kept as numbers in strips beside its bytes, in whose place the next of a tower is written.
    streams: Vec<bool>,
}

impl Plan {
    pub(super) fn new(network: &Network) -> Plan {
        let [numbers, bytes, streams] = [(); 3].map(|()| vec![false; network.ops.len()]);
        let mut plan = Plan { steps: fused(network), numbers, bytes, streams };
        [network.policy(), network.value()].into_iter().for_each(|var| plan.numbers[var.0] = true);
        for index in (0..plan.steps.len()).rev() {
            plan.note_reads(plan.steps[index]);
        }
        plan.find_streams();
        for step in &plan.steps {
            if let Step::Layer { y, residual: Some(residual), .. } = *step {
                plan.numbers[residual.0] |= !plan.streams[y.0];
            }
        }
        plan
    }

    /// Notes how a step reads, after all later ones. The residual of a layer may become a stream, and is not noted.
    fn note_reads(&mut self, step: Step) {
        match step {
            Step::Layer { x, .. } => self.bytes[x.0] = true,
            Step::Other { y, op: Op::Flatten { x } } => {
                self.numbers[x.0] |= self.numbers[y.0];
                self.bytes[x.0] |= self.bytes[y.0];
            }
            Step::Other { op, .. } => op.reads().for_each(|var| self.numbers[var.0] = true),
        }
    }

    /// Streams are the results of layers with a ReLU, each added to the one before, that nothing reads as numbers.
    fn find_streams(&mut self) {
        for step in &self.steps {
            let y = step.output();
            let later: Vec<&Step> = self.steps.iter().filter(|step| step.reads().contains(&y)).collect();
            let is_last = match later.iter().position(|step| step.residual() == Some(y)) {
                None => true,
                Some(index) => {
                    let rectified = matches!(later[index], Step::Layer { x, relu: true, .. } if *x != y);
                    index + 1 == later.len() && rectified
                }
            };
            let rectified = matches!(step, Step::Layer { relu: true, .. });
            self.streams[y.0] = rectified && is_last && !self.numbers[y.0];
        }
        // A tower is one as a whole or not at all.
        let sums: Vec<(Var, Var)> =
            self.steps.iter().filter_map(|step| Some((step.output(), step.residual()?))).collect();
        let streams = &mut self.streams;
        while let Some((y, residual)) = sums.iter().find(|(y, residual)| streams[y.0] != streams[residual.0]) {
            (streams[y.0], streams[residual.0]) = (false, false);
        }
    }

    /// What the layer of a step computes.
    pub(super) fn to(&self, y: Var, residual: Option<Var>, relu: bool) -> To {
        let is_residual = || self.steps.iter().any(|step| step.residual() == Some(y));
        match residual {
            Some(stream) if self.streams[y.0] => To::Residual(stream),
            None if self.streams[y.0] && is_residual() => To::Start,
            None if relu && !self.numbers[y.0] => To::Bytes,
            _ => To::Numbers,
        }
    }

    /// The layers from the step `index` on that are one to the kernel: dense layers with a ReLU that read the same bytes,
    /// whose outputs, side by side, are at most a strip, and are read as bytes only when all their rows are one. Layer and
    /// result of each.
    pub(super) fn together(&self, network: &Network, index: usize) -> Vec<(usize, Var)> {
        let of_step = |step: &Step| match *step {
            Step::Layer { y, x, layer, around: None, residual: None, relu: true } if !self.numbers[y.0] => {
                let flattened = |op: &Op| matches!(op, Op::Flatten { x } if *x == y);
                let reads = network.ops.iter().filter(|op| op.reads().any(|var| var == y));
                let only_flattened = reads.clone().count() == 1 && reads.into_iter().all(flattened);
                only_flattened.then_some((x, (layer, y)))
            }
            _ => None,
        };
        let Some((own, _)) = of_step(&self.steps[index]) else { return Vec::new() };
        let same_input = self.steps[index..].iter().filter_map(of_step).filter(|(x, _)| *x == own);
        let mut outputs = 0;
        let fits = |&(layer, _): &(usize, Var)| {
            outputs += network.layers[layer].outputs;
            outputs <= LANES
        };
        same_input.map(|(_, layer)| layer).take_while(fits).collect()
    }

    /// The step that reads each result last; none for those that are not read.
    pub(super) fn last_reads(&self) -> Vec<usize> {
        let mut last = vec![usize::MAX; self.numbers.len()];
        for (index, step) in self.steps.iter().enumerate() {
            step.reads().iter().for_each(|var| last[var.0] = index);
        }
        last
    }
}
