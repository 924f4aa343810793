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

    /// What is added to a layer.
    pub(crate) fn residual(&self) -> Option<Var> {
        match *self {
            Step::Layer { residual, .. } => residual,
            Step::Other { .. } => None,
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
        // The layer that becomes one with the operation, and what it is added to, if this is a sum.
        let joined = match op {
            Op::Relu { x } => open_layer(&steps, &uses, x).map(|place| (place, None)),
            Op::Add { x, y } if network.size(x) == network.size(y) => {
                [(y, x), (x, y)].into_iter().find_map(|(change, stream)| {
                    let place = open_layer(&steps, &uses, change)?;
                    steps[place].residual().is_none().then_some((place, Some(stream)))
                })
            }
            _ => None,
        };
        let mut step = match (op, joined) {
            (_, Some((place, _))) => steps.remove(place),
            (Op::Linear { x, layer, around }, None) => {
                Step::Layer { y: Var(index), x, layer, around, residual: None, relu: false }
            }
            (op, None) => Step::Other { y: Var(index), op },
        };
        if let (Step::Layer { y, residual, relu, .. }, Some((_, stream))) = (&mut step, joined) {
            *y = Var(index);
            *residual = residual.or(stream);
            *relu = stream.is_none();
        }
        steps.push(step);
    }
    steps
}

/// The place of the step that computes `var`, if it is a layer without a ReLU and nothing else reads it.
fn open_layer(steps: &[Step], uses: &[usize], var: Var) -> Option<usize> {
    let place = steps.iter().position(|step| step.output() == var).filter(|_| uses[var.0] == 1)?;
    matches!(steps[place], Step::Layer { relu: false, .. }).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Init, NetworkBuilder};
    use crate::shape::Shape;

    #[test]
    fn a_layer_takes_one_residual() {
        let shape = Shape::flat(4, 3);
        let mut net = NetworkBuilder::new(&shape);
        let x = net.inputs();
        let a = net.rectified("a", x, 4);
        let b = net.linear("b", a, 4, Init::He);
        let once = net.add(a, b);
        let twice = net.add(once, a);
        let y = net.relu(twice);
        let heads = [net.linear("policy", y, 3, Init::Head), net.linear("value", y, 3, Init::Head)];
        let steps = fused(&net.finish(heads, &[]).unwrap());
        assert_eq!(steps[1], Step::Layer { y: a, x, layer: 0, around: None, residual: None, relu: true });
        assert_eq!(steps[2], Step::Layer { y: once, x: a, layer: 1, around: None, residual: Some(a), relu: false });
        assert_eq!(steps[3], Step::Other { y: twice, op: Op::Add { x: once, y: a } });
        assert_eq!(steps[4], Step::Other { y, op: Op::Relu { x: twice } });
        assert_eq!(steps.len(), 7);
    }
}
