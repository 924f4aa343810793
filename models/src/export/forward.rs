//! The forward pass of a network as a list of operators: one or a few for each of its operations.

use super::operators::{ForwardPass, OBSERVATION, POLICY_LOGITS, PassBuilder, VALUE_LOGITS};
use crate::error::NetworkError;
use crate::kinds::NetworkConfig;
use crate::network::{Network, Op, Var};
use crate::shape::{BoardShape, Shape};

/// The forward pass of a network as a list of operators over observations `[batch, planes, height, width]`: the planes of
/// points on the board's lattice, then the constant planes, of which the first cell is read.
///
/// # Errors
/// A size is out of range, or the board has no points or no lattice.
pub(super) fn forward_pass(config: &NetworkConfig, shape: &Shape) -> Result<ForwardPass, NetworkError> {
    let network = Network::new(config, shape)?;
    shape.check_points()?;
    shape.board.check_cells()?;
    let [height, width] = shape.board.lattice;
    let parameters = network.layout().into_iter().map(|tensor| tensor.name);
    let mut pass = PassBuilder::new([shape.board.point_planes + shape.scalars(), height, width], parameters);
    let observed = Observed::read(&mut pass, shape);
    let mut walk = Walk { network: &network, pass, observed, results: Vec::with_capacity(network.ops.len()) };
    for index in 0..network.ops.len() {
        let result = walk.operation(Var(index));
        walk.results.push(result);
    }
    walk.output(network.policy(), POLICY_LOGITS);
    walk.output(network.value(), VALUE_LOGITS);
    Ok(walk.pass.finish())
}

/// The parts of an observation.
struct Observed {
    /// `[batch, point_planes, points]`.
    own: String,
    /// What holds for the whole board, `[batch, scalars, 1]`, if there is such.
    common: Option<String>,
}

impl Observed {
    fn read(pass: &mut PassBuilder, shape: &Shape) -> Observed {
        let BoardShape { point_planes, lattice: [height, width], .. } = shape.board;
        let (planes, area) = (point_planes + shape.scalars(), height * width);
        let cells = pass.reshape(OBSERVATION, &[0, planes, area], "cells");
        let own = pass.slice(&cells, (0, 0), (point_planes, area), "own_cells");
        let indices: Vec<i64> = shape.board.cells.iter().map(|&cell| i64::from(cell)).collect();
        let own = pass.gather(&own, ("cells_of_points", &indices), 2, "own");
        let common = (shape.scalars() > 0).then(|| pass.slice(&cells, (point_planes, 0), (planes, 1), "common"));
        Observed { own, common }
    }

    /// As one vector, `[batch, inputs]`.
    fn vector(&self, pass: &mut PassBuilder, shape: &Shape) -> String {
        let own = pass.reshape(&self.own, &[0, shape.board.point_planes * shape.board.points], "own_vector");
        let Some(common) = &self.common else { return own };
        let common = pass.reshape(common, &[0, shape.scalars()], "common_vector");
        pass.concat(&[&own, &common], 1, "inputs")
    }

    /// As features per point, `[batch, points, features]`.
    fn features(&self, pass: &mut PassBuilder, shape: &Shape) -> String {
        let own = pass.transpose(&self.own);
        let Some(common) = &self.common else { return own };
        let common = pass.transpose(common);
        let common = pass.repeat(&common, shape.board.points, "common_everywhere");
        pass.concat(&[&own, &common], 2, "features")
    }
}

/// The result of an operation.
#[derive(Debug, Clone)]
struct Tensor {
    name: String,
    /// Whether it is `[batch, columns]`, as the observation as a vector and what follows from it; otherwise it is
    /// `[batch, rows, columns]`.
    flat: bool,
}

/// The walk through a network's operations.
struct Walk<'a> {
    network: &'a Network,
    pass: PassBuilder,
    observed: Observed,
    /// Of the operations so far.
    results: Vec<Tensor>,
}

impl<'a> Walk<'a> {
    fn operation(&mut self, var: Var) -> Tensor {
        let network = self.network;
        let shape = &network.shape;
        match network.ops[var.0] {
            Op::Inputs => Tensor { name: self.observed.vector(&mut self.pass, shape), flat: true },
            Op::Points => Tensor { name: self.observed.features(&mut self.pass, shape), flat: false },
            Op::Linear { x, layer, around } => self.linear(var, x, layer, around),
            Op::Relu { x } => {
                let x = &self.results[x.0];
                Tensor { name: self.pass.one("Relu", &x.name, "relu"), flat: x.flat }
            }
            Op::Add { x, y } => self.pair(x, y, |pass, x, y, _| pass.step("Add", &[x, y], &format!("{y}.sum"))),
            Op::Mean { x } => self.over_rows(x, "ReduceMean", "mean"),
            Op::Max { x } => self.over_rows(x, "ReduceMax", "maximum"),
            Op::Concat { x, y } => {
                let name = self.reader(var).map_or("joined".to_owned(), |layer| format!("{layer}.inputs"));
                self.pair(x, y, |pass, x, y, flat| pass.concat(&[x, y], if flat { 1 } else { 2 }, &name))
            }
            Op::Flatten { x } => {
                let ([rows, columns], x) = (network.size(x), &self.results[x.0].name);
                let name = format!("{}.together", x.strip_suffix(".relu").unwrap_or(x));
                Tensor { name: self.pass.reshape(x, &[0, rows * columns], &name), flat: true }
            }
        }
    }

    fn linear(&mut self, var: Var, x: Var, layer: usize, around: Option<usize>) -> Tensor {
        let network = self.network;
        let name = &network.layers[layer].name;
        let x = match around {
            Some(table) => Tensor { name: self.side_by_side(x, layer, table), flat: false },
            None => self.results[x.0].clone(),
        };
        let outputs = [(network.policy(), POLICY_LOGITS), (network.value(), VALUE_LOGITS)];
        let output = outputs.into_iter().find(|&(head, _)| head == var && x.flat).map(|(_, name)| name);
        Tensor { name: self.pass.linear(&x.name, name, output), flat: x.flat }
    }

    /// Concatenates the columns of each point's taps, `[batch, points, columns]` to `[batch, points, taps * columns]`.
    fn side_by_side(&mut self, x: Var, layer: usize, table: usize) -> String {
        let (network, from, [points, columns]) = (self.network, self.by_row(x), self.network.size(x));
        let taps = &network.tables[table];
        // Taps beyond the end of a line read the row of zeros after the last point.
        let rows: Vec<i64> = taps.table.iter().map(|tap| tap.map_or(points as i64, i64::from)).collect();
        let (padded, prefix) = (self.pass.with_row_of_zeros(&from), self.prefix(layer));
        let near = self.pass.gather(&padded, ("neighbours", &rows), 1, &format!("{prefix}.near"));
        self.pass.reshape(&near, &[0, points, taps.count * columns], &format!("{prefix}.side_by_side"))
    }

    /// What the names of a layer's neighbours begin with: its block, if no other layer of the block reads neighbours.
    fn prefix(&self, layer: usize) -> &'a str {
        let network = self.network;
        let name = |layer: usize| &network.layers[layer].name[..];
        let Some((block, _)) = name(layer).rsplit_once('.') else { return name(layer) };
        let reads_neighbours = |op: &&Op| {
            let Op::Linear { layer, around: Some(_), .. } = **op else { return false };
            name(layer).rsplit_once('.').is_some_and(|(other, _)| other == block)
        };
        if network.ops.iter().filter(reads_neighbours).count() == 1 { block } else { name(layer) }
    }

    /// The first layer that reads a result.
    fn reader(&self, var: Var) -> Option<&str> {
        let layer = self.network.ops.iter().find_map(|op| match *op {
            Op::Linear { x, layer, .. } if x == var => Some(layer),
            _ => None,
        });
        layer.map(|layer| &self.network.layers[layer].name[..])
    }

    /// The name of a result as `[batch, rows, columns]`.
    fn by_row(&mut self, x: Var) -> String {
        let ([rows, columns], x) = (self.network.size(x), &self.results[x.0]);
        match x.flat {
            true => self.pass.reshape(&x.name, &[0, rows, columns], &format!("{}.row", x.name)),
            false => x.name.clone(),
        }
    }

    /// An operator over the rows of a matrix.
    fn over_rows(&mut self, x: Var, operator: &'static str, suffix: &str) -> Tensor {
        let x = self.by_row(x);
        Tensor { name: self.pass.over_rows(operator, &x, suffix), flat: false }
    }

    /// An operator of two results, which are both flat or both by row.
    fn pair(&mut self, x: Var, y: Var, operator: impl Fn(&mut PassBuilder, &str, &str, bool) -> String) -> Tensor {
        let flat = self.results[x.0].flat && self.results[y.0].flat;
        let name = |walk: &mut Self, x: Var| if flat { walk.results[x.0].name.clone() } else { walk.by_row(x) };
        let (x, y) = (name(self, x), name(self, y));
        Tensor { name: operator(&mut self.pass, &x, &y, flat), flat }
    }

    /// Gives a head the name of its output, unless it has been made under it.
    fn output(&mut self, head: Var, name: &str) {
        let made = &self.results[head.0].name;
        if made != name {
            self.pass.output(made, self.network.size(head)[1], name);
        }
    }
}
