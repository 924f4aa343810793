//! Networks that start with trained weights: the same outputs on another board, and what is refused.

use turnstone_models::{
    BoardShape, Heads, Inference, NetworkConfig, ResidualGraph, ResidualMlp, Shape, Weights, warm_start,
};

fn graph(heads: Heads) -> NetworkConfig {
    ResidualGraph { blocks: 1, channels: 9, heads, ..Default::default() }.into()
}

/// Weights so large that every layer contributes, biases included.
fn weights(network: &NetworkConfig, shape: &Shape) -> Weights {
    let mut layout = network.layout(shape).unwrap();
    layout.iter_mut().for_each(|spec| spec.deviation = (2.0 * spec.deviation).max(0.1));
    Weights::random(&layout, 11)
}

/// A row of this many points; an action of each kind at every point, from where hops lead to the next one, round and round.
fn row(points: u16, kinds: &[&str]) -> Shape {
    let right = (0..points).map(|point| Some(point + 1).filter(|&next| next < points)).collect();
    let board = BoardShape {
        point_planes: 2,
        points: points.into(),
        directions: vec![right],
        lattice: [1, points.into()],
        cells: (0..points).collect(),
    };
    let kind = |(index, name): (usize, &&str)| {
        let action = |point| Some(index as u16 * points + point);
        let hop = |pair| if (pair / points + 1) % points == pair % points { action(pair / points) } else { None };
        let at =
            if *name == "hop" { (0..points * points).map(hop).collect() } else { (0..points).map(action).collect() };
        ((*name).to_owned(), at)
    };
    let (inputs, actions) = (2 * usize::from(points) + 1, kinds.len() * usize::from(points));
    Shape { board, action_kinds: kinds.iter().enumerate().map(kind).collect(), ..Shape::flat(inputs, actions) }
}

#[test]
fn a_shape_that_fits_keeps_the_weights() {
    let (shape, network) = (row(5, &["drop", "step"]), graph(Heads::Dense));
    let trained = weights(&network, &shape);
    // A network with dense heads does not use the kinds of actions.
    let other = row(5, &["leap", "step"]);
    assert_eq!(warm_start(&network, [&shape, &other], &trained, 5), Ok(trained));
}

/// A point sees the same on a larger board if its surroundings are the same.
#[test]
fn shared_heads_go_from_board_to_board() {
    let (small, large) = (row(5, &["drop", "hop", "step"]), row(9, &["leap", "step", "drop", "hop"]));
    let network = graph(Heads::Shared);
    let trained = weights(&network, &small);
    let larger = warm_start(&network, [&small, &large], &trained, 5).unwrap();
    let policy = |weights: &Weights, shape: &Shape| {
        let points = shape.board.points;
        // A stone at the second point, and a number for the whole board.
        let mut inputs = vec![0.0; shape.inputs];
        (inputs[1], inputs[2 * points]) = (1.0, 0.5);
        let mut inference = Inference::new(weights, &network, shape, 1).unwrap();
        let logits = inference.evaluate(1, &inputs).policy.to_vec();
        // By kind, the points that are not near the end.
        let of_kind = |name: &str| {
            let (_, at) = shape.action_kinds.iter().find(|(kind, _)| kind == name).unwrap();
            at.iter().flatten().take(3).map(|action| logits[usize::from(*action)]).collect::<Vec<f32>>()
        };
        [of_kind("drop"), of_kind("step"), of_kind("hop")]
    };
    let [before, after] = [policy(&trained, &small), policy(&larger, &large)];
    assert_eq!(before, after);
    assert!(before[0] != before[1] && before[0][0] != before[0][1], "{before:?}");
    // The seed decides the weights of the new kind alone.
    let other = warm_start(&network, [&small, &large], &trained, 6).unwrap();
    let differing = larger.tensors().iter().zip(other.tensors()).filter(|(a, b)| a != b);
    assert_eq!(differing.map(|(tensor, _)| &tensor.name[..]).collect::<Vec<_>>(), ["policy.weight"]);
    // And back, without the kind that the small board lacks.
    assert_eq!(warm_start(&network, [&large, &small], &larger, 5), Ok(trained));
}

#[test]
fn other_boards_are_refused_where_weights_depend_on_them() {
    let (small, large) = (row(5, &["drop", "step"]), row(9, &["drop", "step"]));
    let refused = |network: &NetworkConfig, to: &Shape| {
        warm_start(network, [&small, to], &weights(network, &small), 5).unwrap_err().to_string()
    };
    let other_board = "it is for another board, and only a network with shared heads can change the board";
    assert_eq!(refused(&graph(Heads::Dense), &large), other_board);
    assert_eq!(refused(&ResidualMlp { blocks: 1, width: 9 }.into(), &large), other_board);
    // As many points and actions, in another order along the line.
    let mut turned = small.clone();
    turned.board.directions[0] = vec![None, Some(0), Some(1), Some(2), Some(3)];
    assert_eq!(refused(&graph(Heads::Dense), &turned), other_board);
    // A layer over neighbours has weights for each direction.
    let mut crossed = large.clone();
    crossed.board.directions.push(crossed.board.directions[0].clone());
    assert_eq!(refused(&graph(Heads::Shared), &crossed), other_board);
    let foreign = warm_start(&graph(Heads::Shared), [&large, &small], &Weights::default(), 5).unwrap_err();
    assert_eq!(foreign.to_string(), "tensor `stem.weight` is missing");
}
