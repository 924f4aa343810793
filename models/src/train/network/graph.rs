//! A network as a graph of burn: the walk over its operations.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use crate::network::{Network, Op, Step, VALUE, Var, fused};
use crate::shape::{BoardShape, Shape};

/// The outputs for each row of a batch: logits, not probabilities.
#[derive(Debug)]
pub struct Output {
    /// Logits of all actions, legal or not, `[batch, actions]`.
    pub policy: Tensor<2>,
    /// Logits of win, draw and loss for the mover, `[batch, 3]`.
    pub value: Tensor<2>,
    /// The outputs of further heads in training, each `[batch, numbers]`.
    pub further: Vec<Tensor<2>>,
}

/// A linear layer: its parameters, the table of neighbours that it reads, and whether a ReLU follows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinearStep {
    pub(crate) layer: usize,
    pub(crate) around: Option<usize>,
    pub(crate) relu: bool,
}

/// A network as a graph of burn, whoever computes its linear layers.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) network: Network,
    pub(crate) steps: Vec<Step>,
    /// How often each result is read.
    uses: Vec<usize>,
}

impl Graph {
    pub(crate) fn new(network: Network) -> Graph {
        Graph { steps: fused(&network), uses: network.uses(), network }
    }

    /// Evaluates observations `[positions, inputs]`. `points` gives their features of all points, `[positions * points,
    /// features]`, and `linear` the layers from `[positions * rows, inputs]`; it adds the residual if there is one.
    ///
    /// # Panics
    /// If the second axis is not the network's number of inputs.
    pub(crate) fn forward(
        &self,
        inputs: &Tensor<2>,
        points: impl Fn() -> Tensor<2>,
        mut linear: impl FnMut(LinearStep, Tensor<2>, Option<Tensor<2>>) -> Tensor<2>,
    ) -> Output {
        let [positions, width] = inputs.dims();
        assert_eq!(width, self.network.shape.inputs, "the length of an observation");
        let mut results =
            Results { graph: self, positions, all: vec![None; self.network.ops.len()], left: self.uses.clone() };
        for step in &self.steps {
            let result = match *step {
                Step::Layer { x, layer, around, residual, relu, .. } => {
                    let (x, residual) = (results.read(x), residual.map(|residual| results.read(residual)));
                    linear(LinearStep { layer, around, relu }, x, residual)
                }
                Step::Other { op: Op::Inputs, .. } => inputs.clone(),
                Step::Other { op: Op::Points, .. } => points(),
                Step::Other { op, .. } => results.compute(op),
            };
            results.all[step.output().0] = Some(result);
        }
        let mut read = |head: &Var| results.read(*head);
        let [policy, value] = [self.network.policy(), self.network.value()].map(|head| read(&head));
        Output { policy, value, further: self.network.heads[VALUE + 1..].iter().map(read).collect() }
    }
}

/// The results so far, each `[positions * rows, columns]`, as long as somebody will read them.
struct Results<'a> {
    graph: &'a Graph,
    positions: usize,
    all: Vec<Option<Tensor<2>>>,
    /// How often each will be read.
    left: Vec<usize>,
}

impl Results<'_> {
    fn read(&mut self, var: Var) -> Tensor<2> {
        self.left[var.0] -= 1;
        let result = &mut self.all[var.0];
        let found = if self.left[var.0] == 0 { result.take() } else { result.clone() };
        found.expect("operations follow those that they read")
    }

    /// `[positions, rows, columns]`.
    fn by_position(&mut self, var: Var) -> Tensor<3> {
        let [rows, columns] = self.graph.network.size(var);
        self.read(var).reshape([self.positions, rows, columns])
    }

    /// An operation that is no linear layer and reads other results.
    fn compute(&mut self, op: Op) -> Tensor<2> {
        match op {
            Op::Relu { x } => relu(self.read(x)),
            // `y` has as many rows as `x`, or one for all rows of a position.
            Op::Add { x, y } => (self.by_position(x) + self.by_position(y)).flatten(0, 1),
            Op::Mean { x } => self.by_position(x).mean_dim(1).squeeze_dim(1),
            Op::Max { x } => self.by_position(x).max_dim(1).squeeze_dim(1),
            Op::Concat { x, y } => Tensor::cat(vec![self.read(x), self.read(y)], 1),
            Op::Flatten { x } => self.by_position(x).flatten(1, 2),
            Op::Inputs | Op::Points | Op::Linear { .. } => unreachable!("{op:?} does not read results alone"),
        }
    }
}

/// Turns observations `[positions, inputs]` into features per point, `[positions * points, features]`: the planes of the
/// point, then the scalars of the whole board.
pub(crate) fn features(shape: &Shape, inputs: &Tensor<2>) -> Tensor<2> {
    let BoardShape { point_planes, points, .. } = shape.board;
    let ([positions, _], scalars) = (inputs.dims(), shape.scalars());
    let own = inputs.clone().narrow(1, 0, point_planes * points);
    let own = own.reshape([positions, point_planes, points]).swap_dims(1, 2);
    if scalars == 0 {
        return own.flatten(0, 1);
    }
    let common = inputs.clone().narrow(1, point_planes * points, scalars).reshape([positions, 1, scalars]);
    Tensor::cat(vec![own, common.expand([positions, points, scalars])], 2).flatten(0, 1)
}
