//! What a network costs: parameters, arithmetic, and numbers in memory.

use crate::error::NetworkError;
use crate::kinds::NetworkConfig;
use crate::network::{Network, Op, Var, fused};
use crate::shape::Shape;

/// What a network costs in games of one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkCost {
    /// Number of parameters.
    pub parameters: usize,
    /// Products, each added to a sum, of all layers for one position. Neighbours beyond a board's edge cost none.
    pub multiply_adds: usize,
    /// Numbers per position in the results of all steps, the observation's included. Training keeps them for the pass
    /// backwards.
    pub activations: usize,
}

impl NetworkConfig {
    /// What the network costs in games of this shape.
    ///
    /// # Errors
    /// As for [`layout`](Self::layout).
    pub fn cost(&self, shape: &Shape) -> Result<NetworkCost, NetworkError> {
        let network = Network::new(self, shape)?;
        Ok(NetworkCost {
            parameters: network.layers.iter().map(|layer| (layer.inputs + 1) * layer.outputs).sum(),
            multiply_adds: network.ops.iter().map(|op| multiply_adds(&network, op)).sum(),
            activations: fused(&network).iter().map(|step| numbers(&network, step.output())).sum(),
        })
    }
}

fn numbers(network: &Network, var: Var) -> usize {
    let [rows, columns] = network.size(var);
    rows * columns
}

fn multiply_adds(network: &Network, op: &Op) -> usize {
    let Op::Linear { x, layer, around } = *op else { return 0 };
    let [rows, columns] = network.size(x);
    let outputs = network.layers[layer].outputs;
    let read = around.map_or(rows, |table| network.tables[table].table.iter().flatten().count());
    read * columns * outputs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::{ResidualConv, ResidualGraph, ResidualMlp};
    use crate::shape::{BoardShape, Neighbourhood};
    use crate::weights::TensorSpec;

    fn row_of_three() -> Shape {
        let directions = vec![vec![Some(1), Some(2), None], vec![None, Some(0), Some(1)]];
        let board = BoardShape { point_planes: 2, points: 3, directions, lattice: [1, 3], cells: vec![0, 1, 2] };
        Shape { board, ..Shape::flat(7, 4) }
    }

    #[test]
    fn an_mlp_costs_its_matrices() {
        let config = NetworkConfig::from(ResidualMlp { blocks: 2, width: 32 });
        let cost = config.cost(&Shape::flat(5, 7)).unwrap();
        let biases = 32 * 5 + 7 + 16 + 3;
        assert_eq!(cost.multiply_adds, 5 * 32 + 4 * 32 * 32 + 32 * 7 + 32 * 16 + 16 * 3);
        assert_eq!(cost.parameters, cost.multiply_adds + biases);
        assert_eq!(cost.activations, 5 + biases);
    }

    #[test]
    fn a_graph_costs_its_matrices_at_each_point_without_missing_neighbours() {
        let graph = ResidualGraph { blocks: 1, channels: 10, reach: 1, neighbourhood: Neighbourhood::Lines };
        let cost = NetworkConfig::from(graph).cost(&row_of_three()).unwrap();
        // Of nine taps, two lie beyond the ends.
        let tower = 3 * 3 * 10 + 7 * 10 * 10 + 3 * 10 * 10;
        let heads = 2 * 3 * 10 * 8 + 24 * 4 + 24 * 64 + 64 * 3;
        assert_eq!(cost.multiply_adds, tower + heads);
        // Features, stem, two layers; then the heads' channels, also as a row, and what they become.
        assert_eq!(cost.activations, 3 * (3 + 3 * 10) + 2 * (24 + 24) + 4 + 64 + 3);
    }

    #[test]
    fn every_kind_has_as_many_parameters_as_its_layout() {
        let board = BoardShape { lattice: [2, 2], cells: vec![0, 1, 3], ..row_of_three().board };
        let shape = Shape { board, ..row_of_three() };
        let conv = ResidualConv { blocks: 1, channels: 6, global_pooling: true };
        for config in [ResidualMlp::default().into(), ResidualGraph::default().into(), NetworkConfig::from(conv)] {
            let layout = config.layout(&shape).unwrap();
            let cost = config.cost(&shape).unwrap();
            assert_eq!(cost.parameters, layout.iter().map(TensorSpec::count).sum::<usize>(), "{config}");
        }
        assert!(NetworkConfig::from(ResidualConv::default()).cost(&Shape::flat(4, 3)).is_err());
    }
}
