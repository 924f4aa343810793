//! Joins operations that a kernel computes in one pass: a linear layer, the residual that is added to it, and a ReLU.

use super::operations::{Network, Op, Var};

/// One pass over memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A linear layer: `y = x W + b`, plus `residual`, and then a ReLU if `relu`.
    Layer { y: Var, x: Var, layer: usize, around: Option<usize>, residual: Option<Var>, relu: bool },
    /// An operation by itself.
    Other { y: Var, op: Op },
}

impl Step {
    /// What it computes.
    pub(crate) fn output(&self) -> Var {
        match *self {
            Step::Layer { y, .. } | Step::Other { y, .. } => y,
        }
    }

    /// The results that it reads.
    pub(crate) fn reads(&self) -> Vec<Var> {
        match *self {
            Step::Layer { x, residual, .. } => [Some(x), residual].into_iter().flatten().collect(),
            Step::Other { op, .. } => op.reads().collect(),
        }
    }
}

/// The steps of a network, in an order in which they follow those that they read.
pub(crate) fn fused(network: &Network) -> Vec<Step> {
    let uses = network.uses();
    let mut steps: Vec<Step> = Vec::with_capacity(network.ops.len());
    for (index, &op) in network.ops.iter().enumerate() {
        let output = Var(index);
        // The step that computed `var`, if nothing else reads it.
        let own = |steps: &[Step], var: Var| {
            let place = steps.iter().position(|step| step.output() == var)?;
            (uses[var.0] == 1).then_some(place)
        };
        match op {
            Op::Linear { x, layer, around } => {
                steps.push(Step::Layer { y: output, x, layer, around, residual: None, relu: false });
            }
            Op::Relu { x } => match own(&steps, x) {
                Some(place) if matches!(steps[place], Step::Layer { relu: false, .. }) => {
                    let mut step = steps.remove(place);
                    if let Step::Layer { y, relu, .. } = &mut step {
                        (*y, *relu) = (output, true);
                    }
                    steps.push(step);
                }
                _ => steps.push(Step::Other { y: output, op }),
            },
            Op::Add { x, y } => {
                let fits = |steps: &[Step], place: usize| {
                    matches!(steps[place], Step::Layer { residual: None, relu: false, .. })
                };
                let same = network.size(x) == network.size(y);
                let joined = [(y, x), (x, y)].into_iter().filter(|_| same).find_map(|(change, stream)| {
                    own(&steps, change).filter(|&place| fits(&steps, place)).map(|place| (place, stream))
                });
                match joined {
                    Some((place, stream)) => {
                        let mut step = steps.remove(place);
                        if let Step::Layer { y, residual, .. } = &mut step {
                            (*y, *residual) = (output, Some(stream));
                        }
                        steps.push(step);
                    }
                    None => steps.push(Step::Other { y: output, op }),
                }
            }
            _ => steps.push(Step::Other { y: output, op }),
        }
    }
    steps
}
