//! Networks on the boards of the games.

use super::common::shape;
use turnstone_env::games::{Konane, Morris};
use turnstone_env::toy::Toy;
use turnstone_env::{Params, Rules};
use turnstone_models::{Neighbourhood, NetworkConfig, ResidualConv, ResidualGraph, Shape};

/// A small graph network.
fn graph(reach: usize, neighbourhood: Neighbourhood) -> NetworkConfig {
    NetworkConfig::from(ResidualGraph { blocks: 2, channels: 20, reach, neighbourhood })
}

/// The layers of a tower have the sizes of a convolution: they do not depend on the number of points.
#[test]
fn points_share_their_weights() {
    let shape = shape(&Konane::default().spec());
    let sizes = |config: NetworkConfig| -> Vec<Vec<usize>> {
        config.layout(&shape).unwrap().into_iter().map(|spec| spec.shape).collect()
    };
    let square = sizes(graph(1, Neighbourhood::Square));
    assert_eq!(square[..6], [vec![5, 20], vec![20], vec![180, 20], vec![20], vec![20, 20], vec![20]]);
    assert_eq!(sizes(graph(2, Neighbourhood::Lines))[2], [180, 20]);
    assert_eq!(square[10..14], [vec![20, 8], vec![8], vec![512, 448], vec![448]]);
    let conv = NetworkConfig::from(ResidualConv { blocks: 1, channels: 20, global_pooling: true });
    let sizes = sizes(conv);
    assert_eq!(sizes[..6], [vec![45, 20], vec![20], vec![180, 20], vec![20], vec![180, 20], vec![20]]);
    assert_eq!(sizes[6..8], [vec![40, 20], vec![20]]);
}

#[test]
fn kinds_that_a_board_does_not_allow_are_refused_in_one_line() {
    let toy = shape(&Toy::default().with_params(&Params::new()).unwrap().spec());
    let error = |config: NetworkConfig, shape: &Shape| config.layout(shape).unwrap_err().to_string();
    let no_points = "this kind of network needs a board of points, and the game has none";
    assert_eq!(error(graph(1, Neighbourhood::Lines), &toy), no_points);
    let morris = shape(&Morris::default().spec());
    assert_eq!(
        error(graph(1, Neighbourhood::Square), &morris),
        "a residual_graph over a square, like a residual_conv, needs a lattice, and this board has no lattice of two rows \
         and columns"
    );
    let conv = NetworkConfig::from(ResidualConv { blocks: 1, channels: 4, global_pooling: true });
    assert_eq!(error(conv.clone(), &toy), no_points);
    assert!(error(conv, &morris).contains("like a residual_conv, needs a lattice"));
    let mut heaps = morris.clone();
    heaps.board.directions.clear();
    assert_eq!(
        error(graph(1, Neighbourhood::Lines), &heaps),
        "a residual_graph over lines needs a board with lines, and this one has no lines"
    );
    assert_eq!(error(graph(17, Neighbourhood::Lines), &morris), "reach is 17, but must be a whole number from 1 to 16");
}
