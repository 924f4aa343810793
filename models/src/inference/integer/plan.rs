//! The steps of a network for integers: which results are bytes, which are numbers, and which layers are one.

use super::super::areas::LANES;
use crate::network::{Network, Op, Step, Var, fused};

/// A step of a network with integers.
#[derive(Debug, Clone)]
pub(super) enum Planned {
    /// Dense layers with a ReLU that read the same bytes and are one to the kernel: their outputs, side by side, are at most a
    /// strip. Index and result of each.
    Together { x: Var, layers: Vec<(usize, Var)> },
    /// A layer over the result `x`.
    Layer { y: Var, x: Var, layer: usize, around: Option<usize>, to: To },
    /// An operation without a kernel, on numbers.
    Numbers { y: Var, op: Op },
    /// All rows as one.
    Flatten { y: Var, x: Var },
}

/// What a layer computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    /// Numbers, after a residual and a ReLU if there are such.
    Numbers { residual: Option<Var>, relu: bool },
    /// Bytes, after a ReLU.
    Bytes,
    /// A stream, after a ReLU, and its bytes.
    Start,
    /// A stream in the place of this one, to which it is added before a ReLU, and its bytes.
    Residual(Var),
}

/// How results are read.
#[derive(Debug)]
pub(super) struct Plan {
    /// In the order in which they are computed.
    pub(super) steps: Vec<Planned>,
    /// Whether each result is read as numbers, by [`Var`].
    pub(super) numbers: Vec<bool>,
    /// Whether each result is read as bytes.
    pub(super) bytes: Vec<bool>,
}

impl Plan {
    pub(super) fn new(network: &Network) -> Plan {
        let steps = fused(network);
        let mut plan = Plan { steps: Vec::new(), numbers: vec![false; network.ops.len()], bytes: Vec::new() };
        plan.bytes = plan.numbers.clone();
        [network.policy, network.value].into_iter().for_each(|var| plan.numbers[var.0] = true);
        for step in steps.iter().rev() {
            plan.wish(step);
        }
        let streams = plan.streams(&steps);
        for step in &steps {
            if let Step::Layer { y, residual: Some(residual), .. } = *step {
                plan.numbers[residual.0] |= !streams[y.0];
            }
        }
        plan.arrange(network, &steps, &streams);
        plan
    }

    /// Notes how a step reads, after all later ones. What is added to a layer may become a stream, and is not noted.
    fn wish(&mut self, step: &Step) {
        match *step {
            Step::Layer { x, .. } => self.bytes[x.0] = true,
            Step::Other { y, op: Op::Flatten { x } } => {
                self.numbers[x.0] |= self.numbers[y.0];
                self.bytes[x.0] |= self.bytes[y.0];
            }
            Step::Other { op, .. } => op.reads().for_each(|var| self.numbers[var.0] = true),
        }
    }

    /// The results that are kept as numbers in strips, beside their bytes, and in whose place the next of a tower is written:
    /// those of layers with a ReLU, each added to the one before, that nothing reads as numbers.
    fn streams(&self, steps: &[Step]) -> Vec<bool> {
        let mut streams = vec![false; self.numbers.len()];
        for step in steps {
            let y = step.output();
            let adds = |step: &Step| matches!(step, Step::Layer { residual: Some(r), .. } if *r == y);
            let later: Vec<&Step> = steps.iter().filter(|step| step.reads().contains(&y)).collect();
            let is_last = match later.iter().position(|step| adds(step)) {
                None => true,
                Some(index) => {
                    let rectified = matches!(later[index], Step::Layer { x, relu: true, .. } if *x != y);
                    index + 1 == later.len() && rectified
                }
            };
            let rectified = matches!(step, Step::Layer { relu: true, .. });
            streams[y.0] = rectified && is_last && !self.numbers[y.0];
        }
        // A tower is one as a whole or not at all.
        let sums = || {
            steps.iter().filter_map(|step| match *step {
                Step::Layer { y, residual: Some(residual), .. } => Some((y, residual)),
                _ => None,
            })
        };
        while let Some((y, residual)) = sums().find(|(y, residual)| streams[y.0] != streams[residual.0]) {
            (streams[y.0], streams[residual.0]) = (false, false);
        }
        streams
    }

    fn arrange(&mut self, network: &Network, steps: &[Step], streams: &[bool]) {
        let mut joined = vec![false; steps.len()];
        for (index, step) in steps.iter().enumerate() {
            if joined[index] {
                continue;
            }
            let planned = match *step {
                Step::Layer { y, x, layer, around, residual, relu } => {
                    let together = self.together(network, steps, index);
                    if together.len() > 1 {
                        together.iter().for_each(|&(index, ..)| joined[index] = true);
                        let layers = together.iter().map(|&(_, layer, y)| (layer, y)).collect();
                        Planned::Together { x, layers }
                    } else {
                        let is_added_to =
                            steps.iter().any(|step| matches!(step, Step::Layer { residual: Some(r), .. } if *r == y));
                        let to = match residual {
                            Some(stream) if streams[y.0] => To::Residual(stream),
                            None if streams[y.0] && is_added_to => To::Start,
                            None if relu && !self.numbers[y.0] => To::Bytes,
                            _ => To::Numbers { residual, relu },
                        };
                        Planned::Layer { y, x, layer, around, to }
                    }
                }
                Step::Other { y, op: Op::Flatten { x } } => Planned::Flatten { y, x },
                Step::Other { y, op } => Planned::Numbers { y, op },
            };
            self.steps.push(planned);
        }
    }

    /// The dense layers from `index` on that read the same result, have a ReLU and are read as bytes only when all their rows
    /// are one: index of the step, index of the layer, result.
    fn together(&self, network: &Network, steps: &[Step], index: usize) -> Vec<(usize, usize, Var)> {
        let of_step = |(index, step): (usize, &Step)| match *step {
            Step::Layer { y, x, layer, around: None, residual: None, relu: true } if !self.numbers[y.0] => {
                let flattened = |op: &Op| matches!(op, Op::Flatten { x } if *x == y);
                let reads = network.ops.iter().filter(|op| op.reads().any(|var| var == y));
                let only_flattened = reads.clone().count() == 1 && reads.into_iter().all(flattened);
                only_flattened.then_some((x, (index, layer, y)))
            }
            _ => None,
        };
        let Some((own, first)) = of_step((index, &steps[index])) else { return Vec::new() };
        let (mut all, mut outputs) = (vec![first], network.layers[first.1].outputs);
        let others = steps.iter().enumerate().skip(index + 1).filter_map(of_step);
        for (_, other) in others.filter(|(x, _)| *x == own) {
            outputs += network.layers[other.1].outputs;
            if outputs > LANES {
                break;
            }
            all.push(other);
        }
        all
    }
}
