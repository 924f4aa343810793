//! The operations of a network, with the sizes of their results and the parameters that they name.

use serde::{Deserialize, Serialize};

use crate::shape::{Shape, Taps};
use crate::weights::TensorSpec;

/// Number of classes of the value head: win, draw and loss for the mover, in this order.
pub const OUTCOMES: usize = 3;

/// The places of the two heads of every network among its heads, targets and losses.
pub(crate) const POLICY: usize = 0;
pub(crate) const VALUE: usize = 1;

/// The numbers that a head gives for a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetShape {
    /// One number.
    Scalar,
    /// One for each point of the board.
    Points,
    /// One for each action, in the order of the policy.
    Actions,
    /// One for each of some classes.
    Classes(usize),
}

impl TargetShape {
    /// How many numbers these are in games of a shape.
    pub fn numbers(self, shape: &Shape) -> usize {
        match self {
            TargetShape::Scalar => 1,
            TargetShape::Points => shape.board.points,
            TargetShape::Actions => shape.actions,
            TargetShape::Classes(classes) => classes,
        }
    }
}

/// A head: the name of its target, and the numbers that it gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadSpec {
    /// Name of the target.
    pub name: String,
    /// The numbers.
    pub shape: TargetShape,
}

impl HeadSpec {
    /// The heads of every network.
    #[cfg(feature = "train")]
    pub(crate) fn of_every_network() -> [HeadSpec; 2] {
        let spec = |name: &str, shape| HeadSpec { name: name.to_owned(), shape };
        [spec("policy", TargetShape::Actions), spec("value", TargetShape::Classes(OUTCOMES))]
    }
}

/// Result of an operation: a matrix `[rows, columns]` per position, where the rows are the points of the board or one row for
/// all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub(crate) usize);

/// An operation on the results of earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// The observation, `[1, inputs]`.
    Inputs,
    /// The observation by point, `[points, features]`: the planes of the point, then the scalars of the whole board.
    Points,
    /// A linear layer, `x W + b` for every row; over neighbours it reads the rows of a point and of its neighbours, side by
    /// side, with zeros for those that are missing.
    Linear { x: Var, layer: usize, around: Option<usize> },
    /// `max(x, 0)`.
    Relu { x: Var },
    /// `x + y`; `y` may be one row, which is added to every row of `x`.
    Add { x: Var, y: Var },
    /// The mean of each column, `[1, columns]`.
    Mean { x: Var },
    /// The maximum of each column, `[1, columns]`.
    Max { x: Var },
    /// The columns of `x`, then those of `y`.
    Concat { x: Var, y: Var },
    /// All rows as one, `[1, rows * columns]`.
    Flatten { x: Var },
}

/// A linear layer: a matrix `<name>.weight`, `[taps * inputs, outputs]`, and a bias `<name>.bias`, `[outputs]`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LayerSpec {
    pub(crate) name: String,
    /// Numbers that a row of outputs depends on: the columns of its input, times the taps.
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Standard deviation of the initial weights; the bias starts at zero.
    pub(crate) deviation: f64,
}

/// A network for games of one shape.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Network {
    pub(crate) shape: Shape,
    /// In an order in which operations follow those that they read. The index is that of the [`Var`].
    pub(crate) ops: Vec<Op>,
    /// `[rows, columns]` of the result of each operation.
    pub(crate) sizes: Vec<[usize; 2]>,
    /// In the order of the layout.
    pub(crate) layers: Vec<LayerSpec>,
    /// The tables of neighbours that layers read.
    pub(crate) tables: Vec<Taps>,
    /// The outputs, one row each: logits of all actions, logits of win, draw and loss, and those of further heads.
    pub(crate) heads: Vec<Var>,
}

/// What was computed, if `var` only gives it another form.
pub(super) fn computed(ops: &[Op], mut var: Var) -> Var {
    while let Op::Flatten { x } = ops[var.0] {
        var = x;
    }
    var
}

impl Op {
    /// The results that it reads.
    pub(crate) fn reads(self) -> impl Iterator<Item = Var> {
        let vars = match self {
            Op::Inputs | Op::Points => [None, None],
            Op::Linear { x, .. } | Op::Relu { x } | Op::Mean { x } | Op::Max { x } | Op::Flatten { x } => {
                [Some(x), None]
            }
            Op::Add { x, y } | Op::Concat { x, y } => [Some(x), Some(y)],
        };
        vars.into_iter().flatten()
    }
}

impl Network {
    /// Name, shape and initial distribution of the parameters.
    pub(crate) fn layout(&self) -> Vec<TensorSpec> {
        let tensors = |layer: &LayerSpec| {
            let tensor = |part: &str, shape, deviation| {
                let name = format!("{}.{part}", layer.name);
                TensorSpec { name, shape, deviation }
            };
            [
                tensor("weight", vec![layer.inputs, layer.outputs], layer.deviation),
                tensor("bias", vec![layer.outputs], 0.0),
            ]
        };
        self.layers.iter().flat_map(tensors).collect()
    }

    /// Places in the layout of the matrices between others: of layers that read no observation and give no output.
    #[cfg(feature = "train")]
    pub(crate) fn hidden_matrices(&self) -> Vec<usize> {
        let outputs: Vec<Var> = self.heads.iter().flat_map(|&head| self.parts(head)).collect();
        let is_observed = |x| matches!(self.ops[self.computed(x).0], Op::Inputs | Op::Points);
        let hidden = |(index, op): (usize, &Op)| match *op {
            Op::Linear { x, layer, .. } if !is_observed(x) && !outputs.contains(&Var(index)) => Some(2 * layer),
            _ => None,
        };
        self.ops.iter().enumerate().filter_map(hidden).collect()
    }

    /// The results that this one only gives in another form, one beside the other.
    #[cfg(feature = "train")]
    fn parts(&self, var: Var) -> Vec<Var> {
        match self.ops[var.0] {
            Op::Flatten { x } => self.parts(x),
            Op::Concat { x, y } => [self.parts(x), self.parts(y)].concat(),
            _ => vec![var],
        }
    }

    /// Logits of all actions, `[1, actions]`.
    pub(crate) fn policy(&self) -> Var {
        self.heads[POLICY]
    }

    /// Logits of win, draw and loss, `[1, 3]`.
    pub(crate) fn value(&self) -> Var {
        self.heads[VALUE]
    }

    /// Number of rows and of columns of a result.
    pub(crate) fn size(&self, var: Var) -> [usize; 2] {
        self.sizes[var.0]
    }

    /// Number of rows that a layer reads for each row of its outputs.
    pub(crate) fn taps(&self, around: Option<usize>) -> usize {
        around.map_or(1, |table| self.tables[table].count)
    }

    /// Whether the network works on points, not only on the observation as a vector.
    pub(crate) fn reads_points(&self) -> bool {
        self.ops.contains(&Op::Points)
    }

    /// The most rows that a result has.
    pub(crate) fn most_rows(&self) -> usize {
        self.sizes.iter().map(|size| size[0]).max().unwrap_or(1)
    }

    /// What was computed, if `var` only gives it another form.
    pub(crate) fn computed(&self, var: Var) -> Var {
        computed(&self.ops, var)
    }

    /// The results that are read by others or are outputs, by [`Var`]: how often.
    pub(crate) fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.ops.len()];
        self.ops.iter().flat_map(|op| op.reads()).chain(self.heads.iter().copied()).for_each(|var| uses[var.0] += 1);
        uses
    }
}
