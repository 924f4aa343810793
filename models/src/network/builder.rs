//! Builds a network operation by operation.

use std::ops::RangeInclusive;

use super::operations::{HeadSpec, LayerSpec, Network, OUTCOMES, Op, TargetShape, Var, computed};
use crate::error::{NetworkError, within};
use crate::shape::{Neighbourhood, Shape, Taps};

/// Channels per point that a head reads.
const HEAD_CHANNELS: usize = 8;
/// Hidden units of a head for the whole board, in a network over points.
const HIDDEN: usize = 64;
/// Numbers that a layer over neighbours may read of one position.
const MOST_GATHERED: usize = 1 << 24;
/// Operations of a network.
const MOST_OPERATIONS: usize = 4096;

/// Initial distribution of a layer's weights. Biases start at zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Init {
    /// He's standard deviation `sqrt(2 / in)`, for a layer before a ReLU.
    He,
    /// He's, divided by the square root of the number of layers that are added to a residual stream: for each of these
    /// layers. It bounds the growth of the variance over the tower independently of its depth.
    Residual(usize),
    /// `0.1 / sqrt(in)`, for the last layer of a head: nearly uniform priors and outcomes.
    Head,
}

impl Init {
    fn deviation(self, inputs: usize) -> f64 {
        let he = (2.0 / inputs as f64).sqrt();
        match self {
            Init::He => he,
            Init::Residual(layers) => he / (layers as f64).sqrt(),
            Init::Head => 0.1 / (inputs as f64).sqrt(),
        }
    }
}

/// The points that a layer reads for each point; see [`NetworkBuilder::neighbours`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeighbourTable(usize);

/// A network under construction, for games of one shape.
///
/// Its methods add an operation and return its result. A fault, such as a board without points, is kept until the network is
/// finished; what follows it has no meaning.
#[derive(Debug)]
pub struct NetworkBuilder<'a> {
    shape: &'a Shape,
    ops: Vec<Op>,
    sizes: Vec<[usize; 2]>,
    layers: Vec<LayerSpec>,
    tables: Vec<Taps>,
    fault: Option<NetworkError>,
}

impl<'a> NetworkBuilder<'a> {
    pub(crate) fn new(shape: &'a Shape) -> NetworkBuilder<'a> {
        NetworkBuilder {
            shape,
            ops: Vec::new(),
            sizes: Vec::new(),
            layers: Vec::new(),
            tables: Vec::new(),
            fault: None,
        }
    }

    /// The shape of the game.
    pub fn shape(&self) -> &Shape {
        self.shape
    }

    /// Number of rows and of columns of a result, per position.
    pub fn size(&self, x: Var) -> [usize; 2] {
        self.sizes[x.0]
    }

    /// The observation as one row, `[1, inputs]`.
    pub fn inputs(&mut self) -> Var {
        self.push(Op::Inputs, [1, self.shape.inputs])
    }

    /// The observation by point, `[points, features]`: the planes of the point, then the scalars of the whole board. A game
    /// without points is refused.
    pub fn points(&mut self) -> Var {
        match self.shape.check_points() {
            Ok(()) => self.push(Op::Points, [self.shape.board.points, self.shape.features_per_point()]),
            Err(fault) => {
                self.refuse(fault);
                self.push(Op::Points, [1, 1])
            }
        }
    }

    /// The table of each point's neighbours, the point itself first, then up to `reach` in each direction. A board without
    /// such directions is refused.
    pub fn neighbours(&mut self, neighbourhood: Neighbourhood, reach: usize) -> NeighbourTable {
        let board = &self.shape.board;
        let checked = self.shape.check_points().and_then(|()| board.check_neighbourhood(neighbourhood));
        let table = match checked {
            Ok(()) => board.taps(neighbourhood, reach),
            Err(fault) => {
                self.refuse(fault);
                Taps { table: vec![Some(0)], count: 1 }
            }
        };
        self.tables.push(table);
        NeighbourTable(self.tables.len() - 1)
    }

    /// A linear layer with parameters of this name: `x W + b` for every row of `x`.
    pub fn linear(&mut self, name: &str, x: Var, outputs: usize, init: Init) -> Var {
        self.layer(name, x, None, outputs, init)
    }

    /// A linear layer before a ReLU.
    pub fn rectified(&mut self, name: &str, x: Var, outputs: usize) -> Var {
        let y = self.linear(name, x, outputs, Init::He);
        self.relu(y)
    }

    /// A linear layer over the rows of a point and of its neighbours, side by side, with zeros for those that are missing.
    pub fn linear_around(&mut self, name: &str, x: Var, table: NeighbourTable, outputs: usize, init: Init) -> Var {
        let points = self.tables[table.0].table.len() / self.tables[table.0].count;
        if self.size(x)[0] != points {
            self.contradiction(name, "reads neighbours of what is not by point");
        }
        self.layer(name, x, Some(table.0), outputs, init)
    }

    /// A linear layer over neighbours before a ReLU.
    pub fn rectified_around(&mut self, name: &str, x: Var, table: NeighbourTable, outputs: usize) -> Var {
        let y = self.linear_around(name, x, table, outputs, Init::He);
        self.relu(y)
    }

    fn layer(&mut self, name: &str, x: Var, around: Option<usize>, outputs: usize, init: Init) -> Var {
        let [rows, columns] = self.size(x);
        let taps = around.map_or(1, |table| self.tables[table].count);
        let inputs = taps * columns;
        if around.is_some() {
            self.within("points times taps times channels", rows.saturating_mul(inputs), 1..=MOST_GATHERED);
        }
        self.within("the number of outputs of a layer", outputs, 1..=65536);
        if self.layers.iter().any(|layer| layer.name == name) {
            self.contradiction(name, "is the name of two layers");
        }
        self.layers.push(LayerSpec { name: name.to_owned(), inputs, outputs, deviation: init.deviation(inputs) });
        self.push(Op::Linear { x, layer: self.layers.len() - 1, around }, [rows, outputs])
    }

    /// `max(x, 0)`.
    pub fn relu(&mut self, x: Var) -> Var {
        self.push(Op::Relu { x }, self.size(x))
    }

    /// `x + y`. `y` has the size of `x`, or is one row that is added to every row.
    pub fn add(&mut self, x: Var, y: Var) -> Var {
        let ([rows, columns], [other_rows, others]) = (self.size(x), self.size(y));
        if columns != others || (other_rows != rows && other_rows != 1) {
            self.contradiction("a sum", "has parts of different sizes");
        }
        self.push(Op::Add { x, y }, self.size(x))
    }

    /// The mean of each column, one row.
    pub fn mean(&mut self, x: Var) -> Var {
        self.push(Op::Mean { x }, [1, self.size(x)[1]])
    }

    /// The maximum of each column, one row.
    pub fn max(&mut self, x: Var) -> Var {
        self.push(Op::Max { x }, [1, self.size(x)[1]])
    }

    /// The columns of `x`, then those of `y`, which has as many rows.
    pub fn concat(&mut self, x: Var, y: Var) -> Var {
        let ([rows, columns], [other_rows, others]) = (self.size(x), self.size(y));
        if rows != other_rows {
            self.contradiction("a concatenation", "has parts of different numbers of rows");
        }
        self.push(Op::Concat { x, y }, [rows, columns + others])
    }

    /// All rows as one.
    pub fn flatten(&mut self, x: Var) -> Var {
        let [rows, columns] = self.size(x);
        self.push(Op::Flatten { x }, [1, rows * columns])
    }

    /// The heads of a network over points, which read `x`, the channels of each point. Returns logits of policy and value.
    pub fn heads(&mut self, x: Var) -> [Var; 2] {
        [self.head("policy", x, TargetShape::Actions), self.head("value", x, TargetShape::Classes(OUTCOMES))]
    }

    /// A head: of what is by point, a layer that reduces it to eight channels; then a dense layer, before it a hidden one for
    /// numbers of the whole board. Numbers of points that are read from points share their weights.
    fn head(&mut self, name: &str, x: Var, shape: TargetShape) -> Var {
        let (mut x, outputs) = (x, shape.numbers(self.shape));
        if self.size(x)[0] == self.shape.board.points {
            x = self.rectified(&format!("{name}_points"), x, HEAD_CHANNELS);
            if shape == TargetShape::Points {
                let y = self.linear(name, x, 1, Init::Head);
                return self.flatten(y);
            }
            x = self.flatten(x);
        }
        match shape {
            TargetShape::Points | TargetShape::Actions => self.linear(name, x, outputs, Init::Head),
            TargetShape::Scalar | TargetShape::Classes(_) => self.hidden_head(name, x, HIDDEN, outputs),
        }
    }

    /// A value head with one hidden layer. Returns the logits of win, draw and loss.
    pub fn value_head(&mut self, x: Var, hidden: usize) -> Var {
        self.hidden_head("value", x, hidden, OUTCOMES)
    }

    fn hidden_head(&mut self, name: &str, x: Var, hidden: usize, outputs: usize) -> Var {
        let hidden = self.rectified(&format!("{name}_hidden"), x, hidden);
        self.linear(name, hidden, outputs, Init::Head)
    }

    /// Refuses a size that is out of range.
    pub fn within(&mut self, what: &'static str, value: usize, range: RangeInclusive<usize>) {
        if let Err(fault) = within(what, value, range) {
            self.refuse(fault);
        }
    }

    fn contradiction(&mut self, what: &str, fault: &str) {
        self.refuse(NetworkError::Contradiction(format!("{what} {fault}")));
    }

    fn refuse(&mut self, fault: NetworkError) {
        self.fault.get_or_insert(fault);
    }

    fn push(&mut self, op: Op, size: [usize; 2]) -> Var {
        if self.ops.len() >= MOST_OPERATIONS {
            self.refuse(NetworkError::Contradiction(format!("it has more than {MOST_OPERATIONS} operations")));
        }
        self.ops.push(op);
        self.sizes.push(size);
        Var(self.ops.len() - 1)
    }

    /// Whether a result is more than the observation in another form.
    fn is_computed(&self, var: Var) -> bool {
        !matches!(self.ops[computed(&self.ops, var).0], Op::Inputs | Op::Points)
    }

    /// The last result that policy and value are both computed from.
    fn trunk(&self, heads: [Var; 2]) -> Option<Var> {
        let [of_policy, of_value] = heads.map(|head| {
            let mut read = vec![false; self.ops.len()];
            read[head.0] = true;
            for index in (0..=head.0).rev() {
                if read[index] {
                    self.ops[index].reads().for_each(|var| read[var.0] = true);
                }
            }
            read
        });
        let common = (0..self.ops.len()).rev().find(|&index| of_policy[index] && of_value[index]);
        common.map(Var).filter(|&var| self.is_computed(var))
    }

    /// The network with these heads: logits of policy and value, and further heads, which read what those two share.
    pub(crate) fn finish(mut self, [policy, value]: [Var; 2], further: &[HeadSpec]) -> Result<Network, NetworkError> {
        if self.fault.is_none() && self.size(policy) != [1, self.shape.actions] {
            self.contradiction("its policy", "is not one row with a number for each action");
        }
        if self.fault.is_none() && self.size(value) != [1, OUTCOMES] {
            self.contradiction("its value", "is not one row of win, draw and loss");
        }
        if self.fault.is_none() && [policy, value].iter().any(|&head| !self.is_computed(head)) {
            self.contradiction("an output", "is a part of the observation");
        }
        let mut heads = vec![policy, value];
        let trunk = self.trunk([policy, value]);
        for HeadSpec { name, shape } in further {
            if *shape == TargetShape::Points && self.shape.board.points == 0 {
                self.refuse(NetworkError::NoPointsOfTarget(name.clone()));
            }
            let Some(trunk) = trunk else {
                self.contradiction("its policy and its value", "share no result that another head could read");
                break;
            };
            if self.fault.is_some() {
                break;
            }
            heads.push(self.head(&format!("targets.{name}"), trunk, *shape));
        }
        let NetworkBuilder { shape, ops, sizes, layers, tables, fault } = self;
        match fault {
            Some(fault) => Err(fault),
            None => Ok(Network { shape: shape.clone(), ops, sizes, layers, tables, heads }),
        }
    }
}
