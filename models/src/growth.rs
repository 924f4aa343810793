//! Growth of a network: weights with which a wider or deeper one computes what a given one does (Net2Net; Chen et al. 2015,
//! arXiv:1511.05641).
//!
//! Both networks are lists of operations over layers with names, and all follows from these lists, whatever the kind. A walk
//! over the larger network finds for each result the one of the smaller network that it contains, and column by column what
//! is there and what is new. What is new must not reach what was there: layers have zeros from new columns to known ones,
//! and a new layer whose results are added to known ones has zeros there. All other weights of new columns and layers are
//! random, so that the zeros have gradients.

use crate::error::NetworkError;
use crate::kinds::NetworkConfig;
use crate::network::{LayerSpec, Network, Op, Var};
use crate::shape::Shape;
use crate::weights::{NamedTensor, Weights};

/// Why a network cannot become another one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrowthError {
    /// The kinds differ.
    #[error("a {from} cannot become a {to}")]
    Kind {
        /// The kind of the given network.
        from: &'static str,
        /// The kind of the larger network.
        to: &'static str,
    },
    /// A layer would be missing.
    #[error("a network can only grow, and its layer `{0}` would be missing")]
    LeftOut(String),
    /// A layer would have less outputs or neighbours.
    #[error("a network can only grow, and its layer `{layer}` would have {to} {what}, not {from}")]
    Narrower {
        /// The layer.
        layer: String,
        /// What it would have less of.
        what: &'static str,
        /// Its number.
        from: usize,
        /// The number that is wanted.
        to: usize,
    },
    /// A layer would have other inputs than it was trained on.
    #[error("its layer `{0}` would have other inputs")]
    Reads(String),
    /// An output would be computed in another way.
    #[error("its {0} head would differ")]
    Head(&'static str),
    /// One of the networks cannot be built, or the weights are not its own.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

/// Weights of the network `to` that computes the same as the network `from` with `weights`: on one processor the same `f32`
/// bits in inference, as products with zero are added between the same others in the same order. What is new, and need not
/// be zero, is as in [`Weights::random`] with this seed.
///
/// # Errors
/// The first of kind, layers and heads that does not fit.
pub fn grow(
    (from, from_shape): (&NetworkConfig, &Shape),
    weights: &Weights,
    (to, to_shape): (&NetworkConfig, &Shape),
    seed: u64,
) -> Result<Weights, GrowthError> {
    if from.kind() != to.kind() {
        return Err(GrowthError::Kind { from: from.kind(), to: to.kind() });
    }
    let (old, new) = (Network::new(from, from_shape)?, Network::new(to, to_shape)?);
    weights.check(&old.layout()).map_err(NetworkError::from)?;
    let growth = Growth::of(&old, &new)?;
    let mut tensors = Weights::random(&new.layout(), seed).tensors().to_vec();
    for (origin, pair) in growth.origins.iter().zip(tensors.chunks_exact_mut(2)) {
        if let [weight, bias] = pair {
            origin.write(weights.tensors(), &mut weight.data, &mut bias.data);
        }
    }
    Ok(Weights::new(&new.layout(), tensors).map_err(NetworkError::from)?)
}

/// For each index along an axis of the new network, the index in the old one, if it is not new.
type Axis = Vec<Option<usize>>;

/// Whether an axis has all indices of one of this length, each once.
fn is_whole(axis: &Axis, length: usize) -> bool {
    let mut found: Vec<usize> = axis.iter().flatten().copied().collect();
    found.sort_unstable();
    found.into_iter().eq(0..length)
}

/// The first indices of an axis of this length are all of one that is `known` long.
fn grown(known: usize, length: usize) -> Axis {
    (0..length).map(|index| (index < known).then_some(index)).collect()
}

/// The pairs of indices of two axes, as indices of the first and `columns` of the second in one.
fn product(rows: &Axis, columns: &Axis, length: usize) -> Axis {
    rows.iter().flat_map(|row| columns.iter().map(move |column| Some((*row)? * length + (*column)?))).collect()
}

/// Where the weights of a layer come from.
#[derive(Debug, Clone)]
enum Origin {
    /// From this layer of the old network: its inputs, over all taps, and its outputs.
    Known { layer: usize, inputs: Axis, outputs: Axis },
    /// It is new; outputs that are marked here are zero.
    New { silent: Vec<bool> },
}

impl Origin {
    /// Writes the weights that are not random.
    fn write(&self, old: &[NamedTensor], weight: &mut [f32], bias: &mut [f32]) {
        let rows = weight.chunks_exact_mut(bias.len());
        match self {
            Origin::Known { layer, inputs, outputs } => {
                let [old_weight, old_bias] = [2 * layer, 2 * layer + 1].map(|index| &old[index].data);
                for (row, input) in rows.zip(inputs) {
                    for (x, output) in row.iter_mut().zip(outputs) {
                        let Some(output) = output else { continue };
                        *x = input.map_or(0.0, |input| old_weight[input * old_bias.len() + output]);
                    }
                }
                let known = bias.iter_mut().zip(outputs).filter_map(|(x, output)| Some((x, (*output)?)));
                known.for_each(|(x, output)| *x = old_bias[output]);
            }
            Origin::New { silent } => {
                for row in rows.chain([bias]) {
                    row.iter_mut().zip(silent).filter(|(_, silent)| **silent).for_each(|(x, _)| *x = 0.0);
                }
            }
        }
    }
}

/// What a result of the new network has of one of the old network: at known rows and columns it is the same.
#[derive(Debug, Clone)]
struct Known {
    /// The first of the old results that are equal.
    of: Var,
    rows: Axis,
    columns: Axis,
    /// Whether the rows are the points, which are all new on another board.
    by_point: bool,
}

/// The walk over the new network.
struct Growth<'a> {
    old: &'a Network,
    new: &'a Network,
    /// For each old result the first one that is computed in the same way.
    first: Vec<Var>,
    /// For each new result so far.
    known: Vec<Option<Known>>,
    /// By layer of the new network.
    origins: Vec<Origin>,
}

impl<'a> Growth<'a> {
    /// Walks over the new network.
    fn of(old: &'a Network, new: &'a Network) -> Result<Growth<'a>, GrowthError> {
        let mut first: Vec<Var> = Vec::with_capacity(old.ops.len());
        for (index, op) in old.ops.iter().enumerate() {
            let op = op.reading(|var| first[var.0]);
            let equal = (0..index).find(|&other| old.ops[other].reading(|var| first[var.0]) == op);
            first.push(Var(equal.unwrap_or(index)));
        }
        let origins = new.layers.iter().map(|layer| Origin::New { silent: vec![false; layer.outputs] }).collect();
        let mut growth = Growth { old, new, first, known: Vec::with_capacity(new.ops.len()), origins };
        growth.expect_layers()?;
        for index in 0..new.ops.len() {
            let known = growth.operation(Var(index))?;
            growth.known.push(known);
        }
        growth.expect_head("policy", new.policy, old.policy)?;
        growth.expect_head("value", new.value, old.value)?;
        Ok(growth)
    }

    /// Refuses to leave out layers, or outputs of them.
    fn expect_layers(&self) -> Result<(), GrowthError> {
        for layer in &self.old.layers {
            let Some(new) = self.new.layers.iter().find(|new| new.name == layer.name) else {
                return Err(GrowthError::LeftOut(layer.name.clone()));
            };
            let (from, to) = (layer.outputs, new.outputs);
            // A smaller board may have fewer kinds of actions.
            if to < from && !self.has_kinds(&layer.name) {
                return Err(GrowthError::Narrower { layer: layer.name.clone(), what: "outputs", from, to });
            }
        }
        Ok(())
    }

    /// Whether the layer of this name has an output for each kind of action.
    fn has_kinds(&self, name: &str) -> bool {
        let of_layer = |op: &Op| matches!(*op, Op::Linear { layer, .. } if self.old.layers[layer].name == name);
        let is_read = |op: &Op| matches!(*op, Op::Actions { x } if of_layer(&self.old.ops[x.0]));
        self.old.ops.iter().any(is_read)
    }

    fn expect_head(&self, name: &'static str, new: Var, old: Var) -> Result<(), GrowthError> {
        let same = self.known[new.0].as_ref().is_some_and(|known| known.of == self.first[old.0]);
        let same =
            same && (self.new.size(new) == self.old.size(old) || matches!(self.new.ops[new.0], Op::Actions { .. }));
        if same { Ok(()) } else { Err(GrowthError::Head(name)) }
    }

    /// What is known of a result, if anything is.
    fn operation(&mut self, var: Var) -> Result<Option<Known>, GrowthError> {
        let op = self.new.ops[var.0];
        Ok(match op {
            Op::Inputs | Op::Points => self.observation(var),
            Op::Linear { x, layer, around } => self.linear(var, x, layer, around)?,
            Op::Relu { x } => self.one(op, x).or_else(|| self.rectified(x)),
            Op::Sigmoid { x } => self.one(op, x),
            Op::Mean { x } | Op::Max { x } => self.over_rows(op, x),
            Op::Flatten { x } => self.flatten(op, x),
            Op::Actions { x } => self.actions(op, x),
            Op::Transpose { x } => {
                let turned =
                    |Known { of, rows, columns, .. }| Known { of, rows: columns, columns: rows, by_point: false };
                self.one(op, x).map(turned)
            }
            Op::Add { x, y } => self.add(op, x, y),
            Op::Multiply { x, y } => self.pair(op, x, y),
            Op::Concat { x, y } => self.concat(op, x, y),
        })
    }

    /// The old result that an operation of the new network computes of those that are known of what it reads.
    fn find(&self, op: Op) -> Option<Var> {
        let op = op
            .reads()
            .all(|var| self.known(var).is_some())
            .then(|| op.reading(|var| self.known(var).map_or(var, |known| known.of)))?;
        let computes = |other: &Op| other.reading(|var| self.first[var.0]) == op;
        self.old.ops.iter().position(computes).map(|index| self.first[index])
    }

    fn known(&self, var: Var) -> Option<&Known> {
        self.known[var.0].as_ref()
    }

    /// On another board points have the same features, but all points are new.
    fn observation(&self, var: Var) -> Option<Known> {
        let of = self.find(self.new.ops[var.0])?;
        let [rows, columns] = self.new.size(var);
        let (old, new) = (&self.old.shape, &self.new.shape);
        let by_point = self.new.ops[var.0] == Op::Points;
        let is_same = old.inputs == new.inputs && (old.board == new.board || !by_point);
        let fits = is_same || by_point && self.old.size(of)[1] == columns;
        let rows = grown(if is_same { rows } else { 0 }, rows);
        fits.then(|| Known { of, rows, columns: grown(columns, columns), by_point })
    }

    /// An operation of each number.
    fn one(&self, op: Op, x: Var) -> Option<Known> {
        Some(Known { of: self.find(op)?, ..self.known(x)?.clone() })
    }

    /// A ReLU of what has gone through one before, and to which a new block has added nothing.
    fn rectified(&self, x: Var) -> Option<Known> {
        let x = self.known(x)?;
        matches!(self.old.ops[x.of.0], Op::Relu { .. } | Op::Sigmoid { .. }).then(|| x.clone())
    }

    fn over_rows(&self, op: Op, x: Var) -> Option<Known> {
        let all = self.known(x).is_some_and(|x| x.by_point || is_whole(&x.rows, x.rows.len()));
        let over = self.one(op, x).filter(|_| all)?;
        Some(Known { rows: vec![Some(0)], by_point: false, ..over })
    }

    fn flatten(&self, op: Op, x: Var) -> Option<Known> {
        let Known { of, rows, columns, .. } = self.one(op, x)?;
        let length = self.old.size(self.known(x)?.of)[1];
        Some(Known { of, columns: product(&rows, &columns, length), rows: vec![Some(0)], by_point: false })
    }

    /// The logits of actions, which on another board are others of the same kinds.
    fn actions(&self, op: Op, x: Var) -> Option<Known> {
        let of_kinds = self.one(op, x)?;
        let (old, new) = (&self.old.shape, &self.new.shape);
        let same = old.action_kinds == new.action_kinds;
        let columns = grown(if same { old.actions } else { 0 }, new.actions);
        Some(Known { rows: vec![Some(0)], columns, by_point: false, ..of_kinds })
    }

    /// For each output of a layer, the known one.
    fn outputs(&self, y: Var, known: usize, count: usize) -> Axis {
        let by_kind = self.new.ops.iter().any(|op| matches!(op, Op::Actions { x } if *x == y));
        if !by_kind {
            return grown(known, count);
        }
        let [old, new] = [self.old, self.new].map(|network| &network.shape.action_kinds);
        new.iter().map(|(name, _)| old.iter().position(|(other, _)| other == name)).collect()
    }

    /// A layer of the same name reads the same, with zeros for what is new.
    fn linear(&mut self, y: Var, x: Var, layer: usize, around: Option<usize>) -> Result<Option<Known>, GrowthError> {
        let LayerSpec { name, outputs, .. } = &self.new.layers[layer];
        let Some(old_layer) = self.old.layers.iter().position(|old| old.name == *name) else { return Ok(None) };
        let old_op = self.old.ops.iter().enumerate().find_map(|(index, op)| match *op {
            Op::Linear { x, layer, around } if layer == old_layer => Some((self.first[index], self.first[x.0], around)),
            _ => None,
        });
        let reads = || GrowthError::Reads(name.clone());
        let (of, old_x, old_around) = old_op.ok_or_else(reads)?;
        let x = self.known(x).filter(|x| x.of == old_x).ok_or_else(reads)?;
        let [_, columns] = self.old.size(old_x);
        let taps = match (around, old_around) {
            (None, None) => vec![Some(0)],
            (Some(new), Some(old)) => {
                let (new, old) = (&self.new.tables[new], &self.old.tables[old]);
                let taps = new.grown_from(old).ok_or_else(reads)?;
                if !is_whole(&taps, old.count) {
                    let (from, to) = (old.count - 1, new.count - 1);
                    return Err(GrowthError::Narrower { layer: name.clone(), what: "neighbours", from, to });
                }
                taps
            }
            _ => return Err(reads()),
        };
        if !is_whole(&x.columns, columns) {
            return Err(reads());
        }
        let inputs = product(&taps, &x.columns, columns);
        let outputs = self.outputs(y, self.old.layers[old_layer].outputs, *outputs);
        let known = Known { of, columns: outputs.clone(), ..x.clone() };
        self.origins[layer] = Origin::Known { layer: old_layer, inputs, outputs };
        Ok(Some(known))
    }

    fn add(&mut self, op: Op, x: Var, y: Var) -> Option<Known> {
        match (self.known(x).cloned(), self.known(y).cloned()) {
            (Some(_), Some(_)) => self.pair(op, x, y),
            (Some(known), None) => self.silence(y, &known.columns).then_some(known),
            (None, Some(known)) => {
                (self.new.size(x) == self.new.size(y) && self.silence(x, &known.columns)).then_some(known)
            }
            (None, None) => None,
        }
    }

    /// An operation of two numbers, or of the rows of one result and the only row of another.
    fn pair(&self, op: Op, x: Var, y: Var) -> Option<Known> {
        let (of, x, y) = (self.find(op)?, self.known(x)?, self.known(y)?);
        let same = x.columns == y.columns && (x.rows == y.rows || y.rows.len() == 1);
        same.then(|| Known { of, ..x.clone() })
    }

    fn concat(&self, op: Op, x: Var, y: Var) -> Option<Known> {
        let (of, x, y) = (self.find(op)?, self.known(x)?, self.known(y)?);
        let before = self.old.size(x.of)[1];
        let behind = y.columns.iter().map(|column| column.map(|column| before + column));
        let columns = x.columns.iter().copied().chain(behind).collect();
        (x.rows == y.rows).then(|| Known { of, columns, ..x.clone() })
    }

    /// Makes known `columns` of a new result zero, by the layers that it comes from. Returns whether they can be.
    fn silence(&mut self, var: Var, columns: &Axis) -> bool {
        match self.new.ops[var.0] {
            Op::Linear { layer, .. } => match &mut self.origins[layer] {
                Origin::New { silent } => {
                    silent.iter_mut().zip(columns).for_each(|(silent, column)| *silent |= column.is_some());
                    true
                }
                Origin::Known { .. } => false,
            },
            Op::Relu { x } | Op::Mean { x } | Op::Max { x } => self.silence(x, columns),
            Op::Add { x, y } => self.silence(x, columns) && self.silence(y, columns),
            Op::Multiply { x, y } => self.silence(x, columns) || self.silence(y, columns),
            Op::Concat { x, y } => {
                let (of_x, of_y) = (columns[..self.new.size(x)[1]].to_vec(), columns[self.new.size(x)[1]..].to_vec());
                self.silence(x, &of_x) && self.silence(y, &of_y)
            }
            Op::Inputs
            | Op::Points
            | Op::Sigmoid { .. }
            | Op::Flatten { .. }
            | Op::Transpose { .. }
            | Op::Actions { .. } => false,
        }
    }
}
